"""Standard output that knows few characters or takes a part; files that are no plain files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from advisor.stdout import _escaped
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]

POSIX = pytest.mark.skipif(os.name == "nt", reason="the system has no such files")


def advise(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "advisor", "--db", "night.duckdb", *words]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, cwd=folder, env=variables, check=False, capture_output=True)


@pytest.fixture
def folder(one_night: Path, tmp_path: Path) -> Path:
    """Return a folder with a database of one night."""
    shutil.copy(one_night, tmp_path / "night.duckdb")
    return tmp_path


@pytest.mark.parametrize("encoding", ["latin-1", "koi8-r"])
def test_what_an_encoding_lacks_becomes_an_escape_that_json_reads_back(
    folder: Path, encoding: str
) -> None:
    done = advise(folder, "report", "--format", "json", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    plain = advise(folder, "report", "--format", "json", PYTHONIOENCODING="utf-8")
    found, wanted = json.loads(done.stdout.decode(encoding)), json.loads(plain.stdout)
    assert found.pop("provenance").keys() == wanted.pop("provenance").keys()  # has the time
    assert found == wanted


def test_escapes_what_json_writes_as_two_units() -> None:
    error = UnicodeEncodeError("latin-1", "a→😀", 1, 3, "why")
    assert _escaped(error) == ("\\u2192\\ud83d\\ude00", 3)
    assert json.loads('"a\\u2192\\ud83d\\ude00"') == "a→😀"


@POSIX
def test_a_part_is_no_success_where_nothing_is_buffered(folder: Path) -> None:
    script = 'ulimit -f 40; exec "$@" >"out.json"'
    command = [sys.executable, "-m", "advisor", "--db", "night.duckdb", "report", "--format"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        ["bash", "-c", script, "bash", *command, "json"],
        cwd=folder, env=variables, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 4
    assert "standard output" in done.stderr


@POSIX
def test_a_link_stays_and_its_target_is_replaced(filled: Run, tmp_path: Path) -> None:
    (tmp_path / "www").mkdir()
    target, link = tmp_path / "www" / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    (tmp_path / "link.txt.part").write_text("mine")
    assert filled("report", "-o", str(link)).status == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") != "old"
    assert (tmp_path / "link.txt.part").read_text() == "mine"
    assert {path.name for path in (tmp_path / "www").iterdir()} == {"real.txt"}


@POSIX
def test_a_pipe_is_written_to_and_stays_one(filled: Run, tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert filled("report", "-o", str(pipe)).status == 0
    reader.join(timeout=30)
    assert pipe.is_fifo()
    assert b"Do this first" in read[0]


def test_a_report_does_not_take_the_place_of_its_picture(filled: Run, tmp_path: Path) -> None:
    found = filled("report", "--markdown", "-o", str(tmp_path / "page.svg"))
    assert found.status == 2
    assert "page.svg is where the roofline" in found.err
    assert not (tmp_path / "page.svg").exists()


def test_json_keeps_columns_of_one_name(filled: Run) -> None:
    found = filled("query", "select 1 a, 2 a, 3 a_1", "--format", "json")
    assert json.loads(found.out) == [{"a": 1, "a_1": 2, "a_1_1": 3}]


def test_a_whole_name_means_its_kernel_whatever_its_signs(filled: Run) -> None:
    name = "copy_vec4_kernel(const float4 *, float4 *, int)"
    found = filled("query", f"select count(*) n from kernels where kernel_name = '{name}'")
    assert found.out.split()[-1] == "1"
    shown = filled("show", name)
    assert shown.status == 0, shown.err
    assert shown.out.startswith("copy_vec4_kernel")
