"""Labels and values as people write them from a profile; made up for this."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.model import Launch
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text
from advisor.readers.ncu.lines import load_forms
from advisor.readers.ncu.written import written_label, written_pairs, written_value
from advisor.units import parse_unit

TIME = "gpu__time_duration.sum"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
L2_HIT = "lts__t_sector_hit_rate.pct"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
REGISTERS = "launch__registers_per_thread"
GRID, BLOCK = "launch__grid_size", "launch__block_size"
ALU = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"
BANDWIDTH = "dram__bytes.sum.per_second"
BARRIER = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
WAVES = "launch__waves_per_multiprocessor"
SCOREBOARD = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"


def counters_of(page: str) -> dict[str, float]:
    """Return the counters of the one launch of a page."""
    assert ncu_text.accepts(page.encode())
    measures = {
        MEMORY: frozenset({parse_unit("%").measures}),
        "dram__bytes.sum.per_second": frozenset({parse_unit("byte/s").measures}),
    }
    source = Source(name="a.md", content=page.encode())
    records = ncu_text.read(source, ReadOptions(measures=measures))
    (launch,) = (record for record in records if isinstance(record, Launch))
    return dict(launch.counters)


def test_reads_lists_with_shortened_labels() -> None:
    page = "- Duration: 5 us\n- DRAM %: 12.5\n- No eligible: 83.75% of cycles\n- L2 hit: 7 %\n"
    found = counters_of(f"{page}- Regs/thread: 40 (of 255)\n")
    assert (found[TIME], found[DRAM], found[L2_HIT], found[REGISTERS]) == (5_000, 12.5, 7, 40)


@pytest.mark.parametrize(
    "page",
    [
        "- `gpu__time_duration.sum`: `5 us`\n- `dram__bytes.sum.per_second`: 9 GB/s\n"
        "- `lts__t_sector_hit_rate.pct`: `7 %`\n",
        "Duration = 5 us\nDRAM bw = 9 GB/s\nL2 hit rate = 7 %\n",
        "* **GPU time**: 5 us\n* **DRAM bandwidth**: 9 GB/s\n* **L2 hit rate**: 7%\n",
        "  Kernel time      5us\n  DRAM bandwidth   9GB/s\n  L2 hit           7%\n",
        "Duration    5us\nDRAM Throughput    9GB/s\nL2 Hit Rate    7%\n",
    ],
)
def test_three_values_will_do_where_one_is_of_the_profiler_alone(page: str) -> None:
    found = counters_of(page)
    bandwidth = found.get("dram__bytes.sum.per_second", found.get(DRAM))
    assert (found[TIME], bandwidth, found[L2_HIT]) == (5_000, 9e9, 7)


def test_dots_lead_from_labels_to_values() -> None:
    page = "Duration ....... 1,5 ms\nDRAM Throughput .... 22,50 %\nL2 Hit Rate ... 7,0 %\n"
    assert counters_of(page) == {TIME: 1_500_000, DRAM: 22.5, L2_HIT: 7}


@pytest.mark.parametrize(
    ("label", "cell", "values"),
    [
        ("DRAM / Memory Throughput", "**73.92 % = 5.86 TB/s**", {DRAM: 73.92, MEMORY: 73.92}),
        ("Grid", "(12,1,9)×(32,1,1) = 108 blocks", {GRID: 108, BLOCK: 32}),
        ("Grid", "(12, 1, 9)", {GRID: 108}),
        ("ALU Pipeline Utilization", "66.5 %", {ALU: 66.5}),
        ("Memory BW", "8.33 GB/s (0.83% of 1,008 GB/s peak)", {BANDWIDTH: 8.33e9}),
        ("Long Scoreboard (L1TEX)", "4.25 (37.6%)", {SCOREBOARD: 4.25}),
        ("Grid Size / Waves Per SM", "32 CTA / **0.14 wave**", {GRID: 32, WAVES: 0.14}),
        ("Stall Long Scoreboard / Barrier", "0.33 / 0.22", {SCOREBOARD: 0.33, BARRIER: 0.22}),
        ("stall long_scoreboard, inst/issue", "11.85", {SCOREBOARD: 11.85}),
        ("Stall Long Scoreboard", "**1.57 cyc/inst (34%)**", {SCOREBOARD: 1.57}),
        ("Local Memory Spilling Requests", "131,072", {"derived__local_spilling_requests": 131072}),
    ],
)
def test_reads_rows_as_people_write_them(label: str, cell: str, values: dict[str, float]) -> None:
    page = f"| Metric | Value |\n|---|---|\n| {label} | {cell} |\n| L2 Hit Rate | 7 % |\n"
    more = "| No Eligible | 3 % |\n| Achieved Occupancy | 9 % |\n"
    found = counters_of(f"{page}{more}")
    assert {name: found.get(name) for name in values} == values


@pytest.mark.parametrize(
    ("label", "cell"),
    [
        ("Achieved / Theoretical Occupancy", "45 %"),
        ("L1 / L2 hit rate", "45 %"),
        ("L2", "89 %"),  # of hits, or of its peak
        ("Registers", "3"),  # of a thread, or blocks that they allow
    ],
)
def test_reads_no_value_that_may_be_of_something_else(label: str, cell: str) -> None:
    assert not written_pairs(label, cell)


def test_the_unit_tells_shares_of_stalls_from_cycles() -> None:
    page = "- Long scoreboard: 58 %\n- stall_barrier: 1.5\n- L2 hit: 7 %\n- Duration: 5 us\n"
    found = counters_of(page)
    assert found["smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct"] == 58
    assert found["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"] == 1.5


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Kernel: sum_rows<float, 4>", "sum_rows<float, 4>"),
        ("Kernel `sum_rows` on a card of mine:", "sum_rows"),
        ("    sum_rows(float *) (8, 1, 1)x(256, 1, 1)", "sum_rows(float *)"),
        (
            "sum_rows(int)\n  (8, 1, 1)x(256, 1, 1), Device 0, CC 8.0, Invocations 1",
            "sum_rows(int)",
        ),
    ],
)
def test_a_line_above_names_the_kernel(line: str, name: str) -> None:
    rows = "DRAM Throughput    %    9\nDuration    us    5\nL2 Hit Rate    %    7\n"
    source = Source(name="a.md", content=f"{line}\n{rows}".encode())
    (launch, _) = ncu_text.read(source, ReadOptions())
    assert isinstance(launch, Launch)
    assert launch.kernel_name == name


def test_reads_rows_whose_unit_stands_in_brackets() -> None:
    labels = ["Memory Throughput", "DRAM Throughput", "L2 Hit Rate", "Compute (SM) Throughput"]
    page = "".join(f"{label} [%]\t{at}.5\n" for at, label in enumerate(labels))
    assert counters_of(page) == {MEMORY: 0.5, DRAM: 1.5, L2_HIT: 2.5, COMPUTE: 3.5}


@pytest.mark.parametrize(
    ("label", "counter", "unit"),
    [
        ("Duration (us)", TIME, "us"),
        ("Duration (NCU, µs)", TIME, "µs"),
        ("Duration, ms", TIME, "ms"),
        ("DRAM Throughput (%)", DRAM, "%"),
        ("DRAM throughput %", DRAM, "%"),
        ("DRAM Throughput (% of peak)", DRAM, "%"),
        ("**DRAM%**", DRAM, "%"),
        ("Memory SOL %", MEMORY, "%"),
        ("Memory [%]", MEMORY, "%"),
        ("Compute (SM) [%]", COMPUTE, "%"),
        ("SM throughput", COMPUTE, ""),
        ("Registers/thread", REGISTERS, ""),
        ("Achieved occupancy （%）", OCCUPANCY, "%"),
        ("Avg. Active Threads / Warp", "smsp__thread_inst_executed_per_inst_executed.ratio", ""),
        ("Block limit — registers", "launch__occupancy_limit_registers", ""),
        ("Block Limit (Registers)", "launch__occupancy_limit_registers", ""),
        (DRAM, DRAM, "%"),
    ],
)
def test_knows_labels_as_people_write_them(label: str, counter: str, unit: str) -> None:
    found = written_label(label)
    assert found is not None
    assert counter in found.counters
    assert found.unit == unit


@pytest.mark.parametrize(
    "label",
    [
        "Occupancy",
        "IPC",
        "L2 Hit Rate (reads)",
        "Duration (wall)",
        "Memory used",
        "",
        "%",
        "()",
        "Hit rate",
    ],
)
def test_knows_no_label_that_may_mean_something_else(label: str) -> None:
    assert written_label(label) is None


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("102.14 us per launch", "102.14", "us"),
        ("**63.87 %**  (far from full)", "63.87", "%"),
        ("`2.375 ms`", "2.375", "ms"),
        ("~8.94 ms", "8.94", "ms"),
        ("≈ 50 %", "50", "%"),
        ("3.5 μs", "3.5", "us"),
        ("1,234,567", "1,234,567", "1"),
        ("12 345", "12 345", "1"),
        ("82.3M", "82300000", "1"),
        ("2.5 k", "2500", "1"),
        ("23.5 / 32 = 73 %", "23.5", "1"),
        ("**90** → few blocks", "90", "1"),
        ("384 threads = 12 warps", "384", "threads"),
        ("71.5 % of peak (182 GB/s)", "71.5", "%"),
        ("0.58 ← low", "0.58", "1"),
        ("7,929,856（−77%）", "7,929,856", "1"),
        ("27 % ⚠️", "27", "%"),
        ("(128, 2, 1) = 8 warps", "256", "1"),
    ],
)
def test_reads_values_as_people_write_them(cell: str, number: str, unit: str) -> None:
    found = written_value(cell)
    assert found is not None
    assert (found.cell, found.unit) == (number, unit)


@pytest.mark.parametrize(
    "cell",
    [
        "63.8% → 55.2%",
        "54-72 us",
        "54–72 us",
        "+9.5 pp",
        "-12 %",
        "2.2x",
        "2.21× faster",
        "<1 %",
        "1.5 ms, 2.5 ms",
        "5 or 6",
        "—",
        "1 per 113 cycles",
        "16 / 48",
        "16.7% theoretical",
        "high",
        "89 155 / 122 850 = 72.5 %",
        "1,5k",
        "12 parsec",
        "1 2 3",
        "v1",
        "(1, 2, 3, 4)",
        "",
    ],
)
def test_reads_no_cell_that_may_say_something_else(cell: str) -> None:
    assert written_value(cell) is None


def test_refuses_a_value_in_another_unit_than_its_labels() -> None:
    assert written_value("5 %", "ms") is None
    assert written_value("5 ms", "%") is None
    assert written_value("5 us", "µs") is not None


PARTS = [
    "`",
    "*",
    "|",
    ":",
    "=",
    " ",
    "  ",
    "...",
    "Duration",
    "L2 hit rate",
    "7",
    "7 %",
    "us",
    "x",
]


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_takes_any_line_for_a_row_or_for_none(text: str) -> None:
    forms = load_forms()
    forms.row(text, written=True)
    forms.begins_page(forms.line(text))
    ncu_text.accepts(text.encode())
