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
Told = Callable[..., str]

PEAKS = (
    "select peak_fp32, peak_dram_bandwidth, dram_bytes, dram_fraction, wave_wait_share"
    " from kernels where short_name = 'vector_add'"
)
SHOWN = [
    ("report",),
    ("report", "--markdown", "-o", "-"),
    ("report", "--html", "-o", "-"),
    ("show", "saxpy"),
    ("show", "vector_add", "--all"),
    ("collect",),
    ("rules", "explain", "waves/mostly-waiting", "saxpy"),
    ("rules", "explain", "scheduling/barrier", "saxpy"),
]
ASKED = [
    *SHOWN,
    ("query", PEAKS, "--format", "json"),
    ("collect", "--kernel", "saxpy", "--format", "json"),
    ("rules", "explain", "occupancy/achieved-below-theoretical", "saxpy"),
    ("report", "--format", "json"),
]

# Carries out commands one after the other, and prints status and output of each.
SEVERAL = """
import json, sys
from click.testing import CliRunner
from advisor.cli.application import application
database, commands = sys.argv[1], json.loads(sys.argv[2])
done = [CliRunner().invoke(application, ["--db", database, *words]) for words in commands]
print(json.dumps([(each.exit_code, each.stdout, each.stderr) for each in done]))
"""


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
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def environment(site: Path, home: Path) -> dict[str, str]:
    """Return the environment of a process for which the package is installed."""
    paths = os.pathsep.join((str(site), str(ROOT)))
    return {**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(home)}


@pytest.fixture(scope="module")
def advisor(home: Path, environment: dict[str, str]) -> Advisor:
    """Run the program in a process of its own, where the package is installed."""

    def run(*words: str, packages: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "advisor", "--db", str(home / "test.duckdb"), *words],
            cwd=home,
            env=environment if packages else {**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("ingest", str(TRACE)).returncode == 0
    return run


@pytest.fixture(scope="module")
def told(advisor: Advisor, home: Path, environment: dict[str, str]) -> Told:
    """Return what a command prints that only reads; one process has carried all of them out."""
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, str(home / "test.duckdb"), json.dumps(ASKED)],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = dict(zip(ASKED, json.loads(done.stdout), strict=True))

    def printed(*words: str) -> str:
        status, out, err = answers[words]
        assert status == 0, err
        return str(out)

    return printed


def test_takes_peaks_from_the_rated_ones_at_the_clock_that_was_held(told: Told) -> None:
    # 163.4 TFLOP/s at 2.1 GHz are 81.7 at 1.05 GHz; 131,072 + 65,536 requests of 64 B in 10 µs
    # are 12.58 MB and 1.258 TB/s, of 5.3 TB/s.
    document = json.loads(told("query", PEAKS, "--format", "json"))
    (row,) = document["rows"] if isinstance(document, dict) else document
    assert row["peak_fp32"] == pytest.approx(81.7e12)
    assert row["peak_dram_bandwidth"] == pytest.approx(5.3e12)
    assert row["dram_bytes"] == 12_582_912
    assert row["dram_fraction"] == pytest.approx(1.2582912e12 / 5.3e12)
    assert row["wave_wait_share"] is None


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_never_mentions_a_command_that_this_user_does_not_have(
    told: Told, words: tuple[str, ...]
) -> None:
    text = told(*words)
    assert text
    assert re.findall(r"(?i)\bncu\b|nsight|--section|\bnvidia\b", text) == []


def test_asks_its_own_profiler_and_names_the_version_that_is_needed(told: Told) -> None:
    asked = json.loads(told("collect", "--kernel", "saxpy", "--format", "json"))
    assert asked["command"] == (
        "wavescope record --block memory --block arithmetic --block waits --kernel saxpy --"
        " ./vector_add --name 'two words'"
    )
    assert asked["needs_version"] == "2.0"
    assert "waves/mostly-waiting" in {each["rule_id"] for each in asked["settles"]}
    assert "scheduling/barrier" in asked["not_knowable"]


def test_tells_apart_what_it_can_never_know(told: Told) -> None:
    words = ("rules", "explain", "occupancy/achieved-below-theoretical", "saxpy")
    assert "not knowable here" in told(*words)
    found = json.loads(told("report", "--format", "json"))
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
