"""Which values a sweep gives to a size, as the command line says it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from advisor.errors import UsageError
from advisor.modelling.names import parse_number
from advisor.records import dataclass
from advisor.suggest import did_you_mean

MOST_POINTS = 100_000


@dataclass(frozen=True, kw_only=True)
class Range:
    """A size of the scenario and the values that it is to have."""

    size: str
    values: tuple[float, ...]


def parse_sweep(text: str) -> Range:
    """Return what ``batch=1,2,4`` or ``batch=1:1000[:step]`` asks for.

    Raises:
        UsageError: it is written otherwise, is empty, or is too long.

    >>> parse_sweep("m=2:8:3").values
    (2.0, 5.0, 8.0)
    """
    size, equals, asked = text.partition("=")
    size = size.strip()
    if not equals or not size:
        hint = "write --sweep batch=1,2,4 or --sweep batch=1:1000:10"
        raise UsageError(f"{text!r} is no sweep", hint=hint)
    values = tuple(_span(asked) if ":" in asked else _listed(asked))
    if not values:
        raise UsageError(f"the sweep {text!r} is empty", hint="give one value at least")
    return Range(size=size, values=values)


def _listed(asked: str) -> Iterator[float]:
    for word in asked.split(","):
        if word.strip():
            yield parse_number(word, "a value of a sweep")


def _span(asked: str) -> Iterator[float]:
    words = asked.split(":")
    if len(words) not in (2, 3):
        raise UsageError(f"{asked!r} is no range", hint="write first:last or first:last:step")
    first, last, step = (parse_number(word, "a part of a range") for word in (*words, "1")[:3])
    if step <= 0:
        raise UsageError("the step of a sweep must be above 0")
    steps = (last - first) / step + 1e-9  # infinite where the step is next to nothing
    if steps >= MOST_POINTS:
        raise UsageError(f"{asked!r} has too many points", hint=f"{MOST_POINTS:,} at most")
    count = math.floor(steps) + 1 if steps > 0 else 0
    return (first + number * step for number in range(count))


def check_size(sweep: Range, sizes: Iterable[str]) -> None:
    """Refuse a size that is not there.

    Raises:
        UsageError: names the nearest.
    """
    known = list(sizes)
    if sweep.size not in known:
        hint = did_you_mean(sweep.size, known, f"there are {', '.join(known) or 'none'}")
        raise UsageError(f"there is no size {sweep.size!r} to sweep", hint=hint)
