from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from advisor.database.turns import cores, taking_a_core, taking_turns

TAKE = """
import sys
from pathlib import Path
from advisor.database.turns import taking_turns
with taking_turns(Path(sys.argv[1])) as turn:
    print("asks", flush=True)
    turn.queue()
    turn.wait(900)
    print("has it", flush=True)
    sys.stdin.readline()
"""
LOCKS = Path("/proc/locks")
ASKING = 3.0  # seconds from saying that one asks to being in the queue, where nobody lists it
HANGS = 900  # seconds after which nothing will come any more, on however busy a machine

pytestmark = pytest.mark.usefixtures("ends")


def lists_locks(path: Path) -> bool:
    """Return whether the system lists the locks of a process by its id."""
    if not LOCKS.exists():
        return False
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return str(os.getpid()) in LOCKS.read_text().split()


class Waiting:
    """A process that takes its turn at a file and keeps it until told otherwise."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.line() == "asks"
        until = time.monotonic() + (HANGS if lists_locks(path.with_name("probe")) else ASKING)
        while not self.is_queued() and time.monotonic() < until:
            time.sleep(0.02)

    def is_queued(self) -> bool:
        """Return whether the system knows it as one who has the lock or waits for it."""
        return LOCKS.exists() and str(self.process.pid) in LOCKS.read_text().split()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def give_back(self) -> None:
        self.process.communicate("\n")


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for those who test something else."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks that keep an order")
def test_those_who_wait_come_in_the_order_in_which_they_asked(tmp_path: Path) -> None:
    waiting = [Waiting(tmp_path / "a") for _ in range(4)]
    for number, each in enumerate(waiting):
        assert each.line() == "has it"
        later = [other.process.stdout for other in waiting[number + 1 :]]
        assert select.select(later, [], [], 0) == ([], [], [])
        each.give_back()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks that keep an order")
def test_the_turn_of_one_who_dies_goes_to_the_next(tmp_path: Path) -> None:
    first, second = Waiting(tmp_path / "a"), Waiting(tmp_path / "a")
    assert first.line() == "has it"
    first.process.kill()
    first.process.communicate()
    assert second.line() == "has it"
    second.give_back()


def test_nobody_waits_longer_than_asked_to(tmp_path: Path) -> None:
    first = Waiting(tmp_path / "a")
    assert first.line() == "has it"
    began = time.monotonic()
    with taking_turns(tmp_path / "a") as turn:
        turn.queue()
        assert not turn.wait(0.2)
        assert time.monotonic() - began >= 0.2
    first.give_back()


def test_files_have_queues_of_their_own(tmp_path: Path) -> None:
    first, other = Waiting(tmp_path / "a"), Waiting(tmp_path / "b")
    assert [first.line(), other.line()] == ["has it", "has it"]
    first.give_back()
    other.give_back()


def test_goes_on_where_there_can_be_no_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))

    with taking_turns(tmp_path / "a") as turn:
        turn.queue()
        turn.announce()
        assert turn.is_first
        assert not turn.has_readers()


READ = """
import sys
from pathlib import Path
from advisor.database.turns import taking_turns
with taking_turns(Path(sys.argv[1])) as turn:
    turn.announce()
    print("waits", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_writers_see_who_waits_to_read(tmp_path: Path) -> None:
    command = [sys.executable, "-c", READ, str(tmp_path / "a")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "waits\n"
        with taking_turns(tmp_path / "a") as turn, taking_turns(tmp_path / "b") as other:
            assert turn.has_readers()
            assert not other.has_readers()
            reader.communicate("\n")
            assert not turn.has_readers()


CORE = """
import sys
from advisor.database.turns import taking_a_core
with taking_a_core(900):
    print("has one", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_no_more_prepare_at_once_than_there_are_cores_unless_they_waited_long() -> None:
    command = [sys.executable, "-c", CORE]
    with contextlib.ExitStack() as stack:
        others = []
        for _ in range(max(2, cores())):
            with taking_turns(Path()) as turn:
                assert turn.has_core()
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            others.append(stack.enter_context(process))
            assert process.stdout is not None
            assert process.stdout.readline() == "has one\n"
        with taking_turns(Path()) as turn:
            assert not turn.has_core()
        began = time.monotonic()
        with taking_a_core(0.3):
            assert time.monotonic() - began >= 0.3
        others[0].communicate("\n")
        with taking_turns(Path()) as turn:
            assert turn.has_core()
        for process in others[1:]:
            process.communicate("\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a directory in use cannot be removed")
def test_a_core_is_taken_where_the_working_directory_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with taking_a_core():
        pass
