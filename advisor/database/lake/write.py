"""Write a part of a lake: its files under a temporary name, then its folder renamed into place.

Nobody waits for anybody: a run's folder is named after its content, and whoever comes second finds
it there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from advisor.database.lake import manifest
from advisor.database.lake.manifest import Manifest, RunName, TableFile
from advisor.database.lake.place import (
    JUDGED,
    MARK,
    MARKS,
    PACK,
    REMOVED,
    RUNS,
    SHARED,
    TEMPORARY,
    device_part,
)
from advisor.database.lake.scan import size_of
from advisor.database.lake.tables import DETAILS, Columns, columns_of
from advisor.database.lake.tables import MARKS as TABLES_OF_MARKS
from advisor.database.lake.tables import SHARED as SHARED_TABLES
from advisor.database.schema import revisions
from advisor.errors import DatabaseError, InputError, Location
from advisor.quoting import literal
from advisor.version import __version__

ROW_GROUP = 16_384
"""Rows of a row group, of which a reader skips those without its run."""

_WIDE = 65_536
"""The same of tables with a column for each quantity.

A reader first reads the description of each column of every row group, 0.4 ms for each group.
"""
_MANY = 100  # columns of such a table, at least

_STAMP = "%Y%m%dT%H%M%S%fZ"
_TICK = timedelta(microseconds=1)
_OPTIONS = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {rows})"
_CHUNK = 1024 * 1024
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
_RUN = """
    SELECT content_hash, part, device_names, launches,
        strftime(coalesce(started_at, ingested_at), '%Y-%m')
    FROM run WHERE run_id = ?
"""
_OF_RUN = {
    "kernel": "SELECT * FROM kernel SEMI JOIN (FROM variant WHERE run_id = $run) USING (kernel_id)",
    "series": "SELECT * FROM series SEMI JOIN (FROM variant WHERE run_id = $run) USING (series_id)",
}


def make_lake(root: Path) -> None:
    """Make a folder a lake, unless it is one.

    Raises:
        DatabaseError: it holds something else, or cannot be written.
    """
    place = Location(name=str(root))
    try:
        if (root / MARK).exists():
            return
        root.mkdir(parents=True, exist_ok=True)
        if any(each.name != TEMPORARY for each in root.iterdir()) and not (root / MARK).exists():
            hint = "name an empty folder, or one that is not there yet"
            raise DatabaseError("is a folder with other files in it", at=place, hint=hint)
        with _written_aside(root) as aside:
            mark = {"format": manifest.FORMAT, "advisor": __version__}
            made = aside / MARK
            made.write_text(json.dumps(mark) + "\n", encoding="utf-8")
            made.replace(root / MARK)
    except OSError as error:
        raise not_written(root, error) from error


def not_written(root: Path, error: OSError) -> DatabaseError:
    """Return what to say where a lake cannot be written."""
    hint = "what was not finished is not there; see that the disk has room, then repeat it"
    problem = f"cannot be written: {error.strerror or error}"
    return DatabaseError(problem, at=Location(name=str(root)), hint=hint)


def runs_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the ids of the runs of an open database, in the order in which they were stored."""
    query = "SELECT run_id FROM run ORDER BY ingested_at, run_id"
    return [run_id for (run_id,) in connection.execute(query).fetchall()]


def find_run(root: Path, run_id: str, name: str) -> RunName | None:
    """Return a run of a lake, None where it is not there; ``name`` is that of its folder."""
    if (root / REMOVED / name).exists():
        return None
    for partition in (root / RUNS).glob("month=*/device=*"):
        own = partition / f"run_id={run_id}" / name / manifest.NAME
        for path in (own, *partition.glob(f"{PACK}*/{manifest.NAME}")):
            with contextlib.suppress(manifest.ManifestError, OSError):
                described = manifest.parse(path.read_text(encoding="utf-8"))
                if found := [run for run in described.runs if run.name == name]:
                    return found[0]
    return None


@dataclass(frozen=True, kw_only=True)
class Unchanging:
    """What all runs of an open database share, while nobody writes to it.

    ``tables`` are files of the lake, as far as they were written.
    """

    columns: Columns
    tables: dict[str, TableFile] = field(default_factory=dict)


def add_run(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    run_id: str,
    *,
    unchanging: Unchanging | None = None,
) -> bool:
    """Write a run of an open database into a lake; return whether it was not there yet.

    ``unchanging`` is given where several runs of a database that nobody changes are added.

    Raises:
        DatabaseError: the lake cannot be written, or something half-written has the run's place.
        InputError: another run has its id.
    """
    found = connection.execute(_RUN, [run_id]).fetchone()
    if found is None:
        raise DatabaseError(f"there is no run {run_id} to add", at=Location(name=str(root)))
    content_hash, part, devices, launches, month = found
    name = RunName(run_id=run_id, content_hash=content_hash, part=part, launches=launches)
    if find_run(root, run_id, name.name) is not None:
        return False
    unchanging = unchanging or Unchanging(columns=columns_of(connection))
    columns = unchanging.columns
    queries = {table: f"SELECT * FROM {table} WHERE run_id = $run" for table in columns.of_runs()}
    shared = {name: _OF_RUN.get(name, f"SELECT * FROM {name}") for name in SHARED_TABLES}
    try:
        with writing(connection, root, columns) as part_written:
            partition = root / RUNS / f"month={month}" / f"device={device_part(devices)}"
            part_written.goes_to(partition / f"run_id={run_id}" / name.name)
            if part_written.is_there():
                return _restored(root, name)
            _refuse_other(part_written.target)
            for table, query in {**queries, **DETAILS}.items():
                part_written.add(table, query, {"run": run_id})
            for table, query in shared.items():
                if "$run" in query:
                    part_written.add(table, f"{query} ORDER BY ALL", {"run": run_id}, shared=True)
                else:
                    part_written.add_once(table, f"{query} ORDER BY ALL", unchanging.tables)
            is_new = part_written.commit([name], month, device_part(devices))
        return _restored(root, name) or is_new
    except OSError as error:
        raise not_written(root, error) from error


def add_marks(connection: duckdb.DuckDBPyConnection, root: Path) -> bool:
    """Write what is declared and known of series over nights; return whether there is anything."""
    columns = columns_of(connection)
    try:
        with writing(connection, root, columns) as part:
            for table in TABLES_OF_MARKS:
                part.add(table, f"SELECT * FROM {table} ORDER BY ALL", {})
            if not part.tables:
                return False
            part.goes_to(root / MARKS / part.timely_name(MARKS))
            return part.commit([], "", "")
    except OSError as error:
        raise not_written(root, error) from error


def add_judged(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    columns: Columns,
    runs: Sequence[RunName],
    *,
    rules: str,
    tables: Mapping[str, str],
) -> None:
    """Write findings, outcomes and facts of runs by the rules with the hash ``rules``.

    ``tables`` has a SELECT for each, by the name of its table.

    Raises:
        DatabaseError: the lake cannot be written; nothing of it is there.
    """
    try:
        with writing(connection, root, columns) as part:
            part.rules = rules
            for table, query in tables.items():
                part.add(table, query, {})
            part.goes_to(root / JUDGED / part.timely_name(JUDGED))
            part.commit(runs, "", "")
    except OSError as error:
        raise not_written(root, error) from error


def _restored(root: Path, run: RunName) -> bool:
    """Have a run again that was removed; return whether it was."""
    try:
        (root / REMOVED / run.name).unlink()
    except FileNotFoundError:
        return False
    return True


def _refuse_other(target: Path) -> None:
    """Refuse a run whose id another one has."""
    others = [each for each in target.parent.glob("*") if each.name != target.name]
    if others:
        raise InputError(
            f"another run of the lake has this id: {others[0].name}",
            at=Location(name=str(target.parent)),
            hint="ids have the first digits of a hash only; keep this run in another lake",
        )


@dataclass(kw_only=True)
class WrittenPart:
    """A part while it is written; ``target`` is where its folder goes.

    ``after`` is when what it stands for was written (ISO 8601, UTC), by clocks that may be ahead.
    """

    connection: duckdb.DuckDBPyConnection
    root: Path
    folder: Path
    columns: Columns
    target: Path = Path()
    tables: dict[str, TableFile] = field(default_factory=dict)
    rules: str = ""
    after: str = ""

    def goes_to(self, target: Path) -> None:
        """Say where it goes."""
        self.target = target

    def is_there(self) -> bool:
        """Return whether it is there already.

        Raises:
            DatabaseError: something else has its place.
        """
        if (self.target / manifest.NAME).exists():
            return True
        if self.target.exists():
            hint = "move it away, then repeat this"
            problem = "is half-written or foreign: it has no manifest"
            raise DatabaseError(problem, at=Location(name=str(self.target)), hint=hint)
        return False

    def timely_name(self, folder: str) -> str:
        """Return a name in a folder for what was written so far, which comes last there.

        It does so where the clock that named another part was ahead of this machine's.
        """
        digest = hashlib.sha256("".join(f.sha256 for f in self.tables.values()).encode())
        moment = datetime.now(UTC)
        for each in (self.root / folder).glob("*"):
            with contextlib.suppress(ValueError):
                there = datetime.strptime(each.name.partition("-")[0], _STAMP).replace(tzinfo=UTC)
                moment = max(moment, there + _TICK)
        return f"{moment.strftime(_STAMP)}-{digest.hexdigest()[:12]}"

    def add(
        self, table: str, query: str, parameters: Mapping[str, str], *, shared: bool = False
    ) -> None:
        """Write what a query gives as the rows of a table; no file where it gives none.

        Shared ones are named after their content, and go where all parts find them.
        """
        bound = query
        for name, value in parameters.items():
            bound = bound.replace(f"${name}", literal(value))
        path = self.folder / f"{table}.parquet"
        is_wide = len(self.columns.of.get(table, ())) >= _MANY
        options = _OPTIONS.format(rows=_WIDE if is_wide else ROW_GROUP)
        copied = self.connection.execute(f"COPY ({bound}) TO {literal(str(path))} {options}")
        ((rows,),) = copied.fetchall()
        if not rows:
            path.unlink()
            return
        digest, size, place = hash_of(path), path.stat().st_size, path.name
        if shared:
            kept = self.root / SHARED / table / f"{digest}.parquet"
            place = str(kept.relative_to(self.root))
            if size_of(kept) == size:  # to replace a file waits for the disk
                path.unlink()
            else:
                kept.parent.mkdir(parents=True, exist_ok=True)
                path.replace(kept)
        self.tables[table] = TableFile(path=place, rows=rows, bytes=size, sha256=digest)

    def add_once(self, table: str, query: str, written: dict[str, TableFile]) -> None:
        """Write what is the same for other parts, unless one of them has ``written`` it."""
        there = written.get(table)
        if there is not None and size_of(self.root / there.path) == there.bytes:
            self.tables[table] = there
            return
        self.add(table, query, {}, shared=True)
        if table in self.tables:
            written[table] = self.tables[table]

    def commit(self, runs: Sequence[RunName], month: str, device: str) -> bool:
        """Give the part its place, whole; return whether it was not there already.

        Raises:
            DatabaseError: something else has its place.
        """
        at = self.target.relative_to(self.root)
        tables = {
            table: file if "/" in file.path else _placed(file, at)
            for table, file in self.tables.items()
        }
        described = Manifest(
            runs=tuple(runs),
            tables=tables,
            advisor=__version__,
            schema=revisions()[-1],
            columns=self.columns.digest,
            written_at=max(datetime.now(UTC).isoformat(), self.after),
            month=month,
            device=device,
            rules=self.rules,
        )
        (self.folder / manifest.NAME).write_text(described.text(), encoding="utf-8")
        self.target.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.folder.rename(self.target)
        except OSError as error:
            if error.errno in _TAKEN and self.is_there():
                return False
            raise
        return True


def _placed(file: TableFile, at: Path) -> TableFile:
    return TableFile(path=str(at / file.path), rows=file.rows, bytes=file.bytes, sha256=file.sha256)


@contextlib.contextmanager
def writing(
    connection: duckdb.DuckDBPyConnection, root: Path, columns: Columns
) -> Iterator[WrittenPart]:
    """Yield a part to write; what was not committed when the block ends is gone."""
    with _written_aside(root) as folder:
        yield WrittenPart(connection=connection, root=root, folder=folder, columns=columns)


@contextlib.contextmanager
def _written_aside(root: Path) -> Iterator[Path]:
    folder = root / TEMPORARY / f"{os.getpid()}-{secrets.token_hex(8)}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # where it was renamed, there is none


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
