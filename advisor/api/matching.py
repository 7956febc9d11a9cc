"""Choose series by what the user calls their kernel, device and configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.records import dataclass
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.database.nights import KnownSeries

_LEAST_ID = 4  # digits of an id that name a series


@dataclass(frozen=True, kw_only=True)
class SeriesWanted:
    """Which series are asked for: a kernel, a device, a label.

    ``kernel`` is a series' id or the beginning of one, or a pattern that its name matches.
    """

    kernel: str | None = None
    device: str | None = None
    configuration: str | None = None


EVERY_SERIES = SeriesWanted()
"""No series is left out."""


def matching_series(
    known: Mapping[str, KnownSeries], wanted: SeriesWanted
) -> dict[str, KnownSeries]:
    """Return the series that are asked for.

    Raises:
        UsageError: there is none, or the pattern is none.
    """
    found = dict(known)
    if wanted.device is not None:
        device = wanted.device.casefold()
        found = {k: s for k, s in found.items() if device in (s.device_name or "").casefold()}
    if wanted.configuration is not None:
        found = {k: s for k, s in found.items() if s.configuration == wanted.configuration}
    if wanted.kernel is not None:
        found = _called(found, wanted.kernel)
    if known and not found:
        raise UsageError("no series matches", hint=_near(known, wanted))
    return found


def find_series(known: Mapping[str, KnownSeries], wanted: str) -> KnownSeries:
    """Return the one series that an id, the beginning of one, or a kernel's name means.

    Raises:
        UsageError: there is none, or several are meant.
    """
    by_id = [each for key, each in known.items() if key.startswith(wanted)]
    names = [each for each in known.values() if wanted in (each.short_name, each.normalised_name)]
    found = by_id if len(wanted) >= _LEAST_ID and by_id else names
    if len(found) == 1:
        return found[0]
    if not found:
        asked = SeriesWanted(kernel=wanted)
        raise UsageError(f"there is no series {wanted!r}", hint=_near(known, asked))
    named = ", ".join(f"{each.series_id} ({describe(each)})" for each in found[:5])
    raise UsageError(f"{wanted!r} means {len(found)} series: {named}", hint="name one by its id")


def describe(series: KnownSeries) -> str:
    """Return kernel, problem, device and configuration of a series in a few words."""
    parts = (series.short_name, series.problem_key, series.device_name, series.configuration)
    return ", ".join(filter(None, parts))


def _called(known: Mapping[str, KnownSeries], wanted: str) -> dict[str, KnownSeries]:
    if len(wanted) >= _LEAST_ID:
        by_id = {key: each for key, each in known.items() if key.startswith(wanted)}
        if by_id:
            return by_id
    exact = {
        key: each
        for key, each in known.items()
        if wanted in (each.short_name, each.normalised_name)
    }
    if exact:
        return exact
    try:
        pattern = re.compile(wanted)
    except re.error as error:
        problem = f"{wanted!r} is no regular expression: {error}"
        raise UsageError(problem, hint="write a kernel's name or a part of it") from error
    return {
        key: each
        for key, each in known.items()
        if pattern.search(each.short_name) or pattern.search(each.normalised_name)
    }


def _near(known: Mapping[str, KnownSeries], wanted: SeriesWanted) -> str:
    hint = "advisor series list shows them"
    near = did_you_mean(wanted.kernel or "", [each.short_name for each in known.values()])
    return f"{near} {hint}" if near else hint
