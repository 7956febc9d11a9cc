from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.output import write_text
from advisor.errors import OutputError

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
HANGS = 900  # seconds after which nothing will come any more, on however busy a machine


def test_a_bug_is_told_with_its_traceback_and_is_no_tripped_gate(
    advisor: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("advisor.api.runs.list_runs", broken)
    assert advisor("runs", "list").status == 70
    assert "this is a bug" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.mkdir()
    with pytest.raises(OutputError, match=r"cannot write .*: Is a directory"):
        write_text("new", str(path))
    assert list(tmp_path.iterdir()) == [path]


def test_a_closed_standard_output_is_told(tmp_path: Path) -> None:
    command = f"{sys.executable} -m advisor rules list >&-"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (4, "advisor: standard output is closed\n")


STOPPED = """
import os, signal, sys, tempfile, threading
import duckdb
from advisor.api import runs
from advisor.cli import main

def busy(*_, **__):
    number = getattr(signal, os.environ["SIGNAL"])
    with tempfile.TemporaryDirectory() as folder:
        print(folder, flush=True)
        threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
        duckdb.sql("SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)").show()

# Whoever started the tests may ignore signals (nohup, the background); children inherit that.
signal.signal(getattr(signal, os.environ["SIGNAL"]), signal.SIG_DFL)
runs.list_runs = busy
sys.argv = ["advisor", "runs", "list"]
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="the system has no such signals")
@pytest.mark.parametrize("ignored", [False, True], ids=["as usual", "in the background"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_stops_a_statement_and_leaves_no_files(
    tmp_path: Path, name: str, ignored: bool
) -> None:
    program = [sys.executable, "-c", STOPPED]
    if ignored:  # as a shell starts what runs in the background
        program = ["sh", "-c", 'trap "" INT TERM HUP; exec "$@"', "sh", *program]
    done = subprocess.run(
        program, cwd=tmp_path, check=False, capture_output=True, text=True,
        env={**os.environ, "SIGNAL": name, "PYTHONPATH": str(ROOT)}, timeout=HANGS,
    )  # fmt: skip
    assert done.stderr == "advisor: interrupted; what was not finished is not stored\n"
    assert done.returncode == 128 + signal.Signals[name]
    assert not Path(done.stdout.strip()).exists()


@pytest.mark.skipif(os.name == "nt", reason="the system has no such signals")
def test_leaves_ignored_what_the_caller_ignores(tmp_path: Path) -> None:
    code = "import signal; from advisor.cli.application import _signals; _signals();"
    code += "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    command = ["nohup", sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout == "True\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("place", [">&-", ">/dev/full"])
def test_an_error_that_cannot_be_told_keeps_its_status(tmp_path: Path, place: str) -> None:
    command = f"{sys.executable} -m advisor db merge nowhere 2{place}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 3


def test_refuses_a_time_that_is_no_number(advisor: Run) -> None:
    done = advisor("--wait", "nan", "runs", "list")
    assert done.status == 2
    assert "nan is no number" in done.err
