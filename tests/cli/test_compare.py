"""``advisor compare`` and ``advisor check`` on the simulated nights.

Night 13 reads half as many bytes again in ``layer_norm_kernel``; night 20 spills less in
``stencil_heat3d_kernel``; from night 24 on there is another driver.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import datetime
from math import exp
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import pytest

from advisor.facts import load_vocabulary
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.resources import data_dir
from tests.support.shared import ingest_together

Run = Callable[..., Any]


@pytest.fixture(scope="session")
def nights(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, str]]:
    """Return a database of nights 1 to 13 and 24 to 26, and their run ids."""
    path = tmp_path_factory.mktemp("nights") / "nights.duckdb"
    folder = data_dir("seed") / "runs" / "nightly"
    chosen = (*range(1, 14), 24, 25, 26)
    files = [str(folder / f"night-{night:02}.ncu-rep") for night in chosen]
    results = list(ingest_paths(str(path), files, labels=RunLabels(), wait=10))
    return path, {n: str(each.run_id) for n, each in zip(chosen, results, strict=True)}


def compared(advisor: Run, nights: tuple[Path, dict[int, str]], one: int, other: int) -> Any:
    path, runs = nights
    found = advisor("--db", str(path), "compare", runs[one], runs[other], "--format", "json")
    assert found.status == 0, found.err
    return json.loads(found.out)


def test_tells_more_bytes_with_their_cause_and_nothing_else(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    answer = compared(advisor, nights, 12, 13)
    moved = [row for row in answer["rows"] if row["verdict"] in ("regressed", "improved")]
    (row,) = moved
    assert row["kernel"] == "layer_norm_kernel"
    # Seven loads instead of four and an eighth: half as many bytes again, and memory binds.
    assert exp(row["terms"]["work"]) == pytest.approx(1.5, abs=0.01)
    assert row["terms"]["clock"] == pytest.approx(0, abs=0.005)
    assert "went through DRAM" in row["cause"]
    names = ("launches", "work", "clock", "peaks", "efficiency")
    total = sum(row["terms"][name] for name in names)
    assert exp(total) - 1 == pytest.approx(row["relative"], abs=1e-9)
    assert answer["total"]["head"] > answer["total"]["base"]


def test_says_environment_where_the_driver_changed(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    answer = compared(advisor, nights, 13, 24)
    assert "driver_version" in [each["name"] for each in answer["environment"]]
    told = [row for row in answer["rows"] if row["verdict"] == "environment"]
    assert len(told) >= 2
    assert all("driver version" in row["cause"] for row in told)
    # The clock of the multiprocessors went from 1.275 to 1.290 GHz: seed/simulation/nights.yaml.
    assert all(row["between_levels"] == pytest.approx(1.275 / 1.29 - 1, abs=0.004) for row in told)
    moved = {row["kernel"] for row in answer["rows"] if row["verdict"] in ("regressed", "improved")}
    assert moved == {"stencil_heat3d_kernel"}  # on night 20


def test_text_puts_the_worst_first_with_both_gates(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    path, runs = nights
    found = advisor("--db", str(path), "compare", runs[12], runs[13], "--fail-on", "regression")
    assert found.status == 1
    lines = found.out.splitlines()
    header = next(place for place, line in enumerate(lines) if line.startswith("verdict"))
    assert re.split(r" {2,}", lines[header]) == [
        "verdict", "kernel", "before", "after", "change", "p-value", "noise", "least change",
        "main part",
    ]  # fmt: skip
    for column in ("p-value", "noise", "least change", "main part"):
        assert f"{column}: " in " ".join(lines)
    assert lines[header + 2].startswith("regressed  layer_norm_kernel")


@pytest.mark.parametrize("width", [60, 72, 80])
def test_tables_keep_to_the_terminal(
    advisor: Run, nights: tuple[Path, dict[int, str]], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, runs = nights
    monkeypatch.setenv("COLUMNS", str(width))
    for words in (("compare", runs[10], runs[13]), ("history",)):
        found = advisor("--db", str(path), *words)
        assert found.status == 0
        lines = [line for line in found.out.splitlines() if "advisor --db" not in line]
        assert max(map(len, lines)) <= width


def test_the_check_fails_on_a_regression_and_never_on_an_improvement(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    path, runs = nights
    worse = advisor("--db", str(path), "check", runs[13], "--baseline", runs[12])
    assert worse.status == 1
    assert f"advisor --db {path} compare {runs[12]} {runs[13]}" in worse.out
    better = advisor("--db", str(path), "check", runs[12], "--baseline", runs[13])
    assert better.status == 0


def test_the_check_does_not_compare_a_run_with_itself(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    path, runs = nights
    found = advisor("--db", str(path), "check", runs[13], "--baseline", runs[13])
    assert found.status == 2
    assert f"is the run itself, {runs[13]}" in found.err


def test_the_check_cannot_judge_a_kernel_that_one_run_lacks(advisor: Run, tmp_path: Path) -> None:
    for night, kernel in enumerate(("old_name(float *)", "new_name(float *)"), start=1):
        profile = page(tmp_path / f"{night}.csv", kernel, 100, 101)
        assert advisor("ingest", profile, "--at", f"2026-01-0{night}").status == 0
    plain = advisor("check", "--baseline", "last~1")
    assert plain.status == 0
    assert "2 could not be judged" in plain.out
    assert "old_name: only the baseline has it" in plain.out
    assert "new_name: the baseline does not have it" in plain.out
    assert advisor("check", "--baseline", "last~1", "--strict").status == 5
    compared = advisor("compare", "last~1", "last").out
    (link,) = re.findall(r"advisor --db \S+ (series link \w+ \w+)", compared)
    assert advisor(*link.split()).status == 0
    assert "1 new" not in advisor("compare", "last~1", "last").out


def test_a_run_of_other_kernels_is_told_from_a_first_night(advisor: Run, tmp_path: Path) -> None:
    said = []
    for night, kernel in enumerate(("old_name(float *)", "new_name(float *)"), start=1):
        profile = page(tmp_path / f"{night}.csv", kernel, 100, 101)
        database = ("--db", str(tmp_path / "other.duckdb"))
        assert advisor(*database, "ingest", profile, "--at", f"2026-01-0{night}").status == 0
        said.append(" ".join(advisor(*database, "report", "last").out.split()))
    assert "Ingest a later profile of this program" in said[0]
    assert "No earlier run has a kernel of this one" in said[1]


def test_kernels_of_two_devices_are_not_said_to_be_one(advisor: Run, tmp_path: Path) -> None:
    for night, kernel in enumerate(("old_name(float *)", "new_name(float *)"), start=1):
        profile = page(tmp_path / f"{night}.csv", kernel, 100, 101)
        database = ("--db", str(tmp_path / "two.duckdb"))
        assert advisor(*database, "ingest", profile, "--at", f"2026-01-0{night}").status == 0
    assert "series link" in advisor(*database, "compare", "last~1", "last").out
    with duckdb.connect(database[1]) as connection:
        connection.execute("UPDATE run SET device_names = 'GPU ' || run_number")
    assert "series link" not in advisor(*database, "compare", "last~1", "last").out


def test_the_check_follows_suppressions_severities_and_rules_of_today(
    advisor: Run, nights: tuple[Path, dict[int, str]], tmp_path: Path
) -> None:
    path, runs = nights
    config = tmp_path / "own.yaml"

    def failed(text: str, least: str = "warning") -> list[str]:
        config.write_text(text)
        wanted = ("--fail-on", f"new-finding:{least}", "--format", "json")
        found = advisor(
            "--db", str(path), "--config", str(config),
            "check", runs[26], "--baseline", runs[1], *wanted,
        )  # fmt: skip
        answer = json.loads(found.out)
        assert found.status == bool(answer["failed"])
        return [each["name"] for each in answer["failed"]]

    rule, *others = failed("wait: 1")
    assert rule not in failed(f"suppress: [{{rule: {rule}, reason: known}}]")
    assert rule in failed(f"suppress: [{{rule: {rule}, reason: known, expires: 2020-01-01}}]")
    assert rule in failed(f"suppress: [{{rule: {rule}, kernel: none_such*, reason: known}}]")
    assert rule not in failed(f"disable: [{rule}]")
    assert rule not in failed(f"severity: {{{rule}: note}}")
    assert failed('suppress: [{rule: "*", reason: known}]', "note") == []
    assert set(others) <= set(failed(f"disable: [{rule}]"))


def test_the_command_of_a_new_finding_explains_it(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    path, runs = nights
    wanted = ("--fail-on", "new-finding:warning", "--format", "json")
    found = advisor("--db", str(path), "check", runs[26], "--baseline", runs[1], *wanted)
    command = json.loads(found.out)["failed"][0]["command"].split()
    assert command[:4] == ["advisor", "--db", str(path), "rules"]
    explained = advisor(*command[1:])
    assert explained.status == 0, explained.err
    assert "fires" in explained.out


def test_a_budget_of_no_kernel_cannot_be_judged(
    advisor: Run, nights: tuple[Path, dict[int, str]], tmp_path: Path
) -> None:
    path, runs = nights
    config = tmp_path / "budgets.yaml"
    config.write_text("budgets: [{kernel: 'nope*', fact: duration, at_most: 1, unit: ms}]")
    words = ("--db", str(path), "--config", str(config), "check", runs[13], "--fail-on", "budget")
    assert "nope*: no kernel of this run is called so" in advisor(*words).out
    assert advisor(*words, "--strict").status == 5


def test_an_earlier_run_of_a_rank_is_one_of_that_rank(advisor: Run, tmp_path: Path) -> None:
    runs = {}
    for night in (1, 2):
        for rank in (0, 1):
            profile = page(tmp_path / f"{night}-{rank}.csv", "k(float *)", 100 + night, 100 + rank)
            words = ("--group", f"g{night}", "--rank", str(rank), "--at", f"2026-01-0{night}")
            runs[night, rank] = advisor("ingest", profile, *words).out.split()[1]
    for rank in (0, 1):
        found = advisor("check", runs[2, rank], "--baseline", f"{runs[2, rank]}~1")
        assert f"against {runs[1, rank]}" in found.out


def test_the_check_tells_what_moved_with_the_environment_and_fails_nothing(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    path, runs = nights
    common = ("--db", str(path), "check", runs[24], "--baseline", runs[13])
    found = advisor(*common)
    assert found.status == 0
    assert "moved with the environment, which fails nothing" in found.out
    assert "driver version from 550.54.15 to 560.35.03" in found.out
    answer = json.loads(advisor(*common, "--format", "json").out)
    assert len(answer["environment"]) >= 2
    assert answer["failed"] == []
    begins = f"advisor --db {path} compare "
    assert all(each["command"].startswith(begins) for each in answer["environment"])


def test_the_check_writes_junit(advisor: Run, nights: tuple[Path, dict[int, str]]) -> None:
    path, runs = nights
    found = advisor(
        "--db", str(path), "check", runs[13], "--baseline", runs[12], "--format", "junit"
    )
    suite = ET.fromstring(found.out)
    assert (suite.get("tests"), suite.get("failures")) == ("14", "1")
    (failure,) = suite.iter("failure")
    assert "regressed" in str(failure.get("message"))


def test_the_check_holds_budgets(
    advisor: Run, nights: tuple[Path, dict[int, str]], tmp_path: Path
) -> None:
    path, runs = nights
    config = tmp_path / "budgets.yaml"
    config.write_text(
        "budgets:\n"
        '  - {kernel: "layer_norm*", fact: duration, at_most: 150, unit: us}\n'
        '  - {kernel: "layer_norm*", fact: registers_per_thread, at_most: 255, unit: "1"}\n'
    )
    common = ("--db", str(path), "--config", str(config), "check", "--fail-on", "budget")
    assert advisor(*common, runs[12]).status == 0  # 118 µs
    over = advisor(*common, runs[13])  # 177 µs
    assert over.status == 1
    said = over.out.replace("\N{NO-BREAK SPACE}", " ")
    assert "layer_norm_kernel (time at most 150 µs)" in said
    assert "time is 177 µs, the budget at most 150 µs" in said
    config.write_text(config.read_text().replace("255", "1"))
    said = advisor(*common, runs[13]).out
    assert re.search(r"registers per thread are \d+, the budget at most 1 ", said)


def test_no_fact_is_told_by_its_key(
    advisor: Run, nights: tuple[Path, dict[int, str]], tmp_path: Path
) -> None:
    path, runs = nights
    config = tmp_path / "budgets.yaml"
    facts = ("roof_fraction_achievable", "occupancy_achieved", "local_store_sectors")
    entries = (f"  - {{fact: {fact}, at_most: 0, unit: '1'}}\n" for fact in facts)
    config.write_text(f"budgets:\n{''.join(entries)}")
    baseline = ("--baseline", runs[12], "--fail-on", "budget", "--fail-on", "regression")
    commands = (
        *(("compare", runs[13], runs[24], "--format", style) for style in ("text", "markdown")),
        *(("check", runs[24], *baseline, "--format", style) for style in ("text", "markdown")),
        ("history", "--all"),
        ("history", "stencil_heat3d_kernel"),
        ("rules", "record"),
        ("rules", "record", "memory/local-memory"),
        ("rules", "record", "roofline/waits-with-enough-warps"),
    )
    keys = {name for name in load_vocabulary().symbols if "_" in name}
    for command in commands:
        found = advisor("--db", str(path), "--config", str(config), *command)
        assert found.status in (0, 1), found.err
        assert not keys & set(re.findall(r"\w+", found.out.replace("\\", ""))), command


def test_a_budget_of_an_unknown_fact_is_an_error_of_the_configuration(
    advisor: Run, nights: tuple[Path, dict[int, str]], tmp_path: Path
) -> None:
    path, runs = nights
    config = tmp_path / "budgets.yaml"
    config.write_text("budgets:\n  - {fact: duratoin, at_most: 150, unit: us}\n")
    found = advisor(
        "--db", str(path), "--config", str(config), "check", runs[13], "--fail-on", "budget"
    )
    assert found.status == 2
    assert "budgets.yaml:2" in found.err
    assert "duration" in found.err


def test_regressions_need_a_baseline(advisor: Run, nights: tuple[Path, dict[int, str]]) -> None:
    path, runs = nights
    found = advisor("--db", str(path), "check", runs[13])
    assert found.status == 2
    assert "--baseline" in found.err


def page(path: Path, kernel: str, *microseconds: float) -> str:
    """Write the raw page of a run that launched one kernel, and return its path."""
    names = "ID,Process ID,Process Name,Host Name,Kernel Name,Kernel Time,Context,Stream"
    quoted = ",".join(f'"{name}"' for name in (*names.split(","), "gpu__time_duration.sum"))
    lines = [quoted, '"","","","","","","","","usecond"']
    for index, time in enumerate(microseconds):
        told = (index, 1, "app", "h", kernel, "2026-Jan-02 03:04:05", 1, 7, time)
        lines.append(",".join(f'"{each}"' for each in told))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


STEADY = (10.0, 10.01, 9.99, 10.02, 9.98, 10.0)


def test_linked_series_are_compared_and_pruned_runs_are_judged_by_their_spread(
    advisor: Run, tmp_path: Path
) -> None:
    database = ("--db", str(tmp_path / "linked.duckdb"))
    base = page(tmp_path / "base.csv", "copy(float *)", *STEADY)
    head = page(tmp_path / "head.csv", "move(float *)", *(1.1 * time for time in STEADY))
    labels = {
        base: RunLabels(label="x", at=datetime.fromisoformat("2026-01-01"), commit="aaaa"),
        head: RunLabels(label="x", at=datetime.fromisoformat("2026-01-02"), commit="bbbb"),
    }
    ingest_together(tmp_path / "linked.duckdb", labels)

    def verdicts() -> list[str]:
        found = advisor(*database, "compare", "aaaa", "bbbb", "--format", "json")
        return [row["verdict"] for row in json.loads(found.out)["rows"]]

    assert verdicts() == ["gone", "new"]
    assert advisor(*database, "series", "link", "copy", "move").status == 0
    assert verdicts() == ["regressed"]
    assert advisor(*database, "runs", "prune", "--keep", "0").status == 0
    assert verdicts() == ["regressed"]


def test_a_level_that_was_accepted_is_the_baseline_from_then_on(
    advisor: Run, tmp_path: Path
) -> None:
    database = ("--db", str(tmp_path / "accepted.duckdb"))
    nights = {
        page(tmp_path / f"{number}.csv", "copy(float *)", *(factor * t for t in STEADY)): RunLabels(
            at=datetime.fromisoformat(f"2026-01-0{number}"), commit=f"commit{number}"
        )
        for number, factor in enumerate((1.0, 1.1, 1.101, 1.25), start=1)
    }
    ingest_together(tmp_path / "accepted.duckdb", nights)
    advisor(*database, "history", "accept", "copy", "--at", "commit2", "--because", "more data")
    wanted = {2: "unchanged", 3: "unchanged", 4: "regressed"}
    for head, verdict in wanted.items():
        found = advisor(*database, "compare", "commit1", f"commit{head}", "--format", "json")
        (row,) = json.loads(found.out)["rows"]
        assert row["verdict"] == verdict
        assert row["relative"] == pytest.approx(0.25 if head == 4 else 0.1, abs=0.002)
        assert row["accepted"]["because"] == "more data"
    assert advisor(*database, "check", "commit3", "--baseline", "commit1").status == 0
    assert advisor(*database, "check", "commit4", "--baseline", "commit1").status == 1
    text = advisor(*database, "compare", "commit1", "commit3").out
    assert "judged by the level accepted since" in " ".join(text.split())
    # What was accepted before the baseline, or after the head, counts for nothing.
    for base, head in ((2, 4), (3, 1)):
        found = advisor(*database, "compare", f"commit{base}", f"commit{head}", "--format", "json")
        assert json.loads(found.out)["rows"][0]["accepted"] is None
    assert advisor(*database, "runs", "remove", "commit2", "--yes").status == 0
    assert advisor(*database, "check", "commit3", "--baseline", "commit1").status == 1


def test_simulated_runs_are_not_compared_with_measured_ones(
    advisor: Run, nights: tuple[Path, dict[int, str]], tmp_path: Path
) -> None:
    whole, runs = nights
    database = ("--db", shutil.copy(whole, tmp_path / "both.duckdb"))
    measured = page(tmp_path / "base.csv", "copy(float *)", *STEADY)
    advisor(*database, "ingest", measured, "--commit", "measured")
    found = advisor(*database, "compare", runs[13], "measured")
    assert found.status == 2
    assert f"run {runs[13]} is simulated" in found.err


def test_a_run_is_not_compared_with_itself(
    advisor: Run, nights: tuple[Path, dict[int, str]]
) -> None:
    path, runs = nights
    found = advisor("--db", str(path), "compare", "latest")
    assert found.status == 2
    assert f"'latest' is the run itself, {runs[26]}" in found.err
    assert "latest~1 is the night before" in found.err


def test_the_change_of_a_row_is_that_of_its_times_and_the_verdict_says_what_it_rests_on(
    advisor: Run, tmp_path: Path
) -> None:
    # Together 600 → 1,100 µs: +83.3 %. The median launch goes from 100 to 100 µs, times 6: +0.0 %.
    for night, last in enumerate((100, 600), start=1):
        times = (100, 100, 100, 100, 100, last)
        profile = page(tmp_path / f"{night}.csv", "uneven(float *)", *times)
        assert advisor("ingest", profile, "--at", f"2026-01-0{night}").status == 0
    (row,) = json.loads(advisor("compare", "last~1", "last", "--format", "json").out)["rows"]
    before, after = row["base"]["duration"], row["head"]["duration"]
    assert after / before == pytest.approx(1100 / 600)
    assert row["relative"] == pytest.approx(500 / 600)
    assert row["of_medians"] == pytest.approx(0)
    text = advisor("compare", "last~1", "last").out
    assert "by the median launch, which the verdict rests on: 0.0" in text


def test_the_check_says_that_a_verdict_rests_on_the_median_launch(
    advisor: Run, tmp_path: Path
) -> None:
    # Together 600 → 1,300 µs: +116.7 %. The median launch goes from 100 to 200 µs.
    for night, (usual, last) in enumerate(((100, 100), (200, 300)), start=1):
        times = (0.99 * usual, usual, usual, usual, 1.01 * usual, last)
        profile = page(tmp_path / f"{night}.csv", "uneven(float *)", *times)
        assert advisor("ingest", profile, "--at", f"2026-01-0{night}").status == 0
    found = advisor("check", "--baseline", "last~1")
    assert found.status == 1
    said = " ".join(found.out.replace("\N{NO-BREAK SPACE}", " ").split())
    assert "600 µs → 1.30 ms (+116.7 %), by the median launch +100.0 %" in said


def test_a_base_that_was_not_measured_has_no_launch_shape_that_changed(
    advisor: Run, tmp_path: Path
) -> None:
    names = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time",
             "Context", "Stream", "Block Size", "Grid Size", "gpu__time_duration.sum",
             "launch__grid_size", "launch__block_size")  # fmt: skip
    units = ("",) * 10 + ("usecond", "", "")
    ran = ("0", "1", "app", "h", "k(float *)", "2026-Jan-02 03:04:05", "1", "7")
    unmeasured = (*ran, "(0, 0, 0)", "(0, 0, 0)", "", "0", "0")
    measured = (*ran, "(256, 1, 1)", "(1024, 1, 1)", "100", "1024", "256")
    for night, launch in enumerate((unmeasured, measured), start=1):
        rows = (",".join(f'"{each}"' for each in line) for line in (names, units, launch))
        path = tmp_path / f"{night}.csv"
        path.write_text("\n".join(rows) + "\n")
        assert advisor("ingest", str(path), "--at", f"2026-01-0{night}").status == 0
    (row,) = json.loads(advisor("compare", "last~1", "last", "--format", "json").out)["rows"]
    assert row["base"]["launch_shape"] is None
    assert not row["launch_shape_changed"]
    text = " ".join(advisor("compare", "last~1", "last").out.split())
    assert "the base was not measured" in text
    assert "blocks" not in text
