from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.api.profiles import Labels
from advisor.api.spooling import merge_spool, spool_paths

Start = Callable[..., "subprocess.Popen[str]"]
WholeRuns = Callable[[Path], set[str]]

# A limit on the size of files stands in for a full disk: writes fail in the same places.
LIMITED = """
import resource, signal, sys
limit = int(sys.argv.pop(1))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from advisor.cli import main
main()
"""


def limited(limit: int, *words: object) -> subprocess.CompletedProcess[str]:
    """Run ``advisor`` where no file can grow beyond ``limit`` bytes."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_is_named_and_the_database_stays_as_it_was(
    database: Path, profiles: list[Path], whole_runs: WholeRuns
) -> None:
    done = limited(20_000, "--db", database, "ingest", profiles[0])
    assert done.returncode == 4, done.stderr
    assert str(database) in done.stderr
    assert "see that the disk has room" in done.stderr
    assert whole_runs(database) == set()


def test_a_full_disk_is_named_where_the_database_would_be_made(
    profiles: list[Path], tmp_path: Path
) -> None:
    done = limited(100_000, "--db", tmp_path / "new.duckdb", "ingest", profiles[0])
    assert done.returncode == 4, done.stderr
    assert "new.duckdb" in done.stderr
    assert "hint:" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_where_the_spool_is(
    database: Path, profiles: list[Path], tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    done = limited(2000, "--db", database, "ingest", profiles[0], "--spool", spool)
    assert done.returncode == 4, done.stderr
    assert "the spool does not take it: File too large" in done.stderr
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(
    profiles: list[Path], tmp_path: Path, start: Start
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    process = start(folder / "new.duckdb", "ingest", profiles[0])
    _, err = process.communicate()
    assert process.returncode == 4
    assert "cannot be made: Permission denied" in err


def test_a_second_writer_waits_and_then_names_the_first(
    database: Path, profiles: list[Path], start: Start
) -> None:
    code = (
        "import sys\nfrom advisor.database.connect import open_for_writing\n"
        "with open_for_writing(sys.argv[1]):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    process = start(database, "ingest", profiles[0], wait=0.3)
    _, err = process.communicate()
    holder.communicate("")
    assert process.returncode == 4
    assert f"locked by process {holder.pid}" in err
    assert "waited 0.3 s" in err


def test_a_damaged_bundle_is_refused_and_the_others_are_loaded(
    database: Path, profiles: list[Path], tmp_path: Path, whole_runs: WholeRuns
) -> None:
    spool = tmp_path / "spool"
    list(spool_paths(str(spool), list(map(str, profiles[:3])), labels=Labels()))
    cut, swapped, whole = sorted(spool.iterdir())
    cut.write_bytes(cut.read_bytes()[:-100])
    swapped.write_bytes(whole.read_bytes())
    results = list(merge_spool(str(database), str(spool), wait=10))
    assert [result.status for result in results] == ["refused", "refused", "new"]
    assert "it is named after another profile" in str(results[1].error)
    assert whole_runs(database) == {results[2].run_id}
