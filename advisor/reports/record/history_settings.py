"""How much a report tells over nights, and in which words: ``rules/report.yaml``, its labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from advisor.cache import remembered
from advisor.documents import load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.reports.record.judgement import judgement_file
from advisor.resources import data_dir

_SECTION = "history"
_PARTS = ("sentences", "first_night", "worse", "better", "terms", "states", "charts")


@dataclass(frozen=True, kw_only=True)
class HistoryLimits:
    """Numbers of section ``history`` of ``rules/report.yaml``, which says where each comes from.

    ``smallest_term`` and ``least_fact_change`` are natural logarithms, ``small_chance`` is a
    chance, the others are counts.
    """

    nights: int
    judged_nights: int
    moved_rows: int
    named_kernels: int
    kernels_charted: int
    path_dots: int
    spark_nights: int
    site_nights: int
    site_kernels: int
    segment_nights: int
    least_band: int
    most_explained: int
    shown_facts: int
    night_digits: int
    smallest_term: float
    small_chance: float
    least_fact_change: float


@dataclass(frozen=True, kw_only=True)
class HistorySettings:
    """What is shown: numbers, the facts that explain a change, and words by their place."""

    limits: HistoryLimits
    facts: tuple[str, ...]
    sentences: Mapping[str, str]
    first_night: str
    worse: str
    better: str
    terms: Mapping[str, str]
    states: Mapping[str, str]
    charts: Mapping[str, str]


def load_history_settings() -> HistorySettings:
    """Return what the files say, from the cache where they are unchanged.

    Raises:
        RuleError: an entry is missing, unknown or wrong; with its place.
    """
    files = [judgement_file(), _labels_file()]
    return remembered("report history", files, "", _read)


def _labels_file() -> Path:
    return data_dir("rules") / "labels" / "history.yaml"


def _read() -> HistorySettings:
    document, labels = load(judgement_file()), load(_labels_file())
    labels.refuse_unknown(_PARTS)
    groups = {
        part: {name: labels.mapping(part).text(name) for name in labels.mapping(part)}
        for part in ("sentences", "terms", "states", "charts")
    }
    return HistorySettings(
        limits=_limits(),
        facts=document.sequence("moved_facts").texts(),
        first_night=labels.text("first_night"),
        worse=labels.text("worse"),
        better=labels.text("better"),
        **groups,
    )


def _limits() -> HistoryLimits:
    section = load(judgement_file()).mapping(_SECTION)
    kinds = {field.name: field.type for field in fields(HistoryLimits)}
    section.refuse_unknown(kinds)
    values: dict[str, Any] = {}
    for name, kind in kinds.items():
        entry = section.mapping(name)
        entry.refuse_unknown(("value", "source"))
        entry.text("source")
        value = entry.number("value")
        if kind == "int" and not value.is_integer():
            raise RuleError("expected a whole number", at=entry["value"].at)
        values[name] = int(value) if kind == "int" else value
    return HistoryLimits(**values)
