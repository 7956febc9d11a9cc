"""What nights ran on, as texts for the detector, and where series must not be compared across."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.tracking.environment import expected_nights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.tracking.settings import TrackingSettings

    Conditions = Mapping[str, str | None]


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


def known_conditions(nights: Sequence[Conditions]) -> list[Conditions]:
    """Return what each night ran on, what it does not record taken from its neighbours."""
    names = list(nights[0]) if nights else []
    columns = [filled([night[name] for night in nights]) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def environment_texts(nights: Sequence[Conditions]) -> list[str | None]:
    """Return one text per night of everything that is known of what it ran on."""
    return [
        ", ".join(f"{name} {value}" for name, value in night.items() if value) or None
        for night in known_conditions(nights)
    ]


def differences(before: Conditions, after: Conditions) -> tuple[tuple[str, str, str], ...]:
    """Return (what, before, after) of what is known on both sides and differs."""
    pairs = ((name, before[name], after[name]) for name in before)
    return tuple((name, one, other) for name, one, other in pairs if one and other and one != other)


def what_changed(before: Conditions, after: Conditions) -> tuple[str, ...]:
    """Return in words what differs of what is known on both sides."""
    return tuple(f"{name} {one} → {other}" for name, one, other in differences(before, after))


def split_nights(nights: Sequence[Conditions], settings: TrackingSettings) -> list[int]:
    """Return the first nights of new conditions, across which series are not compared.

    Two that take turns are not new.
    """
    return expected_nights(environment_texts(nights), settings)
