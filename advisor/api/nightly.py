"""The history of a run in its report: from when on it is shown, and what it adds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.database.nights import Branch, runs_of_branch
from advisor.database.read import find_run
from advisor.errors import UsageError
from advisor.reports.record.history_settings import load_history_settings

if TYPE_CHECKING:
    import duckdb

    from advisor.database.read import StoredRun
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.kernel_nights import Charted
    from advisor.reports.record.records import Report

_FEWEST = 2  # nights, of which one can be compared with the other


def with_history(
    connection: duckdb.DuckDBPyConnection,
    report: Report,
    run: StoredRun,
    knowledge: Knowledge,
    since: str | None = None,
    *,
    charts: Charted,
) -> Report:
    """Return the report with its history, or with when there will be one.

    Raises:
        UsageError: ``since`` is no number of nights, no date, and no run before this one.
    """
    moment, baseline = _since(connection, run, since)
    branch = Branch(name=run.branch, simulated=run.simulated, until=run.run_id, nights=_FEWEST)
    if len(runs_of_branch(connection, branch)) < _FEWEST:
        return replace(report, first_night=load_history_settings().first_night)
    # The detector is imported only where there is something to detect.
    from advisor.reports.record.run_history import (
        NightsAsked,
        history_of_run,
        with_nights,
        with_paths,
    )
    from advisor.rules.engine.evaluate import run_words

    settings = knowledge.compiled.of_kernels.settings
    history = history_of_run(
        connection,
        report,
        run,
        knowledge,
        run_words(connection, [run.run_id], settings)[run.run_id],
        NightsAsked(since=moment, baseline=baseline, charts=charts),
    )
    if history is None:
        return replace(report, first_night=load_history_settings().sentences["no_earlier"])
    return replace(
        report,
        history=history,
        rooflines=tuple(with_paths(chart, history) for chart in report.rooflines),
        verdict=with_nights(report.verdict, history),
    )


def _since(
    connection: duckdb.DuckDBPyConnection, run: StoredRun, text: str | None
) -> tuple[int | datetime | None, str | None]:
    """Return a number of nights or a moment, and the run that it is of, if a run was named."""
    if text is None:
        return None, None
    if (
        text.isascii()
        and text.isdecimal()
        and len(text) <= load_history_settings().limits.night_digits
    ):
        if int(text) == 0:
            raise UsageError("--since 0: show one night at least", hint="leave it out for 30")
        return int(text), None
    moment = _moment(text)
    if moment is not None:
        return moment, None
    try:
        named = find_run(connection, text)
    except UsageError as error:
        problem = f"--since {text!r} is no number of nights, no date, and no run: {error}"
        raise UsageError(problem, hint="such as 30, 2026-01-17, or the id of a run") from error
    if named.night > run.night:
        raise UsageError(
            f"--since {text!r}: run {named.run_id} is later than run {run.run_id}",
            hint="name a run before the one that is reported",
        )
    return named.night, named.run_id


def _moment(text: str) -> datetime | None:
    """Return a date as UTC without a zone, None where the text is none."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None
