from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.ingest.spool import merge_spool

pytestmark = pytest.mark.slow

PAUSE = 0.1  # seconds between two looks: the others want to go on

Start = Callable[..., "subprocess.Popen[str]"]
WholeRuns = Callable[[Path], set[str]]


def finish(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Return what the processes printed, once all of them ended well."""
    printed = [process.communicate(timeout=900) for process in processes]
    codes = [process.returncode for process in processes]
    assert codes == [0] * len(processes), [err for _, err in printed]
    return [out for out, _ in printed]


def test_many_ingest_at_once_and_nothing_is_lost_or_stored_twice(
    database: Path, profiles: list[Path], start: Start, whole_runs: WholeRuns
) -> None:
    """Three processes, each with two files, of which its neighbour has one as well."""
    processes = [start(database, "ingest", *profiles[n : n + 2]) for n in range(3)]
    while any(process.poll() is None for process in processes):
        whole_runs(database)  # a reader meets whole runs at any moment
        time.sleep(PAUSE)
    lines = [line for out in finish(processes) for line in out.splitlines()]
    new = [line.split()[1] for line in lines if line.startswith("new ")]
    assert len(new) == len(set(new)) == 4
    assert whole_runs(database) == set(new)


def test_many_spool_while_one_merges(
    database: Path, profiles: list[Path], start: Start, tmp_path: Path, whole_runs: WholeRuns
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()

    def merge() -> None:
        assert {each.status for each in merge_spool(str(database), str(spool), wait=900)} <= {
            "new", "known",
        }  # fmt: skip

    spoolers = [start(database, "ingest", *profiles[n : n + 2], "--spool", spool) for n in range(3)]
    while any(process.poll() is None for process in spoolers):
        merge()
        time.sleep(PAUSE)
    finish(spoolers)
    merge()
    (again,) = finish([start(database, "db", "merge", spool)])
    assert again.endswith("4 already known\n")
    assert len(whole_runs(database)) == 4
