"""A package outside of the project teaches a profiler: reader, quantity, counters, command, rules.

It is installed beside the program, and nothing of the program knows of it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from advisor.resources import named_by_packages

HERE = Path(__file__).parent / "sample_package"
TRACE = HERE / "vector_add.wscope"
ROOT = HERE.parent.parent

Advisor = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package into a folder of its own, as an installer does."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(HERE / "wavescope", folder / "wavescope")
    told = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    info = folder / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in told["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    return folder


@pytest.fixture(scope="module")
def advisor(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Advisor:
    """Run the program in a process of its own, where the package is installed."""
    home = tmp_path_factory.mktemp("home")
    paths = os.pathsep.join((str(site), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(home)}

    def run(*words: str, packages: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "advisor", "--db", str(home / "test.duckdb"), *words],
            cwd=home,
            env=environment if packages else {**environment, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("ingest", str(TRACE)).returncode == 0
    return run


def values(advisor: Advisor, sql: str) -> list[dict[str, str | float | None]]:
    found = advisor("query", sql, "--format", "json")
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    rows: list[dict[str, str | float | None]] = (
        document["rows"] if isinstance(document, dict) else document
    )
    return rows


def test_takes_peaks_from_the_rated_ones_at_the_clock_that_was_held(advisor: Advisor) -> None:
    # 163.4 TFLOP/s at 2.1 GHz are 81.7 at 1.05 GHz; 131,072 + 65,536 requests of 64 B in 10 µs
    # are 12.58 MB and 1.258 TB/s, of 5.3 TB/s.
    sql = (
        "select peak_fp32, peak_dram_bandwidth, dram_bytes, dram_fraction, wave_wait_share"
        " from kernels where short_name = 'vector_add'"
    )
    (row,) = values(advisor, sql)
    assert row["peak_fp32"] == pytest.approx(81.7e12)
    assert row["peak_dram_bandwidth"] == pytest.approx(5.3e12)
    assert row["dram_bytes"] == 12_582_912
    assert row["dram_fraction"] == pytest.approx(1.2582912e12 / 5.3e12)
    assert row["wave_wait_share"] is None


@pytest.mark.parametrize(
    "words",
    [
        ("report",),
        ("report", "--markdown", "-o", "-"),
        ("report", "--html", "-o", "-"),
        ("show", "saxpy"),
        ("show", "vector_add", "--all"),
        ("collect",),
        ("rules", "explain", "waves/mostly-waiting", "saxpy"),
        ("rules", "explain", "scheduling/barrier", "saxpy"),
    ],
    ids=" ".join,
)
def test_never_mentions_a_command_that_this_user_does_not_have(
    advisor: Advisor, words: tuple[str, ...]
) -> None:
    told = advisor(*words)
    assert told.returncode == 0, told.stderr
    assert told.stdout
    assert re.findall(r"(?i)\bncu\b|nsight|--section|\bnvidia\b", told.stdout) == []


def test_asks_its_own_profiler_and_names_the_version_that_is_needed(advisor: Advisor) -> None:
    told = json.loads(advisor("collect", "--kernel", "saxpy", "--format", "json").stdout)
    assert told["command"] == (
        "wavescope record --block memory --block arithmetic --block waits --kernel saxpy --"
        " ./vector_add --name 'two words'"
    )
    assert told["needs_version"] == "2.0"
    assert "waves/mostly-waiting" in {each["rule_id"] for each in told["settles"]}
    assert "scheduling/barrier" in told["not_knowable"]


def test_tells_apart_what_it_can_never_know(advisor: Advisor) -> None:
    told = advisor("rules", "explain", "occupancy/achieved-below-theoretical", "saxpy")
    assert "not knowable here" in told.stdout
    found = json.loads(advisor("report", "--format", "json").stdout)
    outcomes = {
        result["rule_id"]: result["outcome"]
        for kernel in found["kernels"]
        for result in kernel["findings"]
    }
    assert outcomes["waves/many-registers"] == "fires"
    assert outcomes["scheduling/barrier"] == "not knowable here"
    assert outcomes["waves/mostly-waiting"] == "unknown"


def test_a_file_made_before_gets_its_column_by_an_upgrade(advisor: Advisor, tmp_path: Path) -> None:
    older = str(tmp_path / "older.duckdb")
    night = ROOT / "seed" / "runs" / "nightly" / "night-01.ncu-rep"
    assert advisor("--db", older, "ingest", str(night), packages=False).returncode == 0
    refused = advisor("--db", older, "ingest", str(TRACE))
    assert refused.returncode == 4
    assert "no column in table launch for the quantity wave_wait_share" in refused.stderr
    assert f"advisor --db {older} db upgrade" in refused.stderr
    done = advisor("--db", older, "db", "upgrade")
    assert "wave_wait_share" in done.stdout
    assert advisor("--db", older, "ingest", str(TRACE)).returncode == 0
    with duckdb.connect(older, read_only=True) as connection:
        rows = connection.execute("SELECT count(*), count(wave_wait_share) FROM launch").fetchall()
    assert rows[0][0] > 2
    assert rows[0][1] == 0


def test_finds_nothing_where_nothing_is_installed() -> None:
    assert named_by_packages("advisor.packs") == ()
    assert named_by_packages("advisor.readers") == ()
