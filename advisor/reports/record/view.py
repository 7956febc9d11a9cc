"""From the database to one Report: read the views, ask the rules, compose."""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.configuration import Suppression
from advisor.errors import UsageError
from advisor.facts import Vocabulary, current, kernels_select
from advisor.profilers import Options
from advisor.reports.record import advice, placements
from advisor.reports.record.charted import ChartCeiling, Plane, Roofline
from advisor.reports.record.conditions import conditions
from advisor.reports.record.instructions import of_findings
from advisor.reports.record.judgement import Judgement
from advisor.reports.record.kernels import kernel, kernel_names
from advisor.reports.record.records import (
    Collect,
    KernelName,
    KernelRecord,
    Provenance,
    Recommendation,
    Report,
    RuleResult,
    RunFinding,
    RunRecord,
    VendorFinding,
)
from advisor.reports.record.rows import Row, fetch, number, text, whole
from advisor.reports.record.suppressed import Suppressed, suppressed
from advisor.reports.record.vendor import vendor_findings
from advisor.reports.record.verdict import totals, verdict
from advisor.reports.record.verify import measure
from advisor.reports.record.whole_run import run_findings
from advisor.rules import collect, named_launches, rank
from advisor.rules.engine.asking import asking, missing_facts
from advisor.rules.engine.compiled import Compiled
from advisor.rules.engine.evaluate import run_words
from advisor.rules.engine.findings import findings_of_run
from advisor.rules.engine.profiled import profiled
from advisor.rules.engine.records import Records, believed
from advisor.rules.engine.suppress import screen
from advisor.rules.language.words import VendorWords

if TYPE_CHECKING:
    import duckdb

VIEWS = ("runs", "devices", "ceilings")

# To plan the statement takes longer than to answer it; hence once, here.
_TAKE = ("CREATE OR REPLACE TEMP TABLE report_kernels AS SELECT * FROM (", ") WHERE run_id = ?")
_TABLE = "report_kernels"
_KERNELS = """
    SELECT * FROM report_kernels
    ORDER BY wasted_time DESC NULLS LAST, duration DESC NULLS LAST, variant_id
"""
_LABELS = ("label", "configuration", "commit", "branch", "host")
_NAMES = ("kernel_name", "short_name")
_REJUDGED = (
    "The stored findings come from other rules, facts or thresholds, so this report judges the run"
    " again; `advisor refresh {run_id}` stores the result."
)
_MOST_SKIPPED = 20
_DEFAULT_DATABASE = "advisor.duckdb"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked: a run, perhaps only some kernels or every fact; ``records`` of the rules.

    ``kernel`` is a regular expression for names; ``database`` is named in commands;
    ``written_at`` is in seconds since 1970, and on that day (UTC) ``suppressions`` are in force.
    """

    run_id: str
    database: str
    written_at: float
    kernel: str | None = None
    every_fact: bool = False
    suppressions: tuple[Suppression, ...] = ()
    records: Records | None = None


def build_report(
    connection: duckdb.DuckDBPyConnection,
    request: Request,
    *,
    vocabulary: Vocabulary,
    compiled: Compiled,
    judgement: Judgement,
) -> Report:
    """Return the report of a run by some rules.

    ``connection`` must have the ``VIEWS`` of ``vocabulary``.

    Raises:
        UsageError: there is no such run, or no kernel of it has such a name.
    """
    run = _run_row(connection, request.run_id)
    rows = _kernel_rows(connection, request, vocabulary)
    devices, known = _devices(connection, rows)
    drawn = _drawn(run, rows, devices, known, judgement)
    names = kernel_names(rows)
    settings = compiled.of_kernels.settings
    words = run_words(connection, [request.run_id], settings)[request.run_id]
    said = _said(
        connection,
        request,
        run,
        rows,
        names,
        judgement,
        vocabulary=vocabulary,
        compiled=compiled,
        words=words,
    )
    sums = totals(rows)
    vendor = vendor_findings(connection, request.run_id)
    kernels = _kernels(rows, names, said, vendor, vocabulary, request, words)
    return Report(
        run=_run(run, rows),
        verdict=verdict(rows, sums, said.actions, said.collect, judgement),
        duration=sums.duration,
        t_sol=sums.t_sol,
        wasted_time=sums.wasted,
        actions=said.actions,
        more_actions=said.more_actions,
        left_alone=advice.left_alone(kernels, sums.duration),
        not_judged=advice.not_judged(kernels, sums.duration),
        collect=said.collect,
        conditions=conditions(run, rows, devices, judgement, words),
        device=drawn.device,
        ceilings=drawn.ceilings,
        rooflines=drawn.rooflines,
        plane=drawn.plane,
        kernels=kernels,
        provenance=_provenance(connection, request, compiled, drawn.ceilings),
        skipped=_skipped(run),
        suppressed=said.suppressed,
        findings=said.findings,
        rejudged=said.rejudged,
    )


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What the rules say about a run; ``results`` by variant, ``findings`` of the run as a whole.

    ``rejudged`` says that stored findings were passed over, where they were.
    """

    actions: tuple[Recommendation, ...]
    more_actions: int
    results: Mapping[str, tuple[RuleResult, ...]]
    collect: Collect | None
    suppressed: Suppressed | None
    findings: tuple[RunFinding, ...]
    rejudged: str


def _said(
    connection: duckdb.DuckDBPyConnection,
    request: Request,
    run: Row,
    rows: Sequence[Row],
    names: Mapping[str, KernelName],
    judgement: Judgement,
    *,
    vocabulary: Vocabulary,
    compiled: Compiled,
    words: VendorWords,
) -> _Said:
    run_id, today = request.run_id, _today(request)
    settings = compiled.of_kernels.settings
    variants = {str(row["variant_id"]): row for row in rows}
    judged_by = text(run, "rules_hash")
    reach = compiled.reach(text(run, "profiler"))
    judged = findings_of_run(
        connection,
        compiled,
        run_id,
        judged_by=judged_by,
        kernels=_TABLE,
        words=words,
        reach=reach,
    )
    screened = screen(
        [each for each in judged.evaluations if each.variant_id in variants],
        request.suppressions,
        kernel_names={variant: _names(row) for variant, row in variants.items()},
        today=today,
    )
    evaluations = believed(screened.shown, request.records or {})
    ranked, total = rank(evaluations), totals(rows).duration
    worst = of_findings(connection, run_id, evaluations, settings.instruction_views)
    actions = advice.cards(
        ranked,
        variants,
        names,
        vocabulary,
        judgement,
        total=total,
        run_id=run_id,
        worst=worst,
        measure=lambda rule, variant: measure(connection, rule, _TABLE, variant),
    )
    launches = named_launches(connection, run_id)
    options = Options() if reach is None else reach.profiler.options
    ran = profiled(text(run, "command_line"), text(run, "program"), options)
    version = text(run, "profiler_version")
    ask = asking(connection, run_id, reach, version, missing_facts(evaluations))
    collection = collect(evaluations, launches, settings.collect, ran, ask)
    return _Said(
        actions=actions,
        more_actions=len(ranked) - sum(len(action.kernels) for action in actions),
        results=advice.results(
            evaluations, ranked, rows=variants, run_id=run_id, worst=worst, asking=ask
        ),
        collect=advice.to_collect(evaluations, collection, reach),
        suppressed=suppressed(screened, variants),
        findings=run_findings(judged.evaluations, request.suppressions, today),
        rejudged="" if judged.are_stored else _REJUDGED.format(run_id=run_id),
    )


def _today(request: Request) -> date:
    return datetime.fromtimestamp(request.written_at, tz=UTC).date()


def _names(row: Row) -> tuple[str, ...]:
    return tuple(name for key in _NAMES if (name := text(row, key)) is not None)


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """What the charts show, and of which device."""

    device: str
    ceilings: tuple[ChartCeiling, ...]
    rooflines: tuple[Roofline, ...]
    plane: Plane | None


def _drawn(
    run: Row,
    rows: Sequence[Row],
    devices: Sequence[Row],
    known: Sequence[Row],
    judgement: Judgement,
) -> _Drawn:
    device, simulated = _device_name(run, devices), bool(run["simulated"])
    limits = placements.ceilings(rows, known)
    charts = placements.rooflines(rows, limits, judgement, device=device, simulated=simulated)
    plane = placements.plane(rows, charts, device=device, simulated=simulated)
    return _Drawn(device=device, ceilings=limits, rooflines=charts, plane=plane)


def _run_row(connection: duckdb.DuckDBPyConnection, run_id: str) -> Row:
    found = fetch(connection, "SELECT * FROM runs WHERE run_id = ?", [run_id])
    if not found:
        raise UsageError(f"there is no run {run_id!r}", hint="`advisor runs list` names them")
    return found[0]


def _kernel_rows(
    connection: duckdb.DuckDBPyConnection, request: Request, vocabulary: Vocabulary
) -> list[Row]:
    relations = current(connection, vocabulary, [request.run_id])
    query = kernels_select(vocabulary, relations=relations)
    connection.execute(query.join(_TAKE), [request.run_id])
    rows = fetch(connection, _KERNELS)
    return rows if request.kernel is None else named(rows, request.kernel, request.run_id)


def named(rows: Sequence[Row], kernel: str, run_id: str) -> list[Row]:
    """Return the rows of kernels that a name, a part of one, a regular expression or an id means.

    Raises:
        UsageError: it means none of the run, or is no regular expression.
    """
    try:
        pattern = re.compile(kernel)
    except re.error as error:
        problem = f"{kernel!r} is no regular expression: {error}"
        raise UsageError(problem, hint="a part of the name is enough") from error
    found = [row for row in rows if _is_meant(row, pattern, kernel)]
    if not found:
        problem = f"no kernel of run {run_id} is called {kernel!r}"
        raise UsageError(problem, hint="`advisor report` lists them")
    return found


def _is_meant(row: Row, pattern: re.Pattern[str], word: str) -> bool:
    if word in (row["variant_id"], row["kernel_id"]):
        return True
    return any(pattern.search(str(row[name] or "")) for name in ("kernel_name", "short_name"))


def _devices(
    connection: duckdb.DuckDBPyConnection, rows: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """Return the devices of some kernels, most time first, and the ceilings of the first."""
    time: dict[str, float] = defaultdict(float)
    for row in rows:
        if row["device_id"] is not None:
            time[str(row["device_id"])] += number(row, "duration") or 0.0
    ordered = sorted(time, key=lambda device: -time[device])
    devices = [
        row
        for device in ordered
        for row in fetch(connection, "SELECT * FROM devices WHERE device_id = ?", [device])
    ]
    if not ordered:
        return [], []
    return devices, fetch(connection, "SELECT * FROM ceilings WHERE device_id = ?", [ordered[0]])


def _device_name(run: Row, devices: Sequence[Row]) -> str:
    return (
        text(run, "device_names")
        or (text(devices[0], "name") if devices else None)
        or ("unknown device")
    )


def _kernels(
    rows: Sequence[Row],
    names: Mapping[str, KernelName],
    said: _Said,
    vendor: Mapping[str, tuple[VendorFinding, ...]],
    vocabulary: Vocabulary,
    request: Request,
    words: VendorWords,
) -> tuple[KernelRecord, ...]:
    spoken: dict[str, list[int]] = defaultdict(list)
    for action in said.actions:
        for name in action.kernels:
            spoken[name.id].append(action.number)
    return tuple(
        kernel(
            row,
            names[str(row["variant_id"])],
            vocabulary,
            words,
            results=said.results.get(str(row["variant_id"]), ()),
            vendor=vendor.get(str(row["variant_id"]), ()),
            actions=tuple(dict.fromkeys(spoken[str(row["variant_id"])])),
            every=request.every_fact,
        )
        for row in rows
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


def _provenance(
    connection: duckdb.DuckDBPyConnection,
    request: Request,
    compiled: Compiled,
    limits: Sequence[ChartCeiling],
) -> Provenance:
    version = connection.execute("SELECT version_num FROM main.alembic_version").fetchone()
    sources = dict.fromkeys(
        f"{c.kind}: {c.source or 'this report'}{', low confidence' * (c.confidence == 'low')}"
        for c in limits
    )
    elsewhere = request.database != _DEFAULT_DATABASE
    database = f" --db {shlex.quote(request.database)}" if elsewhere else ""
    query = " ".join(("select * from kernels where run_id =", f"'{request.run_id}'"))
    return Provenance(
        advisor_version=__version__,
        schema_revision="unknown" if version is None else str(version[0]),
        database=request.database,
        rules=f"{len(compiled.rules)} rules, hash {compiled.digest}",
        ceilings=tuple(sources),
        report_command=f"advisor{database} report {request.run_id} --html",
        query_command=f'advisor{database} query "{query}"',
        written_at=request.written_at,
    )
