"""A history as plain values for JSON: durations in seconds, shares as ratios, unknown as None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.escaping import utc_text

if TYPE_CHECKING:
    from advisor.reports.record.series_records import (
        AcceptedLevel,
        History,
        HistoryNight,
        MachineMoved,
        SeriesHistory,
    )
    from advisor.tracking.records import Change

SCHEMA_VERSION = 1


def as_json(history: History) -> dict[str, object]:
    """Return plain values; ``values`` of a series are pairs of a night, from 0, and seconds."""
    numbers = {night.run_id: number for number, night in enumerate(history.nights)}
    since = history.shown_since
    return {
        "schema_version": SCHEMA_VERSION,
        "branch": history.branch,
        "simulated": history.is_simulated,
        "since": None if since is None else utc_text(since),
        "nights": [_night(night) for night in history.nights],
        "series": [_series(each, history, numbers) for each in history.series],
        "alike": [
            {"series": one.series_id, "continued_by": one.continued_by, "because": one.because}
            for one in history.alike
        ],
        "machine": _machine(history.machine),
        "notes": list(history.notes),
    }


def _machine(moved: MachineMoved | None) -> dict[str, object] | None:
    if moved is None:
        return None
    return {
        "run": moved.night.run_id,
        "time": utc_text(moved.night.time),
        "relative": moved.relative,
        "moved": moved.moved,
        "series": moved.series,
    }


def _night(night: HistoryNight) -> dict[str, object]:
    return {
        "run": night.run_id,
        "time": utc_text(night.time),
        "commit": night.commit,
        "note": night.note,
        "environment": night.environment,
        "changed": list(night.changed),
        "started_over": list(night.started_over),
    }


def _series(each: SeriesHistory, history: History, numbers: dict[str, int]) -> dict[str, object]:
    result = each.result
    newest = result.newest
    return {
        "series": each.series_id,
        "kernel": each.kernel,
        "kernel_name": each.kernel_name,
        "problem": each.problem,
        "device": each.device,
        "configuration": each.configuration,
        "launch_shapes": list(each.launch_shapes),
        "better": "lower",
        "nights": result.nights,
        "first": utc_text(each.nights[0].time),
        "last": utc_text(each.newest_night.time),
        "missing": each.is_missing,
        "noise": result.noise,
        "calibrated_noise": each.calibrated_noise,
        "changes": [
            {
                **change_json(each, change),
                "accepted": _accepted_because(each, change),
                "cause": history.cause(each, change),
            }
            for change in history.shown_changes(each)
        ],
        "newest": {
            "verdict": newest.verdict,
            **_moment(each, newest.index),
            "relative": newest.relative,
            "p_value": newest.p_value,
        },
        "accepted": [_accepted(each, level) for level in each.accepted],
        "splits": [_moment(each, index) for index in each.splits],
        "values": [
            [numbers[night.run_id], duration]
            for night, duration in zip(each.nights, each.durations, strict=True)
            if history.is_shown(night)
        ],
    }


def change_json(each: SeriesHistory, change: Change) -> dict[str, object]:
    """Return a change with the run, commit and time that it began with."""
    return {
        "kind": change.kind,
        **_moment(each, change.index),
        "end_index": change.end_index,
        "end_time": utc_text(each.nights[change.end_index].time),
        "before": change.before,
        "after": change.after,
        "relative": change.relative,
        "p_value": change.p_value,
        "verdict": change.verdict,
    }


def _moment(each: SeriesHistory, index: int | None) -> dict[str, object]:
    night = None if index is None else each.nights[index]
    return {
        "index": index,
        "time": None if night is None else utc_text(night.time),
        "run": None if night is None else night.run_id,
        "commit": None if night is None else night.commit,
    }


def _accepted(each: SeriesHistory, level: AcceptedLevel) -> dict[str, object]:
    return {**_moment(each, level.index), "at": level.run_id, "because": level.because}


def _accepted_because(each: SeriesHistory, change: Change) -> str | None:
    level = each.accepted_level(change)
    return None if level is None else level.because
