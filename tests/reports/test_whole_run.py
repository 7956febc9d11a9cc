"""Findings about a whole run: from the database onto every page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

import duckdb
import pytest

from advisor.configuration import Suppression
from advisor.errors import Location
from advisor.facts import load_vocabulary
from advisor.reports.record.records import Gain, Report, RunFinding
from advisor.reports.record.whole_run import run_findings
from advisor.reports.write import render
from advisor.reports.write.machine import json_text
from advisor.reports.write.terminal import report_text
from advisor.rules import Rule, load_rules
from advisor.rules.language.words import load_words

TODAY = date(2026, 11, 20)
WORDS = load_words().words("NVIDIA")
EVIDENCE = "20 kernels do little with each byte."


@pytest.fixture(scope="module")
def rules() -> Sequence[Rule]:
    return load_rules(load_vocabulary())


@pytest.fixture
def stored(rules: Sequence[Rule]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with what two rules said of a run, and what others said of its kernels."""
    hashes = {rule.id: rule.text_hash for rule in rules}
    rows = [
        ("r1", "run/streaming-kernels", "run", "fires", 2, None, None, None, EVIDENCE),
        ("r1", "run/gaps-between-launches", "run", "fires", 1, 0.002, 0.004, 0.005, "Gaps."),
        ("r1", "run/many-shapes", "run", "ruled_out", None, None, None, None, ""),
        ("r1", "roofline/dram-bound", "kernel", "fires", 3, None, None, None, ""),
        ("r2", "run/one-kernel-dominates", "run", "fires", 1, None, None, None, ""),
    ]
    values = {"streaming_kernels": 20, "launches": 1000.0}
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "CREATE TABLE finding (run_id TEXT, rule_id TEXT, subject TEXT, outcome TEXT,"
            " rank BIGINT, gain_low DOUBLE, gain_likely DOUBLE, gain_high DOUBLE, evidence TEXT,"
            ' rule_hash TEXT, "values" TEXT)'
        )
        for row in rows:
            more = [hashes[row[1]], json.dumps(values)]
            marks = ", ".join("?" * (len(row) + 2))
            connection.execute(f"INSERT INTO finding VALUES ({marks})", [*row, *more])
        yield connection


def test_reads_what_is_said_of_the_run_and_fills_the_first_step(
    stored: duckdb.DuckDBPyConnection, rules: Sequence[Rule]
) -> None:
    gaps, streaming = run_findings(stored, "r1", rules, (), TODAY, WORDS)
    assert (gaps.rule_id, gaps.evidence) == ("run/gaps-between-launches", "Gaps.")
    assert gaps.gain == Gain(low=0.002, likely=0.004, high=0.005)
    assert gaps.step.startswith("Capture the 1,000 launches of the step as a graph")
    assert gaps.remark.startswith("Unproven")
    assert (streaming.rule_id, streaming.gain) == ("run/streaming-kernels", None)
    assert (streaming.evidence, streaming.remark) == (EVIDENCE, "")
    assert streaming.step.startswith("Check whether any of the 20 kernels")


def test_says_that_a_rule_has_changed_since(
    stored: duckdb.DuckDBPyConnection, rules: Sequence[Rule]
) -> None:
    changed = [replace(rule, text_hash="other") for rule in rules]
    _, streaming = run_findings(stored, "r1", changed, (), TODAY, WORDS)
    assert "advisor refresh" in streaming.remark
    assert (streaming.evidence, streaming.step) == (EVIDENCE, "")


def test_leaves_out_rules_that_are_not_in_use(
    stored: duckdb.DuckDBPyConnection, rules: Sequence[Rule]
) -> None:
    kept = [rule for rule in rules if rule.id != "run/streaming-kernels"]
    (gaps,) = run_findings(stored, "r1", kept, (), TODAY, WORDS)
    assert gaps.rule_id == "run/gaps-between-launches"


@pytest.mark.parametrize(
    ("expires", "shown"), [(None, 1), (date(2026, 11, 20), 1), (date(2026, 11, 19), 2)]
)
def test_leaves_out_what_is_suppressed_until_that_expires(
    expires: date | None, shown: int, stored: duckdb.DuckDBPyConnection, rules: Sequence[Rule]
) -> None:
    silence = Suppression(
        rule="run/gaps*",
        kernel="*",
        reason="known",
        owner=None,
        expires=expires,
        at=Location(name="a.yaml"),
    )
    assert len(run_findings(stored, "r1", rules, (silence,), TODAY, WORDS)) == shown


@pytest.fixture
def telling(report: Report) -> Report:
    finding = RunFinding(
        rule_id="run/fuse",
        title="Fuse <them>",
        severity="warning",
        evidence="mul → add (2x) pass on 1 GB.",
        step="Put them into one kernel.",
        gain=Gain(low=0.001, likely=0.002, high=0.004),
        remark="Unproven.",
    )
    return replace(report, findings=(finding,))


def test_stands_on_every_page_and_is_escaped(telling: Report) -> None:
    for page, title in (
        (render.html(telling), "Fuse &lt;them&gt;"),
        (render.markdown(telling, None).replace("\\(", "("), "Fuse \\<them\\>"),
        (report_text(telling, width=200), "Fuse <them>"),
    ):
        flat = " ".join(page.replace("\N{NO-BREAK SPACE}", " ").replace("\\)", ")").split())
        assert "The run as a whole" in flat
        assert title in flat
        assert "2.0 ms (1.0 ms to 4.0 ms)" in flat
        assert "mul → add (2x) pass on 1 GB. Put them into one kernel." in flat
        assert "Unproven." in flat


def test_is_given_to_programs(telling: Report) -> None:
    (said,) = json.loads(json_text(telling))["findings"]
    assert (said["rule_id"], said["gain"]["likely"]) == ("run/fuse", 0.002)


def test_says_nothing_where_no_rule_speaks_of_the_run(report: Report) -> None:
    for page in (render.html(report), render.markdown(report, None), report_text(report)):
        assert "The run as a whole" not in page
