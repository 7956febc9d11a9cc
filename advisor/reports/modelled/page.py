"""A model's answer as one HTML page that opens offline, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.records import dataclass
from advisor.reports.modelled.ceilings import ceiling_label
from advisor.reports.modelled.charts import (
    Waterfall,
    drawings,
    memories,
    waterfall,
    works,
)
from advisor.reports.modelled.sentences import (
    crossing,
    device_sentence,
    model_facts,
    remark,
    step_sentence,
)
from advisor.reports.record.layout import layout
from advisor.reports.write.environment import environment
from advisor.reports.write.render import script_digest

if TYPE_CHECKING:
    from advisor.modelling.results import DeviceResult, Modelled, OperationResult, SweepRow
    from advisor.reports.charts.drawing import Drawing

MOST_SWEPT = 40


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """A line of the table of kernels: the kernel, its share of the pass, and remarks."""

    id: str
    kernel: OperationResult
    time_share: float
    resource: str
    remark: str


@dataclass(frozen=True, kw_only=True)
class Rated:
    """A ceiling that applies; ``value`` in ``unit``."""

    label: str
    value: float
    unit: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A device's part of the page."""

    id: str
    result: DeviceResult
    sentence: str
    drawings: tuple[Drawing, ...]
    rows: tuple[ModelRow, ...]
    ceilings: tuple[Rated, ...]
    waterfall: Waterfall | None
    steps: str
    swept: tuple[SweepRow, ...]
    swept_in_all: int
    crossings: tuple[str, ...]


def html(found: Modelled) -> str:
    """Return the answer as one page that needs no network, no file beside it, and no script."""
    writer = environment(None, autoescape=True)
    return writer.get_template("model.html.j2").render(
        found=found,
        facts=tuple(model_facts(found)),
        panels=panels(found),
        script_digest=script_digest(writer),
    )


def markdown(found: Modelled) -> str:
    """Return the answer as Markdown: tables, no pictures."""
    writer = environment(None, autoescape=False)
    return writer.get_template("model.md.j2").render(
        found=found,
        facts=tuple(model_facts(found)),
        panels=panels(found),
        notes=layout().notes,
    )


def panels(found: Modelled) -> tuple[Panel, ...]:
    """Return a panel per device."""
    return tuple(_panel(result, number) for number, result in enumerate(found.results, start=1))


def _panel(result: DeviceResult, number: int) -> Panel:
    sweep = result.sweep
    rows = () if sweep is None else sweep.rows
    every = max(1, -(-len(rows) // MOST_SWEPT))
    return Panel(
        id=f"m{number}",
        result=result,
        sentence=device_sentence(result),
        drawings=drawings(result, number),
        rows=tuple(
            _row(result, f"m{number}-{i}", each) for i, each in enumerate(result.operations)
        ),
        ceilings=_ceilings(result),
        waterfall=waterfall(result),
        steps=step_sentence(result) if result.steps else "",
        swept=rows[::every],
        swept_in_all=len(rows),
        crossings=() if sweep is None else tuple(crossing(x, sweep.size) for x in sweep.crossings),
    )


def _row(result: DeviceResult, key: str, each: OperationResult) -> ModelRow:
    return ModelRow(
        id=key,
        kernel=each,
        time_share=each.time / result.total.time,
        resource=ceiling_label(each.binding_resource),
        remark=remark(each),
    )


def _ceilings(result: DeviceResult) -> tuple[Rated, ...]:
    named = [(name, "B/s") for name in memories(result)]
    named += [(name, "FLOP/s") for name in works(result)]
    return tuple(
        Rated(label=ceiling_label(name), value=result.rated[name], unit=unit)
        for name, unit in named
    )
