"""What all pages of a site share: the way to the first one, and how nights are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.reports.record.history_words import day
from advisor.reports.site.addresses import GLOSSARY
from advisor.wording import NO_BREAK

if TYPE_CHECKING:
    from advisor.database.read import StoredRun


@dataclass(frozen=True, kw_only=True)
class SitePlace:
    """Where a page is: ``root`` is the way to the folder of the first page.

    ``has_fleet``: the site is of a lake, and has a page about all of it. ``words`` are places in
    the glossary, by what pages write in small letters.
    """

    root: str
    has_fleet: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    def word(self, written: str) -> str:
        """Return the address of what a word means, empty where the glossary has none."""
        place = self.words.get(written.lower())
        return f"{self.root}{GLOSSARY}#{place}" if place else ""


@dataclass(frozen=True, kw_only=True)
class GonePage:
    """What is left of a page whose subject the database no longer holds."""

    title: str
    footer: str
    sentence: str


def full_day(moment: datetime) -> str:
    """Return a day with its year, such as 17 Jan 2026."""
    return f"{day(moment)}{NO_BREAK}{moment.year}"


def run_night(run: StoredRun) -> str:
    """Return the night of a run as people write it."""
    return full_day(run.night)
