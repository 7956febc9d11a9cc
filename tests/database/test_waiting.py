"""Who waits for the lock of a file, and for how long, told by what they do and not by the clock."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import pytest

from advisor.database import waiting
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.turns import taking_turns
from advisor.database.waiting import connected
from advisor.errors import LockedError

LONG = 900.0  # seconds that nobody waits
HOLD = """
import sys
from advisor.database.connect import open_for_writing
with open_for_writing(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""
FIRST = """
import sys
from pathlib import Path
from advisor.database.turns import taking_turns
with taking_turns(Path(sys.argv[1])) as turn:
    turn.queue()
    turn.wait(900)
    print("first", flush=True)
    sys.stdin.readline()
"""
BUSY = "Could not set lock on file: Conflicting lock is held in x (PID 1)"

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks"),
    pytest.mark.usefixtures("ends"),
]


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for those who test something else."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


class Process:
    """A process that says one word once it has what it wants, and keeps it."""

    def __init__(self, code: str, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.word = self.process.stdout.readline().strip()

    def stop(self) -> None:
        """Stop it as Ctrl-Z does, and wait until it is."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Process]:
    """A process at the head of the queue for a file, which does not move on."""
    process = Process(FIRST, tmp_path / "a")
    yield process
    process.end()


def free_after(tries: int) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Give nothing so many times, then a connection."""
    yield from itertools.repeat(None, tries)
    with duckdb.connect() as connection:
        yield connection


def connecting(found: Iterator[duckdb.DuckDBPyConnection | None]) -> waiting.Connect:
    def connect() -> duckdb.DuckDBPyConnection:
        connection = next(found)
        if connection is None:
            raise duckdb.IOException(BUSY)
        return connection

    return connect


def test_a_stopped_process_at_the_head_of_the_queue_holds_up_nobody(
    tmp_path: Path, first: Process
) -> None:
    assert first.word == "first"
    first.stop()
    connected(tmp_path / "a", LONG, connecting(free_after(3)))


def test_a_writer_lets_those_go_first_who_wait_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = []

    def has_readers(turn: object) -> bool:
        turns.append(turn)
        return len(turns) < 5

    monkeypatch.setattr("advisor.database.turns.Turn.has_readers", has_readers)
    connected(tmp_path / "a", LONG, connecting(free_after(0)))
    assert len(turns) == 5
    del turns[:]
    connected(tmp_path / "a", LONG, connecting(free_after(0)), reads=True)
    assert turns == []


def test_a_stopped_reader_holds_up_no_writer_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.database.turns.Turn.has_readers", lambda _: True)
    connected(tmp_path / "a", LONG, connecting(free_after(3)))


def test_who_waits_to_read_says_so_until_it_reads(tmp_path: Path) -> None:
    seen = []
    code = "import sys; from pathlib import Path\n"
    code += "from advisor.database.turns import taking_turns\n"
    code += "with taking_turns(Path(sys.argv[1])) as turn: print(turn.has_readers())"

    def look() -> duckdb.DuckDBPyConnection:
        command = [sys.executable, "-c", code, str(tmp_path / "a")]
        seen.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        if len(seen) < 2:
            raise duckdb.IOException(BUSY)
        return duckdb.connect()

    connected(tmp_path / "a", LONG, look, reads=True).close()
    assert seen == ["False\n", "True\n"]
    with taking_turns(tmp_path / "a") as turn:
        assert not turn.has_readers()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
@pytest.mark.parametrize("opened", [open_for_reading, open_for_writing])
def test_nobody_waits_for_long_for_a_stopped_process_that_has_the_file(
    opened: Callable[..., AbstractContextManager[object]],
    database: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "_STOPPED", 0.2)
    holder = Process(HOLD, database)
    assert holder.word == "held"
    holder.stop()
    stopped = pytest.raises(LockedError, match="which is stopped; waited")
    with stopped as caught, opened(database, wait=LONG):
        pass
    assert f"kill -CONT {holder.process.pid}" in str(caught.value.hint)
    holder.end()
    with open_for_writing(database, wait=LONG):
        pass


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_a_long_command_line_of_the_holder_is_one_line(database: Path) -> None:
    holder = Process(HOLD + "\n".join(f"# line {number}" for number in range(500)), database)
    with pytest.raises(LockedError) as caught, open_for_writing(database, wait=0):
        pass
    holder.end()
    assert f"{database.name}); waited 0 s" in caught.value.problem
    assert "\n" not in caught.value.problem
    assert len(caught.value.problem) < 200


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_one_that_goes_on_in_time_is_waited_for(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_STOPPED", LONG)
    holder = Process(HOLD, database)
    holder.stop()
    tries: list[float] = []

    def pause(turn: object, deadline: float, *, reads: bool) -> None:
        tries.append(deadline)
        if len(tries) == 3:
            holder.process.send_signal(signal.SIGCONT)
            holder.process.communicate("\n")
        time.sleep(0.01)

    monkeypatch.setattr(waiting, "_pause", pause)
    with open_for_writing(database, wait=LONG):
        assert len(tries) >= 3
