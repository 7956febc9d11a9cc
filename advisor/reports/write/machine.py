"""The report for programs: JSON with stored units, stable ids and keys, and no NaN.

Keys are never renamed within a major version of ``schema_version``; new ones may appear. Numbers
are in SI base units: ``units`` names the unit of every number that stands outside ``facts``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from typing import Any

from advisor import escaping
from advisor.reports.record.kernel_records import KernelRecord, RuleResult, ShownFact
from advisor.reports.record.records import SCHEMA_VERSION, Report
from advisor.reports.write.history_json import history_json

UNITS: Mapping[str, str] = {
    "arithmetic_intensity": "FLOP/B",
    "arithmetic_intensity_l1": "FLOP/B",
    "arithmetic_intensity_l2": "FLOP/B",
    "compute_utilization": "1",
    "dram_bandwidth": "B/s",
    "dram_fraction": "1",
    "duration": "s",
    "duration_max": "s",
    "duration_min": "s",
    "duration_share": "1",
    "estimate": "1",
    "file_size": "B",
    "gain": "s",
    "gain_below": "1",
    "gain_share": "1",
    "memory_utilization": "1",
    "most_valuable": "s",
    "performance": "FLOP/s",
    "roof_fraction": "1",
    "roof_fraction_achievable": "1",
    "saved": "s",
    "share": "1",
    "t_sol": "s",
    "time": "s",
    "time_share": "1",
    "wasted_time": "s",
}


def json_text(report: Report) -> str:
    """Return the report as JSON."""
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "units": UNITS,
        "simulated": report.run.simulated,
        "run": {**_record(report.run), "started_at": _moment(report.run.started_at)},
        "device": report.device,
        "verdict": {
            "sentence": report.verdict.sentence,
            "paragraph": report.verdict.paragraph,
        },
        "duration": report.duration,
        "t_sol": report.t_sol,
        "wasted_time": report.wasted_time,
        "actions": report.actions,
        "more_actions": report.more_actions,
        "left_alone": report.left_alone,
        "not_judged": report.not_judged,
        "collect": report.collect,
        "suppressed": report.suppressed,
        "findings": report.findings,
        "rejudged": report.rejudged or None,
        "conditions": report.conditions,
        "ceilings": report.ceilings,
        "history": None if report.history is None else history_json(report.history),
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "skipped": [{"place": place, "reason": reason} for place, reason in report.skipped],
        "provenance": {
            **_record(report.provenance),
            "written_at": _moment(report.provenance.written_at),
        },
    }
    return escaping.json_document(document, default=_record) + "\n"


def _kernel(kernel: KernelRecord) -> dict[str, Any]:
    own = _record(kernel)
    own["facts"] = {
        fact.name: _fact(fact) for group in kernel.facts for fact in group.facts if fact.name
    }
    own["findings"] = [_result(kernel, result) for result in kernel.results]
    del own["results"]
    return own


def _fact(fact: ShownFact) -> dict[str, Any]:
    return {
        "label": fact.label,
        "value": fact.value,
        "unit": "1" if fact.unit == "share" else fact.unit,
        "kind": fact.kind,
    }


def _result(kernel: KernelRecord, result: RuleResult) -> dict[str, Any]:
    return {"id": f"{kernel.id}:{result.rule_id}", **_record(result)}


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="seconds")


def _record(value: Any) -> dict[str, Any]:
    """Return the fields of a record, as they are; what is a mapping of another kind as a dict."""
    if isinstance(value, Mapping):
        return dict(value)
    names, values = _fields(value.__class__)
    return dict(zip(names, values(value), strict=True))


@cache
def _fields(kind: Any) -> tuple[tuple[str, ...], Callable[[object], tuple[object, ...]]]:
    """Return the names of a record's fields, and what reads them."""
    names = tuple(kind.__dataclass_fields__)
    if len(names) > 1:
        return names, attrgetter(*names)
    return names, lambda record: tuple([getattr(record, name) for name in names])
