"""Commands that are killed at moments spread over the time they take.

Three moments of each command, fifty where ADVISOR_SLOW is set.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from advisor.api.refreshing import refresh_runs
from advisor.api.runs import remove_run
from advisor.database import ids, upgrade
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.spool import merge_spool, spool_paths

Start = Callable[[], "subprocess.Popen[str]"]
Loop = Callable[..., "subprocess.Popen[str]"]
WholeRuns = Callable[[Path], set[str]]
Rows = Callable[[Path, str], list[tuple[object, ...]]]
Contents = Callable[[Path, Path], object]

KILLS = 50 if "ADVISOR_SLOW" in os.environ else 3
RUNS = 2  # as many as ``stored`` has

LOOP = """
import json, sys
from advisor.cli.application import application
for words in json.loads(sys.argv[1]):
    application(words, standalone_mode=False)
"""


@pytest.fixture
def loop(tmp_path: Path, stored: Path) -> Loop:
    """Start one process that carries out commands one after the other.

    What they keep between commands is there already: ``stored`` was made.
    """

    def started(
        *commands: tuple[object, ...], program: Path = Path(__file__).parents[2]
    ) -> subprocess.Popen[str]:
        words = json.dumps([list(map(str, command)) for command in commands])
        return subprocess.Popen(
            [sys.executable, "-c", LOOP, words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(program)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


def killed(start: Start) -> Iterator[str]:
    """Kill what ``start`` starts at moments of the time it takes; yield what it had printed.

    It is started once for each moment and, before, once to be carried to its end. The moments
    reach half as far again: a busy machine may take longer the next time.
    """
    began = time.monotonic()
    process = start()
    out, err = process.communicate()
    seconds = 1.5 * (time.monotonic() - began)
    assert process.returncode == 0, err
    yield out
    chance = random.Random(KILLS)
    for number in range(KILLS):
        process = start()
        time.sleep((number + chance.random()) / KILLS * seconds)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        yield out
    print(f"{KILLS} kills within {seconds:.1f} s")


def told(out: str, verb: str = "new") -> set[str]:
    """Return the runs that a command told about with ``verb``; the last line may be cut."""
    whole = out[: out.rfind("\n") + 1].splitlines()
    return {line.split()[1] for line in whole if line.startswith(f"{verb} ")}


def fresh(place: Path, of: Path) -> Path:
    """Return a copy of a database, alone in the folder ``place``."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return Path(shutil.copy(of, place / "test.duckdb"))


def test_a_killed_ingest_leaves_whole_runs_and_all_it_told_of(
    database: Path, profiles: list[Path], loop: Loop, whole_runs: WholeRuns
) -> None:
    """One database, that no command but removal ever ends well on."""
    found: Counter[int] = Counter()
    commands = [("--db", database, "ingest", path) for path in profiles[:RUNS]]
    for out in killed(lambda: loop(*commands)):
        whole = whole_runs(database)
        assert told(out) <= whole
        found[len(whole)] += 1
        for run_id in whole:
            remove_run(str(database), run_id, wait=0)
    print(f"ingest of {RUNS} runs; stored were: {sorted(found.items())}")
    results = list(
        ingest_paths(str(database), list(map(str, profiles[:RUNS])), labels=RunLabels(), wait=0)
    )
    assert [result.status for result in results] == ["new"] * RUNS
    assert whole_runs(database) == {result.run_id for result in results}


def test_a_killed_merge_leaves_every_bundle_and_moves_none_that_is_not_stored(
    database: Path, profiles: list[Path], loop: Loop, tmp_path: Path, whole_runs: WholeRuns
) -> None:
    found: Counter[int] = Counter()
    spools, done = [tmp_path / f"spool-{n}" for n in range(RUNS)], tmp_path / "done"
    for spool, profile in zip(spools, profiles, strict=False):
        list(spool_paths(str(spool), [str(profile)], labels=RunLabels()))
    bundles = {path: path.read_bytes() for spool in spools for path in spool.iterdir()}
    runs = {path.name: ids.run_id(path.stem) for path in bundles}
    commands = [("--db", database, "db", "merge", spool, "--done", done) for spool in spools]
    for out in killed(lambda: loop(*commands)):
        whole = whole_runs(database)
        assert told(out) <= whole
        moved = {path.name for path in done.iterdir()} if done.exists() else set()
        assert {runs[name] for name in moved} <= whole
        found[len(whole)] += 1
        for path, content in bundles.items():
            if path.name in moved:
                (done / path.name).replace(path)
            assert path.read_bytes() == content
        for run_id in whole:
            remove_run(str(database), run_id, wait=0)
    print(f"merge of {RUNS} bundles; stored were: {sorted(found.items())}")
    for spool in spools:
        assert [each.status for each in merge_spool(str(database), str(spool), wait=0)] == ["new"]
    assert whole_runs(database) == set(runs.values())


def test_a_killed_spooler_leaves_whole_bundles_and_all_it_told_of(
    database: Path, profiles: list[Path], loop: Loop, tmp_path: Path
) -> None:
    found: Counter[int] = Counter()
    spool = tmp_path / "spool"
    few = profiles[: 2 * RUNS]
    for out in killed(lambda: loop(("ingest", *few, "--spool", spool))):
        results = list(merge_spool(str(database), str(spool), wait=0)) if spool.exists() else []
        assert told(out) <= {result.run_id for result in results}
        assert {result.status for result in results} <= {"new", "known"}
        found[len(results)] += 1
        shutil.rmtree(spool, ignore_errors=True)
    print(f"spooling of {len(few)} profiles; bundles were: {sorted(found.items())}")


def test_a_killed_removal_leaves_whole_runs_and_none_it_told_to_be_gone(
    stored: Path, loop: Loop, tmp_path: Path, whole_runs: WholeRuns
) -> None:
    found: Counter[int] = Counter()
    before, place = whole_runs(stored), tmp_path / "place"
    database = place / "test.duckdb"

    def start() -> subprocess.Popen[str]:
        fresh(place, stored)
        return loop(*(("--db", database, "runs", "remove", run, "--yes") for run in sorted(before)))

    for out in killed(start):
        whole = whole_runs(database)
        assert whole.isdisjoint(told(out, "removed"))
        found[len(whole)] += 1
        for run_id in whole:
            remove_run(str(database), run_id, wait=0)
        assert whole_runs(database) == set()
    print(f"removal of {RUNS} runs; left were: {sorted(found.items())}")


STALE = """
    UPDATE launch SET dram_bytes = -1;
    UPDATE finding SET because = 'stale';
    UPDATE run SET rules_hash = 'stale';
"""
STATES = """
    SELECT run_id, rules_hash = 'stale',
        (SELECT list(dram_bytes ORDER BY launch_index) FROM launch WHERE run_id = run.run_id),
        (SELECT list(DISTINCT coalesce(because, '') = 'stale') FROM finding
         WHERE run_id = run.run_id)
    FROM run ORDER BY run_id
"""


def test_a_killed_refresh_leaves_each_run_as_it_was_or_as_it_will_be(
    stored: Path, loop: Loop, tmp_path: Path, rows: Rows, whole_runs: WholeRuns
) -> None:
    found: Counter[int] = Counter()
    stale, place = Path(shutil.copy(stored, tmp_path / "stale.duckdb")), tmp_path / "place"
    with duckdb.connect(str(stale)) as connection:
        connection.execute(STALE)
    done, left = rows(stored, STATES), rows(stale, STATES)
    assert all(state[1] is False and state[3] == [False] for state in done)
    assert all(state[1] is True and state[3] == [True] for state in left)
    database = place / "test.duckdb"

    def start() -> subprocess.Popen[str]:
        fresh(place, stale)
        return loop(("--db", database, "refresh", "--all"))

    for out in killed(start):
        states = rows(database, STATES)
        refreshed = [state == new for state, new in zip(states, done, strict=True)]
        assert all(now in (new, old) for now, new, old in zip(states, done, left, strict=True))
        assert all(refreshed) or not out
        found[sum(refreshed)] += 1
        list(refresh_runs(str(database), str(done[-1][0]), wait=0))
        assert rows(database, STATES)[-1] == done[-1]
        assert whole_runs(database) == whole_runs(stored)
    print(f"refresh of {RUNS} runs; done were: {sorted(found.items())}")


@pytest.fixture(scope="session")
def large(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database whose launches take a while to copy and to change."""
    path = Path(shutil.copy(stored, tmp_path_factory.mktemp("large") / "large.duckdb"))
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "INSERT INTO launch SELECT launch.* REPLACE (launch_index + 1000 * n AS launch_index)"
            " FROM launch, generate_series(1, 100) AS more(n)"
        )
    return path


def test_a_killed_upgrade_leaves_every_row_and_a_whole_copy_or_none(
    large: Path, newer: Path, loop: Loop, tmp_path: Path, rows: Rows, contents: Contents
) -> None:
    found: Counter[str] = Counter()
    head, place = upgrade.current(large).revision, tmp_path / "place"
    before, database = contents(large, large), place / "test.duckdb"

    def start() -> subprocess.Popen[str]:
        fresh(place, large)
        return loop(("--db", database, "db", "upgrade"), program=newer)

    for out in killed(start):
        copies = list(place.glob("*.backup.duckdb"))
        assert all(contents(copy, large) == before for copy in copies)
        assert all(upgrade.current(copy).revision == head for copy in copies)
        assert contents(database, large) == before
        revision = upgrade.current(database).revision
        assert revision == "9002" if out else revision in (head, "9002")
        assert copies or revision == head
        found[f"schema {revision}, {len(copies)} copies"] += 1
        upgrade.upgrade(database, scripts=newer / "migrations")
        assert upgrade.current(database).revision == "9002"
        assert contents(database, large) == before
        assert rows(database, "SELECT count(*) FROM launch WHERE mood IS NULL") == [(0,)]
        assert rows(database, "SELECT count(mood) FROM run") == [(RUNS,)]
    print(f"upgrade; there were: {dict(found)}")
