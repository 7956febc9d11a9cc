"""What advice saves, in words: seconds, or of a kernel without a time a share of that time."""

from __future__ import annotations

from typing import Protocol

from advisor import wording
from advisor.reports.record.kernel_records import Gain


class Saving(Protocol):
    """What has a gain in seconds, or as a share of a kernel's time that is unknown, or neither."""

    @property
    def gain(self) -> Gain | None:
        """Return the seconds that could be saved."""

    @property
    def share(self) -> Gain | None:
        """Return the share of its own time that a kernel could save."""


def likely(saving: Saving, digits: int = 3) -> str:
    """Return what is likely saved; nothing where no estimate was made, or the gain is none.

    Of what only measures, it is the most that may be found.
    """
    if (below := _below(saving)) is not None:
        return f"less than {wording.percent(below, 1)} of its time"
    if saving.gain is not None:
        found = _shown(saving, saving.gain)
        seconds = wording.seconds(found, digits)
        return f"{_up_to(saving)}{seconds}" if saving.gain.high else ""
    if saving.share is None:
        return ""
    return f"{_up_to(saving)}{wording.share(_shown(saving, saving.share))} of its time"


def between(saving: Saving, digits: int = 3) -> str:
    """Return the least and the most that is saved; nothing where that is no number to show."""
    if _below(saving) is not None or _only_measures(saving):
        return ""
    if saving.gain is not None:
        return wording.between(saving.gain.low, saving.gain.high, digits)
    return "" if saving.share is None else shares(saving.share)


def _below(saving: Saving) -> float | None:
    """Return the share of a kernel's time that a gain too small for a number stays below."""
    below: float | None = getattr(saving, "gain_below", None)
    return below


def _only_measures(saving: Saving) -> bool:
    """Return whether it saves nothing itself: the cause that it finds may be worth the gain."""
    only: bool = getattr(saving, "only_measures", False)
    return only


def _shown(saving: Saving, gain: Gain) -> float:
    return gain.high if _only_measures(saving) else gain.likely


def _up_to(saving: Saving) -> str:
    return "up to " if _only_measures(saving) else ""


def likely_sentence(saving: Saving) -> str:
    """Return what is likely saved as a sentence behind others; nothing without an estimate."""
    found = likely(saving)
    if _only_measures(saving):
        return f" What it finds may be worth {found}." if found else ""
    return f" Likely saves {found}." if found else ""


def shares(share: Gain) -> str:
    """Return two shares as one range of percent."""
    return wording.between_shares(share.low, share.high)
