"""From the database to one Report: read the views, ask the rules, compose."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PureWindowsPath

from advisor.commands import program
from advisor.records import dataclass
from advisor.reports.record import advice, placements
from advisor.reports.record.charted import ChartCeiling, Plane, Roofline
from advisor.reports.record.conditions import conditions
from advisor.reports.record.kernel_records import KernelRecord
from advisor.reports.record.kernels import Said, fact_sheet, kernel
from advisor.reports.record.records import Provenance, Report, RunRecord
from advisor.reports.record.rows import Row, text, whole
from advisor.reports.record.run_advice import RunAdvice, advice_of_run, vendor_findings
from advisor.reports.record.source import ReportSource
from advisor.reports.record.verdict import verdict
from advisor.version import __version__

_LABELS = ("label", "configuration", "commit", "branch", "host")
_MOST_SKIPPED = 20


def build_report(source: ReportSource) -> Report:
    """Return the report of a run by the rules of its source."""
    rows = source.rows
    charts, advised, sums = _charts(source), advice_of_run(source), source.totals
    kernels = _kernels(source, advised)
    return Report(
        run=_run(source.run, rows),
        verdict=verdict(rows, sums, advised.actions, advised.collect, source.judgement),
        duration=sums.duration,
        t_sol=sums.least,
        wasted_time=sums.wasted,
        actions=advised.actions,
        more_actions=advised.more_actions,
        left_alone=advice.left_alone(kernels, advised.further, sums.duration),
        not_judged=advice.not_judged(kernels, sums.duration),
        collect=advised.collect,
        conditions=conditions(source.run, rows, source.devices, source.judgement, source.words),
        device=source.device,
        ceilings=charts.ceilings,
        rooflines=charts.rooflines,
        plane=charts.plane,
        kernels=kernels,
        provenance=_provenance(source, charts.ceilings),
        skipped=_skipped(source.run),
        suppressed=advised.suppressed,
        findings=advised.findings,
        rejudged=advised.rejudged,
    )


@dataclass(frozen=True, kw_only=True)
class _Charts:
    """What the charts show."""

    ceilings: tuple[ChartCeiling, ...]
    rooflines: tuple[Roofline, ...]
    plane: Plane | None


def _charts(source: ReportSource) -> _Charts:
    rows, device, simulated = source.rows, source.device, source.is_simulated
    limits = placements.ceilings(rows, source.ceilings)
    charts = placements.rooflines(
        rows, limits, source.judgement, device=device, simulated=simulated
    )
    plane = placements.plane(rows, charts, device=device, simulated=simulated)
    return _Charts(ceilings=limits, rooflines=charts, plane=plane)


def _kernels(source: ReportSource, advised: RunAdvice) -> tuple[KernelRecord, ...]:
    vendor = vendor_findings(source.connection, source.request.run_id)
    spoken: dict[str, list[int]] = defaultdict(list)
    for action in advised.actions:
        for name in action.kernels:
            spoken[name.id].append(action.number)
    sheet = fact_sheet(source.vocabulary, source.words)
    return tuple(
        kernel(
            row,
            source.names[variant],
            sheet,
            every=source.request.every_fact,
            said=Said(
                results=advised.results.get(variant, ()),
                vendor=vendor.get(variant, ()),
                actions=tuple(dict.fromkeys(spoken[variant])),
                smaller=advised.further[variant].findings if variant in advised.further else 0,
            ),
        )
        for variant, row in source.variants.items()
    )


def _run(run: Row, rows: Sequence[Row]) -> RunRecord:
    labels = [(name, value) for name in _LABELS if (value := text(run, name)) is not None]
    if run.get("tags"):
        labels.append(("tags", ", ".join(run["tags"])))
    name = PureWindowsPath(text(run, "name") or str(run["run_id"])).name
    return RunRecord(
        run_id=str(run["run_id"]),
        title=text(run, "label") or name,
        file_name=name,
        file_hash=str(run["content_hash"]),
        file_size=whole(run, "size") or None,
        profiler=text(run, "profiler") or "unknown profiler",
        profiler_version=text(run, "profiler_version"),
        driver_version=text(run, "driver_version"),
        command_line=text(run, "command_line"),
        program=text(run, "program"),
        host=text(run, "host"),
        started_at=_moment(run.get("started_at")),
        launch_count=sum(whole(row, "launch_count") for row in rows),
        variant_count=len(rows),
        launches_excluded=sum(whole(row, "launches_excluded") for row in rows),
        simulated=bool(run["simulated"]),
        labels=tuple(labels),
    )


def _moment(value: datetime | None) -> float | None:
    return None if value is None else value.replace(tzinfo=UTC).timestamp()


def _skipped(run: Row) -> tuple[tuple[str, str], ...]:
    entries = json.loads(text(run, "skipped_reasons") or "[]")
    return tuple((str(entry["place"]), str(entry["reason"])) for entry in entries[:_MOST_SKIPPED])


def _provenance(source: ReportSource, limits: Sequence[ChartCeiling]) -> Provenance:
    request, compiled = source.request, source.compiled
    version = source.connection.execute("SELECT version_num FROM main.alembic_version").fetchone()
    sources = dict.fromkeys(
        f"{c.kind}: {c.source or 'this report'}{', low confidence' * (c.confidence == 'low')}"
        for c in limits
    )
    advisor = program(request.database)
    query = f"select * from kernels where run_id = '{request.run_id}'"
    return Provenance(
        advisor_version=__version__,
        schema_revision="unknown" if version is None else str(version[0]),
        database=request.database,
        rules=f"{len(compiled.rules)} rules, hash {compiled.digest}",
        ceilings=tuple(sources),
        report_command=f"{advisor} report {request.run_id} --html",
        query_command=f'{advisor} query "{query}"',
        written_at=request.written_at,
    )
