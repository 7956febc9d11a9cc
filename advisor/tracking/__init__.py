"""Change points over nights: pure functions over arrays, without a database."""

from __future__ import annotations

from advisor.tracking.records import Change, ChangeKind, Newest, SeriesResult, Verdict
from advisor.tracking.scan import Nights, scan_many, scan_series
from advisor.tracking.settings import TrackingSettings, load_settings

__all__ = [
    "Change",
    "ChangeKind",
    "Newest",
    "Nights",
    "SeriesResult",
    "TrackingSettings",
    "Verdict",
    "load_settings",
    "scan_many",
    "scan_series",
]
