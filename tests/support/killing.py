"""Commands that are killed at random moments: whole runs are left, and nothing else.

Each runs in a fork of this process, which has loaded what commands need and never opens a database
itself: a kill costs a fraction of a second, and most of them hit work.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from advisor.cli.application import application
from advisor.database import ids, schema, upgrade
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.lake.place import PREFIX
from advisor.database.pruning import older_runs, prune
from advisor.ingest.lake import add_database
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.spool import spool_paths
from advisor.knowledge.load import load_knowledge
from advisor.resources import data_dir

NIGHTS = sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))
STORED, NEW = NIGHTS[:3], NIGHTS[3:5]
LAKE = "lake"
STALE = "UPDATE launch SET dram_bytes = -1; UPDATE run SET rules_hash = 'stale'"
FURTHER = """
import sqlalchemy as sa
from alembic import op
revision = "9002"
down_revision = {head!r}


def upgrade() -> None:
    op.add_column("run", sa.Column("mood", sa.Double))
    op.execute("UPDATE run SET mood = launches")
"""
STATE = """
    SELECT run_id, label, rules_hash <> 'stale', pruned_at IS NULL,
        (SELECT count(*) FROM launch WHERE run_id = run.run_id),
        (SELECT count(*) FROM launch_keyed WHERE run_id = run.run_id),
        (SELECT count(*) FROM finding WHERE run_id = run.run_id),
        (SELECT list(dram_bytes ORDER BY launch_index) FROM launch WHERE run_id = run.run_id)
    FROM run ORDER BY run_id
"""
OWNED = "SELECT table_name FROM duckdb_columns() WHERE column_name = ? AND NOT internal"
State = dict[str, tuple[object, ...]]


@dataclass(frozen=True, kw_only=True)
class Kill:
    """What a command does, as words of the command line or a function of the database.

    ``begins`` is the database that it begins with; ``makes`` are patterns of files beside it that
    it may make; ``once`` is what cannot be repeated when it is done.
    """

    words: tuple[str, ...] = ()
    work: Callable[[Path, Path], None] | None = None
    begins: str = "stored.duckdb"
    makes: tuple[str, ...] = ()
    once: bool = False


def _upgrade(database: Path, folder: Path) -> None:
    upgrade.upgrade(database, scripts=folder / "migrations")


COMMANDS: dict[str, Kill] = {
    "ingest": Kill(words=("ingest", *map(str, NEW))),
    "spool": Kill(words=("ingest", *map(str, NEW), "--spool", "{spool}")),
    "merge": Kill(words=("db", "merge", "{spool}", "--done", "{done}")),
    "prune": Kill(words=("runs", "prune", "--keep", "1")),
    "compact": Kill(words=("runs", "prune", "--keep", "1"), begins="pruned.duckdb"),
    "compact lake": Kill(
        words=("lake", "compact", "--lake", "{lake}", "--grace", "0"), begins=LAKE, makes=(LAKE,)
    ),
    "remove": Kill(words=("runs", "remove", "latest", "--yes"), once=True),
    "refresh": Kill(words=("refresh", "--all"), begins="stale.duckdb"),
    "relabel": Kill(words=("runs", "label", "{runs}", "--label", "shape", "--tag", "a")),
    "backup": Kill(words=("db", "backup"), makes=("*.backup.duckdb",)),
    "restore": Kill(words=("db", "restore", "{copy}"), makes=("copy.duckdb", "*.replaced.duckdb")),
    "upgrade": Kill(work=_upgrade, makes=("*.backup.duckdb",)),
}


@dataclass
class Killing:
    """A folder in which commands are killed; ``seen`` counts where they were."""

    folder: Path
    seen: Counter[str] = field(default_factory=Counter)
    _seconds: dict[str, float] = field(default_factory=dict)
    _ends: dict[str, tuple[State, State]] = field(default_factory=dict)

    def prepare(self) -> None:
        """Make what the commands begin with."""
        (self.folder / "tmp").mkdir()
        shutil.copytree(data_dir("migrations"), self.folder / "migrations")
        further = FURTHER.format(head=schema.revisions()[-1])
        (self.folder / "migrations" / "versions" / "9002_mood.py").write_text(further)
        load_knowledge()
        self._must(lambda: _make(self.folder))

    def kill(self, name: str, share: float) -> None:
        """Kill a command after a share of the time that it takes; see what it leaves.

        Raises:
            AssertionError: something other than whole runs.
        """
        if name not in self._seconds:
            self._whole(name)
        database = self._fresh(name)
        (self.folder / "told").write_text("")
        child = self._forked(self._work(name, database))
        time.sleep(share * self._seconds[name])
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        where = "before its end" if os.WIFSIGNALED(status) else "after its end"
        before, after = self._ends[name]
        found = self._state(database)
        for run_id in before.keys() | after.keys():
            assert found.get(run_id) in (before.get(run_id), after.get(run_id)), (name, run_id)
        self._see_what_was_told(name, database, found)
        self.seen[
            f"{name}, {where}, {sum(found[each] == after.get(each) for each in found)} done"
        ] += 1
        if not (COMMANDS[name].once and found == after):
            self._must(self._work(name, database))
        assert self._state(database) == after, name
        self._tidy(name, database)

    def _see_what_was_told(self, name: str, database: Path, found: State) -> None:
        """See that what a command said is so; the last line of a killed one may be cut."""
        bundles = {
            folder: {ids.run_id(path.stem) for path in database.parent.glob(f"{folder}/*.bundle")}
            for folder in ("spool", "done")
        }
        assert bundles["done"] <= found.keys()
        *lines, _ = (self.folder / "told").read_text().split("\n")
        new = {line.split()[1] for line in lines if line.startswith("new ")}
        assert new <= (bundles["spool"] if name == "spool" else found.keys())
        assert found.keys().isdisjoint(
            line.split()[1] for line in lines if line.startswith("removed ")
        )
        assert not lines or name != "refresh" or found == self._ends[name][1]

    def _whole(self, name: str) -> None:
        """Carry a command to its end, to know how long it takes and what it leaves."""
        database = self._fresh(name)
        before = self._state(database)
        began = time.monotonic()
        self._must(self._work(name, database))
        self._seconds[name] = time.monotonic() - began
        self._ends[name] = before, self._state(database)
        self._tidy(name, database)

    def _fresh(self, name: str) -> Path:
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        begins = self.folder / COMMANDS[name].begins
        shutil.copytree(self.folder / "spool", place / "spool")
        if name == "restore":
            shutil.copy(self.folder / "stale.duckdb", place / "copy.duckdb")
        if name == "spool":
            shutil.rmtree(place / "spool")
        if begins.is_dir():
            return Path(shutil.copytree(begins, place / LAKE))
        return Path(shutil.copy(begins, place / "test.duckdb"))

    def _work(self, name: str, database: Path) -> Callable[[], None]:
        command, place = COMMANDS[name], database.parent
        if (work := command.work) is not None:
            return lambda: work(database, self.folder)
        filled = {"spool": str(place / "spool"), "done": str(place / "done")}
        filled |= {"copy": str(place / "copy.duckdb"), "lake": str(place / LAKE)}
        words = ["--db", str(place / "test.duckdb")]
        for word in command.words:
            words += self._runs() if word == "{runs}" else [word.format(**filled)]
        return lambda: _command(words, self.folder / "told")

    def _runs(self) -> list[str]:
        return (self.folder / "runs").read_text().split()

    def _tidy(self, name: str, database: Path) -> None:
        """See that nothing is there but what a command makes."""
        place, makes = database.parent, ("test.duckdb", "spool", "done", *COMMANDS[name].makes)
        if COMMANDS[name].once:
            makes += ("test.duckdb.wal",)  # nobody has written since
        left = [
            path.name for path in place.iterdir() if not any(path.match(each) for each in makes)
        ]
        bundles = [*place.glob("spool/*"), *place.glob("done/*")]
        left += [path.name for path in bundles if path.suffix != ".bundle"]
        left += [path.name for path in (self.folder / "tmp").iterdir() if path.suffix != ".turns"]
        left += [path.name for path in place.glob(f"{LAKE}/compacting/*")]
        left += [path.name for path in place.glob(f"{LAKE}/runs/*/*/run_id=*/*")]
        assert left == [], (name, left)
        for pattern in COMMANDS[name].makes:
            for copy in place.glob(pattern):
                assert self._state(copy), copy.name

    def _state(self, database: Path) -> State:
        """Return what is stored of each run; another process looks, for this one must not."""
        reading, writing = os.pipe()

        def look() -> None:
            with self._opened(database) as connection:
                rows = connection.execute(STATE).fetchall()
                for columns in ("run_id", "run_id, run_number"):
                    owned = connection.execute(OWNED, [columns.split(", ")[-1]]).fetchall()
                    for (table,) in owned:
                        others = f"SELECT {columns} FROM {table} EXCEPT SELECT {columns} FROM run"
                        assert connection.execute(others).fetchall() == [], table
            os.write(writing, repr(rows).encode())

        self._must(look)
        os.close(writing)
        with os.fdopen(reading) as file:
            rows = eval(file.read())
        return {str(row[0]): row for row in rows}

    @staticmethod
    def _opened(database: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        if database.is_dir():
            return open_for_reading(f"{PREFIX}{database}")
        return duckdb.connect(str(database), read_only=True)

    def _must(self, work: Callable[[], None]) -> None:
        _, status = os.waitpid(self._forked(work), 0)
        assert status == 0, f"status {os.waitstatus_to_exitcode(status)}"

    def _forked(self, work: Callable[[], None]) -> int:
        """Start a fork that does the work, and ends."""
        sys.stdout.flush()
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            os.environ["TMPDIR"] = tempfile.tempdir = str(self.folder / "tmp")
            work()
            status = 0
        finally:  # a fork ends here, whatever happened
            if status:
                traceback.print_exc()
            os._exit(status)


def killed(folder: Path, count: int, names: Mapping[str, Kill] = COMMANDS) -> Counter[str]:
    """Kill so many commands, one of each kind after the other; return where they were."""
    killing, chance = Killing(folder), random.Random(count)
    killing.prepare()
    for number in range(count):
        killing.kill(list(names)[number % len(names)], chance.uniform(0, 1.1))
    return killing.seen


def _command(words: list[str], told: Path) -> None:
    with (
        told.open("w") as out, redirect_stdout(out),
        Path(os.devnull).open("w") as null, redirect_stderr(null),
    ):  # fmt: skip
        status = application(words, standalone_mode=False)
    assert not status, status


def _make(folder: Path) -> None:
    """Make databases of three nights, with stale values and room to give back, a lake, a spool."""
    stored = folder / "stored.duckdb"
    results = [
        *ingest_paths(str(stored), [*map(str, STORED)], labels=RunLabels(), wait=0),
        *spool_paths(str(folder / "spool"), [*map(str, NEW)], labels=RunLabels()),
    ]
    assert all(each.status == "new" for each in results)
    names = [str(each.run_id) for each in results[: len(STORED)]]
    (folder / "runs").write_text(" ".join(names))
    list(add_database(str(folder / LAKE), str(stored), wait=0))
    with duckdb.connect(shutil.copy(stored, folder / "stale.duckdb")) as connection:
        connection.execute(STALE)
    with open_for_writing(shutil.copy(stored, folder / "pruned.duckdb")) as connection:
        prune(connection, [run.run_id for run in older_runs(connection, keep=1)])
