"""``--format`` of report and check: where it is written, and what is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.resources import data_dir

Run = Callable[..., Any]
TEXTS = ("sarif", "junit", "github", "gitlab", "openmetrics", "comment")


@pytest.mark.parametrize("style", TEXTS)
def test_report_writes_a_file_and_never_gates(filled: Run, style: str, tmp_path: Path) -> None:
    place = tmp_path / f"out.{style}"
    found = filled("report", "--format", style, "-o", str(place))
    assert (found.status, found.out) == (0, "")
    assert place.stat().st_size > 100


@pytest.mark.parametrize("style", ["csv", "parquet"])
def test_report_writes_three_tables_into_a_directory(
    filled: Run, style: str, tmp_path: Path
) -> None:
    folder = tmp_path / "a" / "tables"
    assert filled("report", "--format", style, "-o", str(folder)).status == 0
    names = {f"{name}.{style}" for name in ("kernels", "findings", "moved")}
    assert {path.name for path in folder.iterdir()} == names
    if style == "csv":
        with (folder / "kernels.csv").open(newline="") as file:
            assert len(list(csv.DictReader(file))) == 14
    else:
        (count,) = duckdb.read_parquet(str(folder / "kernels.parquet")).count("*").fetchall()
        assert count == (14,)


def test_tables_need_a_directory(filled: Run, tmp_path: Path) -> None:
    found = filled("report", "--format", "parquet")
    assert found.status == 2
    assert "-o DIR" in found.err
    (tmp_path / "file").write_text("kept")
    assert filled("report", "--format", "csv", "-o", str(tmp_path / "file")).status == 4
    assert (tmp_path / "file").read_text() == "kept"


def test_a_text_needs_a_file(filled: Run, tmp_path: Path) -> None:
    found = filled("report", "--format", "sarif", "-o", str(tmp_path))
    assert found.status == 2
    assert "is a directory" in found.err


@pytest.mark.parametrize("command", ["report", "check"])
def test_an_unknown_format_is_answered_with_the_one_that_was_meant(
    filled: Run, command: str
) -> None:
    found = filled(command, "--format", "sarfi")
    assert found.status == 2
    assert "did you mean 'sarif'?" in found.err
    assert "known: text" in filled(command, "--format", "zzz").err


def test_the_summary_is_appended_and_stdout_has_annotations(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "summary.md"
    place.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    found = filled("report", "--format", "github")
    assert found.status == 0
    assert all(line.startswith(("::warning ", "::notice ")) for line in found.out.splitlines())
    assert place.read_text().startswith("before\n**")
    assert "### What to do" in place.read_text()


def test_check_gates_in_every_format(filled: Run, tmp_path: Path) -> None:
    config = tmp_path / "budgets.yaml"
    config.write_text("budgets:\n  - {fact: duration, at_most: 1, unit: ns}\n")
    for style in TEXTS:
        found = filled("--config", str(config), "check", "--fail-on", "budget", "--format", style)
        assert found.status == 1, style
        assert found.out
    junit = filled("--config", str(config), "check", "--fail-on", "budget", "--format", "junit")
    assert 'failures="14"' in junit.out


def test_sarif_falls_back_to_the_configuration_of_the_project(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def paths() -> set[str]:
        log = json.loads(filled("report", "--format", "sarif").out)
        return {
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            for result in log["runs"][0]["results"]
        }

    assert paths() == {"night-01.ncu-rep"}
    (tmp_path / "advisor.yaml").write_text("wait: 10\n")
    assert paths() == {"advisor.yaml"}


SECOND = str(data_dir("seed") / "runs" / "nightly" / "night-02.ncu-rep")
STARTS = {
    "page.html": "<!doctype html>",
    "page.HTML": "<!doctype html>",
    "run.json": "{",
    "page.md": "# ",
    "run.sarif": "{",
    "page.txt": "This run is ",
    "page.out": "This run is ",
}


@pytest.mark.parametrize("name", STARTS)
def test_the_suffix_of_a_file_says_the_format(filled: Run, name: str, tmp_path: Path) -> None:
    assert filled("report", "-o", str(tmp_path / name)).status == 0
    assert (tmp_path / name).read_text().startswith(STARTS[name])


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "latest~1"),
        ("check", "--baseline", "latest~1"),
        ("history",),
        ("whatif", "--device", "h200 sxm"),
        ("model", "matrix-product", "m=64", "n=64", "k=64", "element=2", "--device", "h100 sxm"),
        ("hardware", "compare", "h100-sxm", "a100-sxm4-80gb"),
    ],
)
def test_every_command_goes_by_the_suffix_unless_a_format_is_given(
    filled: Run, words: tuple[str, ...], tmp_path: Path
) -> None:
    filled("ingest", SECOND)
    place = tmp_path / "answer.json"
    assert filled(*words, "-o", str(place)).status == 0
    assert isinstance(json.loads(place.read_text()), dict | list)
    given = "table" if words[0] == "hardware" else "text"
    assert filled(*words, "-o", str(place), "--format", given).status == 0
    with pytest.raises(ValueError, match=r"Expecting value|Extra data"):
        json.loads(place.read_text())


def test_tables_are_no_file_however_it_is_called(filled: Run, tmp_path: Path) -> None:
    place = tmp_path / "checked.csv"
    filled("ingest", SECOND)
    assert filled("check", "--baseline", "latest~1", "-o", str(place)).status == 0
    assert place.is_file()
