"""The terminal: as wide as it is, harmless, and complete without colour or Unicode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.reports.paper import Paper, columns, cut, meter
from advisor.reports.records import Report
from advisor.reports.terminal import kernel_text, report_text

GOLDEN = Path(__file__).parent / "golden"


def without_command(text: str) -> list[str]:
    """Return the lines but the command, which stays on one line so that it can be copied."""
    return [line for line in text.splitlines() if not line.startswith("  ncu ")]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_keeps_to_the_width(report: Report, width: int) -> None:
    lines = without_command(report_text(report, width=width))
    lines += without_command(kernel_text(report, report.kernels, width=width))
    assert max(columns(line) for line in lines) <= width


def test_loses_nothing_without_colour(report: Report) -> None:
    plain = report_text(report)
    coloured = report_text(report, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[35m▲ latency\x1b[0m" in coloured
    for code in ("34", "33", "35", "36", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == plain


def test_falls_back_to_ascii(report: Report) -> None:
    text = report_text(report, ascii_only=True) + kernel_text(
        report, report.kernels, ascii_only=True
    )
    assert text.isascii()
    assert "o memory" in text
    assert "^ latency" in text


def test_shows_escapes_instead_of_sending_them(report: Report) -> None:
    name = "a\x1b]0;owned\x07\r\x9b31mb"
    kernels = tuple(replace(k, name=name, short_name=name) for k in report.kernels)
    hostile = replace(report, kernels=kernels)
    text = report_text(hostile) + kernel_text(hostile, kernels)
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\x9b" not in text
    assert "\\x1b" in text


def test_says_simulated(report: Report) -> None:
    assert "simulated" in report_text(report)
    assert "simulated" in kernel_text(report, report.kernels[:1])


def test_shows_facts_findings_ruled_out_unknown_and_the_vendor(report: Report) -> None:
    text = kernel_text(report, [report.kernels[2]])
    for heading in ("Facts", "Findings", "Ruled out", "Unknown", "Vendor's findings"):
        assert f"\n{heading}" in text


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("report.txt", report_text),
        ("kernel.txt", lambda report: kernel_text(report, [report.kernels[2]])),
    ],
)
def test_writes_what_a_person_has_checked(report: Report, name: str, write: object) -> None:
    assert callable(write)
    assert write(report) == (GOLDEN / name).read_text(encoding="utf-8")


def test_draws_meters_in_eighths() -> None:
    # Half of a cell is four eighths: 0.25 of ten cells is two cells and a half.
    assert meter(0.25) == "██▌       "
    assert meter(1.7) == "█" * 10
    assert meter(None) == " " * 10


@given(st.text(max_size=60), st.integers(2, 40))
def test_cuts_to_the_width(text: str, most: int) -> None:
    wide = "".join(character for character in text if columns(character) == 1)
    assert columns(cut(wide, most)) <= most


@given(st.text(max_size=200))
def test_writes_any_text_within_the_width(text: str) -> None:
    paper = Paper(width=40)
    paper.write(text, indent=4)
    assert all(len(line) <= 40 for line in paper.lines)
