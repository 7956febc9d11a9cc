from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from advisor.errors import RuleError
from advisor.facts import Vocabulary
from advisor.rules import Settings
from advisor.rules.run_facts import load_run_facts


def row(settings: Settings, kernels: str) -> dict[str, float | str | None]:
    """Return the facts of a run from rows of kernels; columns not given are NULL, of any type."""
    run = settings.run
    with duckdb.connect(":memory:") as connection:
        given = connection.execute(f"DESCRIBE {kernels}").fetchall()
        missing = run.kernel_columns - {name for name, *_ in given}
        nulls = "".join(f", NULL AS {name}" for name in sorted(missing))
        connection.execute(f"CREATE VIEW kernels AS SELECT *{nulls} FROM ({kernels})")
        cursor = connection.execute(run.select("kernels", "'r1'"))
        names = [column[0] for column in cursor.description or ()]
        return dict(zip(names, cursor.fetchall()[0], strict=True))


KERNELS = """
    SELECT * FROM (VALUES
        ('k1', 'gemm', 6.0, 100.0, 1.0, false, 1.0),
        ('k1', 'gemm', 1.0,   4.0, 0.5, false, 3.0),
        ('k2', 'scan', 3.0,  50.0, 2.0, true,  NULL))
    AS t(kernel_id, short_name, duration, launch_count, wasted_time, very_short, evidence_level)
"""


def test_adds_counts_and_names_over_the_kernels(settings: Settings) -> None:
    found = row(settings, KERNELS)
    assert (found["duration"], found["launches"]) == (10, 154)
    assert (found["variants"], found["functions"], found["shapes_per_function"]) == (3, 2, 1.5)
    assert (found["largest_kernel"], found["largest_share"]) == ("gemm", 0.6)
    assert (found["wasted_kernel"], found["wasted_kernel_duration"]) == ("scan", 3)
    assert found["wasted_share"] == pytest.approx(2 / 3.5)
    assert (found["short_launches"], found["short_duration"]) == (50, 3)


def test_counts_what_is_not_known_nowhere(settings: Settings) -> None:
    found = row(settings, KERNELS)
    # Only the kernel of level 3 is known not to have a roofline.
    assert (found["unplaced_duration"], found["unplaced_kernels"]) == (1, 1)


def test_knows_nothing_of_a_run_without_kernels(settings: Settings) -> None:
    found = row(settings, f"SELECT * FROM ({KERNELS}) WHERE false")
    assert (found["duration"], found["largest_kernel"], found["wasted_share"]) == (None, None, None)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{unit: s, aggregate: mean, formula: duration}", "aggregate is one of"),
        ("{unit: s, aggregate: of_largest, formula: duration}", "`by` goes with"),
        ("{unit: s, aggregate: of_largest, by: durtion, formula: duration}", "unknown name"),
        ("{unit: B, aggregate: sum, formula: duration}", "declared in B"),
        ("{kind: boolean, aggregate: sum, formula: very_short}", "number with a unit or a text"),
        ("{unit: s, aggregate: sum, formula: durtion}", "durtion"),
    ],
)
def test_refuses_a_fact_that_is_wrong(
    entry: str, problem: str, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    path = tmp_path / "run-facts.yaml"
    fact = entry.replace("}", ", about: a, source: b}")
    path.write_text(f"facts:\n  x: {fact}\nfloor: {{profiled: x, achievable: x}}\n")
    with pytest.raises(RuleError) as caught:
        load_run_facts(vocabulary.symbols, path)
    assert problem in str(caught.value)
