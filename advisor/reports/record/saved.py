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
    """Return what is likely saved; nothing where no estimate was made, or the gain is none."""
    if (below := _below(saving)) is not None:
        return f"less than {wording.percent(below, 1)} of its time"
    if saving.gain is not None and not saving.gain.high:
        return ""
    if saving.gain is not None:
        return wording.seconds(saving.gain.likely, digits)
    return "" if saving.share is None else f"{wording.share(saving.share.likely)} of its time"


def between(saving: Saving, digits: int = 3) -> str:
    """Return the least and the most that is saved; nothing where that is no number to show."""
    if _below(saving) is not None:
        return ""
    if saving.gain is not None:
        return wording.between(saving.gain.low, saving.gain.high, digits)
    return "" if saving.share is None else shares(saving.share)


def _below(saving: Saving) -> float | None:
    """Return the share of a kernel's time that a gain too small for a number stays below."""
    below: float | None = getattr(saving, "gain_below", None)
    return below


def likely_sentence(saving: Saving) -> str:
    """Return what is likely saved as a sentence behind others; nothing without an estimate."""
    found = likely(saving)
    return f" Likely saves {found}." if found else ""


def shares(share: Gain) -> str:
    """Return two shares as one range of percent."""
    return wording.between_shares(share.low, share.high)
