"""The recipes of docs/ci: their commands run on simulated nights, with the program on the path."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from advisor.cli.application import application
from advisor.ingest.profiles import RunLabels
from advisor.resources import data_dir
from tests.support.shared import ingest_nights

pytestmark = pytest.mark.slow

Recipe = Callable[[], Iterator[str]]

RECIPES = Path(__file__).parent.parent / "docs" / "ci"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PROFILE = '#!/bin/sh\nset -eu\nmkdir -p "$1"\ncp "$NIGHT" ${DAMAGED:+"$DAMAGED"} "$1"\n'


def blocks(page: str, kind: str) -> list[str]:
    text = (RECIPES / page).read_text(encoding="utf-8")
    return [found["text"] for found in BLOCK.finditer(text) if found["kind"] == kind]


def github() -> Iterator[str]:
    (text,) = blocks("github-actions.md", "yaml")
    for step in yaml.safe_load(text)["jobs"]["profile"]["steps"]:
        if "run" in step:
            yield step["run"]


def gitlab() -> Iterator[str]:
    (text,) = blocks("gitlab.md", "yaml")
    pipeline = yaml.safe_load(text)
    for stage in pipeline["stages"]:
        allowed = pipeline[stage].get("allow_failure", {}).get("exit_codes")
        yield from (_allowed(command, allowed) for command in pipeline[stage]["script"])


def _allowed(command: str, status: str | int | None) -> str:
    """Return a command after which a service goes on, also where it ends with this status."""
    return command if status is None else f"{command} || [ $? = {status} ]"


def cron() -> Iterator[str]:
    yield from blocks("cron.md", "sh")


def metrics() -> Iterator[str]:
    yield 'advisor ingest "$NIGHT" --branch main'
    yield from blocks("metrics.md", "sh")


def systemd() -> Iterator[str]:
    yield 'advisor ingest "$NIGHT" --branch main --spool "$SPOOL" && mkdir -p "$OUT"'
    service = blocks("systemd.md", "ini")[0]
    allowed = re.search(r"^SuccessExitStatus=(.*)$", service, re.MULTILINE)
    for command in re.findall(r"^ExecStart=(.*)$", service, re.MULTILINE):
        yield _allowed(command, allowed and allowed[1])


def readme() -> Iterator[str]:
    yield 'mkdir -p "$PROFILES" && cp "$NIGHT" "$PROFILES"'
    yield from blocks("README.md", "sh")


def job(folder: Path, recipe: Recipe, number: int, damaged: Path | None = None) -> int:
    """Run the commands of a recipe in a folder on the profile of a night; return the last status.

    What is ``damaged`` is among the profiles.
    """
    environment = prepared(folder, PROFILE, number) | {"DAMAGED": str(damaged or "")}
    *_, last = commands = [*recipe()]
    for command in commands:
        done = bash(command, folder, environment)
        ended = done.returncode in ((0, 3) if damaged and command is last else (0,))
        assert ended, f"{command}\n{done.stdout}{done.stderr}"
    return done.returncode


def bash(
    command: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command as services do: it ends with the first part that fails."""
    return subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def prepared(folder: Path, profile: str, number: int) -> dict[str, str]:
    """Write the script that profiles, clean up, and return a job's variables on a night."""
    script = folder / "profile.sh"
    script.write_text(profile, encoding="utf-8")
    script.chmod(0o755)
    shutil.rmtree(folder / "profiles", ignore_errors=True)  # a job begins with a checkout
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder),
        "ADVISOR_DB": str(folder / "nightly.duckdb"),
        "NIGHT": str(data_dir("seed") / "runs" / "nightly" / f"night-{number}.ncu-rep"),
        "PROFILE": str(script),
        "PROFILES": str(folder / "profiles"),
        "SPOOL": str(folder / "spool"),
        "OUT": str(folder / "report"),
        "TEXTFILES": str(folder / "textfiles"),
        "GITHUB_SHA": f"abc{number}",
        "GITHUB_REF_NAME": "main",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "CI_COMMIT_SHA": f"abc{number}",
        "CI_COMMIT_BRANCH": "main",
    }


FIRST = {github: cron, gitlab: gitlab, cron: cron, systemd: gitlab, metrics: cron}
"""By recipe, the one whose first night it goes on from: one that ingests, or one with a spool."""
CHECKED_OUT = (github, gitlab)
"""Recipes whose jobs begin with a checkout, where no report is left from the night before."""


@pytest.fixture(scope="module")
def first_nights(tmp_path_factory: pytest.TempPathFactory) -> dict[Recipe, Path]:
    """Return folders in which a recipe ran on a first night, from nothing; to copy."""
    folders = {recipe: tmp_path_factory.mktemp("first") / "job" for recipe in (cron, gitlab)}
    for recipe, folder in folders.items():
        folder.mkdir()
        job(folder, recipe, 19)
    return folders


@pytest.mark.parametrize("recipe", FIRST, ids=lambda recipe: recipe.__name__)
def test_runs_on_two_nights(
    recipe: Recipe, first_nights: dict[Recipe, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(first_nights[FIRST[recipe]], tmp_path / "job"))
    if recipe in CHECKED_OUT:
        shutil.rmtree(folder / "report")
    job(folder, recipe, 20)
    database = folder / "nightly.duckdb"
    listed = CliRunner().invoke(application, ["--db", str(database), "runs", "list"])
    assert [f"night-{number}" in listed.stdout for number in (19, 20)] == [True, True]
    if recipe is metrics:
        text = (folder / "textfiles" / "advisor.prom").read_text(encoding="utf-8")
        assert text.endswith("# EOF\n")
    else:
        assert (folder / "report" / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize(("recipe", "status"), [(github, 0), (gitlab, 0), (cron, 3), (systemd, 0)])
def test_a_damaged_file_stops_no_night(
    recipe: Recipe, status: int, first_nights: dict[Recipe, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(first_nights[FIRST[recipe]], tmp_path / "job"))
    shutil.rmtree(folder / "report")
    damaged = tmp_path / "damaged.ncu-rep"
    damaged.write_bytes(b"NVR\0 and no more")
    if (folder / "spool").exists():
        (folder / "spool" / f"{'0' * 64}.bundle").write_bytes(b"no bundle")
    assert job(folder, recipe, 20, damaged) == status
    database = folder / "nightly.duckdb"
    listed = CliRunner().invoke(application, ["--db", str(database), "runs", "list"])
    assert "night-20" in listed.stdout
    assert (folder / "report" / "report.html").stat().st_size > 10_000
    if recipe is cron:
        kept = [path.relative_to(folder) for path in folder.glob("profiles/**/*.ncu-rep")]
        assert kept == [Path("profiles", "refused", damaged.name)]


@pytest.mark.parametrize("recipe", FIRST, ids=lambda recipe: recipe.__name__)
def test_reports_on_its_branch_beside_a_newer_run_of_another(
    recipe: Recipe, first_nights: dict[Recipe, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(first_nights[FIRST[recipe]], tmp_path / "job"))
    ingest_nights(folder / "nightly.duckdb", {20: RunLabels(branch="feature/x")})
    job(folder, recipe, 19)
    if recipe is metrics:
        text = (folder / "textfiles" / "advisor.prom").read_text(encoding="utf-8")
        alone = str(first_nights[FIRST[recipe]] / "nightly.duckdb")
        words = ["--db", alone, "report", "--format", "openmetrics"]
        assert text == CliRunner().invoke(application, words).stdout
    else:
        text = (folder / "report" / "report.html").read_text(encoding="utf-8")
        assert "<title>night-19.ncu-rep" in text


@pytest.mark.parametrize("recipe", [github, gitlab, cron], ids=lambda recipe: recipe.__name__)
def test_a_night_without_a_profile_says_so_and_fails(recipe: Recipe, tmp_path: Path) -> None:
    environment = prepared(tmp_path, '#!/bin/sh\nmkdir -p "$1"\n', 20)
    failed = next(
        done
        for command in recipe()
        if (done := bash(command, tmp_path, environment)).returncode != 0
    )
    assert failed.returncode == 1
    assert f"no profile in {tmp_path / 'profiles'}" in failed.stdout + failed.stderr
    assert not (tmp_path / "report" / "report.html").exists()
    assert not (tmp_path / "nightly.duckdb").exists()


GH = """#!/bin/sh
# Keeps one comment, as the service would: lists its id, makes it, or changes it.
echo "$@" >> "$CALLS"
for word; do case "$word" in body=@*) cp "${word#body=@}" "$COMMENT" ;; --jq) listed=1 ;; esac; done
if [ "${listed:-}" ] && [ -e "$COMMENT" ]; then echo 42; fi
"""


def pull_request(folder: Path, night: int, environment: dict[str, str]) -> int:
    """Run the steps for a pull request whose profile is a night; return the gate's status."""
    (text,) = blocks("github-pull-requests.md", "yaml")
    steps = yaml.safe_load(text)["jobs"]["profile"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    profile = data_dir("seed") / "runs" / "nightly" / f"night-{night:02}.ncu-rep"
    shutil.rmtree(folder / "profiles", ignore_errors=True)
    statuses = [
        subprocess.run(
            ["bash", "-euc", command],
            cwd=folder,
            env={**environment, "NIGHT": str(profile)},
            check=False,
        ).returncode
        for command in commands
    ]
    assert statuses[:-1] == [0] * (len(commands) - 1)
    return statuses[-1]


def test_a_comment_is_posted_once_updated_in_place_and_not_where_nothing_moved(
    tmp_path: Path,
) -> None:
    (tmp_path / "bin").mkdir()
    for path, text in ((tmp_path / "bin" / "gh", GH), (tmp_path / "profile.sh", PROFILE)):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    calls, comment = tmp_path / "calls", tmp_path / "comment"
    program = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{program}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(tmp_path),
        "ADVISOR_DB": str(tmp_path / "pulls.duckdb"),
        "PROFILES": "profiles",
        "PULL": "7",
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_SHA": "abc1234",
        "GITHUB_HEAD_REF": "quiet",
        "CALLS": str(calls),
        "COMMENT": str(comment),
    }
    ingest_nights(tmp_path / "pulls.duckdb", dict.fromkeys(range(1, 11), RunLabels(branch="main")))
    assert pull_request(tmp_path, 11, environment) == 0
    assert not comment.exists()
    slower = environment | {"GITHUB_HEAD_REF": "slower"}
    assert pull_request(tmp_path, 13, slower) == 1
    assert "`layer_norm_kernel`" in comment.read_text(encoding="utf-8")
    assert pull_request(tmp_path, 13, slower) == 1
    methods = [line.split()[2] for line in calls.read_text().splitlines() if "--method" in line]
    assert methods == ["POST", "PATCH"]


def test_every_page_is_tried() -> None:
    pages = {
        "README.md", "github-actions.md", "github-pull-requests.md", "gitlab.md", "cron.md",
        "metrics.md", "systemd.md",
    }  # fmt: skip
    assert {path.name for path in RECIPES.iterdir()} == pages
