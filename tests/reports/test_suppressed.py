"""Suppressed findings on the pages: counted everywhere, escaped like any other text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from advisor.reports.record.records import Report, Suppressed, SuppressedFinding
from advisor.reports.write import render
from advisor.reports.write.machine import json_text
from advisor.reports.write.terminal import kernel_text, report_text

SENTENCE = "2 findings suppressed (1 expires 2026-12-01)."
EXPIRED = "The suppression of memory/* for <b>*</b> expired on 2026-11-01 (odd; a.yaml:4:5)."


@pytest.fixture
def suppressing(report: Report) -> Report:
    finding = SuppressedFinding(
        kernel_id="stream",
        kernel="stream",
        rule_id="memory/l2-misses",
        title="A title",
        reason="by design",
        owner="Ada",
        expires="2026-12-01",
    )
    said = Suppressed(
        sentence=SENTENCE,
        findings=(finding, replace(finding, kernel="scan", expires=None)),
        expired=(EXPIRED,),
    )
    return replace(report, suppressed=said)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_counts_them_in_html_and_escapes(suppressing: Report) -> None:
    page = render.html(suppressing)
    assert f"<b>Suppressed.</b> {SENTENCE} The suppression of memory/* for &lt;b&gt;*" in page
    assert "<b>*</b>" not in page


def test_counts_them_in_markdown_and_escapes(suppressing: Report) -> None:
    text = render.markdown(suppressing, None)
    assert "**Suppressed.** 2 findings suppressed" in text
    assert "<b>*</b>" not in text.replace("\\<", "")


def test_counts_them_on_the_terminal(suppressing: Report) -> None:
    text = flat(report_text(suppressing))
    assert SENTENCE in text
    assert EXPIRED in text


def test_names_them_with_reason_and_last_day_for_a_kernel(suppressing: Report) -> None:
    text = flat(kernel_text(suppressing, suppressing.kernels[:1]))
    assert "memory/l2-misses for stream, until 2026-12-01: by design" in text
    assert "memory/l2-misses for scan: by design" in text
    assert EXPIRED in text


def test_gives_them_to_programs(suppressing: Report) -> None:
    said = json.loads(json_text(suppressing))["suppressed"]
    assert said["sentence"] == SENTENCE
    assert said["findings"][0] == {
        "kernel_id": "stream",
        "kernel": "stream",
        "rule_id": "memory/l2-misses",
        "title": "A title",
        "reason": "by design",
        "owner": "Ada",
        "expires": "2026-12-01",
    }
    assert said["expired"] == [EXPIRED]


def test_says_nothing_where_nothing_is_suppressed(report: Report) -> None:
    pages = (
        render.html(report),
        render.markdown(report, None),
        report_text(report),
        kernel_text(report, report.kernels),
    )
    assert not any("uppress" in page for page in pages)
    assert json.loads(json_text(report))["suppressed"] is None
