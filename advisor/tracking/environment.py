"""Whether what a series ran on changed where its level did."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.settings import TrackingSettings


def new_environment(
    environment: Sequence[str | None], step: int, settings: TrackingSettings
) -> int | None:
    """Return the first night of a new environment near a step, None where there is none.

    New is one that no night shortly before had; from unknown to known, and back, is no change.
    """
    reach = settings.environment_reach
    near = range(max(1, step - reach), min(len(environment), step + reach + 1))
    nearest = sorted(near, key=lambda night: abs(night - step))
    return next((night for night in nearest if is_new(environment, night, settings)), None)


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
