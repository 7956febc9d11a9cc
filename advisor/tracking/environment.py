"""Whether what a series ran on changed where its level did."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.settings import TrackingSettings


def new_environment(
    environment: Sequence[str | None], step: int, settings: TrackingSettings
) -> int | None:
    """Return the night near a step where a new environment may have begun, None where none did.

    New is one that no night shortly before had; from unknown to known, and back, is no change. A
    new one may have begun on any of the unknown nights before the first on which it is known.
    """
    reach = settings.environment_reach
    last = min(len(environment), step + reach + settings.environment_nights)
    near = []
    for night in range(max(1, step - reach), last):
        if is_new(environment, night, settings):
            begins = night
            while not environment[begins - 1]:
                begins -= 1
            near.append(min(max(step, begins), night))
    nearest = min(near, key=lambda night: abs(night - step), default=step + reach + 1)
    return nearest if abs(nearest - step) <= reach else None


def expected_nights(environment: Sequence[str | None], settings: TrackingSettings) -> list[int]:
    """Return the first nights of new environments."""
    return [
        night
        for night in range(1, len(environment))
        if environment[night] != environment[night - 1] and is_new(environment, night, settings)
    ]


def is_new(environment: Sequence[str | None], night: int, settings: TrackingSettings) -> bool:
    """Return whether a known environment is one that no night shortly before had."""
    since = max(0, night - settings.environment_nights)
    earlier = {known for known in environment[since:night] if known}
    return bool(environment[night] and earlier and environment[night] not in earlier)
