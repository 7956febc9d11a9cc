"""The command that ``collect`` prints runs: its sections exist in the profiler of the run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from advisor.api.collecting import UNDECIDED, ToCollect, settling
from advisor.database.connect import open_for_reading
from advisor.database.parts import variants_of
from advisor.database.read import list_runs
from advisor.knowledge.load import load_knowledge
from advisor.profilers import Profiler, load_profiler, version_key
from advisor.rules import evaluate_runs
from advisor.rules.engine.evaluate import run_words
from studies.sections import contradicted, offered_too_early, reports_in, seen_in

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def profiler() -> Profiler:
    found = load_profiler("ncu")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def asked(real_database: Path) -> list[tuple[str | None, ToCollect]]:
    """Return for every run the version of its profiler and what to collect.

    The rules judge all runs at once: to plan the statements takes longer than to run them.
    """
    knowledge = load_knowledge()
    found = []
    with open_for_reading(str(real_database)) as connection:
        runs = [run for run in list_runs(connection) if run.profiler == "ncu"]
        ids = [run.run_id for run in runs]
        words = run_words(connection, ids, knowledge.settings)
        judged = evaluate_runs(connection, knowledge.compiled, ids, words=words)
        for run in runs:
            rows = variants_of(connection, run.run_id)
            of_kernels = {row["variant_id"] for row in rows}
            unknown = [
                each
                for each in judged[run.run_id]
                if each.outcome in UNDECIDED and each.variant_id in of_kernels
            ]
            asked = settling(connection, run.run_id, rows, unknown, knowledge)
            found.append((run.profiler_version, asked))
    return found


def test_reports_hold_sections_only_in_versions_that_have_them(
    real_data: Path, profiler: Profiler
) -> None:
    reports = reports_in(real_data / "ncu-rep")
    seen = seen_in(reports, lambda each: each.sections)
    assert sum(map(len, seen.values())) > 500
    assert contradicted(profiler, seen) == []
    assert offered_too_early(profiler, seen_in(reports, lambda each: each.counters)) == []


def test_asks_for_what_the_version_of_the_run_has(
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
        absent += [m for m in found.collection.metrics if not profiler.takes_name(m, meant)]
        assert absent == [], (found.run_id, version, meant)
        checked += len(found.collection.sections)
    print(f"\n{len(asked)} runs, {checked} sections asked for")
    assert checked > 100


def test_the_profiler_itself_knows_the_sections(
    asked: list[tuple[str | None, ToCollect]], profiler: Profiler
) -> None:
    """Those of its version: the one that is installed may be older than the run."""
    ncu = shutil.which("ncu")
    if ncu is None:
        pytest.skip("there is no ncu on PATH, which would say whether it takes the commands")
    listed = subprocess.run([ncu, "--list-sections"], capture_output=True, text=True, check=True)
    known = set(listed.stdout.split())
    says = subprocess.run([ncu, "--version"], capture_output=True, text=True, check=True)
    version = re.search(r"Version (\d+\.\d+)", says.stdout)
    assert version is not None
    for _, found in asked:
        if found.collection is not None and found.collection.needs_version is None:
            sections = found.collection.sections
            wanted = {each for each in sections if profiler.has_section(each, version[1])}
            assert wanted <= known, found.collection.command
