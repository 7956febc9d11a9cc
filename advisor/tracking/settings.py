"""Thresholds of the detector, from ``rules/tracking.yaml``."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from advisor.cache import remembered
from advisor.documents import load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.units import parse_unit

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.documents import MappingNode

FILE = "tracking.yaml"
_WHOLE = "int"
_SECTIONS = ("thresholds", "outcomes")


@dataclass(frozen=True, kw_only=True)
class TrackingSettings:
    """The numbers of ``rules/tracking.yaml``, which gives the meaning and source of each."""

    window: int
    least_nights: int
    least_baseline: int
    enough_baseline: int
    least_segment: int
    outlier_nights: int
    smallest_effect: float
    noise_multiple: float
    tick_multiple: float
    noise_floor: float
    prior_nights: int
    prior_correlation: float
    cycle_score: float
    largest_correlation: float
    efficiency: float
    clip: float
    candidate_score: float
    step_score: float
    expected_score: float
    excursion_chance: float
    newest_score: float
    newest_chance: float
    newest_share: float
    newest_agreement: float
    precedent_share: float
    lone_score: float
    outlier_score: float
    states_gap: float
    states_share: float
    states_between: float
    states_strays: float
    states_switches: int
    drift_nights: int
    drift_lean: float
    drift_penalty: float
    trend_score: float
    environment_reach: int
    environment_nights: int
    calibration_freedom: int
    labels_alone: int
    fewest_hosts: int
    fleet_days: int


@dataclass(frozen=True, kw_only=True)
class OutcomeSettings:
    """The numbers under ``outcomes`` of ``rules/tracking.yaml``: when advice has worked."""

    smallest_change: float
    worked_share: float
    settle_nights: int
    gone_nights: int
    prior_strength: float
    largest_ratio: float


def load_settings(path: Path | None = None) -> TrackingSettings:
    """Return the thresholds; counts of nights are whole numbers.

    Raises:
        RuleError: an entry is missing, unknown or wrong; with its place.
    """
    return _shipped()[0] if path is None else _thresholds(path)


@lru_cache(maxsize=1)
def _shipped() -> tuple[TrackingSettings, OutcomeSettings]:
    """Return what the program's own file says, from the cache where it is unchanged."""
    path = data_dir("rules") / FILE
    return remembered("tracking", [path], "", lambda: (_thresholds(path), _outcomes(path)))


def _thresholds(path: Path) -> TrackingSettings:
    return TrackingSettings(**_values(TrackingSettings, "thresholds", path))


def _outcomes(path: Path) -> OutcomeSettings:
    return OutcomeSettings(**_values(OutcomeSettings, "outcomes", path))


def load_outcome_settings(path: Path | None = None) -> OutcomeSettings:
    """Return when advice has worked, and how far a rule's own record is believed.

    Raises:
        RuleError: an entry is missing, unknown or wrong; with its place.
    """
    return _shipped()[1] if path is None else _outcomes(path)


def _values(
    kind: type[TrackingSettings | OutcomeSettings], section: str, path: Path
) -> dict[str, Any]:
    document = load(path)
    document.refuse_unknown(_SECTIONS)
    entries = document.mapping(section)
    kinds = {field.name: field.type for field in fields(kind)}
    entries.refuse_unknown(kinds)
    return {
        name: _whole(entries.mapping(name)) if of == _WHOLE else read_number(entries.mapping(name))
        for name, of in kinds.items()
    }


def read_number(entry: MappingNode) -> float:
    """Return a number in SI units that a file gives with its unit and source."""
    entry.refuse_unknown(("value", "unit", "source"))
    entry.text("source")
    unit = parse_unit(entry.text("unit"), at=entry["unit"].at)
    value = entry.number("value") * float(unit.scale)
    if value < 0:
        raise entry["value"].unexpected("a number that is not negative")
    return value


def _whole(entry: MappingNode) -> int:
    value = read_number(entry)
    if not value.is_integer():
        raise RuleError("nights are counted in whole numbers", at=entry["value"].at)
    return int(value)
