"""The command that ``collect`` prints runs: its sections exist in the profiler of the run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from advisor.api.collecting import ToCollect, to_collect
from advisor.database.connect import open_for_reading
from advisor.database.read import list_runs
from advisor.profilers import Profiler, load_profiler, version_key
from studies.sections import contradicted, seen_in

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def profiler() -> Profiler:
    found = load_profiler("ncu")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def asked(real_database: Path) -> list[tuple[str | None, ToCollect]]:
    """Return for every run the version of its profiler and what to collect."""
    with open_for_reading(str(real_database)) as connection:
        runs = list_runs(connection)
    return [
        (run.profiler_version, to_collect(str(real_database), run.run_id, wait=30))
        for run in runs
        if run.profiler == "ncu"
    ]


def test_reports_hold_sections_only_in_versions_that_have_them(
    real_data: Path, profiler: Profiler
) -> None:
    seen = seen_in(real_data / "ncu-rep")
    assert sum(map(len, seen.values())) > 500
    assert contradicted(profiler, seen) == []


def test_asks_for_sections_that_the_version_of_the_run_has(
    asked: list[tuple[str | None, ToCollect]], profiler: Profiler
) -> None:
    checked = 0
    for version, found in asked:
        if found.collection is None:
            continue
        needs = found.collection.needs_version
        meant = version
        if needs is not None and (version is None or version_key(needs) > version_key(version)):
            meant = needs
        absent = [s for s in found.collection.sections if not profiler.has_section(s, meant)]
        assert absent == [], (found.run_id, version, meant)
        checked += len(found.collection.sections)
    print(f"\n{len(asked)} runs, {checked} sections asked for")
    assert checked > 100


def test_the_profiler_itself_knows_the_sections(
    asked: list[tuple[str | None, ToCollect]],
) -> None:
    ncu = shutil.which("ncu")
    if ncu is None:
        pytest.skip("there is no ncu on PATH, which would say whether it takes the commands")
    listed = subprocess.run([ncu, "--list-sections"], capture_output=True, text=True, check=True)
    known = set(listed.stdout.split())
    for _, found in asked:
        if found.collection is not None and found.collection.needs_version is None:
            assert set(found.collection.sections) <= known, found.collection.command
