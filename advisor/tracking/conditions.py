"""What nights ran on, as texts for the detector, and where series must not be compared across."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.tracking.environment import expected_nights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.tracking.settings import Settings


def filled(values: Sequence[str | None]) -> list[str | None]:
    """Return values with unknown ones as the last known before, or else the next one.

    So neither unknown → known nor known → unknown is a change, and A → unknown → B is one.
    """
    known: list[str | None] = []
    last = next((value for value in values if value), None)
    for value in values:
        last = value or last
        known.append(last)
    return known


def environment_texts(nights: Sequence[Mapping[str, str | None]]) -> list[str | None]:
    """Return one text per night of everything that is known of what it ran on."""
    names = list(nights[0]) if nights else []
    columns = {name: filled([night[name] for night in nights]) for name in names}
    texts = []
    for night in range(len(nights)):
        told = [f"{name} {columns[name][night]}" for name in names if columns[name][night]]
        texts.append(", ".join(told) or None)
    return texts


def what_changed(
    before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> tuple[str, ...]:
    """Return in words what differs of what is known on both sides."""
    return tuple(
        f"{name} {before[name]} → {after[name]}"
        for name in before
        if before[name] and after[name] and before[name] != after[name]
    )


def split_nights(nights: Sequence[Mapping[str, str | None]], settings: Settings) -> list[int]:
    """Return the first nights of new conditions, across which series are not compared.

    Two that take turns are not new.
    """
    return expected_nights(environment_texts(nights), settings)
