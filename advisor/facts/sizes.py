"""What is wrong with the names of sizes that an operation is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.suggest import did_you_mean

COUNT, SHARE = "count", "share"
NUMBERS = {COUNT: "a whole number", SHARE: "a share, from 0 to 1"}
"""What a size may be said to be, and how to ask for it."""

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping


def wrong_sizes(
    operation: str, sizes: Mapping[str, str], optional: Container[str], given: Iterable[str]
) -> tuple[str, str | None] | None:
    """Return what is wrong with the names of given sizes, and a hint; None if nothing is.

    ``sizes`` are those of the operation and what they are about; ``optional`` ones have defaults.
    """
    given = tuple(given)
    for name in given:
        if name not in sizes:
            hint = did_you_mean(name, sizes, f"its sizes are {', '.join(sizes)}")
            return f"{operation} has no size {name!r}", hint
    missing = [name for name in sizes if name not in optional and name not in given]
    if missing:
        about = "; ".join(f"{name}: {sizes[name]}" for name in missing)
        return f"{operation} needs the size {' and '.join(map(repr, missing))}", about
    return None


def wrong_value(name: str, value: float, number: str | None, about: str) -> tuple[str, str] | None:
    """Return what is wrong with the value of a size, and a hint; None if nothing is.

    ``number`` is the kind of number that the size is, None for any.

    >>> wrong_value("m", 1.5, "count", "rows")
    ('m must be a whole number, not 1.5', 'm: rows')
    """
    if number is None or (value <= 1 if number == SHARE else value % 1 == 0):
        return None
    return f"{name} must be {NUMBERS[number]}, not {value:.10g}", f"{name}: {about}"
