"""A database as Python programs use it: ``advisor.open(path)``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from advisor.api.shown import RunReport, RunsCompared, Table
from advisor.configuration import Configuration, load_configuration
from advisor.database.arrow import ArrowTable, arrow_table
from advisor.errors import UsageError
from advisor.escaping import utc_text

if TYPE_CHECKING:
    from advisor.ingest.batches import Ingested
    from advisor.reports.record.series_records import History, SeriesHistory

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_RUNS = "SELECT * FROM runs ORDER BY coalesce(started_at, ingested_at) DESC, run_id DESC"
_FINDINGS = "SELECT * FROM findings WHERE outcome = 'fires' ORDER BY run_id, rule_id, variant_id"
_INGESTED = {"name": str, "status": str, "run_id": str, "launches": int, "error": str}
_NIGHTS = {
    "run_id": str, "time": str, "duration": float, "kernel": str, "series_id": str,
    "launch_shape": str, "commit": str, "note": str, "verdict": str, "relative": float,
}  # fmt: skip


class Database:
    """One database file. It is opened for each call, so that others can use it in between."""

    def __init__(self, path: str | os.PathLike[str], wait: float | None = None) -> None:
        self._path = os.fspath(path)
        self._configuration: Configuration = load_configuration(
            directory=Path.cwd(), environment=os.environ
        )
        self._wait = self._configuration.wait.value if wait is None else wait
        self._is_closed = False

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_closed = True

    def ingest(
        self,
        paths: Paths,
        *,
        label: str | None = None,
        branch: str | None = None,
        commit: str | None = None,
        note: str | None = None,
        configuration: str | None = None,
        tags: Sequence[str] = (),
    ) -> Table:
        """Store profiles and return the outcome of each.

        Raises:
            InputError: every path and profile is refused.
            DatabaseError: the database cannot be opened or written.
        """
        from advisor.ingest.profiles import RunLabels, ingest_paths

        results = list(
            ingest_paths(
                self._open(),
                _listed(paths),
                labels=RunLabels(
                    label=label,
                    branch=branch,
                    commit=commit,
                    note=note,
                    configuration=configuration,
                    tags=tuple(tags),
                ),
                wait=self._wait,
                configuration=self._configuration,
            )
        )
        errors = [each.error for each in results if each.error is not None]
        if errors and len(errors) == len(results):
            raise errors[0]
        return Table(arrow_table(_INGESTED, [_outcome(each) for each in results]))

    def runs(self) -> Table:
        """Return the runs, the newest first: the view ``runs``.

        Raises:
            DatabaseError: the database cannot be opened.
        """
        return self.sql(_RUNS)

    def findings(self) -> Table:
        """Return what was found in every run: the view ``findings``, where they fire.

        Raises:
            DatabaseError: the database cannot be opened.
        """
        return self.sql(_FINDINGS)

    def report(
        self, run: str = "latest", *, kernel: str | None = None, since: str | None = None
    ) -> RunReport:
        """Return the report of a run; names are those of ``advisor report``.

        Raises:
            UsageError: there is no such run, or no such kernel in it.
            DatabaseError: the database cannot be opened.
        """
        from advisor.api.reporting import HistoryAsked, load_report

        return RunReport(
            load_report(
                self._open(),
                run,
                kernel=kernel,
                history=HistoryAsked(since=since, charts="wasteful"),
                wait=self._wait,
                configuration=self._configuration,
            )
        )

    def compare(self, base: str, head: str = "latest") -> RunsCompared:
        """Return what moved from one run to another.

        Raises:
            UsageError: there is no such run.
            DatabaseError: the database cannot be opened.
        """
        from advisor.api.comparison import compare

        return RunsCompared(
            compare(self._open(), base, head, wait=self._wait, configuration=self._configuration)
        )

    def history(self, kernel: str | None = None) -> Table:
        """Return a row for each night and series of the newest run's branch, the oldest first.

        ``kernel`` is a pattern of names, or the id of a series. ``duration`` is of one launch [s].
        Where a change begins, ``verdict`` and ``relative`` say what it is.

        Raises:
            UsageError: nothing matches.
            DatabaseError: the database cannot be opened.
        """
        from advisor.api.history import history
        from advisor.api.matching import SeriesWanted

        found = history(
            self._open(),
            SeriesWanted(kernel=kernel),
            wait=self._wait,
            configuration=self._configuration,
        )
        return Table(arrow_table(_NIGHTS, list(_nights(found))))

    def sql(self, text: str) -> Table:
        """Return the answer to one SELECT over the views that docs/schema.md names.

        It can read this one file and nothing else, and has the time and memory of ``query``.

        Raises:
            UsageError: the SQL is wrong, tries to change something, or takes too long.
            DatabaseError: the database cannot be opened.
        """
        from advisor.api.querying import query_relation

        with query_relation(
            self._open(), text, wait=self._wait, configuration=self._configuration
        ) as relation:
            return Table(ArrowTable(relation))

    def _open(self) -> str:
        if self._is_closed:
            raise UsageError("the database is closed", hint="call advisor.open again")
        return self._path


def _listed(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [os.fspath(path) for path in several]


def _outcome(each: Ingested) -> tuple[object, ...]:
    error = None if each.error is None else str(each.error)
    return each.name, each.status, each.run_id, each.launches, error


def _nights(history: History) -> Iterator[tuple[object, ...]]:
    for each in history.series:
        yield from _of_series(each)


def _of_series(each: SeriesHistory) -> Iterator[tuple[object, ...]]:
    changes = {change.index: change for change in each.result.changes}
    for place, (night, duration) in enumerate(zip(each.nights, each.durations, strict=True)):
        change = changes.get(place)
        yield (
            night.run_id,
            utc_text(night.time),
            duration,
            each.kernel,
            each.series_id,
            each.launch_shape,
            night.commit,
            night.note,
            None if change is None or change.verdict is None else str(change.verdict),
            None if change is None else change.relative,
        )
