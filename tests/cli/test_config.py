"""Configuration as a user meets it: the files, ``--config``, ``--rules``, ``config show``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.sample_rule import RULE

if TYPE_CHECKING:
    from conftest import Run

LOADS = "memory/uncoalesced-loads"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of this test, without variables that configure."""
    for name in ("ADVISOR_CONFIG", "ADVISOR_WAIT"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def shown(outcome: object) -> dict[str, tuple[str, str]]:
    rows = json.loads(getattr(outcome, "out", ""))
    return {row["setting"]: (row["value"], row["origin"]) for row in rows}


def test_shows_each_value_and_its_origin(
    advisor: Run, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = project / "advisor.yaml"
    path.write_text(
        "report: {format: json}\n"
        f"thresholds: {{{LOADS}: {{wasted: 0.3}}}}\n"
        "suppress:\n"
        "  - {rule: memory/*, kernel: gather_*, reason: odd, expires: 2001-01-01, owner: Ada}\n"
    )
    monkeypatch.setenv("ADVISOR_WAIT", "7")
    outcome = advisor("config", "show", "--origin", "--format", "json")
    assert outcome.status == 0
    assert shown(outcome) == {
        "database": (str(tmp_path / "test.duckdb"), "--db"),
        "wait": ("7 s", "ADVISOR_WAIT"),
        "report.format": ("json", f"{path}:1:18"),
        f"thresholds.{LOADS}.wasted": ("0.3", f"{path}:2:49"),
        "suppress": ("memory/* for gather_*; expired 2001-01-01; odd; Ada", f"{path}:4:5"),
    }


def test_shows_values_alone_without_being_asked_for_origins(advisor: Run, project: Path) -> None:
    assert json.loads(advisor("config", "show", "--format", "json").out)[1:] == [
        {"setting": "wait", "value": "30 s"},
        {"setting": "report.format", "value": "text"},
    ]


def test_takes_the_database_of_the_project(project: Path) -> None:
    (project / "advisor.yaml").write_text("database: runs/perf.duckdb")
    inner = project / "src"
    inner.mkdir()
    answer = subprocess.run(
        [sys.executable, "-m", "advisor", "doctor"],
        cwd=inner,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{project / 'runs' / 'perf.duckdb'} does not exist yet" in answer.stdout
    assert f"configuration   {project / 'advisor.yaml'}" in answer.stdout


def test_needs_no_yaml_for_help_beside_a_configuration(project: Path) -> None:
    (project / "advisor.yaml").write_text("databse: wrong")
    code = (
        "import sys; sys.argv = ['advisor', 'report', '--help']\n"
        "from advisor.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print({'yaml', 'advisor.configuration'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip().endswith("set()")


def test_stops_at_a_wrong_configuration_and_says_where(advisor: Run, project: Path) -> None:
    path = project / "advisor.yaml"
    path.write_text("databse: x.duckdb")
    outcome = advisor("runs", "list")
    assert outcome.status == 2
    assert outcome.err.splitlines() == [
        f"advisor: {path}:1:1: unknown key 'databse'",
        "  hint: did you mean 'database'?",
    ]


def test_reads_another_file_when_told(advisor: Run, project: Path) -> None:
    (project / "advisor.yaml").write_text("databse: x.duckdb")
    other = project / "nightly.yaml"
    other.write_text("wait: 3")
    outcome = advisor("--config", str(other), "config", "show", "--origin", "--format", "json")
    assert shown(outcome)["wait"] == ("3 s", f"{other}:1:7")


def test_adds_a_pack_of_rules_and_facts(filled: Run, project: Path) -> None:
    pack = project / "pack"
    (pack / "facts").mkdir(parents=True)
    (pack / "facts" / "ours.yaml").write_text(
        "facts:\n  twice: {unit: s, formula: duration * 2, about: twice the time, source: here}\n"
    )
    (pack / "sample").mkdir()
    text = RULE.replace("in {{ duration |", "in {{ twice |").replace("duration: 1.0", "twice: 2.0")
    (pack / "sample" / "slow.yaml").write_text(text)
    listed = filled("--rules", str(pack), "rules", "list", "--family", "sample", "--format", "csv")
    assert listed.out.splitlines()[1].startswith("sample/slow,warning,kernel,sample")
    tested = filled("--rules", str(pack), "rules", "test", "sample/slow")
    assert (tested.status, tested.out) == (0, "4 of 4 examples as expected\n")
    sql = "select bool_and(twice = 2 * duration) as ok, count(*) > 0 as any from kernels"
    asked = filled("--rules", str(pack), "query", sql, "--format", "json")
    assert json.loads(asked.out) == [{"ok": True, "any": True}]
    assert filled("query", sql).status == 2


def test_refuses_a_pack_that_is_not_there(advisor: Run, project: Path) -> None:
    outcome = advisor("--rules", "nowhere", "rules", "list")
    assert outcome.status == 2
    assert "'nowhere' does not exist" in outcome.err


def test_writes_reports_in_the_configured_format(filled: Run, project: Path) -> None:
    (project / "advisor.yaml").write_text("report: {format: json}")
    assert json.loads(filled("report").out)["schema_version"]
    assert filled("report", "--markdown").out.startswith("#")


def test_keeps_a_suppressed_finding_off_the_report_until_it_expires(
    filled: Run, project: Path
) -> None:
    def report() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(filled("report", "--format", "json").out)
        return found

    def suppress(expires: str) -> None:
        entry = f"{{rule: {rule}, reason: by design, expires: {expires}}}"
        (project / "advisor.yaml").write_text(f"suppress: [{entry}]")

    stored = "select count(*) as n from findings where outcome = 'fires'"
    before, count = report(), filled("query", stored).out
    rule = before["actions"][0]["rule_id"]
    kernels = [
        kernel["id"]
        for kernel in before["kernels"]
        for finding in kernel["findings"]
        if (finding["rule_id"], finding["outcome"]) == (rule, "fires")
    ]

    suppress("2999-12-31")
    after = report()
    assert rule not in {action["rule_id"] for action in after["actions"]}
    said = after["suppressed"]
    assert sorted(each["kernel_id"] for each in said["findings"]) == sorted(kernels)
    assert {each["rule_id"] for each in said["findings"]} == {rule}
    assert f"{len(kernels)} finding" in said["sentence"]
    assert said["sentence"].endswith(" 2999-12-31).")
    assert said["expired"] == []
    assert said["sentence"] in " ".join(filled("report").out.split())
    assert filled("query", stored).out == count

    suppress("2001-01-01")
    again = report()
    assert again["actions"] == before["actions"]
    assert again["suppressed"]["findings"] == []
    (sentence,) = again["suppressed"]["expired"]
    assert sentence.startswith(f"The suppression of {rule} for * expired on 2001-01-01")
