"""What a report finds worth saying, read from ``rules/report.yaml``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from advisor.documents import load
from advisor.records import dataclass
from advisor.resources import data_dir

_SECTIONS = ("thresholds", "history", "moved_facts")


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Shares in [0, 1]; the file says where each comes from."""

    worth_a_card: float
    worth_a_number: float
    worth_a_headline: float
    high_confidence: float
    medium_confidence: float
    near_the_roof: float
    enough_evidence: float
    slow_clock: float
    chart_work_share: float
    chart_time_share: float


def judgement_file() -> Path:
    """Return where the numbers stand."""
    return data_dir("rules") / "report.yaml"


def load_judgement() -> Judgement:
    """Return the numbers.

    Raises:
        RuleError: one is missing, unknown or no number; with its place.
    """
    document = load(judgement_file())
    document.refuse_unknown(_SECTIONS)
    thresholds = document.mapping("thresholds")
    names = [field.name for field in fields(Judgement)]
    thresholds.refuse_unknown(names)
    values = {name: thresholds.mapping(name) for name in names}
    for value in values.values():
        value.refuse_unknown(("value", "source"))
        value.text("source")
    return Judgement(**{name: value.number("value") for name, value in values.items()})
