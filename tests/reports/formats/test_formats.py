"""Every format by a schema or a parser, on runs made up by hand; hostile names in each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import duckdb
import jsonschema
import pytest

from advisor.database.parquet import write_parquet
from advisor.reports.formats.comment import comment
from advisor.reports.formats.github import job_summary, workflow_commands
from advisor.reports.formats.gitlab import gitlab
from advisor.reports.formats.junit import junit
from advisor.reports.formats.openmetrics import openmetrics
from advisor.reports.formats.sarif import sarif
from advisor.reports.formats.tables import KINDS, tables
from advisor.reports.record.format_settings import FormatSettings, load_format_settings
from advisor.reports.record.published import Published, SourcePlace
from tests.support.published import (
    published,
    published_finding,
    published_kernel,
    published_move,
)
from tests.trust.test_forging import HOSTILE, acted_on

SETTINGS = load_format_settings()
SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-subset.json").read_text())
LONG = "cutlass::Kernel<" + "int, " * 800 + ">"
NAMES = [
    *HOSTILE,
    LONG,
    "[x](https://evil.example)",
    "{0}",
    "}}",
    "--> <b>",
    "a:b,c%0A::warning::x",
]
TEXTS: list[Callable[[Published, FormatSettings], str]] = [
    sarif, junit, gitlab, openmetrics, comment, workflow_commands,
]  # fmt: skip


def sarif_of(run: Published) -> dict[str, Any]:
    """Return the only run of a log, after checking it against the schema."""
    log = json.loads(sarif(run, SETTINGS))
    jsonschema.validate(log, SCHEMA, format_checker=jsonschema.FormatChecker())
    (found,) = log["runs"]
    assert isinstance(found, dict)
    return found


def metrics_of(run: Published) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return samples by metric and labels, as the parser of Prometheus' client reads them."""
    parser = pytest.importorskip(
        "prometheus_client.openmetrics.parser", reason="prometheus-client is not installed"
    )
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in parser.text_string_to_metric_families(openmetrics(run, SETTINGS)):
        assert family.type == "gauge"
        for sample in family.samples:
            assert sample.timestamp is None
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("write", TEXTS, ids=lambda each: each.__name__)
def test_shows_nothing_that_acts(write: Callable[..., str], name: str) -> None:
    text = write(published(name=name), SETTINGS)
    assert [c for c in acted_on(text) if c != "\n"] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_parser_reads_every_name(name: str, tmp_path: Path) -> None:
    run = published(name=name)
    assert len(sarif_of(run)["results"]) == 2
    assert len(json.loads(gitlab(run, SETTINGS))) == 2
    assert len(list(ET.fromstring(junit(run, SETTINGS)).iter("testcase"))) == 1
    assert len(metrics_of(run)["advisor_kernel_duration_seconds"]) == 1
    for table in tables(run):
        rows = list(csv.reader(io.StringIO(table.csv, newline="")))
        assert [len(row) for row in rows] == [len(KINDS[table.name])] * 2
        path = tmp_path / f"{table.name}.parquet"
        write_parquet(path, table.kinds, table.rows)
        assert duckdb.read_parquet(str(path)).columns == list(KINDS[table.name])


# -- SARIF -----------------------------------------------------------------------------------


def test_sarif_names_levels_lines_kernels_and_reasons() -> None:
    place = SourcePlace(path="src/my kernel.cu", line=257)
    run = sarif_of(
        published(
            findings=(
                published_finding("a", place=place),
                published_finding("b", severity="note", suppressed="known, see #12"),
            ),
            moved=(published_move("a"), published_move("c", accepted="the new algorithm")),
        )
    )
    moved, accepted, found, suppressed = run["results"]
    assert [each["level"] for each in run["results"]] == ["error", "error", "warning", "note"]
    assert [each["ruleId"] for each in (moved, found)] == [
        "history/regressed", "memory/uncoalesced-loads",
    ]  # fmt: skip
    physical = found["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "src/my%20kernel.cu"
    assert physical["region"]["startLine"] == 257
    assert found["locations"][0]["logicalLocations"] == [{"name": "a", "kind": "function"}]
    assert accepted["suppressions"][0]["justification"] == "the new algorithm"
    assert suppressed["suppressions"][0]["justification"] == "known, see #12"
    assert "suppressions" not in moved
    assert "suppressions" not in found
    rules = run["tool"]["driver"]["rules"]
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
    assert all(rule["help"]["text"] and rule["help"]["markdown"] for rule in rules)


def test_a_name_makes_no_link_and_no_placeholder_in_sarif() -> None:
    run = sarif_of(published(name="[x](https://evil.example) {0}"))
    text = run["results"][0]["message"]["text"]
    assert not re.search(r"(?<!\\)\[", text)
    assert "{{0}}" in text


@pytest.mark.parametrize("path", ["/etc/passwd", "../../x", "https://evil.example/a", "a\nb", LONG])
def test_an_address_of_sarif_stays_below_the_checkout(path: str) -> None:
    run = sarif_of(published(findings=(published_finding("a", place=SourcePlace(path=path)),)))
    uri = run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert not uri.startswith("/")
    assert ".." not in uri.split("/")
    assert ":" not in uri
    assert "\n" not in uri


# -- JUnit -----------------------------------------------------------------------------------


def junit_of(run: Published) -> ET.Element:
    """Return the root, after checking what the schemas of Jenkins and GitLab ask for."""
    root = ET.fromstring(junit(run, SETTINGS))
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        cases = list(suite)
        assert {case.tag for case in cases} <= {"testcase"}
        assert all(case.get("name") and case.get("classname") for case in cases)
        assert all(float(str(case.get("time"))) >= 0 for case in cases)
        children = [child.tag for case in cases for child in case]
        assert set(children) <= {"failure", "skipped", "system-out"}
        assert suite.get("tests") == str(len(cases))
        assert suite.get("failures") == str(children.count("failure"))
        assert suite.get("skipped") == str(children.count("skipped"))
        assert suite.get("errors") == "0"
    return root


def test_junit_fails_what_regressed_and_skips_what_is_undecided() -> None:
    one, two, three = (published_kernel(name, i) for i, name in enumerate("abc"))
    root = junit_of(
        published(
            kernels=(
                replace(one, failures=("regressed: more bytes", "budget: 2 ms")),
                replace(two, undecided="insufficient: 3 of 10 nights"),
                three,
            )
        )
    )
    (suite,) = root
    assert suite.get("name") == "default, Example GPU"
    failed, skipped, fine = suite
    failure = failed[0]
    assert failure.get("message") == "regressed: more bytes"
    assert failure.text == "regressed: more bytes\nbudget: 2 ms"
    assert skipped[0].get("message") == "insufficient: 3 of 10 nights"
    assert list(fine) == []


def test_findings_fail_no_test() -> None:
    root = junit_of(published(findings=(published_finding("a", severity="error"),)))
    assert list(root.iter("failure")) == []


def test_junit_has_a_suite_for_each_device() -> None:
    kernel = published_kernel("a")
    root = junit_of(published(kernels=(kernel, replace(kernel, device="Other GPU"))))
    assert [suite.get("name") for suite in root] == ["default, Example GPU", "default, Other GPU"]


# -- GitLab ----------------------------------------------------------------------------------


def test_gitlab_has_the_documented_fields() -> None:
    run = published(
        findings=(
            published_finding("a", severity="error"),
            published_finding("b", severity="warning", place=SourcePlace(path="a.cu", line=3)),
            published_finding("c", severity="note"),
            published_finding("d", suppressed="known"),
        ),
        moved=(published_move("a"), published_move("e", accepted="fine")),
    )
    issues = json.loads(gitlab(run, SETTINGS))
    assert [each["severity"] for each in issues] == ["critical", "critical", "major", "info"]
    assert issues[2]["location"] == {"path": "a.cu", "lines": {"begin": 3}}
    assert len({each["fingerprint"] for each in issues}) == 4
    for each in issues:
        assert set(each) == {"description", "check_name", "fingerprint", "severity", "location"}


# -- GitHub ----------------------------------------------------------------------------------


def test_at_most_ten_annotations_of_a_kind_the_worst_first() -> None:
    findings = tuple(published_finding(f"k{i:02}") for i in range(12))
    lines = workflow_commands(published(findings=findings), SETTINGS).splitlines()
    assert lines[0].startswith("::error title=Became slower")
    assert sum(line.startswith("::warning ") for line in lines) == 10
    assert "k00" in lines[1]
    assert "k10" not in "".join(lines)


def test_an_annotation_has_a_file_where_the_source_is_known() -> None:
    place = SourcePlace(path="src/a,b:c.cu", line=7)
    run = published(moved=(), findings=(published_finding("a", place=place),))
    (line,) = workflow_commands(run, SETTINGS).splitlines()
    assert line.startswith("::warning file=src/a%2Cb%3Ac.cu,line=7,title=")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_begins_no_command(name: str) -> None:
    lines = workflow_commands(published(name=name), SETTINGS).split("\n")
    assert lines[-1] == ""
    assert len(lines) == 3
    assert [line.split(" ")[0] for line in lines[:2]] == ["::error", "::warning"]


# -- OpenMetrics -----------------------------------------------------------------------------


def test_metrics_of_two_kernels_by_hand() -> None:
    # At half of their roofs: 1 ms and 3 ms, so 0.5 ms and 1.5 ms are wasted.
    kernels = (published_kernel("a", 1, 1e-3), published_kernel("b", 2, 3e-3))
    found = metrics_of(published(kernels=kernels))
    of = {"configuration": "default", "device": "Example GPU"}
    b = tuple(sorted({**of, "kernel": "b", "series": "000000000002"}.items()))
    assert found["advisor_kernel_duration_seconds"][b] == pytest.approx(3e-3)
    assert found["advisor_kernel_roof_ratio"][b] == pytest.approx(0.5)
    assert found["advisor_kernel_wasted_seconds"][b] == pytest.approx(1.5e-3)
    severities = {dict(labels)["severity"]: n for labels, n in found["advisor_findings"].items()}
    assert severities == {"error": 0, "warning": 1, "note": 0}
    assert list(found["advisor_regressions"].values()) == [1]


def test_metrics_have_a_hundred_kernels_and_the_rest_as_one() -> None:
    # 130 kernels of 1 to 130 ms; the rest are those of 1 to 30 ms, 465 ms together.
    kernels = tuple(published_kernel(f"k{i}", i, i * 1e-3) for i in range(1, 131))
    durations = metrics_of(published(kernels=kernels))["advisor_kernel_duration_seconds"]
    assert len(durations) == 101
    (other,) = (v for labels, v in durations.items() if dict(labels)["kernel"] == "(other)")
    assert other == pytest.approx(0.465)


def test_launch_shapes_of_a_series_are_one_sample() -> None:
    one, two = published_kernel("a", 1, 1e-3), published_kernel("a", 1, 3e-3)
    found = metrics_of(published(kernels=(one, replace(two, t_sol=None, wasted_time=None))))
    assert list(found["advisor_kernel_duration_seconds"].values()) == [pytest.approx(4e-3)]
    assert list(found["advisor_kernel_roof_ratio"].values()) == [pytest.approx(0.5)]


def test_what_is_unknown_has_no_sample() -> None:
    found = metrics_of(published(kernels=(published_kernel("a", 1, None),)))
    assert "advisor_kernel_duration_seconds" not in found
    assert list(found["advisor_regressions"].values()) == [1]


def test_labels_are_short_and_the_text_ends_as_it_should() -> None:
    found = metrics_of(published(name=LONG))
    (labels,) = found["advisor_kernel_duration_seconds"]
    assert all(len(value) <= 200 for _, value in labels)
    assert openmetrics(published(), SETTINGS).endswith("\n# EOF\n")


# -- Markdown --------------------------------------------------------------------------------


def test_the_mark_is_fixed_for_a_configuration_and_device() -> None:
    first = comment(published(), SETTINGS).splitlines()[0]
    assert re.fullmatch(r"<!-- advisor-report: [\w.-]+ -->", first)
    other_run = replace(published(name="other"), run_id="ffffffffffff")
    assert comment(other_run, SETTINGS).splitlines()[0] == first
    for change in ({"device": "Other --> GPU"}, {"configuration": "fp8"}):
        marked = comment(replace(published(), **change), SETTINGS).splitlines()[0]
        assert marked != first
        assert re.fullmatch(r"<!-- advisor-report: [\w.-]+ -->", marked)


def test_a_comment_says_when_the_run_took_place_and_of_which_commit() -> None:
    run = replace(published(), ran=("2023-11-14 22:13 UTC", "commit 0123456"))
    where = "Example GPU, default, 2023-11-14 22:13 UTC, commit 0123456, run `0123456789ab`"
    assert where in comment(run, SETTINGS)


@pytest.mark.parametrize("name", NAMES)
def test_a_comment_pings_nobody(name: str) -> None:
    text = comment(published(name=name), SETTINGS)
    marked, _, rest = text.partition("\n")
    assert marked.startswith("<!-- advisor-report: ")
    outside = re.sub(r"(`+) ?.*?[^`] ?\1(?!`)", "", rest)
    for live in ("@all", "@b", "@SUM", "#123", "GH-12", "https://", "www.evil"):
        assert live not in outside
    assert not re.search(r"(?<!\\)[<|](?!!-- -->)", outside)
    assert not [line for line in rest.splitlines() if line.startswith(("::", "fake"))]


def test_a_comment_stays_below_its_size() -> None:
    names = [f"{LONG}{'ü' * 2000}{number}" for number in range(300)]
    run = published(
        name=names[0],
        moved=tuple(published_move(name) for name in names),
        findings=tuple(published_finding(name) for name in names),
    )
    text = comment(run, SETTINGS)
    assert len(text.encode()) < 60_000
    assert "and 295 more" in text
    assert len(job_summary(run, SETTINGS, 0).encode()) < 900_000
    assert job_summary(run, SETTINGS, 899_990) == ""


def test_many_kernels_that_moved_with_the_driver_are_one_line() -> None:
    moved = tuple(published_move(f"k{i}", "environment", "note") for i in range(6))
    text = comment(published(moved=moved), SETTINGS)
    assert "- 6 kernels moved on 2026-01-17" in text
    assert "### Moved" not in text


# -- tables ----------------------------------------------------------------------------------


def test_parquet_keeps_types_names_and_what_is_unknown(tmp_path: Path) -> None:
    name = '=cmd()|\n@all "x"'
    run = published(name=name, kernels=(published_kernel(name, 1, None),), moved=())
    for table in tables(run):
        write_parquet(tmp_path / f"{table.name}.parquet", table.kinds, table.rows)
    kernels = duckdb.read_parquet(str(tmp_path / "kernels.parquet"))
    row = dict(zip(kernels.columns, kernels.fetchall()[0], strict=True))
    assert (row["kernel"], row["duration"], row["launches"]) == (name, None, 2)
    moved = duckdb.read_parquet(str(tmp_path / "moved.parquet"))
    types = dict(zip(moved.columns, map(str, moved.types), strict=True))
    assert moved.fetchall() == []
    assert (types["relative"], types["kernel"]) == ("DOUBLE", "VARCHAR")


def test_a_cell_of_csv_is_no_formula() -> None:
    run = published(name="=cmd()")
    for table in tables(run):
        for row in csv.reader(io.StringIO(table.csv, newline="")):
            assert not [cell for cell in row if cell.startswith(("=", "+", "@"))]


@pytest.mark.parametrize("name", NAMES)
def test_sarif_keeps_what_the_standard_asks_beyond_its_schema(name: str) -> None:
    """Sections of SARIF 2.1.0: 3.5.4, 3.10.1, 3.11.5, 3.19.12, 3.27.5, 3.27.6, 3.27.10."""
    run = sarif_of(published(name=name))
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(set(ids)) == len(ids)
    assert all(run["automationDetails"]["id"].split("/"))  # no component is empty
    assert re.fullmatch(
        r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?", run["tool"]["driver"]["semanticVersion"]
    )
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] != "none"  # as the kind of a result is "fail" where none is given
        assert all(re.fullmatch(r"[^/]+/v[1-9]\d*", key) for key in result["partialFingerprints"])
        text = re.sub(r"\{\{|\}\}", "", result["message"]["text"])
        assert not re.search(r"[{}]", text)  # nothing is a placeholder, for there are no arguments
        assert not re.search(r"(?<!\\)\[[^\]]*(?<!\\)\]\(", text)  # nor a link
        for location in result["locations"]:
            address = urlsplit(location["physicalLocation"]["artifactLocation"]["uri"])
            assert (address.scheme, address.netloc) == ("", "")
            assert not address.path.startswith("/")
