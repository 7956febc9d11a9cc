"""An upgrade that is killed at moments spread over the time it takes.

Three moments, fifty where ADVISOR_SLOW is set; ``test_kills`` kills what changes no schema.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from advisor.database import upgrade

pytestmark = pytest.mark.slow

Start = Callable[..., "subprocess.Popen[str]"]
Rows = Callable[[Path, str], list[tuple[object, ...]]]
Contents = Callable[[Path, Path], object]

KILLS = 50 if "ADVISOR_SLOW" in os.environ else 3
RUNS = 2  # as many as ``stored`` has


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


def fresh(place: Path, of: Path) -> Path:
    """Return a copy of a database, alone in the folder ``place``."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return Path(shutil.copy(of, place / "test.duckdb"))


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
    large: Path, newer: Path, start: Start, tmp_path: Path, rows: Rows, contents: Contents
) -> None:
    found: Counter[str] = Counter()
    head, place = upgrade.current(large).revision, tmp_path / "place"
    before, database = contents(large, large), place / "test.duckdb"

    def begin() -> subprocess.Popen[str]:
        fresh(place, large)
        return start(database, "db", "upgrade", program=newer)

    for out in killed(begin):
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
