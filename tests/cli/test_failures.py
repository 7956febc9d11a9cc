from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.output import write_text
from advisor.errors import OutputError

Run = Callable[..., Any]


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
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (4, "advisor: standard output is closed\n")
