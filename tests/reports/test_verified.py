"""What to verify of an action reads as its numbers allow."""

from __future__ import annotations

import pytest

from advisor.errors import Location
from advisor.expression import compile_expression
from advisor.facts import Vocabulary
from advisor.reports.record.verify import _shown
from advisor.rules.language.verification import Criterion, Direction, Measured
from advisor.rules.language.verify_words import sentence

AT = Location(name="rule.yaml", line=1, column=1)


@pytest.mark.parametrize(
    ("moves", "now", "target", "reads"),
    [
        (Direction.UP, 0.25, 0.5, "rises to at least 50 % (now 25 %)"),
        (Direction.UP, 0.5, 0.5, "goes up (now 50 %)"),
        (Direction.UP, 0.67, 0.5, "goes up (now 67 %)"),
        (Direction.DOWN, 0.67, 0.5, "falls to at most 50 % (now 67 %)"),
        (Direction.DOWN, 0.25, 0.5, "goes down (now 25 %)"),
        (Direction.DOWN, 0.25, None, "goes down (now 25 %)"),
    ],
)
def test_asks_for_no_target_that_is_met(
    vocabulary: Vocabulary, moves: Direction, now: float, target: float | None, reads: str
) -> None:
    value = compile_expression("occupancy_theoretical", vocabulary.symbols, at=AT)
    check = Criterion(expression=value, moves=moves, tolerance=0.05, target=value)
    shown = _shown(check, Measured(value=now, target=target), {}, vocabulary)
    said = sentence(check, shown).replace("\N{NO-BREAK SPACE}", " ")
    assert said == f"Occupancy theoretical {reads}"
