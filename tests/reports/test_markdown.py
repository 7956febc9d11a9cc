"""Markdown: the same sections, escaped, and never too large for a job summary."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from advisor.reports.escaping import escape_markdown
from advisor.reports.record.records import Report
from advisor.reports.write import render

HOSTILE = "<img src=x onerror=alert(1)>|=cmd()`]("


def test_writes_a_hostile_name_as_text_only(report: Report) -> None:
    kernels = tuple(replace(k, name=HOSTILE, short_name=HOSTILE) for k in report.kernels)
    text = render.markdown(replace(report, kernels=kernels), "a.svg")
    assert not re.search(r"(?<!\\)<img", text)
    assert not re.search(r"(?<!\\)`", text)
    rows = [line for line in text.splitlines() if line.startswith("| ") and "img" in line]
    assert rows
    # Eight columns are nine bars that are not escaped.
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 9 for row in rows)


def test_keeps_the_order_of_the_page(report: Report) -> None:
    headings = re.findall(r"^## (.+)$", render.markdown(report, None), re.MULTILINE)
    assert headings == [
        "Do this first", "Conditions", "Roofline", "Kernels", "Detail", "Provenance",
    ]  # fmt: skip


def test_shows_the_picture_that_lies_beside_it(report: Report) -> None:
    assert "](my%20run.svg)" in render.markdown(report, "my run.svg")
    assert "![" not in render.markdown(report, None)


def test_stays_below_the_limit_of_a_job_summary(report: Report) -> None:
    long = replace(report.kernels[2], name="x" * 4000)
    many = tuple(replace(long, id=f"k{i}", vendor=long.vendor * 200) for i in range(200))
    text = render.markdown(replace(report, kernels=many, rooflines=()), None)
    assert len(text.encode()) <= 900_000
    assert "more kernels: advisor show KERNEL" in text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("12.5 ms", "12.5 ms"),
        ("two\nlines", "two lines"),
        ("\x1b[31m", r"\\x1b\[31m"),
    ],
)
def test_escapes_what_markdown_acts_on(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped
