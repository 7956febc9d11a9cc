from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.api.profiles import Labels, ingest_paths
from advisor.api.spooling import merge_spool, spool_paths
from advisor.database import write
from advisor.database.connect import open_for_writing

Start = Callable[..., "subprocess.Popen[str]"]
WholeRuns = Callable[[Path], set[str]]


def kill_after(process: subprocess.Popen[str], seconds: float) -> str:
    """Kill the process and return what it had printed; an empty text if it was done before."""
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate()
    return out


def acknowledged(out: str) -> set[str]:
    """Return the runs that a command said to be new; the last line may be cut."""
    whole = out[: out.rfind("\n") + 1].splitlines()
    return {line.split()[1] for line in whole if line.startswith("new ")}


@pytest.mark.parametrize("seconds", [0.7, 1.6, 2.4, 3.3])
def test_a_killed_ingest_leaves_whole_runs_and_loses_none_it_told_of(
    seconds: float,
    database: Path,
    profiles: list[Path],
    start: Start,
    whole_runs: WholeRuns,
) -> None:
    """Files are large enough together that several transactions are needed."""
    told = acknowledged(kill_after(start(database, "ingest", *profiles), seconds))
    assert told <= whole_runs(database)
    results = list(ingest_paths(str(database), list(map(str, profiles)), labels=Labels(), wait=10))
    assert {result.status for result in results} <= {"new", "known"}
    assert whole_runs(database) == {result.run_id for result in results}


@pytest.mark.slow
@pytest.mark.skipif("ADVISOR_SLOW" not in os.environ, reason="ADVISOR_SLOW is not set")
def test_fifty_kills_at_random_moments(
    database: Path, profiles: list[Path], start: Start, tmp_path: Path, whole_runs: WholeRuns
) -> None:
    """Ingest and merge take turns on one database that is only ever killed."""
    spool = tmp_path / "spool"
    list(spool_paths(str(spool), list(map(str, profiles)), labels=Labels()))
    commands: list[tuple[object, ...]] = [("ingest", *profiles), ("db", "merge", spool)]
    moments, told = random.Random(1), set[str]()
    for number in range(50):
        with open_for_writing(database) as connection:  # make room for more to be stored
            for run_id in told if number % 5 == 0 else ():
                write.remove_run(connection, run_id)
        told = told if number % 5 else set()
        process = start(database, *commands[number % 2])
        told |= acknowledged(kill_after(process, moments.uniform(0.2, 4)))
        assert told <= whole_runs(database)


@pytest.mark.parametrize("seconds", [1.2, 2.5])
def test_a_killed_merge_leaves_whole_runs_and_the_spool(
    seconds: float,
    database: Path,
    profiles: list[Path],
    start: Start,
    tmp_path: Path,
    whole_runs: WholeRuns,
) -> None:
    spool = tmp_path / "spool"
    spooled = list(spool_paths(str(spool), list(map(str, profiles[:8])), labels=Labels()))
    bundles = {path.name: path.read_bytes() for path in spool.iterdir()}
    kill_after(start(database, "db", "merge", spool), seconds)
    assert {path.name: path.read_bytes() for path in spool.iterdir()} == bundles
    whole_runs(database)
    results = list(merge_spool(str(database), str(spool), wait=10))
    assert {result.status for result in results} <= {"new", "known"}
    assert whole_runs(database) == {result.run_id for result in spooled}


@pytest.mark.parametrize("seconds", [0.8, 1.3])
def test_a_killed_spooler_leaves_whole_bundles(
    seconds: float, database: Path, profiles: list[Path], start: Start, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    told = acknowledged(kill_after(start(database, "ingest", *profiles, "--spool", spool), seconds))
    results = list(merge_spool(str(database), str(spool), wait=10)) if spool.exists() else []
    assert told <= {result.run_id for result in results}
    assert all(result.status == "new" for result in results)
    assert (not spool.exists()) or all(
        path.suffix == ".bundle" or path.name.startswith(".") for path in spool.iterdir()
    )
