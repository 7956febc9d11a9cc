"""Rows of the small tables as records: one class per table, one field per column."""

from __future__ import annotations

from datetime import datetime

from advisor.model import Launch
from advisor.records import dataclass


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """A row of ``run``; ``None`` is what a profile does not record. Times: UTC, without a zone."""

    run_id: str
    content_hash: str
    format: str
    ingested_at: datetime
    advisor_version: str
    part: int = 0
    status: str = "complete"
    name: str | None = None
    size: int | None = None
    started_at: datetime | None = None
    clock_origin: int | None = None
    clock_epoch: str | None = None
    profiler: str | None = None
    profiler_version: str | None = None
    program: str | None = None
    command_line: str | None = None
    host: str | None = None
    operating_system: str | None = None
    driver_version: str | None = None
    runtime: str | None = None
    runtime_version: str | None = None
    compiler: str | None = None
    clock_control: str | None = None
    cache_control: str | None = None
    replay_mode: str | None = None
    commit: str | None = None
    branch: str | None = None
    note: str | None = None
    configuration: str | None = None
    label: str | None = None
    tags: tuple[str, ...] = ()
    step_time: float | None = None
    group_id: str | None = None
    rank: int | None = None
    simulated: bool = False
    device_names: str | None = None
    partition: str | None = None
    launches: int = 0
    launches_detailed: int = 0
    skipped: int = 0
    skipped_reasons: str = "[]"
    rules_hash: str | None = None


@dataclass(frozen=True, kw_only=True)
class KernelRow:
    """A row of ``kernel``."""

    kernel_id: str
    name: str
    short_name: str
    normalised_name: str
    mangled_name: str | None = None


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    """A row of ``series``."""

    series_id: str
    kernel_id: str
    problem_key: str
    device_name: str | None = None
    configuration: str | None = None


@dataclass(frozen=True, kw_only=True)
class PlacedLaunch:
    """A launch as read, and where it belongs: ``launch`` but for quantities and flags.

    ``started_at`` is in seconds after the first event of its profile.
    """

    run_id: str
    launch: Launch
    kernel_id: str
    series_id: str
    variant_id: str
    launch_shape: str | None = None
    device_id: str | None = None
    device_name: str | None = None
    started_at: float | None = None


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """A row of ``finding``; gains are in seconds, shares of 1, ``values`` is a JSON object."""

    run_id: str
    rule_id: str
    rule_hash: str
    subject: str
    outcome: str
    severity: str
    variant_id: str | None = None
    mechanism: str | None = None
    gain_low: float | None = None
    gain_likely: float | None = None
    gain_high: float | None = None
    cap: float | None = None
    cap_likely: float | None = None
    share_low: float | None = None
    share_likely: float | None = None
    share_high: float | None = None
    share_cap: float | None = None
    share_cap_likely: float | None = None
    confidence: float | None = None
    confidence_because: tuple[str, ...] = ()
    rank: int | None = None
    evidence: str | None = None
    because: str | None = None
    unchecked: tuple[str, ...] = ()
    values: str = "{}"


@dataclass(frozen=True, kw_only=True)
class OutcomeRow:
    """A row of ``outcome``: the outcome of advice, in seconds per launch."""

    series_id: str
    rule_id: str
    opened_run: str
    state: str
    decided_run: str | None = None
    duration_before: float | None = None
    duration_after: float | None = None
    predicted_low: float | None = None
    predicted_likely: float | None = None
    predicted_high: float | None = None
    achieved: float | None = None
    lines: str = "[]"
    level_run: str | None = None


Row = RunRow | KernelRow | SeriesRow | FindingRow | OutcomeRow
"""What ``write.insert_rows`` takes."""
