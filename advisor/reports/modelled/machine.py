"""A model's answer for programs: JSON and rows of CSV. What is not known is null, never NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from advisor import escaping
from advisor.reports.modelled.sentences import remark

if TYPE_CHECKING:
    from advisor.modelling.results import (
        DeviceResult,
        Modelled,
        OperationResult,
        StepResult,
        Sweep,
        Total,
    )

_OPERATION = (
    "name", "operation", "work", "repeat", "flops", "bytes", "time", "arithmetic_intensity",
    "no_bytes", "ridge_point", "bound", "binding_resource", "attainable", "share_of_peak",
    "share_of_bandwidth", "above_dram_roof", "modelled",
)  # fmt: skip
_of_operation = attrgetter(*_OPERATION)
_TOTAL = ("flops", "bytes", "time", "time_per_unit")
_STEP = ("name", *_TOTAL, "speedup", "cumulative", "rank")
_PLACE = ("device", "roof", "step", "value")


def json_text(found: Modelled) -> str:
    """Return the answer as JSON."""
    content: dict[str, Any] = {"title": found.title}
    if found.model is not None:
        content["model"] = asdict(found.model)
    content["results"] = [_result(each) for each in found.results]
    # Sweeps are long, and only the encoder without indentation is quick.
    indent = 2 if all(each.sweep is None for each in found.results) else None
    return escaping.json_text(content, indent=indent) + "\n"


def _result(found: DeviceResult) -> dict[str, Any]:
    result: dict[str, Any] = {
        "device": found.machine.device_id,
        "roof": found.roof,
        "collectives": found.collectives,
        "operations": [_operation(each) for each in found.operations],
        "total": _total(found.total),
        "steps": [_step(each) for each in found.steps],
    }
    if found.sweep is not None:
        result["sweep"] = _sweep(found.sweep)
    if found.model is not None:
        result |= asdict(found.model)
    return result


def _operation(found: OperationResult) -> dict[str, Any]:
    record = dict(zip(_OPERATION, _of_operation(found), strict=True))
    record["remark"] = remark(found)
    if found.achieved is not None:
        record["achieved"] = found.achieved
    if found.costs is not None:
        record["costs"] = {**asdict(found.costs), "modelled": True}
    return record


def _total(found: Total) -> dict[str, float]:
    return {key: getattr(found, key) for key in _TOTAL}


def _step(found: StepResult) -> dict[str, Any]:
    record = {key: getattr(found, key) for key in _STEP}
    return {**record, "operations": [_operation(each) for each in found.operations]}


def _sweep(found: Sweep) -> dict[str, Any]:
    return {
        "size": found.size,
        "rows": [
            {
                "value": row.value,
                "time": row.time,
                "time_per_unit": row.time_per_unit,
                "operations": [_operation(each) for each in row.operations],
            }
            for row in found.rows
        ],
        "crossings": [asdict(each) for each in found.crossings],
    }


def table_rows(found: Modelled) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return columns and rows: each kernel on each device, at first, after steps, in a sweep."""
    return (*_PLACE, *_OPERATION, "achieved", "remark"), _rows(found)


def _rows(found: Modelled) -> Iterator[tuple[object, ...]]:
    for result in found.results:
        place = (result.machine.device_id, result.roof)
        for each in result.operations:
            yield (*place, None, None, *_cells(each))
        for step in result.steps:
            for each in step.operations:
                yield (*place, step.name, None, *_cells(each))
        for row in result.sweep.rows if result.sweep is not None else ():
            for each in row.operations:
                yield (*place, None, row.value, *_cells(each))


def _cells(found: OperationResult) -> tuple[object, ...]:
    return (*_of_operation(found), found.achieved, remark(found))
