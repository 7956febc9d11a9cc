from pathlib import Path

import pytest

from advisor.errors import RuleError
from advisor.quantities import load_quantities

GOOD = """
launch: {launch_index: {unit: "1", aggregate: none, about: place}}
quantities:
  duration: {unit: s, aggregate: sum, about: time}
  clock: {unit: Hz, aggregate: weighted_by duration, remember_source: true, about: clock}
  unit_name: {type: text, aggregate: same, about: words}
device:
  peak: {unit: B/s, ceiling: [dram, nominal], about: rated}
"""


def test_reads_what_a_quantity_says(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(GOOD)
    vocabulary = load_quantities([path])
    clock = vocabulary.quantities["clock"]
    assert (clock.aggregate, clock.weight, clock.remember_source) == (
        "weighted_by",
        "duration",
        True,
    )
    assert vocabulary.quantities["unit_name"].is_text
    assert vocabulary.device["peak"].ceiling == ("dram", "nominal")
    assert [q.name for q in vocabulary] == [
        "launch_index",
        "duration",
        "clock",
        "unit_name",
        "peak",
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("aggregate: sum", "aggregate: add", "unknown aggregate add"),
        ("weighted_by duration", "weighted_by time", "weighted by unknown time"),
        ("weighted_by duration", "sum duration", "unknown aggregate sum"),
        ("unit: s", "units: s", "unknown key units"),
        ("unit: s, ", "", "either `unit` or `type: text`"),
        ("type: text", 'type: text, unit: "1"', "either `unit` or `type: text`"),
        ("peak:", "duration:", "named twice"),
        ("ceiling: [dram, nominal], ", "", "expected one of"),
        ("device:", "devices:", "expected keys among launch"),
        ("about: time", "about: time, from 0", "unknown key from 0"),
        ("launch: {", "launch: {{", "cannot be read"),
    ],
)
def test_refuses(tmp_path: Path, right: str, wrong: str, problem: str) -> None:
    assert right in GOOD
    path = tmp_path / "q.yaml"
    path.write_text(GOOD.replace(right, wrong, 1))
    with pytest.raises(RuleError, match=problem):
        load_quantities([path])


def test_ships_a_vocabulary_that_loads() -> None:
    assert load_quantities().quantities["duration"].unit == "s"
