"""Findings about a whole run: from the database onto every page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

import duckdb
import pytest

from advisor.configuration import Suppression
from advisor.database.facts_table import FactsTable
from advisor.errors import Location
from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.records import Report, RunFinding
from advisor.reports.record.run_advice import run_findings
from advisor.reports.write import render
from advisor.reports.write.machine import json_text
from advisor.reports.write.terminal import report_text
from advisor.rules import Evaluation, compile_rules
from advisor.rules.engine.compiled import Compiled
from advisor.rules.engine.findings import findings_of_run
from advisor.rules.language.subjects import RUN
from advisor.rules.language.words import load_words
from tests.support.facts import vocabulary_once
from tests.support.knowledge import rules_once, settings_once

TODAY = date(2026, 11, 20)
EVIDENCE = "20 kernels do little with each byte."


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    """The rules about runs, ready to be evaluated."""
    vocabulary, settings = vocabulary_once(), settings_once()
    rules = [rule for rule in rules_once() if rule.subject == RUN]
    return compile_rules(rules, vocabulary=vocabulary, settings=settings)


@pytest.fixture
def stored(compiled: Compiled) -> Iterator[Sequence[Evaluation]]:
    """What two rules said about a run, read from a database with findings of another run."""
    rows = [
        ("r1", "run/streaming-kernels", "fires", 0.0, 0.001, 0.002, EVIDENCE),
        ("r1", "run/gaps-between-launches", "fires", 0.002, 0.004, 0.005, "Gaps."),
        ("r1", "run/many-shapes", "ruled_out", None, None, None, ""),
        ("r2", "run/one-kernel-dominates", "fires", None, None, None, ""),
    ]
    values = json.dumps({"streaming_kernels": 20, "launches": 1000.0})
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE run AS SELECT 'r1' AS run_id, 0 AS run_number")
        connection.execute(
            "CREATE TABLE finding (run_id TEXT, run_number BIGINT DEFAULT 0,"
            " rule_id TEXT, outcome TEXT,"
            " gain_low DOUBLE, gain_likely DOUBLE, gain_high DOUBLE, evidence TEXT,"
            ' "values" TEXT, confidence DOUBLE DEFAULT 0.5, cap DOUBLE DEFAULT 1,'
            " cap_likely DOUBLE DEFAULT 1, variant_id TEXT, because TEXT, unchecked TEXT[],"
            " confidence_because TEXT[], share_low DOUBLE, share_likely DOUBLE, share_high DOUBLE,"
            " share_cap DOUBLE, share_cap_likely DOUBLE)"
        )
        for row in rows:
            connection.execute(
                "INSERT INTO finding (run_id, rule_id, outcome, gain_low, gain_likely, gain_high,"
                ' evidence, "values") VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
                [*row, values],
            )
        found = findings_of_run(
            connection,
            compiled,
            "r1",
            judged_by=compiled.digest,
            kernels=FactsTable(engine=connection, name="none"),
            words=load_words().default,
        )
        assert found.are_stored
        yield found.evaluations


def test_shows_what_is_stored_of_the_run_and_fills_the_first_step(
    stored: Sequence[Evaluation],
) -> None:
    streaming, gaps = run_findings(stored, (), TODAY)  # what is unproven comes last
    assert (gaps.rule_id, gaps.evidence) == ("run/gaps-between-launches", "Gaps.")
    assert gaps.gain == Gain(low=0.002, likely=0.004, high=0.005)
    assert gaps.step.startswith("Capture the 1,000 launches of the step as a graph")
    assert gaps.remark.startswith("Unproven")
    assert streaming.rule_id == "run/streaming-kernels"
    assert streaming.gain == Gain(low=0, likely=0.001, high=0.002)
    assert (streaming.evidence, streaming.remark) == (EVIDENCE, "")
    assert streaming.step.startswith("Check whether any of the 20 kernels")


@pytest.mark.parametrize(
    ("expires", "shown"), [(None, 1), (date(2026, 11, 20), 1), (date(2026, 11, 19), 2)]
)
def test_leaves_out_what_is_suppressed_until_that_expires(
    expires: date | None, shown: int, stored: Sequence[Evaluation]
) -> None:
    silence = Suppression(
        rule="run/gaps*",
        kernel="*",
        reason="known",
        owner=None,
        expires=expires,
        at=Location(name="a.yaml"),
    )
    assert len(run_findings(stored, (silence,), TODAY)) == shown


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


def test_says_on_every_page_that_the_run_was_judged_again(report: Report) -> None:
    sentence = "The stored findings come from other rules."
    again = replace(report, rejudged=sentence)
    for page in (render.html(again), render.markdown(again, None), report_text(again)):
        assert page.count(sentence) == 1
    assert json.loads(json_text(again))["rejudged"] == sentence
    for page in (render.html(report), render.markdown(report, None), report_text(report)):
        assert sentence not in page
    assert json.loads(json_text(report))["rejudged"] is None


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
