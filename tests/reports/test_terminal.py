"""The terminal: as wide as it is, harmless, and complete without colour or Unicode."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.reports.record.kernel_records import (
    FactGroup,
    Gain,
    KernelName,
    KernelRecord,
    Outcome,
    RuleResult,
    ShownFact,
)
from advisor.reports.record.records import Report
from advisor.reports.write import render
from advisor.reports.write.paper import Paper, columns, cut, meter
from advisor.reports.write.terminal import kernel_text, report_text

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


def test_says_when_the_run_took_place_and_of_which_commit(report: Report) -> None:
    labels = (("label", "nightly"), ("commit", "0123456789abcdef"))
    known = replace(report.run, started_at=1.7e9, labels=labels)
    for text in (
        report_text(replace(report, run=known), width=120),
        render.markdown(replace(report, run=known), None),
    ):
        (line,) = [line for line in text.splitlines() if line.startswith("example.ncu-rep")]
        assert re.search(r"Example GPU\W+2023-11-14 22:13 UTC\W+commit 0123456\b", line)
        assert "01234567," not in line
    nothing = replace(report.run, started_at=None, labels=())
    assert "example.ncu-rep · Example GPU · simulated" in report_text(replace(report, run=nothing))


def test_a_doubt_is_no_reason_for_high_confidence(report: Report) -> None:
    short, worked = "very short kernel", "its advice worked 4 of 4 times here"
    for confidence, doubt, record, said in (
        ("high", short, "", "High confidence, although very short kernel; "),
        ("high", "", worked, f"High confidence: {worked}; "),
        ("medium", short, "", "Medium confidence: very short kernel; "),
        ("high", "", "", "High confidence; "),
    ):
        action = replace(
            report.actions[0],
            confidence=confidence,
            confidence_reason=doubt or record,
            confidence_doubts=doubt,
        )
        told = replace(report, actions=(action,))
        assert said in report_text(told, width=120)
        assert said in render.markdown(told, None)


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
    for heading in (
        "Facts",
        "Findings",
        "Not recommended here, and why",
        "Unknown",
        "Vendor's findings",
    ):
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


def test_texts_of_a_table_give_way_to_its_numbers() -> None:
    paper = Paper(width=40)
    rows = [("kernel", "time", "bound by"), ("a" * 30, "6,456,456 s", "computed from DRAM")]
    paper.table(rows, (10, -4, 4))
    # 11 for the number and 4 between leave 25 columns of 40; the wider text gives way, then both.
    assert paper.lines == [
        "kernel               time  bound by",
        "aaaaa…aaaaaa  6,456,456 s  comput…m DRAM",
    ]


def test_columns_of_a_table_with_room_hold_everything() -> None:
    paper = Paper(width=40)
    paper.table([("a kernel", "1", "computed from DRAM")], (4, -3, 4))
    assert paper.lines == ["a kernel    1  computed from DRAM"]


def test_a_number_in_a_row_of_its_own_is_whole() -> None:
    paper = Paper(width=40)
    paper.row(("a" * 40, "1,234,567,890"), (0, -4))
    # 40 less 13 and 2 between are 25.
    assert paper.lines == [f"{'a' * 12}…{'a' * 12}  1,234,567,890"]


def two_shapes(report: Report) -> Report:
    """Return the example with two shapes of one kernel, nothing counted of either."""
    name = "step_of_a_kernel_whose_name_is_long"
    shapes = ("1,024 × 256", "(64·64) × (16·16)")
    first = report.kernels[0]
    unknown = replace(first, time_share=None, roof_fraction=None, wasted_time=None)
    kernels = tuple(
        replace(unknown, id=f"k{i}", short_name=name, launch_shape=shape, told_apart=shape)
        for i, shape in enumerate(shapes)
    )
    names = tuple(KernelName(id=k.id, short_name=name, told_apart=k.told_apart) for k in kernels)
    actions = (replace(report.actions[0], kernels=names),)
    return replace(report, kernels=kernels, actions=actions)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_tells_shapes_of_one_kernel_apart(report: Report, width: int) -> None:
    text = report_text(two_shapes(report), width=width)
    table = text.split("Kernels, by wasted time")[1]
    card = text.split("Kernels, by wasted time")[0]
    for shape in ("1,024 × 256", "(64·64) × (16·16)"):
        assert shape in table
        assert shape in " ".join(card.split())


@pytest.mark.parametrize("width", [60, 80])
def test_writes_unknown_in_full(report: Report, width: int) -> None:
    table = report_text(two_shapes(report), width=width).split("Kernels, by wasted time")[1]
    first = next(line for line in table.splitlines() if "compute" in line)
    assert first.count("unknown") == 3
    assert "un…" not in table


def test_calls_waste_a_bound_where_a_term_of_the_roof_is_unknown(report: Report) -> None:
    def shown(kernel: KernelRecord) -> str:
        return kernel_text(report, [kernel], width=100).replace("\u00a0", " ")

    kernel = replace(report.kernels[0], wasted_time=3e-5, duration=4e-5, t_sol_complete=False)
    assert "at most 30.0 µs wasted of 40.0 µs" in shown(kernel)
    assert "· 30.0 µs wasted of 40.0 µs" in shown(replace(kernel, t_sol_complete=True))


def test_wraps_what_stands_beside_a_fact(report: Report) -> None:
    kind = "at least, by FP32, FP64, DRAM alone"
    fact = ShownFact(name="t_sol", label="l" * 30, value=1.0, unit="s", kind=kind)
    kernel = replace(report.kernels[0], facts=(FactGroup(name="time", facts=(fact,)),))
    text = kernel_text(report, [kernel], width=72)
    # 32 + 2, 11 + 2 and 8 + 2 columns leave 15.
    assert [line[57:] for line in text.splitlines() if line[57:]][-3:] == [
        "at least, by",
        "FP32, FP64,",
        "DRAM alone",
    ]


def test_keeps_words_of_a_fact_within_a_narrow_terminal(report: Report) -> None:
    facts = (
        ShownFact(name="t_sol", label="l" * 30, value=1.0, unit="s", kind="derived"),
        ShownFact(
            name="limiting_unit", label="busiest unit", value="load and store", unit="", kind=""
        ),
    )
    kernel = replace(report.kernels[0], facts=(FactGroup(name="all", facts=facts),))
    lines = kernel_text(report, [kernel], width=40).splitlines()
    assert any(line.endswith("load and store") for line in lines)
    assert max(columns(line) for line in lines) <= 40


def test_says_what_is_a_sum_over_launches(report: Report) -> None:
    kernel = replace(report.kernels[0], launch_count=11)
    said = "Times, work and traffic are sums of 11 launches."
    assert said in kernel_text(report, [kernel])
    assert said not in kernel_text(report, report.kernels[:1])


def test_shows_all_that_the_vendor_said(report: Report) -> None:
    words = " ".join(f"word{i}" for i in range(300))
    vendor = tuple(replace(finding, text=words) for finding in report.kernels[2].vendor)
    text = kernel_text(report, [replace(report.kernels[2], vendor=vendor)])
    assert words in " ".join(text.split())


def result(outcome: Outcome, number: int, text: str, gain: Gain | None = None) -> RuleResult:
    name = f"family/rule-{number}"
    return RuleResult(
        outcome=outcome,
        rule_id=name,
        title=f"Do {number}",
        severity="note",
        text=text,
        gain=gain,
    )


def shown(report: Report, *results: RuleResult) -> str:
    kernel = replace(report.kernels[0], results=results)
    return kernel_text(report, (kernel,))


def test_writes_together_what_one_reason_rules_out(report: Report) -> None:
    alike = [result("ruled out", number, "The build is slow.") for number in range(4)]
    text = shown(report, *alike, result("ruled out", 9, "L2 is idle."))
    assert "  Do 0, and 3 more  family/rule-0\n    The build is slow.\n  Do 9" in text
    text = shown(report, *alike[:2], result("ruled out", 9, "L2 is idle."))
    assert text.count("The build is slow.") == 2


def test_writes_no_gain_of_nothing(report: Report) -> None:
    nothing, some = (Gain(low=0, likely=0, high=high) for high in (0.0, 1e-3))
    text = shown(report, result("fires", 1, "A.", nothing), result("fires", 2, "B.", some))
    assert "\n  Do 1  family/rule-1\n" in text
    assert "  0 s (0 to 1.0 ms)  Do 2  family/rule-2\n" in text


def test_writes_no_number_for_a_gain_of_next_to_nothing(report: Report) -> None:
    tiny = result("fires", 1, "A.", Gain(low=0, likely=4e-8, high=1e-7))
    kernel = replace(report.kernels[0], results=(replace(tiny, gain_below=1e-3),))
    text = kernel_text(report, (kernel,))
    assert "\n  less than 0.1 % of its time  Do 1  family/rule-1\n" in text
    assert kernel.without_action == "no step found"
