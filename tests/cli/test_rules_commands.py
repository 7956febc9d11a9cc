"""``advisor rules …``: list, explain, lint, test, pages and scaffolds, as a user meets them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from advisor.api import rule_files
from advisor.errors import Location, RuleError
from advisor.resources import data_dir
from studies.proven import borne_out
from tests.support.sample_rule import RULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Run

LOADS = "memory/uncoalesced-loads"


def pack(folder: Path, text: str = RULE, rule_id: str = "sample/slow") -> Path:
    path = folder / "pack" / f"{rule_id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder / "pack"


# -- list ------------------------------------------------------------------------------------


def test_lists_what_rules_rest_on_and_which_are_proven(advisor: Run) -> None:
    rows = json.loads(advisor("rules", "list", "--format", "json").out)
    loads = next(row for row in rows if row["rule"] == LOADS)
    assert loads["subject"] == "kernel"
    assert loads["thresholds"] == "mixed"  # two uncalibrated, the size of a sector from a guide
    for row in rows:
        has_fired = bool(row["fired"]) or row["rule"] in borne_out()
        assert (row["proven"] == "proven") == (has_fired and bool(row["silent"]))


def test_picks_by_subject_and_proof(advisor: Run) -> None:
    words = ("--subject", "run", "--format", "json")
    every = json.loads(advisor("rules", "list", *words).out)
    proven = json.loads(advisor("rules", "list", *words, "--proven").out)
    unproven = json.loads(advisor("rules", "list", *words, "--unproven").out)
    assert {row["subject"] for row in every} == {"run"}
    assert len(proven) + len(unproven) == len(every)
    assert {row["proven"] for row in proven} <= {"proven"}


def test_asks_whether_another_family_was_meant(advisor: Run) -> None:
    outcome = advisor("rules", "list", "--family", "memry")
    assert outcome.status == 2
    assert "did you mean 'memory'?" in outcome.err


def test_calls_rules_of_other_directories_yours(advisor: Run, tmp_path: Path) -> None:
    words = ("rules", "list", "--family", "sample", "--format", "json")
    (row,) = json.loads(advisor("--rules", str(pack(tmp_path)), *words).out)
    assert (row["proven"], row["fired"]) == ("yours", None)


# -- explain ---------------------------------------------------------------------------------


def test_explains_with_values_and_distances(filled: Run) -> None:
    out = filled("rules", "explain", LOADS, "gather_rows").out
    assert "load_efficiency < 1 - wasted: 0.125 < 0.8 is true, by 0.675" in out
    assert "fires" in out
    assert "high is capped at" in " ".join(out.split())


def test_explains_the_same_to_programs(filled: Run) -> None:
    words = ("rules", "explain", LOADS, "gather_rows", "--format", "json")
    (found,) = json.loads(filled(*words).out)["explanations"]
    assert found["outcome"] == "fires"
    clause = next(part for part in _clauses(found["when"]) if part["operator"] == "<")
    assert (clause["left"], clause["right"]) == (0.125, 0.8)
    assert clause["distance"] == pytest.approx(0.675)


def _clauses(clause: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield clause
    for part in clause.get("parts", []):
        yield from _clauses(part)


def test_says_what_to_collect_where_it_cannot_decide(filled: Run) -> None:
    rows = json.loads(
        filled("collect", "--format", "json").out
    )  # a rule that some kernel leaves open
    open_rule = rows["settles"][0]["rule_id"]
    words = ("rules", "explain", open_rule, ".", "--format", "json")
    found = json.loads(filled(*words).out)["explanations"]
    unknown = next(each for each in found if each["outcome"] == "unknown")
    command = unknown["collect"]["next_command"].split()
    assert command[:2] == ["advisor", "--db"]
    assert command[2].endswith("test.duckdb")
    assert command[3] == "collect"
    assert unknown["collect"]["sections"] or unknown["collect"]["metrics"]
    assert filled(*command[3:]).status == 0


def test_explains_a_rule_about_runs_without_a_kernel(filled: Run) -> None:
    outcome = filled("rules", "explain", "run/many-shapes")
    assert outcome.status == 0
    assert "run/many-shapes on run" in outcome.out


def test_wants_a_kernel_for_a_rule_about_kernels(filled: Run) -> None:
    outcome = filled("rules", "explain", LOADS)
    assert outcome.status == 2
    assert "is about a kernel, and none is named" in outcome.err


def test_asks_whether_another_rule_was_meant(filled: Run) -> None:
    outcome = filled("rules", "explain", "memory/uncoalesced-load", "gather")
    assert outcome.status == 2
    assert LOADS in outcome.err


# -- lint ------------------------------------------------------------------------------------


def test_finds_no_error_in_the_shipped_rules(advisor: Run) -> None:
    outcome = advisor("rules", "lint")
    assert outcome.status == 0
    assert "0 errors" in outcome.err


def test_prints_every_problem_with_its_place(advisor: Run, tmp_path: Path) -> None:
    text = RULE.replace("when: load_efficiency < 1", "when: load_eficiency < 1")
    text = text.replace("l1_utilization < 0.2", "l1_utilisation < 0.2")
    folder = pack(tmp_path, text.replace("severity: warning", "severity: loud"))
    pack(tmp_path, RULE.replace("id: sample/slow", "id: sample/fast"), "sample/other")
    outcome = advisor("rules", "lint", str(folder))
    lines = outcome.out.splitlines()
    assert outcome.status == 1
    assert "4 errors" in outcome.err
    bent = folder / "sample" / "slow.yaml"
    assert [line for line in lines if line.startswith(f"{bent}:9:")]  # where `when` is wrong
    assert [line for line in lines if "did you mean 'l1_utilization'?" in line]
    assert [line for line in lines if "'loud'" in line]
    assert [line for line in lines if "other.yaml:1:" in line and "sample/fast" in line]


def test_warns_and_exits_with_0_where_a_rule_could_be_better(advisor: Run, tmp_path: Path) -> None:
    text = RULE.replace("title: A sample", "title: The one that says in far too many words what")
    outcome = advisor("rules", "lint", str(pack(tmp_path, text)))
    assert outcome.status == 0
    for part in (":2:8: warning: the title has 10 words", "begins with 'The'", "no caveats"):
        assert part in outcome.out
    assert "1 of 1 thresholds uncalibrated: wasted" in outcome.out


def test_finds_views_of_instructions_that_are_none(advisor: Run, tmp_path: Path) -> None:
    text = RULE.replace("why:", "instructions: stalls/barier\nwhy:", 1)
    outcome = advisor("rules", "lint", str(pack(tmp_path, text)))
    assert outcome.status == 1
    assert "unknown view of instructions 'stalls/barier'" in outcome.out
    assert "did you mean 'stalls/barrier'?" in outcome.out


def test_looks_at_one_file_only_where_one_is_named(advisor: Run, tmp_path: Path) -> None:
    folder = pack(tmp_path, RULE.replace("severity: warning", "severity: loud"))
    pack(tmp_path, RULE.replace("id: sample/slow", "id: sample/other"), "sample/other")
    named = advisor("rules", "lint", str(folder / "sample" / "slow.yaml"))
    assert (named.status, named.err) == (1, "1 error, 0 warnings\n")
    assert "'loud'" in named.out
    other = advisor("rules", "lint", str(folder / "sample" / "other.yaml"))
    assert "'loud'" not in other.out
    # The file is fine, but nothing of its pack can be loaded.
    assert (other.status, other.err.split(",")[0]) == (1, "1 error")
    assert "1 error in other files of it: its rules cannot be loaded" in other.out
    assert f"advisor rules lint {folder.resolve()}" in other.out


def test_counts_an_error_wherever_a_file_cannot_be_loaded(advisor: Run, tmp_path: Path) -> None:
    wrong = {
        "list": ("- a\n", "found a list"),
        "nothing": ("", "the file is empty"),
        "open": ("id: [\n", "not YAML"),
        "other-id": (RULE, "the path says 'sample/other-id'"),
        "two": ("a: 1\n---\nb: 2\n", "more than one YAML document"),
        "words": ("just words\n", "found the text"),
    }
    for name, (text, _) in wrong.items():
        folder = pack(tmp_path, text, f"sample/{name}")
    for place in (folder, folder / "sample"):
        outcome = advisor("rules", "lint", str(place))
        lines = outcome.out.splitlines()
        assert (outcome.status, outcome.err) == (1, "6 errors, 0 warnings\n")
        for line, (name, (_, problem)) in zip(lines, sorted(wrong.items()), strict=True):
            assert f"{name}.yaml:" in line
            assert problem in line


def test_looks_at_the_files_of_a_family(advisor: Run, tmp_path: Path) -> None:
    folder = pack(tmp_path, RULE)
    pack(tmp_path, RULE.replace("id: sample/slow", "id: sample/other"), "sample/other")
    outcome = advisor("rules", "lint", str(folder / "sample"))
    assert (outcome.status, outcome.err) == (0, "0 errors, 6 warnings\n")
    assert "slow.yaml" in outcome.out
    assert "other.yaml" in outcome.out


@pytest.mark.parametrize("files", [(), ("notes.txt",), ("labels/report.yaml",)])
def test_refuses_a_directory_in_which_there_is_nothing_to_look_at(
    advisor: Run, tmp_path: Path, files: tuple[str, ...]
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("labels: {}\n")
    outcome = advisor("rules", "lint", str(tmp_path))
    assert outcome.status == 2
    assert "holds no rule, fact or operation" in outcome.err


def test_finds_what_shows_only_where_rules_are_loaded_together(
    advisor: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(configuration: object) -> object:
        raise RuleError("the counters are wrong", at=Location(name="ncu.yaml", line=3, column=1))

    monkeypatch.setattr(rule_files, "load_knowledge", broken)
    for place in ([], [str(pack(tmp_path))]):
        outcome = advisor("rules", "lint", *place)
        assert outcome.status == 1
        assert "ncu.yaml:3:1: error: the counters are wrong" in outcome.out
        assert outcome.err.startswith("1 error, ")


def test_tells_a_gerund_from_an_order(advisor: Run, tmp_path: Path) -> None:
    for first in ("Using", "Bring", "Bringing"):
        text = RULE.replace("sample/slow", f"sample/{first}")
        folder = pack(tmp_path, text.replace("A sample", f"{first} data"), f"sample/{first}")
    lines = advisor("rules", "lint", str(folder / "sample")).out.splitlines()
    assert [
        line.split("begins with ")[1].split()[0] for line in lines if "begins with" in line
    ] == [
        "'Bringing'",
        "'Using'",
    ]


def test_tells_of_a_file_what_keeps_its_directory_from_being_read(
    advisor: Run, tmp_path: Path
) -> None:
    folder = pack(tmp_path)
    (folder / "facts").mkdir()
    wrong = folder / "facts" / "ours.yaml"
    wrong.write_text('facts:\n  a: {unit: "1", formula: durattion, about: x, source: y}\n')
    outcome = advisor("rules", "lint", str(folder / "sample" / "slow.yaml"))
    assert outcome.status == 1
    assert f"{wrong}:2:" in outcome.out
    assert "did you mean 'duration'?" in outcome.out
    assert outcome.err == "1 error, 0 warnings\n"


def test_finds_the_directory_of_a_file_in_this_one(
    advisor: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pack(tmp_path, RULE.replace("severity: warning", "severity: loud"))
    monkeypatch.chdir(folder / "sample")
    outcome = advisor("rules", "lint", "slow.yaml")
    assert (outcome.status, outcome.err) == (1, "1 error, 0 warnings\n")


def test_reads_a_shipped_file_as_such(advisor: Run) -> None:
    path = data_dir("rules") / "memory" / "uncoalesced-loads.yaml"
    outcome = advisor("rules", "lint", str(path))
    assert outcome.status == 0
    assert "thresholds uncalibrated: wasted, idle" in outcome.out


@pytest.mark.parametrize(
    "name", ["evaluation.yaml", "counters/ncu/work.yaml", "labels/report.yaml"]
)
def test_does_not_pass_a_file_that_it_does_not_read(advisor: Run, name: str) -> None:
    outcome = advisor("rules", "lint", str(data_dir("rules") / name))
    assert outcome.status == 2
    assert "holds no rule, fact or operation" in outcome.err


# -- test ------------------------------------------------------------------------------------


def test_tests_the_rules_of_a_directory_and_writes_junit(advisor: Run, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    folder = pack(tmp_path, RULE.replace("likely: duration * 0.5", "likely: duration * 0.6"))
    text = (folder / "sample" / "slow.yaml").read_text()
    text = text.replace("    expect: fires\n", "    expect: fires\n    gain: {likely: 0.1}\n", 1)
    (folder / "sample" / "slow.yaml").write_text(text)
    outcome = advisor("rules", "test", str(folder), "--junit", str(report))
    assert outcome.status == 1
    suite = ET.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("failures")) == ("sample/slow", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "expected likely gain 0.1 s" in (failure.get("message") or "")


def test_tests_one_rule(advisor: Run) -> None:
    outcome = advisor("rules", "test", LOADS)
    assert outcome.status == 0
    assert "examples as expected" in outcome.out


# -- show ------------------------------------------------------------------------------------


def test_says_what_shows_a_rule_in_instructions(advisor: Run) -> None:
    shown = advisor("rules", "show", "scheduling/barrier").out
    assert "Shown in instructions by\n  - stalls/barrier" in shown
    assert "Shown in instructions" not in advisor("rules", "show", "roofline/dram-bound").out


def test_counts_runs_for_rules_about_runs(advisor: Run) -> None:
    assert "real runs, silent on" in advisor("rules", "show", "run/many-shapes").out
    assert "real kernels, silent on" in advisor("rules", "show", LOADS).out


# -- docs and new ----------------------------------------------------------------------------


def test_writes_a_page_per_rule_and_links_that_lead_there(advisor: Run, tmp_path: Path) -> None:
    assert advisor("rules", "docs", "-o", str(tmp_path / "pages")).status == 0
    index = (tmp_path / "pages" / "index.md").read_text()
    links = [part.partition(")")[0] for part in index.split("](")[1:]]
    rows = json.loads(advisor("rules", "list", "--format", "json").out)
    assert {"operations.md", *(f"{row['rule']}.md" for row in rows)} == set(links)
    assert all((tmp_path / "pages" / link).is_file() for link in links)
    assert "### `load_efficiency`" in index
    page = (tmp_path / "pages" / "scheduling" / "barrier.md").read_text()
    assert "## Shown in instructions by\n\n`stalls/barrier`\n" in page


def test_writes_a_rule_that_is_valid_and_says_what_to_fill_in(advisor: Run, tmp_path: Path) -> None:
    folder = str(tmp_path / "ours")
    outcome = advisor("rules", "new", "memory/padded-rows", "--dir", folder)
    assert outcome.status == 0
    path = Path(outcome.out.strip())
    assert path == tmp_path / "ours" / "memory" / "padded-rows.yaml"
    linted = advisor("rules", "lint", folder)
    assert linted.status == 0
    marked = [line for line in path.read_text().splitlines() if "FILL IN" in line]
    assert linted.out.count("FILL IN") == len(marked) > 3
    tested = advisor("rules", "test", folder)
    assert (tested.status, tested.out) == (0, "4 of 4 examples as expected\n")


@pytest.mark.parametrize("name", ["padded", "Memory/rows", "memory/../x", "facts/rows", "a/b/c"])
def test_refuses_what_is_no_id_of_a_rule(advisor: Run, tmp_path: Path, name: str) -> None:
    outcome = advisor("rules", "new", name, "--dir", str(tmp_path))
    assert outcome.status == 2
    assert "is no id of a rule" in outcome.err


def test_a_shipped_rule_is_tested_by_its_id_and_another_by_its_directory(tmp_path: Path) -> None:
    for directory, tested in ((data_dir("rules"), "memory/padded-rows"), (tmp_path, str(tmp_path))):
        assert rule_files.what_tests("memory/padded-rows", str(directory)) == tested


def test_overwrites_no_rule(advisor: Run, tmp_path: Path) -> None:
    folder = pack(tmp_path)
    outcome = advisor("rules", "new", "sample/slow", "--dir", str(folder))
    assert outcome.status == 2
    assert (folder / "sample" / "slow.yaml").read_text() == RULE
