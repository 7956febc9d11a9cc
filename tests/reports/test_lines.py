"""The lines that cost most over all kernels."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from advisor.reports.record.instructions import Instruction, Ranking
from advisor.reports.record.kernel_records import Gain, KernelRecord, RuleResult
from advisor.reports.record.lines import costly_lines
from advisor.reports.record.records import Report
from advisor.reports.write import render

LINE = "/home/me/src/step.cu:41"


def found(rule: str, likely: float, *places: tuple[str | None, int, float]) -> RuleResult:
    """Return a finding with shares of instructions: (line, offset, share)."""
    worst = tuple(
        Instruction(
            address=offset, offset=offset, value=100 * share, ideal=None,
            excess=100 * share, share=share, line=line,
        )
        for line, offset, share in places
    )  # fmt: skip
    ranking = Ranking(
        title="Stalls", about="", unit="samples", value=100, excess=100, count=9, worst=worst
    )
    return RuleResult(
        outcome="fires",
        rule_id=f"memory/{rule}",
        title=rule,
        severity="warning",
        text="",
        gain=Gain(low=0.0, likely=likely, high=2 * likely),
        instructions=ranking,
    )


def with_findings(kernel: KernelRecord, name: str, *results: RuleResult) -> KernelRecord:
    return replace(kernel, id=name, results=results)


def test_adds_up_kernels_and_takes_the_largest_of_one(report: Report) -> None:
    first, second = report.kernels[:2]
    # Line 41: 50 % and 20 % of 100 µs are 70 µs; another rule says 40 µs of the same kernel.
    # In the second kernel it is 25 % of 80 µs, 20 µs more.
    one = with_findings(
        first, "a",
        found("loads", 100e-6, (LINE, 0, 0.5), (LINE, 16, 0.2), (None, 32, 0.1)),
        found("stalls", 40e-6, (LINE, 0, 1.0)),
    )  # fmt: skip
    two = with_findings(
        second, "b", found("loads", 80e-6, (LINE, 0, 0.25), (None, 32, 0.5))
    )  # fmt: skip
    lines = costly_lines([one, two])
    assert [each.place for each in lines] == [LINE, "+0x0020", "+0x0020"]
    assert [each.saving for each in lines] == pytest.approx([90e-6, 40e-6, 10e-6])
    assert [kernel.id for kernel in lines[0].kernels] == ["a", "b"]
    assert {reason.rule_id for reason in lines[0].reasons} == {"memory/loads", "memory/stalls"}
    assert lines[0].editor == "vscode://file/home/me/src/step.cu:41"
    assert lines[1].editor == ""


def test_a_hostile_path_stays_a_path(report: Report) -> None:
    bad = '/x"onmouseover=alert(1) <b>.cu:1'
    kernel = with_findings(report.kernels[0], "a", found("loads", 1e-3, (bad, 0, 1.0)))
    text = render.html(replace(report, kernels=(kernel,), rooflines=(), plane=None))
    assert 'href="vscode://file/x%22onmouseover%3Dalert%281%29%20%3Cb%3E.cu:1"' in text
    assert "<b>.cu" not in text


def test_parts_a_line_from_its_kernels_where_paper_breaks_no_line(report: Report) -> None:
    kernel = with_findings(report.kernels[0], "copy", found("a/b", 1e-3, ("a.cu:7", 0, 1.0)))
    text = render.html(replace(report, kernels=(kernel,), rooflines=(), plane=None))
    assert re.search(r'a\.cu:7.*</span> <br><small class="mono">', text)


def test_says_nothing_without_instructions(report: Report) -> None:
    assert costly_lines(report.kernels) == ()
    assert "Lines that cost most" not in render.html(report)
