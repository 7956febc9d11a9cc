from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.errors import DatabaseError
from advisor.ingest.profiles import RunLabels
from advisor.ingest.records import HELD
from advisor.ingest.spool import merge_spool, spool_paths
from advisor.ingest.trial import try_paths
from advisor.model import Launch, ReportedDevice, Session
from seed.simulation.ncu_encoder import write_report

Disk = Any
Start = Callable[..., "subprocess.Popen[str]"]
WholeRuns = Callable[[Path], set[str]]
Write = Callable[[str], tuple[int, str]]
Contents = Callable[[Path, Path], object]

ROOT = Path(__file__).parents[2]

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


NAME = "test.duckdb"
WHY = {"No space left on device": "rw", "Read-only file system": "ro"}

# What writes to a database that is there, as words of the command line.
WRITING: dict[str, tuple[str, ...]] = {
    "ingest": ("ingest", "{profile}"),
    "merge": ("db", "merge", "{spool}"),
    "refresh": ("refresh", "--all"),
    "remove": ("runs", "remove", "latest", "--yes"),
    "upgrade": ("db", "upgrade"),
}


@pytest.fixture(scope="module")
def spooled(profiles: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a spool of the last profiles; only to read."""
    spool = tmp_path_factory.mktemp("spooled") / "spool"
    list(spool_paths(str(spool), list(map(str, profiles[-3:])), labels=RunLabels()))
    return spool


@pytest.fixture
def write(profiles: list[Path], spooled: Path, start: Start, newer: Path, disk: Disk) -> Write:
    """Return what carries a command out on the disk's database: status and complaints."""

    def written(what: str) -> tuple[int, str]:
        words = [word.format(profile=profiles[-1], spool=spooled) for word in WRITING[what]]
        program = newer if what == "upgrade" else ROOT
        process = start(disk.path / NAME, *words, program=program, where=disk)
        _, err = process.communicate()
        return process.returncode, err

    return written


@pytest.mark.parametrize("what", WRITING)
def test_a_full_disk_leaves_the_database_as_it_was(
    what: str, disk: Disk, stored: Path, write: Write, contents: Contents, tmp_path: Path
) -> None:
    stale = Path(shutil.copy(stored, tmp_path / NAME))
    with duckdb.connect(str(stale)) as connection:  # so that there is something to refresh
        connection.execute("UPDATE launch SET dram_bytes = -1; UPDATE run SET rules_hash = 'old'")
    shutil.copy(stale, disk.seen)
    disk.fill(left=0)
    status, err = write(what)
    assert status == 4
    assert "No space left on device" in err
    assert "hint:" in err
    assert contents(disk.take(NAME, tmp_path / "after"), stale) == contents(stale, stale)
    disk.empty()
    assert {path.name for path in disk.seen.iterdir()} <= {NAME, f"{NAME}.wal"}
    status, err = write(what)
    assert status == 0, err


@pytest.mark.parametrize("what", WRITING)
def test_a_disk_that_is_read_only_is_named(
    what: str, disk: Disk, stored: Path, write: Write
) -> None:
    shutil.copy(stored, disk.seen / NAME)
    disk.remount("ro")
    status, err = write(what)
    assert status == 4
    assert f"{disk.path / NAME}: " in err
    assert "Read-only file system" in err
    assert "hint:" in err
    assert "TMPDIR" not in err
    assert (disk.seen / NAME).read_bytes() == stored.read_bytes()


@pytest.mark.parametrize("options", ["ro", "rw"])
def test_reading_needs_no_room(options: str, disk: Disk, stored: Path, start: Start) -> None:
    shutil.copy(stored, disk.seen / NAME)
    disk.fill(left=0)
    disk.remount(options)
    process = start(disk.path / NAME, "report", where=disk)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "of the profiled kernel time" in out


@pytest.mark.parametrize("why", WHY)
def test_a_database_is_not_made_by_halves(
    why: str, disk: Disk, profiles: list[Path], start: Start
) -> None:
    disk.fill(left=100_000)
    disk.remount(WHY[why])
    process = start(disk.path / "new.duckdb", "ingest", profiles[0], where=disk)
    _, err = process.communicate()
    assert process.returncode == 4
    assert "new.duckdb: cannot be made: " in err
    assert why in err
    assert [path.name for path in disk.seen.iterdir()] == ["filling"]


@pytest.mark.parametrize("why", WHY)
def test_a_spool_that_takes_nothing_is_named(
    why: str, disk: Disk, profiles: list[Path], database: Path, start: Start
) -> None:
    (disk.seen / "spool").mkdir()
    disk.fill(left=4_096)
    disk.remount(WHY[why])
    words = ("ingest", profiles[0], "--spool", disk.path / "spool")
    process = start(database, *words, where=disk)
    out, err = process.communicate()
    assert (process.returncode, out) == (4, "")
    assert f"the spool does not take it: {why}" in err
    assert list((disk.seen / "spool").iterdir()) == []


@pytest.mark.parametrize("why", WHY)
def test_a_report_is_written_whole_or_not_at_all(
    why: str, disk: Disk, stored: Path, start: Start
) -> None:
    report = disk.path / "report.html"
    (disk.seen / "report.html").write_text("the report before")
    disk.fill(left=20_000)
    disk.remount(WHY[why])
    process = start(stored, "report", "--html", "-o", report, where=disk)
    _, err = process.communicate()
    assert process.returncode == 4
    assert f"cannot write {report}: {why}" in err
    assert {path.name for path in disk.seen.iterdir()} == {"report.html", "filling"}
    assert (disk.seen / "report.html").read_text() == "the report before"


def test_a_bundle_that_finds_no_room_to_be_unpacked_is_not_called_damaged(
    disk: Disk, database: Path, start: Start, tmp_path: Path, whole_runs: WholeRuns
) -> None:
    """Its profile is larger than what is unpacked in memory; there is room for the beginning."""
    profile, spool = tmp_path / "large.ncu-rep", tmp_path / "spool"
    counters = {f"counter_{number}": number + 0.5 for number in range(500)}
    session = Session(profiler="ncu", devices=(ReportedDevice(id=0, name="G", attributes={}),))
    launches = (Launch(index=n, kernel_name="k", counters=counters) for n in range(1_000))
    write_report(profile, session, launches)
    assert profile.stat().st_size > HELD
    list(spool_paths(str(spool), [str(profile)], labels=RunLabels()))
    (bundle,) = spool.iterdir()
    disk.fill(left=100_000)
    process = start(database, "db", "merge", spool, temporary=disk.path, where=disk)
    out, err = process.communicate()
    assert (process.returncode, out) == (4, "")
    assert "temporary files cannot be written: No space left on device" in err
    assert "TMPDIR" in err
    assert [path.name for path in disk.seen.iterdir()] == ["filling"]
    assert bundle.exists()
    assert whole_runs(database) == set()


def test_says_where_temporary_files_could_be_if_they_can_be_nowhere(
    database: Path, profiles: list[Path], spooled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(spooled / "nowhere"))
    with pytest.raises(DatabaseError, match="temporary files cannot be written") as caught:
        list(merge_spool(str(database), str(spooled), wait=0))
    assert "TMPDIR" in str(caught.value.hint)
    with pytest.raises(DatabaseError, match="temporary files cannot be written"):
        try_paths(str(database), [str(profiles[0])], wait=0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("words", [("report",), ("query", "select * from runs"), ("runs", "list")])
def test_output_that_finds_no_room_is_named(words: tuple[str, ...], stored: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "advisor", "--db", str(stored), *words],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
    assert done.returncode == 4
    assert done.stderr == "advisor: standard output: No space left on device\n"


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
    database: Path, spooled: Path, tmp_path: Path, whole_runs: WholeRuns
) -> None:
    spool = Path(shutil.copytree(spooled, tmp_path / "spool"))
    cut, swapped, whole = sorted(spool.iterdir())
    cut.write_bytes(cut.read_bytes()[:-100])
    swapped.write_bytes(whole.read_bytes())
    results = list(merge_spool(str(database), str(spool), wait=10))
    assert [result.status for result in results] == ["refused", "refused", "new"]
    assert "it is named after another profile" in str(results[1].error)
    assert whole_runs(database) == {results[2].run_id}
