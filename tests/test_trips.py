"""How many files one steps through to follow a profile: docs/architecture.md lists them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROFILE = ROOT / "seed" / "runs" / "nightly" / "night-01.ncu-rep"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# Prints the files of advisor in which a function is called, but not those that are only imported.
TRACED = r"""
import sys, threading
from pathlib import Path
root, *arguments = sys.argv[1:]
passed = set()
def see(frame, event, arg):  # of calls alone: it returns nothing that would see lines
    code = frame.f_code
    if code.co_filename.startswith(root) and code.co_flags & 0x2:
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename == code.co_filename:
            if caller.f_code.co_name == "<module>":
                return
            caller = caller.f_back
        passed.add(Path(code.co_filename).relative_to(root).with_suffix("").as_posix())
from advisor.cli import main
sys.argv = ["advisor", *arguments]
sys.settrace(see)
threading.settrace(see)
try:
    main()
except SystemExit as end:
    status = end.code or 0
sys.settrace(None)
print("PASSED", status, *sorted(passed))
"""


def traced(*arguments: object) -> set[str]:
    command = [sys.executable, "-c", TRACED, f"{ROOT / 'advisor'}/", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1].split()
    assert last[:2] == ["PASSED", "0"], done.stdout + done.stderr
    return {name for name in last[2:] if "/" in name}


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    database = tmp_path_factory.mktemp("trips") / "perf.duckdb"
    warm = ["--db", str(database.with_name("warm.duckdb")), "ingest", str(PROFILE)]
    subprocess.run(  # compiles the rules, which is no part of the trip, and slow where it is traced
        [sys.executable, "-m", "advisor", *warm], check=True
    )
    ingest = traced("--db", database, "ingest", PROFILE)
    return {"ingest of a report": ingest, "report": traced("--db", database, "report")}


def listed(trip: str) -> list[str]:
    """Return the files of a table of the page, in its order."""
    table = PAGE.partition(f"| | {trip} |\n")[2].partition("\n\n")[0]
    return re.findall(r"`([\w/]+)`", table)


def beside() -> list[str]:
    """Return the files and folders that the page names beside the way."""
    text = PAGE.partition("Beside the way stand")[2].partition("\n## ")[0]
    return re.findall(r"`([\w/]+)`", text)


@pytest.mark.parametrize(("trip", "most"), [("ingest of a report", 16), ("report", 20)])
def test_trips_are_short(trip: str, most: int) -> None:
    files = listed(trip)
    assert 0 < len(files) <= most
    assert len(set(files)) == len(files)
    assert f"{len(files)} files, and {most} is the most" in PAGE


@pytest.mark.parametrize("trip", ["ingest of a report", "report"])
def test_every_file_of_a_trip_is_passed(trip: str, passed: dict[str, set[str]]) -> None:
    assert set(listed(trip)) - passed[trip] == set()


@pytest.mark.parametrize("trip", ["ingest of a report", "report"])
def test_every_file_that_is_passed_is_named(trip: str, passed: dict[str, set[str]]) -> None:
    named = {*listed("ingest of a report"), *listed("report"), *beside()}
    folders = tuple(name for name in named if name.endswith("/"))
    assert {name for name in passed[trip] - named if not name.startswith(folders)} == set()


def test_what_stands_beside_the_way_exists() -> None:
    names = beside()
    assert len(names) > 40
    missing = [
        name
        for name in names
        if not (ROOT / "advisor" / f"{name}.py").is_file()
        and not (name.endswith("/") and (ROOT / "advisor" / name).is_dir())
    ]
    assert missing == []
