"""The conditions strip: what must match before two runs may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from advisor import wording
from advisor.reports.record.judgement import Judgement
from advisor.reports.record.records import Condition
from advisor.reports.record.rows import Row, flag, number, text, whole
from advisor.rules.language.words import VendorWords
from advisor.wording import UNKNOWN

_NOT_TOLD = "not in the profile"


def conditions(
    run: Row, rows: Sequence[Row], devices: Sequence[Row], judgement: Judgement, words: VendorWords
) -> tuple[Condition, ...]:
    """Return at most twelve conditions; ``rows`` are the kernels, ``devices`` those they ran on."""
    units, memory = words.terms["UNITS"], words.terms["DEVICE_MEMORY"]
    found = [
        _device(run, devices),
        _part(rows, words),
        _clock(f"clock, {units}", "sm_clock", rows, number_of(devices, "boost_clock")),
        _clock(f"clock, {memory}", "dram_clock", rows, None),
        _spread(rows, judgement.slow_clock),
        _clock_control(run),
        _profiler(run, rows),
        _driver(run),
        _cache_control(run),
        Condition(label="power, throttling", value=UNKNOWN, note=_NOT_TOLD),
        _completeness(run, rows),
        _pruned(run),
    ]
    return tuple(condition for condition in found if condition is not None)


def number_of(devices: Sequence[Row], name: str) -> float | None:
    """Return a figure of the first device."""
    return number(devices[0], name) if devices else None


def _device(run: Row, devices: Sequence[Row]) -> Condition:
    named = text(run, "device_names") or UNKNOWN
    if not devices:
        return Condition(label="device", value=named, note="peaks from the profile alone")
    first = devices[0]
    capability = number(first, "compute_capability")
    notes = [f"CC {capability:.1f}"] if capability is not None else []
    if units := number(first, "unit_count"):
        notes.append(f"{wording.fixed(units)} {text(first, 'unit_kind') or 'units'}")
    if text(first, "origin") == "report":
        unlisted = "not in the device list, " if text(run, "device_names") else ""
        notes.append(f"{unlisted}peaks from the profile alone")
    if text(first, "confidence") == "low":
        notes.append("specifications uncertain")
    return Condition(
        label="device" if len(devices) == 1 else f"devices, {len(devices)}",
        value=named,
        note=", ".join(notes),
        departs=len(devices) > 1,
    )


def _part(rows: Sequence[Row], words: VendorWords) -> Condition | None:
    """Return how much of the device the kernels could use, None where all of them had all of it."""
    parts = [row for row in rows if flag(row, "partial_device")]
    if not parts:
        return None
    smallest = min(parts, key=lambda row: number(row, "sm_share") or 0)
    units, share = number(smallest, "sm_count"), number(smallest, "sm_share")
    memory = number(smallest, "memory_share")
    known = UNKNOWN if memory is None else wording.share(memory)
    notes = [f"{known} of the memory bandwidth", "roofs are those of this part"]
    if len(parts) < len(rows):
        notes.append(f"{wording.fixed(len(parts))} of {wording.count(len(rows), 'kernel')}")
    return Condition(
        label="green context" if number(smallest, "green_context") else "part of the device",
        value=f"{wording.fixed(units)} {words.terms['UNITS']}, {wording.share(share)}",
        note=", ".join(notes),
        departs=True,
    )


def _clock(label: str, name: str, rows: Sequence[Row], nominal: float | None) -> Condition:
    """Return a measured clock, the mean over the time of the kernels."""
    timed = [
        (clock, duration)
        for row in rows
        if (clock := number(row, name)) and (duration := number(row, "duration"))
    ]
    if not timed:
        return Condition(label=label, value=UNKNOWN, note=_NOT_TOLD)
    total = sum(duration for _, duration in timed)
    mean = sum(clock * duration for clock, duration in timed) / total
    notes = [] if nominal is None else [f"nominal boost {wording.si(nominal, 'Hz', 4)}"]
    if len(timed) < len(rows):
        whole_time = sum(number(row, "duration") or 0.0 for row in rows)
        notes.append(f"of kernels that take {wording.share(total / whole_time)} of the time")
    return Condition(
        label=label, value=f"{wording.si(mean, 'Hz', 4)} measured", note=", ".join(notes)
    )


def _spread(rows: Sequence[Row], least: float) -> Condition:
    ratios = [ratio for row in rows if (ratio := number(row, "sm_clock_ratio")) is not None]
    slow = [ratio for ratio in ratios if ratio < least]
    if not ratios:
        return Condition(label="clock spread", value=UNKNOWN, note=_NOT_TOLD)
    if not slow:
        return Condition(
            label="clock spread",
            value=f"within {wording.share(1 - least)}",
            note=f"over {_all_of(len(ratios), len(rows))}",
        )
    return Condition(
        label="clock spread",
        value=f"{wording.fixed(len(slow))} of {wording.fixed(len(ratios))} kernels differ",
        note=f"down to {wording.share(min(slow))} of the largest; each kernel has its own roof",
        departs=True,
    )


def _all_of(part: int, kernels: int) -> str:
    if part == kernels:
        return "all kernels"
    return f"{wording.fixed(part)} of {wording.count(kernels, 'kernel')}"


def _clock_control(run: Row) -> Condition:
    control = text(run, "clock_control")
    if control is None:
        return Condition(label="clock control", value=UNKNOWN, note=_NOT_TOLD)
    free = control.lower() in ("none", "0", "false", "boost")
    note = "clocks not locked" if free else "locked by the profiler"
    return Condition(label="clock control", value=control, note=note, departs=free)


def _profiler(run: Row, rows: Sequence[Row]) -> Condition:
    name = text(run, "profiler") or UNKNOWN
    version = text(run, "profiler_version") or "version unknown"
    notes = [f"{text(run, 'replay_mode')} replay"] if text(run, "replay_mode") else []
    launches, detailed = (
        sum(whole(row, column) for row in rows) for column in ("launch_count", "launches_detailed")
    )
    if detailed < launches:
        read = f"{wording.fixed(detailed)} of {wording.count(launches, 'launch')}"
        notes.append(f"instructions, curves and vendor's findings of {read}")
    return Condition(label="profiler", value=f"{name} {version}", note=", ".join(notes))


def _driver(run: Row) -> Condition:
    driver, version = text(run, "driver_version"), text(run, "runtime_version")
    if driver is None and version is None:
        return Condition(label="driver", value=UNKNOWN, note=_NOT_TOLD)
    library = text(run, "runtime") or "run-time library"
    return Condition(
        label="driver", value=driver or UNKNOWN, note=f"{library} {version or UNKNOWN}"
    )


def _cache_control(run: Row) -> Condition:
    control = text(run, "cache_control")
    if control is None:
        return Condition(label="cache control", value=UNKNOWN, note=_NOT_TOLD)
    kept = control.lower() in ("none", "0", "false")
    note = "caches stay warm between kernels" if kept else "caches flushed before each kernel"
    return Condition(label="cache control", value=control, note=note)


def _time_line(step_time: float | None) -> Condition:
    if step_time is None:
        return Condition(label="timeline", value="none", note="gaps between kernels are unknown")
    step = f"a step takes {wording.seconds(step_time)}, as given"
    return Condition(label="timeline", value="none", note=step)


def _completeness(run: Row, rows: Sequence[Row]) -> Condition:
    skipped, excluded = whole(run, "skipped"), sum(whole(row, "launches_excluded") for row in rows)
    if text(run, "status") == "partial":
        note = "only its complete part was read"
        return Condition(label="profile", value="cut off", note=note, departs=True)
    if not skipped and not excluded:
        return _time_line(number(run, "step_time"))
    notes = [f"{wording.count(excluded, 'launch')} not in the totals"] if excluded else []
    notes += [f"{wording.count(skipped, 'part')} left out"] if skipped else []
    return Condition(
        label="profile", value="incomplete", note=", ".join(notes), departs=bool(excluded)
    )


def _pruned(run: Row) -> Condition | None:
    """Return when the run lost what single launches were, None where it did not."""
    when = run.get("pruned_at")
    if not isinstance(when, datetime):
        return None
    note = "single launches, raw counters and values per instruction were dropped"
    return Condition(label="pruned", value=f"{when:%Y-%m-%d}", note=note, departs=True)
