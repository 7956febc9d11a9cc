"""What the database holds of a run that is reported, and what the run is judged by."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from advisor.configuration import Suppression
from advisor.database.facts_table import FactsTable
from advisor.errors import UsageError
from advisor.facts import Vocabulary, current
from advisor.records import dataclass
from advisor.reports.record.judgement import Judgement
from advisor.reports.record.kernel_naming import kernel_names
from advisor.reports.record.kernel_records import KernelName
from advisor.reports.record.rows import Row, fetch, number, text
from advisor.reports.record.verdict import Totals, totals
from advisor.rules.engine.compiled import Compiled, facts_of_kernels
from advisor.rules.engine.evaluate import run_words
from advisor.rules.engine.rank import Records
from advisor.rules.language.words import VendorWords

if TYPE_CHECKING:
    import duckdb

VIEWS = ("runs", "devices", "ceilings")
_TABLE = "report_kernels"


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

    @property
    def today(self) -> date:
        """Return the day on which the report is written."""
        return datetime.fromtimestamp(self.written_at, tz=UTC).date()


@dataclass(frozen=True, kw_only=True)
class ReportSource:
    """A run as its database holds it, and what it is judged by.

    ``kernels`` has the facts of its kernels; ``rows`` are they by wasted time, ``names`` what to
    call them, by variant. ``devices`` are those that the kernels ran on, most time first,
    ``ceilings`` the limits of the first. ``words`` are those of the device's vendor.
    """

    connection: duckdb.DuckDBPyConnection
    request: Request
    vocabulary: Vocabulary
    compiled: Compiled
    judgement: Judgement
    run: Row
    kernels: FactsTable
    rows: Sequence[Row]
    names: Mapping[str, KernelName]
    devices: Sequence[Row]
    ceilings: Sequence[Row]
    words: VendorWords

    @cached_property
    def totals(self) -> Totals:
        """Return the sums over the kernels."""
        return totals(self.rows)

    @cached_property
    def variants(self) -> Mapping[str, Row]:
        """Return the kernels by variant."""
        return {str(row["variant_id"]): row for row in self.rows}

    @property
    def device(self) -> str:
        """Return what the device is called."""
        first = text(self.devices[0], "name") if self.devices else None
        return text(self.run, "device_names") or first or "unknown device"

    @property
    def is_simulated(self) -> bool:
        """Return whether nobody measured what the run says."""
        return bool(self.run["simulated"])


def read_source(
    connection: duckdb.DuckDBPyConnection,
    request: Request,
    *,
    vocabulary: Vocabulary,
    compiled: Compiled,
    judgement: Judgement,
) -> ReportSource:
    """Return what is known of a run; ``connection`` must have the ``VIEWS`` of ``vocabulary``.

    Raises:
        UsageError: there is no such run, or no kernel of it has such a name.
    """
    run_id = request.run_id
    run = _run_row(connection, run_id)
    relations = current(connection, compiled.vocabulary, [run_id])
    # To plan the statement takes longer than to answer it; hence once, here.
    kernels = facts_of_kernels(connection, compiled, [run_id], relations, name=_TABLE, every=True)
    rows = _kernel_rows(kernels, request)
    devices, ceilings = _devices(connection, rows)
    return ReportSource(
        connection=connection,
        request=request,
        vocabulary=vocabulary,
        compiled=compiled,
        judgement=judgement,
        run=run,
        kernels=kernels,
        rows=rows,
        names=kernel_names(rows),
        devices=devices,
        ceilings=ceilings,
        words=run_words(connection, [run_id], compiled.of_kernels.settings)[run_id],
    )


def _run_row(connection: duckdb.DuckDBPyConnection, run_id: str) -> Row:
    found = fetch(connection, "SELECT * FROM runs WHERE run_id = ?", [run_id])
    if not found:
        raise UsageError(f"there is no run {run_id!r}", hint="`advisor runs list` names them")
    return found[0]


def _kernel_rows(kernels: FactsTable, request: Request) -> list[Row]:
    rows: list[Row] = sorted(kernels.rows(), key=_by_waste)
    return rows if request.kernel is None else named(rows, request.kernel, request.run_id)


def _by_waste(row: Row) -> tuple[bool, float, bool, float, str]:
    """Return what sorts kernels: most wasted time first, then the longest; unknown ones last."""
    wasted, duration = row["wasted_time"], row["duration"]
    known = wasted is None, -(wasted or 0.0), duration is None, -(duration or 0.0)
    return *known, row["variant_id"]


def named(rows: Sequence[Row], kernel: str, run_id: str) -> list[Row]:
    """Return the rows of kernels that a name, a part of one, a regular expression or an id means.

    Who writes a whole name means that kernel, whatever it would mean as an expression.

    Raises:
        UsageError: it means none of the run, or is no regular expression.
    """
    whole = [row for row in rows if kernel in (row["kernel_name"], row["short_name"])]
    if whole:
        return whole
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
