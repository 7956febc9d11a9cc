"""Profiles of the project's own, databases, and what must be true of them at any moment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from advisor.database import schema
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.resources import data_dir

Start = Callable[..., "subprocess.Popen[str]"]
Rows = list[tuple[object, ...]]

ROOT = Path(__file__).parents[2]
RUNS = 2
NEXT = """
import sqlalchemy as sa
from alembic import op
revision = "9002"
down_revision = {head!r}


def upgrade() -> None:
    op.add_column("launch", sa.Column("mood", sa.Double))
    op.execute("UPDATE launch SET mood = coalesce(grid_size, 0)")
    op.create_table("mood", sa.Column("run_id", sa.String), sa.Column("mood", sa.Double))
    op.execute("INSERT INTO mood SELECT run_id, sum(mood) FROM launch GROUP BY run_id")
    op.add_column("run", sa.Column("mood", sa.Double))
    op.execute("UPDATE run SET mood = (SELECT mood FROM mood WHERE mood.run_id = run.run_id)")
"""
MOUNT = """
mount -t tmpfs -o size="$2" none "$1" || exit
echo mounted
while read -r option; do mount -o "remount,bind,$option" "$1" && echo mounted || exit; done
"""


@pytest.fixture(scope="session")
def profiles() -> list[Path]:
    """Return the simulated nights, oldest first."""
    return sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty database to copy."""
    path = tmp_path_factory.mktemp("empty") / "empty.duckdb"
    with open_for_writing(path):
        pass
    return path


@pytest.fixture
def database(empty: Path, tmp_path: Path) -> Path:
    """Return a database of the test's own."""
    return Path(shutil.copy(empty, tmp_path / "test.duckdb"))


@pytest.fixture(scope="session")
def stored(empty: Path, profiles: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with the first nights, to copy."""
    path = Path(shutil.copy(empty, tmp_path_factory.mktemp("stored") / "stored.duckdb"))
    list(ingest_paths(str(path), list(map(str, profiles[:RUNS])), labels=RunLabels(), wait=0))
    return path


@pytest.fixture(scope="session")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program with one more migration, to revision 9002."""
    folder = tmp_path_factory.mktemp("newer")
    for name in ("advisor", "rules", "templates", "seed", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(data_dir("migrations"), folder / "migrations")
    code = NEXT.format(head=schema.revisions()[-1])
    (folder / "migrations" / "versions" / "9002_mood.py").write_text(code)
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start ``advisor`` in a process of its own."""

    def started(
        database: Path,
        *words: object,
        wait: float = 900,
        program: Path = ROOT,
        temporary: Path | None = None,
        where: Disk | None = None,
    ) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "advisor", "--db", database, "--wait", wait, *words]
        if where is not None:
            command = [*where.enter, *command]
        more = {} if temporary is None else {"TMPDIR": str(temporary)}
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(program), **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


@pytest.fixture(scope="session")
def rows() -> Callable[[Path, str], Rows]:
    """Return what a query finds in a database, whatever its schema."""

    def found(database: Path, query: str) -> Rows:
        with duckdb.connect(str(database), read_only=True) as connection:
            return connection.execute(query).fetchall()

    return found


@pytest.fixture(scope="session")
def contents(rows: Callable[[Path, str], Rows]) -> Callable[[Path, Path], dict[str, Rows]]:
    """Return count and check-sum of every table, over the columns that it has in ``like``."""

    def sums(database: Path, like: Path) -> dict[str, Rows]:
        query = "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
        columns: dict[str, list[str]] = {}
        for table, name in rows(like, query):
            columns.setdefault(str(table), []).append(f'"{name}"')
        del columns["alembic_version"], columns["meta"]
        queries = {
            table: f"SELECT count(*), sum(hash({', '.join(names)})) FROM {table}"
            for table, names in columns.items()
        }
        with duckdb.connect(str(database), read_only=True) as connection:
            return {table: connection.execute(query).fetchall() for table, query in queries.items()}

    return sums


@pytest.fixture(scope="session")
def whole_runs() -> Callable[[Path], set[str]]:
    """Return the runs of a database, after making sure that each is there with all it has."""

    def runs(database: Path) -> set[str]:
        with open_for_reading(database, wait=900) as connection:
            promised = dict(connection.execute("SELECT run_id, launches FROM run").fetchall())
            counted = "SELECT run_id, count(*) FROM launch GROUP BY run_id"
            found = dict(connection.execute(counted).fetchall())
            assert found == promised
            judged = connection.execute("SELECT DISTINCT run_id FROM finding").fetchall()
            assert {run_id for (run_id,) in judged} == set(promised)
            owned = "SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id'"
            for (table,) in connection.execute(owned).fetchall():
                query = f"SELECT DISTINCT run_id FROM {table}"
                others = {run_id for (run_id,) in connection.execute(query).fetchall()}
                assert others <= set(promised), table
        return set(promised)

    return runs


class Disk:
    """A small disk that is mounted at ``path`` for one process, and for those that ``enter``.

    Everybody else finds it at ``seen``; DuckDB does not, because it follows such links itself.
    """

    def __init__(self, holder: subprocess.Popen[str], path: Path, *, own_user: bool) -> None:
        self._holder = holder
        self.path = path
        self.seen = Path(f"/proc/{holder.pid}/root{path}")
        user = ["--user", "--preserve-credentials"] if own_user else []
        self.enter = ["nsenter", "--target", str(holder.pid), "--mount", *user]

    def take(self, name: str, to: Path) -> Path:
        """Copy a database, with what was not yet moved into it, to the folder ``to``."""
        to.mkdir()
        for part in self.seen.glob(f"{name}*"):
            shutil.copy(part, to)
        return to / name

    def remount(self, option: str) -> None:
        """Mount it again, as ``ro`` or ``rw``."""
        assert self._holder.stdin is not None
        assert self._holder.stdout is not None
        self._holder.stdin.write(f"{option}\n")
        self._holder.stdin.flush()
        assert self._holder.stdout.readline() == "mounted\n"

    def fill(self, left: int) -> None:
        """Fill it but for about ``left`` bytes."""
        state = os.statvfs(self.seen)
        with (self.seen / "filling").open("wb") as file:
            file.write(bytes(max(0, state.f_bavail * state.f_frsize - left)))

    def empty(self) -> None:
        """Take away what ``fill`` put there."""
        (self.seen / "filling").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Give a disk of 32 MB; skip where the system lets nobody mount one."""
    path = tmp_path / "disk"
    path.mkdir()
    for own_user, flag in ((True, "--map-root-user"), (False, "--propagation=private")):
        command = ["unshare", "--mount", flag, "sh", "-c", MOUNT, "sh", str(path), "32m"]
        try:
            holder = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except FileNotFoundError:
            break
        with holder:
            assert holder.stdout is not None
            if holder.stdout.readline() == "mounted\n":
                yield Disk(holder, path, own_user=own_user)
                return
    pytest.skip("no disk can be mounted here: neither by this user nor in a namespace of their own")
