"""Find runs, and a few facts about the file, on a driver connection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

import duckdb

from advisor.database.connect import open_for_reading
from advisor.database.fetching import rows_of_cursor
from advisor.database.planning import plan_for
from advisor.database.records import storable
from advisor.errors import UsageError
from advisor.quoting import listed
from advisor.records import dataclass
from advisor.suggest import did_you_mean

LATEST = "latest"
NIGHT = "coalesce(run.started_at, run.ingested_at)"
"""SQL: when a run was, which is what orders runs: an old night that comes late stays old."""

_LATEST = (LATEST, "last")
_BACK = re.compile(r"(?s)(?P<name>.+)~(?P<nights>\d{1,6})")
_LEAST_COMMIT = 4  # digits of a commit that name it
_NAMED = 5  # runs that a message names
_HINT = "advisor runs list shows the runs"
_COLUMNS = (
    'run_id, name, label, configuration, branch, "commit", note, compiler, group_id, rank, tags,'
    " step_time, started_at,"
    " ingested_at, status, simulated, profiler, profiler_version, device_names, launches,"
    " launches_detailed, skipped, content_hash"
)
_VENDORS = """
    SELECT run_id, min(vendor), any_value(profiler)
    FROM main.run LEFT JOIN main.variant USING (run_id, run_number)
    LEFT JOIN main.device USING (device_id)
    WHERE run_id IN ({runs}) GROUP BY run_id
"""
_NEWEST_FIRST = f"ORDER BY {NIGHT} DESC, run_id DESC"


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """What one needs to know to choose a run; times are UTC without a zone."""

    run_id: str
    name: str | None
    label: str | None
    configuration: str | None
    branch: str | None
    commit: str | None
    note: str | None
    compiler: str | None
    group_id: str | None
    rank: int | None
    tags: list[str] | None
    step_time: float | None
    started_at: datetime | None
    ingested_at: datetime
    status: str
    simulated: bool
    profiler: str | None
    profiler_version: str | None
    device_names: str | None
    launches: int
    launches_detailed: int
    skipped: int
    content_hash: str

    @property
    def night(self) -> datetime:
        """When the run was: what orders runs."""
        return self.started_at or self.ingested_at


def list_runs(connection: duckdb.DuckDBPyConnection, limit: int | None = None) -> list[StoredRun]:
    """Return the runs, the newest night first, at most ``limit`` of them."""
    return _runs(connection, "LIMIT $limit", {"limit": limit})


def get_runs(connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]) -> dict[str, StoredRun]:
    """Return those of the runs that are stored, by their ids."""
    wanted = "WHERE list_contains(string_split($wanted, ' '), run_id)"
    return {run.run_id: run for run in _runs(connection, wanted, {"wanted": " ".join(run_ids)})}


def get_vendors(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the maker of each run's device and the profiler, as far as they are known."""
    rows = connection.execute(_VENDORS.format(runs=listed(run_ids))).fetchall()
    return {run_id: (vendor, profiler) for run_id, vendor, profiler in rows}


def find_run(connection: duckdb.DuckDBPyConnection, wanted: str = LATEST) -> StoredRun:
    """Return the run that ``wanted`` names.

    That is ``latest`` or ``last``; a label or a branch: its newest run; a commit or the beginning
    of one: its newest run; the beginning of an id. Behind each ``~7`` goes seven runs back in the
    history of the run: among those of its branch and its rank, measured like it.

    Raises:
        UsageError: there is none, or several are meant.
    """
    back = _BACK.fullmatch(wanted)
    if back is None or _runs(connection, "WHERE label = $wanted", {"wanted": storable(wanted)}):
        return _named(connection, wanted)
    return _earlier(connection, _named(connection, back["name"]), int(back["nights"]), wanted)


def other_run(connection: duckdb.DuckDBPyConnection, wanted: str, run: StoredRun) -> StoredRun:
    """Return the run that ``wanted`` names, to set beside another; beside itself nothing moves.

    Raises:
        UsageError: there is none, several are meant, or it is the run itself.
    """
    found = find_run(connection, wanted)
    if found.run_id == run.run_id:
        problem = f"{wanted!r} is the run itself, {run.run_id}"
        raise UsageError(problem, hint=f"{wanted}~1 is the night before")
    return found


@contextmanager
def open_run(
    database: str, run: str, *, wait: float
) -> Iterator[tuple[duckdb.DuckDBPyConnection, StoredRun]]:
    """Yield a connection that may only read, and the run that ``run`` names.

    Raises:
        UsageError: there is no such run.
        DatabaseError: the database cannot be opened.
    """
    with open_for_reading(database, wait) as connection:
        found = find_run(connection, run)
        plan_for(connection, found.launches)
        yield connection, found


def _named(connection: duckdb.DuckDBPyConnection, wanted: str) -> StoredRun:
    if wanted in _LATEST:
        found = list_runs(connection, limit=1)
        if not found:
            hint = "advisor ingest PROFILE stores one"
            raise UsageError("the database holds no run", hint=hint)
        return found[0]
    name = {"wanted": storable(wanted)}
    by_id = _runs(connection, "WHERE starts_with(run_id, $wanted)", name)
    if exact := [run for run in by_id if run.run_id == wanted]:
        return exact[0]
    labelled = _runs(connection, "WHERE label = $wanted", name)[:1]
    on_branch = _runs(connection, "WHERE branch = $wanted", name)[:1]
    if found := labelled + on_branch:
        return _only(wanted, found)
    if found := _of_commit(connection, wanted) + by_id:
        return _only(wanted, found)
    raise UsageError(f"there is no run {wanted!r}", hint=_did_you_mean(connection, wanted))


def _of_commit(connection: duckdb.DuckDBPyConnection, wanted: str) -> list[StoredRun]:
    """Return the newest run of each commit that begins so, or that is the beginning of it."""
    if len(wanted) < _LEAST_COMMIT:
        return []
    clause = (
        'WHERE starts_with("commit", $wanted)'
        ' OR length("commit") >= $least AND starts_with($wanted, "commit")'
    )
    runs = _runs(connection, clause, {"wanted": storable(wanted), "least": _LEAST_COMMIT})
    newest: dict[str | None, StoredRun] = {}
    for run in runs:
        newest.setdefault(run.commit, run)
    exact = newest.get(wanted)
    return list(newest.values()) if exact is None else [exact]


def _only(wanted: str, found: list[StoredRun]) -> StoredRun:
    """Return the one run that was found.

    Raises:
        UsageError: there are several.
    """
    known = {run.run_id: run for run in found}
    if len(known) == 1:
        return found[0]
    named = ", ".join(_labelled(run) for run in list(known.values())[:_NAMED])
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    raise UsageError(f"{wanted!r} means several runs: {named}{more}", hint=_HINT)


def _labelled(run: StoredRun) -> str:
    words = (
        ("label", run.label),
        ("branch", run.branch),
        ("commit", run.commit and run.commit[:10]),
    )
    labels = ", ".join(f"{name} {value}" for name, value in words if value)
    return f"{run.run_id} ({labels})" if labels else run.run_id


def _earlier(
    connection: duckdb.DuckDBPyConnection, run: StoredRun, nights: int, wanted: str
) -> StoredRun:
    """Return the run that many runs before one, of its branch, its rank, and measured like it."""
    clause = (
        "WHERE branch IS NOT DISTINCT FROM $branch AND simulated = $simulated"
        f" AND rank IS NOT DISTINCT FROM $rank AND ({NIGHT}, run_id) <= ($night, $run_id)"
    )
    asked: dict[str, object] = {"branch": run.branch, "simulated": run.simulated, "rank": run.rank}
    asked |= {"night": run.night, "run_id": run.run_id}
    found = _runs(connection, clause, asked, place=nights)
    if not found:
        query = f"SELECT count(*) - 1 FROM run {clause}"
        (before,) = connection.execute(query, asked).fetchall()[0]
        of_branch = f" of branch {run.branch}" if run.branch else ""
        problem = f"there is no run {wanted!r}: before {run.run_id} are {before}{of_branch}"
        raise UsageError(problem, hint=_HINT)
    return found[0]


def run_details(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, object]:
    """Return every column of a run by name, in the order of the table.

    Raises:
        UsageError: there is no such run.
    """
    found = details_of_runs(connection, [run_id])
    if not found:
        raise UsageError(f"there is no run {run_id!r}", hint=_HINT)
    return found[run_id]


def details_of_runs(
    connection: duckdb.DuckDBPyConnection, run_ids: Iterable[str]
) -> dict[str, dict[str, object]]:
    """Return the same of several runs, by their ids; what is no run is left out."""
    cursor = connection.execute(f"SELECT * FROM run WHERE run_id IN ({listed(run_ids)})")
    return {str(row["run_id"]): row for row in rows_of_cursor(cursor)}


def get_meta(connection: duckdb.DuckDBPyConnection, key: str) -> str | None:
    """Return a fact about the file, ``None`` where it is not known."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
    return None if row is None else str(row[0])


def _runs(
    connection: duckdb.DuckDBPyConnection,
    clause: str,
    parameters: Mapping[str, object],
    *,
    place: int | None = None,
) -> list[StoredRun]:
    """Return the runs that a clause means, the newest first; or that at a ``place``, from 0."""
    order = (clause, _NEWEST_FIRST) if clause.startswith("WHERE") else (_NEWEST_FIRST, clause)
    only = "" if place is None else f" LIMIT 1 OFFSET {place}"
    query = f"SELECT {_COLUMNS} FROM run {' '.join(order)}{only}"
    found = rows_of_cursor(connection.execute(query, dict(parameters)))
    return [StoredRun(**row) for row in found]


def _did_you_mean(connection: duckdb.DuckDBPyConnection, wanted: str) -> str:
    runs = list_runs(connection)
    known = [name for run in runs for name in (run.run_id, run.label, run.branch) if name]
    near = did_you_mean(wanted, known)
    return f"{near} {_HINT}" if near else _HINT
