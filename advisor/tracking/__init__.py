"""Change points over nights: pure functions over arrays, without a database."""

from __future__ import annotations

from advisor.tracking.records import Change, Kind, Newest, SeriesResult, Verdict
from advisor.tracking.scan import Nights, scan_many, scan_series
from advisor.tracking.settings import Settings, load_settings

__all__ = [
    "Change",
    "Kind",
    "Newest",
    "Nights",
    "SeriesResult",
    "Settings",
    "Verdict",
    "load_settings",
    "scan_many",
    "scan_series",
]
