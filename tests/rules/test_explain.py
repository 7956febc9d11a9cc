"""What a rule says about a kernel, clause by clause; values and distances are by hand."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pytest

from advisor.facts import Vocabulary
from advisor.quoting import quoted
from advisor.reports.record.ideas import ideas_of
from advisor.reports.record.saved import likely
from advisor.reports.write.explained import explanation_text
from advisor.reports.write.paper import Paper
from advisor.rules import EvaluationSettings, Outcome, Rule
from advisor.rules.engine.clauses import Clause
from advisor.rules.engine.explain import Explanation, Language, explain
from advisor.rules.engine.program import compile_program
from advisor.rules.language.rule import Value
from tests.support.sample_rule import Load

TEXT = """\
id: sample/slow
title: A sample
headline: taking a sample
severity: warning
subject: kernel
mechanism: sample
threshold:
  busy: {value: 0.8, source: by hand}
  short: {value: 10, unit: us, source: by hand}
applies_to: compute_capability >= 7
when: roof_fraction < busy and (duration > short or limiter = 'memory')
unless:
  - {when: waves < 1, because: "it has {{ waves | number }} waves", required: true}
gain: {low: 0 * duration, likely: duration * (1 - roof_fraction), high: duration}
evidence: "{{ roof_fraction | percent }} in {{ duration | seconds }}"
why: Because.
recommendation: [Do it.]
verify: [{expression: duration, moves: down}]
references: [here]
tests:
  - name: a
    facts: {compute_capability: 8, roof_fraction: 0.5, duration: 1.0, waves: 2}
    expect: fires
  - name: b
    facts: {compute_capability: 8, roof_fraction: 0.9, duration: 1.0}
    expect: silent
  - name: c
    facts: {compute_capability: 8, duration: 1.0}
    expect: unknown
  - name: d
    facts: {compute_capability: 8, roof_fraction: 0.5, duration: 1.0, waves: 0.5}
    expect: ruled out
  - name: e
    facts: {compute_capability: 6}
    expect: not applicable
"""

Explain = Callable[..., Explanation]


@pytest.fixture
def told(load_rule: Load, vocabulary: Vocabulary, settings: EvaluationSettings) -> Explain:
    """Explain the sample rule for one kernel whose facts are given; the others are NULL."""
    rule: Rule = load_rule(TEXT)
    columns = compile_program([rule], settings, vocabulary).columns

    def run(**facts: Value) -> Explanation:
        parts = [
            f"CAST(${name} AS {vocabulary.symbols[name].kind.column_type}) AS {quoted(name)}"
            for name in columns
        ]
        with duckdb.connect(":memory:") as connection:
            connection.execute(
                "CREATE TABLE kernels AS SELECT 'v1' AS variant_id, 'r1' AS run_id, "
                + ", ".join(parts),
                {name: facts.get(name) for name in columns},
            )
            (found,) = explain(
                connection,
                [rule],
                "r1",
                ["v1"],
                kernels=lambda _: "FROM kernels",
                language=Language(
                    vocabulary=vocabulary, settings=settings, words=settings.vendors.default
                ),
            )
        return found

    return run


FACTS = {"compute_capability": 8.0, "roof_fraction": 0.5, "duration": 1e-3, "waves": 2.0}


def leaves(clause: Clause) -> dict[str, bool | None]:
    if not clause.parts:
        return {clause.text: clause.holds}
    return {text: holds for part in clause.parts for text, holds in leaves(part).items()}


def test_tells_each_clause_with_its_value(told: Explain) -> None:
    found = told(**FACTS)
    assert found.outcome is Outcome.FIRES
    assert leaves(found.when) == {
        "roof_fraction < busy": True,
        "duration > short": True,
        "limiter = 'memory'": None,
    }
    assert found.when.joined == "and"
    assert [part.joined for part in found.when.parts] == [None, "or"]


def test_measures_the_distance_to_a_threshold(told: Explain) -> None:
    first, second = told(**FACTS).when.parts
    assert (first.left, first.operator, first.right) == (0.5, "<", 0.8)
    assert first.distance == pytest.approx(0.3)
    duration = second.parts[0]
    assert duration.right == pytest.approx(1e-5)
    assert duration.unit == "s"
    assert duration.distance == pytest.approx(0.99e-3)


def test_knows_no_distance_where_a_value_is_unknown(told: Explain) -> None:
    found = told(compute_capability=8.0, duration=1e-3)
    assert found.outcome is Outcome.UNKNOWN
    assert "roof_fraction" in found.missing
    first = found.when.parts[0]
    assert (first.holds, first.distance, first.left) == (None, None, None)


def test_says_why_it_is_ruled_out(told: Explain) -> None:
    found = told(**{**FACTS, "waves": 0.5})
    assert found.outcome is Outcome.RULED_OUT
    assert found.because == "it has 0.500 waves"
    assert found.unless[0].required
    assert found.unless[0].clause.distance == pytest.approx(0.5)


def test_says_where_it_does_not_apply(told: Explain) -> None:
    found = told(**{**FACTS, "compute_capability": 6.0})
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert found.applies_to is not None
    assert found.applies_to.holds is False


def test_works_out_the_gain_and_its_caps(told: Explain) -> None:
    # 1 ms at half of its roof: the speed-of-light time is 0.5 ms, so at most 0.5 ms can be saved.
    found = told(**FACTS, t_least=0.5e-3, t_least_practical=0.6e-3)
    assert found.gain is not None
    assert [term.value for term in found.gain.bounds] == pytest.approx([0, 0.5e-3, 1e-3])
    assert found.gain.cap == pytest.approx(0.5e-3)
    assert found.gain.cap_likely == pytest.approx(0.4e-3)
    assert found.gain.gain is not None
    assert found.gain.gain.likely == pytest.approx(0.4e-3)
    assert found.gain.gain.high == pytest.approx(0.5e-3)


def test_gives_a_share_where_the_time_is_unknown(told: Explain, vocabulary: Vocabulary) -> None:
    timeless = FACTS | {"duration": None, "limiter": "memory"}
    found = told(**timeless)
    assert found.outcome is Outcome.FIRES
    assert found.gain is not None
    assert found.gain.gain is None
    assert found.share is not None
    assert (found.share.low, found.share.likely, found.share.high) == pytest.approx((0, 0.5, 1))
    paper = Paper(width=100)
    explanation_text(paper, found, name="k", collect=None)
    told_share = (
        "as shares of the kernel's time, which is unknown: low 0 %, likely 50 %, high 100 %"
    )
    assert told_share in paper.text().replace("\N{NO-BREAK SPACE}", " ")
    assert "no estimate" not in paper.text()
    (idea,) = ideas_of([found], vocabulary)
    assert likely(idea).replace("\N{NO-BREAK SPACE}", " ") == "50 % of its time"


def test_gives_no_share_beside_seconds(told: Explain) -> None:
    assert told(**FACTS).share is None
