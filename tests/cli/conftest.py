"""The command line, run in this process as the installed script runs it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from advisor.cli import main
from advisor.resources import data_dir


@dataclass(frozen=True)
class Outcome:
    """Exit status and what was printed."""

    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def advisor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Run:
    """Run ``advisor`` with a database of this test; ``advisor("runs", "list")``."""

    def run(*words: str) -> Outcome:
        database = str(tmp_path / "test.duckdb")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(sys, "argv", ["advisor", "--db", database, *words])
        with pytest.raises(SystemExit) as exited:
            main()
        printed = capsys.readouterr()
        return Outcome(status=int(exited.value.code or 0), out=printed.out, err=printed.err)

    return run


@pytest.fixture(scope="session")
def night() -> str:
    """Return the path of a simulated profile."""
    return str(data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep")


@pytest.fixture
def filled(advisor: Run, one_night: Path, tmp_path: Path) -> Run:
    """Run ``advisor`` with a database that holds one simulated profile."""
    shutil.copy(one_night, tmp_path / "test.duckdb")
    return advisor
