"""Tables and headings as people write them from a profile; made up for this."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.database.names import short_name
from advisor.errors import InputError
from advisor.model import UNNAMED, Launch, Session, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text
from advisor.readers.ncu.outline import Outline
from advisor.units import parse_unit

TIME = "gpu__time_duration.sum"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
L2_HIT = "lts__t_sector_hit_rate.pct"
BANDWIDTH = "dram__bytes.sum.per_second"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
REACHABLE = "sm__maximum_warps_per_active_cycle_pct"
REGISTERS = "launch__registers_per_thread"
BLOCK = "launch__block_size"
GRID = "launch__grid_size"
INSTRUCTIONS = "smsp__inst_executed.sum"

MEASURES = {
    TIME: frozenset({parse_unit("s").measures}),
    BANDWIDTH: frozenset({parse_unit("byte/s").measures}),
    MEMORY: frozenset({parse_unit("%").measures}),
    INSTRUCTIONS: frozenset({parse_unit("1").measures}),
}


def read(page: str) -> list[object]:
    source = Source(name="a.md", content=page.encode())
    return list(ncu_text.read(source, ReadOptions(measures=MEASURES)))


def launches_of(page: str) -> dict[str, dict[str, float]]:
    """Return the counters of each launch by its name, in their order."""
    assert ncu_text.accepts(page.encode())
    launches = [record for record in read(page) if isinstance(record, Launch)]
    names = [launch.kernel_name for launch in launches]
    assert len(set(names)) == len(names)
    return {launch.kernel_name: dict(launch.counters) for launch in launches}


def skipped_of(page: str) -> list[str]:
    return [record.reason for record in read(page) if isinstance(record, Skipped)]


def table(*rows: str) -> str:
    """Return a table in Markdown: the titles, then rows, their cells apart by ``|``."""
    titles, *others = rows
    ruler = "|".join("---" for _ in titles.split("|"))
    return "".join(f"| {row} |\n" for row in (titles, ruler, *others)) + "\n"


TWO = table(
    "Metric | scan_rows | scan_warps | Change",
    "Duration | 12.5 us | **7.25 us** | 1.72x faster",
    "DRAM Throughput | 31 % | 52.5% | +21.5 pp",
    "Compute (SM) Throughput | 11% | 14% | +3",
    "Memory Throughput | 41 % | 60 % | 46 % more",
    "Registers Per Thread | 40 | 48 | +8",
)
BOTH = {
    "scan_rows": {TIME: 12_500, DRAM: 31, COMPUTE: 11, MEMORY: 41, REGISTERS: 40},
    "scan_warps": {TIME: 7_250, DRAM: 52.5, COMPUTE: 14, MEMORY: 60, REGISTERS: 48},
}


def test_reads_each_column_of_values_as_a_launch() -> None:
    assert launches_of(TWO) == BOTH
    assert skipped_of(TWO) == []


@pytest.mark.parametrize("before", ["  ", "> ", "// "])
def test_reads_tables_behind_signs(before: str) -> None:
    assert launches_of("".join(before + line + "\n" for line in TWO.splitlines())) == BOTH


def test_reads_the_units_of_a_column_of_units() -> None:
    page = table(
        "Metric Name | Metric Unit | one | two",
        "Duration | ms | 1.5 | 2",
        "DRAM Throughput | % | 20 | 30",
        "Memory Throughput | Gbyte/second | 200 | 300",
        "L2 Hit Rate | % | 55.5 | n/a",
        "Block Size |  | 128 | 1,024",
    )
    assert launches_of(page) == {
        "[one]": {TIME: 1_500_000, DRAM: 20, BANDWIDTH: 200e9, L2_HIT: 55.5, BLOCK: 128},
        "[two]": {TIME: 2_000_000, DRAM: 30, BANDWIDTH: 300e9, BLOCK: 1024},
    }


@pytest.mark.parametrize(
    "title",
    [
        "Delta",
        "Change (%)",
        "Speed-up",
        "v2 vs v1",
        "v1 → v2",
        "Target",
        "Notes",
        "What it means",
        "v1 %",
        "变化",
        "Limit",
        "Max",
        "H200 peak",
        "v2 / v1",
        "Difference",
        "Ratio",
        "Reduction",
    ],
)
def test_takes_no_column_that_compares_or_judges_for_a_launch(title: str) -> None:
    page = table(
        f"Metric | v1 | v2 | {title}",
        "Duration | 2 ms | 1 ms | 1 ms",
        "DRAM Throughput | 20 % | 40 % | 20 %",
        "L2 Hit Rate | 20 % | 40 % | 20 %",
        "Achieved Occupancy | 20 % | 40 % | 20 %",
    )
    assert list(launches_of(page)) == ["[v1]", "[v2]"]


def test_makes_titles_names_that_stay_different_where_names_are_shortened() -> None:
    titles = ["tuned (half)", "tuned (single)", "run 2", "第 3 秒", "`pack_rows<2>(int *)`"]
    page = table("Metric | " + " | ".join(titles), *(
        f"{label} | " + " | ".join(f"{at} {unit}" for at, _ in enumerate(titles, start=1))
        for label, unit in {"Duration": "us", "DRAM %": "%", "L2 hit": "%", "SM Busy": "%"}.items()
    ))  # fmt: skip
    names = [f"[{title}]" for title in titles[:4]] + ["pack_rows<2>(int *)"]
    assert list(launches_of(page)) == names
    assert list(map(short_name, names)) == [*names[:4], "pack_rows"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("max-autotune", "[max-autotune]"),
        ("Naive_reduction", "Naive_reduction"),
        ("sum_rows", "sum_rows"),
        ("Improved", "[Improved]"),
        ("x2", "[x2]"),
    ],
)
def test_takes_a_title_with_such_a_word_inside_for_a_launchs(title: str, name: str) -> None:
    assert list(launches_of(TWO.replace("scan_warps", title))) == ["scan_rows", name]


def test_leaves_out_a_column_most_of_whose_cells_are_no_values() -> None:
    page = TWO.replace("Change", "more").replace("| +8", "| 8")
    assert list(launches_of(page)) == ["scan_rows", "scan_warps"]
    assert skipped_of(page) == ["tables and columns that may be of no launch: more"]


def test_takes_only_the_column_titled_as_the_value() -> None:
    page = table(
        "Resource | Value | Room | Notes",
        "Registers/Thread | 255 | 255 | all of them",
        "Block Size | 128 | 1024 |",
        "Achieved Occupancy | 16.5% | 100 % |",
        "DRAM Throughput | 11 % | 100 % | 4 of 48",
        "L2 Hit Rate | 12 % | 100 % |",
        "Duration | 5 us | 4 us | at most",
    )
    (counters,) = launches_of(page).values()
    assert counters == {
        REGISTERS: 255, BLOCK: 128, OCCUPANCY: 16.5, DRAM: 11, L2_HIT: 12, TIME: 5_000
    }  # fmt: skip


def test_joins_tables_with_the_same_titles() -> None:
    more = table("Metric | scan_rows | scan_warps", "L2 Hit Rate | 70 % | 80 %")
    assert launches_of(f"## Speed\n\n{TWO}## Caches\n\n{more}") == {
        "scan_rows": {**BOTH["scan_rows"], L2_HIT: 70},
        "scan_warps": {**BOTH["scan_warps"], L2_HIT: 80},
    }


def test_keeps_the_number_with_more_digits_of_two_that_agree() -> None:
    first = "Executed Instructions | 12.3M | 9.9M"
    second = "Executed Instructions | 12,345,678 | 9,876,543"
    titles = "Metric | scan_rows | scan_warps"
    for rows in ((first, second), (second, first)):
        page = TWO + "".join(table(titles, row) for row in rows)
        found = [each[INSTRUCTIONS] for each in launches_of(page).values()]
        assert found == [12_345_678, 9_876_543]


def test_begins_the_next_launches_where_a_value_is_another() -> None:
    again = TWO.replace("12.5 us", "25 us")
    launches = [record for record in read(TWO + again) if isinstance(record, Launch)]
    assert [each.kernel_name for each in launches] == ["scan_rows", "scan_warps"] * 2
    assert [each.counters[TIME] for each in launches] == [12_500, 7_250, 25_000, 7_250]


def test_begins_the_next_launches_below_the_name_of_another_kernel() -> None:
    rows = ["Duration | 5 us | 3 us", "DRAM Throughput | 5 % | 8 %", "L2 Hit Rate | 9 % | 8 %"]
    others = ["Block Size | 64 | 96", "SM Busy | 5 % | 8 %", "Achieved Occupancy | 9 % | 8 %"]
    parts = (table("Metric | Old | New", *each) for each in (rows, others))
    page = "".join(f"## `{name}`\n\n{part}" for name, part in zip("ab", parts, strict=True))
    launches = [record for record in read(page) if isinstance(record, Launch)]
    names = ["[a: Old]", "[a: New]", "[b: Old]", "[b: New]"]
    assert [each.kernel_name for each in launches] == names
    assert [len(each.counters) for each in launches] == [3] * 4


def test_numbers_launches_of_one_title_where_no_kernel_is_named() -> None:
    rows = ["Duration | 5 us | 3 us", "DRAM Throughput | 5 % | 8 %", "L2 Hit Rate | 9 % | 8 %"]
    others = [row.replace("5 us | 3 us", "6 us | 4 us") for row in rows]
    page = "".join(f"{table('Metric | Old | New', *each)}\n" for each in (rows, others))
    launches = [record for record in read(page) if isinstance(record, Launch)]
    names = ["[Old]", "[New]", "[Old 2]", "[New 2]"]
    assert [each.kernel_name for each in launches] == names


@pytest.mark.parametrize(
    ("line", "device"),
    [
        ("**Hardware:** NVIDIA GeForce RTX 2080 Ti (CC 7.5, 68 SMs)", "NVIDIA GeForce RTX 2080 Ti"),
        ("- HW: **NVIDIA L4** (Ada, CC 8.9, 58 SMs) on node `gpu-1`", "NVIDIA L4"),
        ("> GPU：RTX 3090，24GB", "RTX 3090"),
        ("Device 0: NVIDIA GeForce RTX 2080", "NVIDIA GeForce RTX 2080"),
        ('Using GPU: "NVIDIA A100-SXM4-80GB"', "NVIDIA A100-SXM4-80GB"),
        ("GPU: NVIDIA GeForce RTX 3060 Ti  sm_86  38 SMs", "NVIDIA GeForce RTX 3060 Ti"),
        ("Device name = NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"),
        ("Graphics card: T4 on Colab", "T4"),
        ("hw: H200 x 8", "H200"),
        ("## Rows of a scan on an RTX 4090", "RTX 4090"),
        ("## Rows (NVIDIA A100-SXM4-80GB, CC 8.0)", "NVIDIA A100-SXM4-80GB"),
        ("## Rows, A100 vs H100", None),
        ("## The L4 of this page", None),
        ("Rows of a scan on an RTX 4090", None),
        ("Profiling on RTX 4090 (128 SMs) shows few warps", "RTX 4090"),
        ("Speed of light on the T4:", "T4"),
        ("GPU: RTX 4090 - 24 GB", "RTX 4090"),
        ("Measured on **H20（CC 9.0，78 SM）**, 4096 rows", "H20"),
        ("NVIDIA GeForce RTX 4090 sm_89 128 SMs", "NVIDIA GeForce RTX 4090"),
        ("the T4 (CC of old) and other devices", None),
        ("Device: 0", None),
        ("device: cuda:0", None),
        ("Device: L1 cache", None),
        ("GPU: 2x A100", None),
        ("| Host | GPU |\n|---|---|\n| this | A100 |", None),
        ("| Part | Model |\n|---|---|\n| CPU | EPYC |\n| GPU | NVIDIA L4 |", "NVIDIA L4"),
        ("| Part | Model | Memory |\n|--|--|--|\n| GPU | RTX 3090 | 24 GB |", "RTX 3090"),
        ("Hardware: NVIDIA GPU (A100 or newer)", None),
        ("Device: NVIDIA GPU", None),
        ("Device: NVIDIA GPU A100", "NVIDIA GPU A100"),
        ("GPU time: 3.2 ms", None),
        ("The GPU of this page: NVIDIA L4", None),
    ],
)
def test_reads_the_device_that_a_page_names(line: str, device: str | None) -> None:
    records = read(f"# A page\n\n{line}\n\n{TWO}")
    launches = [record for record in records if isinstance(record, Launch)]
    assert [launch.device_name for launch in launches] == [device] * 2
    (session,) = (record for record in records if isinstance(record, Session))
    assert [each.name for each in session.devices] == ([device] if device else [])


def test_what_a_page_says_of_its_device_holds_until_it_names_another() -> None:
    parts = zip(("L4", "H200", "L4"), ("12.5 us", "25 us", "50 us"), strict=True)
    page = "".join(f"GPU: NVIDIA {name}\n\n{TWO.replace('12.5 us', time)}" for name, time in parts)
    records = read(page)
    launches = [record for record in records if isinstance(record, Launch)]
    names = [name for name in ("NVIDIA L4", "NVIDIA H200", "NVIDIA L4") for _ in range(2)]
    assert [each.device_name for each in launches] == names
    assert [each.device or 0 for each in launches] == [0, 0, 1, 1, 0, 0]
    (session,) = (record for record in records if isinstance(record, Session))
    assert {each.id: each.name for each in session.devices} == {0: "NVIDIA L4", 1: "NVIDIA H200"}


def test_a_device_named_behind_the_launches_is_theirs_where_none_is_named_before() -> None:
    launches = [record for record in read(f"{TWO}GPU: NVIDIA L4\n") if isinstance(record, Launch)]
    assert [each.device_name for each in launches] == ["NVIDIA L4"] * 2


def test_joins_a_table_whose_titles_are_words_of_the_names_and_whose_values_agree() -> None:
    more = table(
        "Section | Metric | Rows | Warps | Notes",
        "Speed | Duration | 12.5 us | 7.2 us |",
        "Speed | DRAM Throughput | 31 % | 52 % | more",
        "Occupancy | Achieved | 50 % | 75 % |",
    )
    assert {name: each[OCCUPANCY] for name, each in launches_of(TWO + more).items()} == {
        "scan_rows": 50,
        "scan_warps": 75,
    }


def test_leaves_out_a_counter_of_which_a_table_says_two_things() -> None:
    page = TWO.replace("| Registers", "| Duration | 99 us | 7.25 us | |\n| Registers")
    found = launches_of(page)
    assert TIME not in found["scan_rows"]
    assert found["scan_warps"][TIME] == 7_250


def test_leaves_out_a_table_whose_columns_have_one_title() -> None:
    page = TWO.replace("scan_warps", "scan_rows")
    with pytest.raises(InputError, match="no result of the profiler"):
        read(page)


def test_says_which_table_it_did_not_understand() -> None:
    page = TWO + TWO.replace("scan_warps", "scan_rows")
    assert launches_of(page) == BOTH
    assert skipped_of(page) == ["tables and columns that may be of no launch: a.md:9"]


def test_says_which_labels_and_cells_it_did_not_understand() -> None:
    page = TWO.replace("1.72x faster |\n", "1.72x faster |\n| Warmth | 1 | 2 | |\n")
    page = page.replace("31 %", "high")
    assert skipped_of(page) == [
        "labels without a known counter: Warmth",
        "rows that do not fit their table: a.md:5",
    ]


def test_leaves_a_share_without_its_sign_and_a_time_without_a_unit_out() -> None:
    page = TWO.replace("31 %", "0.31").replace("12.5 us", "12.5")
    found = launches_of(page)["scan_rows"]
    assert DRAM not in found
    assert TIME not in found


def test_leaves_tables_to_the_launches_that_a_page_prints() -> None:
    printed = """\
  scan_rows(int) (8, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
    Section: GPU Speed Of Light Throughput
    ----------------- ----------- ------------
    Metric Name       Metric Unit Metric Value
    ----------------- ----------- ------------
    Duration                   us        12.50
    ----------------- ----------- ------------
"""
    assert launches_of(TWO + printed) == {"scan_rows(int)": {
        TIME: 12_500,
        "device__attribute_compute_capability_major": 8,
        "device__attribute_compute_capability_minor": 9,
    }}  # fmt: skip
    assert skipped_of(TWO + printed) == ["rows that do not fit their table: a.md:3"]


KERNELS = table(
    "Kernel | Grid × Block | Duration | %Mem (SoL) | DRAM% | Compute SM % | IPC",
    "`packRows` | (40, 2, 1) × (32, 4) | 63.25 µs | 50.5% | 40% | 12.0 | 0.6",
    "unpack | (8, 1, 1) × (256, 1, 1) | ~1.37 ms | 96.3 | 46.7 | 32.9 | 0.9",
    "**Pipeline (sum)** | — | **1.43 ms** | — | — | — | —",
)


def test_reads_each_row_of_a_kernel_as_a_launch() -> None:
    assert launches_of(KERNELS) == {
        "packRows": {
            GRID: 80, BLOCK: 128, TIME: 63_250, MEMORY: 50.5, DRAM: 40, COMPUTE: 12
        },
        "unpack": {GRID: 8, BLOCK: 256, TIME: 1_370_000, MEMORY: 96.3, DRAM: 46.7, COMPUTE: 32.9},
    }  # fmt: skip
    launches = [record for record in read(KERNELS) if isinstance(record, Launch)]
    assert [(each.grid, each.block) for each in launches] == [
        ((40, 2, 1), (32, 4, 1)),
        ((8, 1, 1), (256, 1, 1)),
    ]
    assert skipped_of(KERNELS) == ["labels without a known counter: IPC"]


@pytest.mark.parametrize("title", ["Axis", "Batch", ""])
def test_reads_no_rows_that_are_of_something_else(title: str) -> None:
    assert not ncu_text.accepts(KERNELS.replace("Kernel", title).encode())


ONE = table(
    "metric | value | meaning",
    "Duration | 102.5 µs per launch | 3 launches",
    "DRAM throughput | **15.25 %** | 20 is usual",
    "Memory throughput (SOL) | 39 % (of its peak) |",
    "Eligible warps / scheduler | 1.5 of 3.5 active |",
    "L2 hit | ≈ 50 % |",
)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("### scan_rows\n", "scan_rows"),
        ("## scanRows — latency-bound\n\n### Speed\n", "scanRows"),
        ("### 2.1 Scan (`scan`)\n", "scan"),
        ("## Task 4: `scan<int, 4>` by warps\n", "scan<int, 4>"),
        ("## Kernel 2: scan_rows (tuned)\n", "scan_rows"),
        ("# Why it is slow - scan_rows (sm_90)\n", "scan_rows"),
        ("**Kernel:** `scan` | **Run:** 3\n", "scan"),
        ("# Page\n\n- Kernel name: scan_rows\n\n## Speed\n", "scan_rows"),
        ("## The kernel\n\n- **Name**: `scan`\n", "scan"),
        ("`scan`, (8, 1, 1)x(256, 1, 1), the first one\n", "scan"),
        ("# scan_rows\n\n# Speed\n", UNNAMED),
        ("## `scan` vs. `reduce`\n", UNNAMED),
        ("## Speed on an H200 (sm_90)\n", UNNAMED),
        ("## cuBLAS\n", UNNAMED),
        ("## Baseline\n", UNNAMED),
        ("```\n# scan_rows\n```\n", UNNAMED),
        ("We ran `scan` first.\n", UNNAMED),
        ("Kernel: the first one\n", UNNAMED),
    ],
)
def test_names_a_launch_by_the_heading_above(heading: str, name: str) -> None:
    (found,) = launches_of(f"{heading}\n{ONE}").items()
    assert found == (name, {
        TIME: 102_500, DRAM: 15.25, MEMORY: 39, L2_HIT: 50,
        "smsp__warps_eligible.avg.per_cycle_active": 1.5,
    })  # fmt: skip


def test_begins_the_next_launch_where_another_kernel_is_named() -> None:
    other = ONE.replace("102.5", "99").replace("Eligible warps / scheduler", "Waves")
    found = launches_of(f"## scan_rows\n{ONE}## pack_rows\n{other}")
    assert {name: each[TIME] for name, each in found.items()} == {
        "scan_rows": 102_500,
        "pack_rows": 99_000,
    }


def test_goes_on_with_a_launch_whose_values_come_again() -> None:
    more = table("metric | value", "L2 hit rate | 50.1 %", "Registers / thread | 40")
    (found,) = launches_of(ONE + "## More\n\n" + more).values()
    assert (found[L2_HIT], found[REGISTERS]) == (50, 40)


def test_names_one_column_by_the_heading_unless_its_title_is_code() -> None:
    page = ONE.replace("value", "block 256")
    assert list(launches_of(f"## kernel1: naive\n\n{page}")) == ["kernel1"]
    assert list(launches_of(page)) == ["[block 256]"]
    assert list(launches_of(f"## kernel1\n\n{page.replace('block 256', '`f`')}")) == ["kernel1"]
    assert list(launches_of(f"## kernel1\n\n{page.replace('block 256', 'f_a')}")) == ["f_a"]


def test_reads_labels_that_share_a_row() -> None:
    page = table(
        "指标 | a | b",
        "Achieved / theoretical occupancy | 93.5 % / 100 % | `50%` / `75%`",
        "L1 / L2 hit rate (%) | 60.5 / 7 | 5 / 96",
        "Grid Size / Waves Per SM | 32 / 0.25 | 64 / 0.5",
        "Duration / laps | 5 us / 3 | 6 us / 4",
    )
    assert launches_of(page)["[a]"] == {
        OCCUPANCY: 93.5, REACHABLE: 100, "l1tex__t_sector_hit_rate.pct": 60.5, L2_HIT: 7,
        GRID: 32, "launch__waves_per_multiprocessor": 0.25, TIME: 5_000,
    }  # fmt: skip


NAMES = st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}[0-9]?", fullmatch=True)
CELLS = {
    "Duration": (TIME, " us", 1_000),
    "DRAM throughput (%)": (DRAM, "", 1),
    "Memory Throughput": (MEMORY, "%", 1),
    "SM throughput": (COMPUTE, " %", 1),
    "**L2 hit**": (L2_HIT, " % (of all)", 1),
    "Registers / thread": (REGISTERS, "", 1),
    "Block size": (BLOCK, " threads", 1),
}


@st.composite
def made_up(draw: st.DrawFn) -> dict[str, dict[str, int]]:
    """Return numbers by name and label: the same labels for each name, in any order."""
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    labels = draw(st.permutations(list(CELLS)))
    return {name: {label: draw(st.integers(1, 100)) for label in labels} for name in names}


@given(made_up(), st.integers(1, len(CELLS) - 1), st.booleans(), st.sampled_from("*`"))
def test_reads_what_was_written_of_made_up_launches(
    launches: dict[str, dict[str, int]], cut: int, has_notes: bool, mark: str
) -> None:
    titles = ["Metric", *(f"{mark}{name}{mark}" for name in launches)]
    rows = [
        [label, *(f"{each[label]}{CELLS[label][1]}" for each in launches.values())]
        for label in next(iter(launches.values()))
    ]
    if has_notes:
        titles.insert(len(titles) // 2 + 1, "Notes")
        for at, row in enumerate(rows):
            row.insert(len(row) // 2 + 1, f"as {at} was")
    halves = (rows[:cut], rows[cut:])
    tables = (table(" | ".join(titles), *map(" | ".join, half)) for half in halves)
    assert launches_of("## More\n\n".join(tables)) == {
        name: {CELLS[label][0]: number * CELLS[label][2] for label, number in numbers.items()}
        for name, numbers in launches.items()
    }


@given(made_up())
def test_reads_the_same_from_rows_as_from_columns(launches: dict[str, dict[str, int]]) -> None:
    labels = list(next(iter(launches.values())))
    rows = [
        [name, *(f"{numbers[label]}{CELLS[label][1]}" for label in labels)]
        for name, numbers in launches.items()
    ]
    page = table(" | ".join(["Kernel", *labels]), *map(" | ".join, rows))
    assert launches_of(page) == {
        name: {CELLS[label][0]: number * CELLS[label][2] for label, number in numbers.items()}
        for name, numbers in launches.items()
    }


@given(st.text(alphabet="#|`*-:_ ()<>[]%/=\n\tkKernel1.5us→", max_size=300))
def test_no_page_breaks_the_outline(page: str) -> None:
    outline = Outline()
    for line in page.split("\n"):
        outline.take(line)
    assert outline.parts[0].level == 0


CELL = st.sampled_from(
    [
        "Metric",
        "Kernel",
        "Value",
        "Unit",
        "Change",
        "a",
        "`f_a`",
        "",
        "—",
        "-",
        "%",
        "us",
        "1 / 2",
        "Duration",
        "L1 / L2 hit",
        "Grid x Block",
        "5 us",
        "DRAM %",
        "5",
        "1,5 %",
        "1.5 %",
        "a | b",
        "(1, 2, 3)",
        "(1, 2) x (3)",
        "0",
        "1e9",
        "9e999 us",
        "---",
        "\\|",
        "**",
        "``",
    ]
)


@given(st.lists(st.lists(CELL, min_size=1, max_size=6), min_size=1, max_size=8))
def test_no_table_breaks_the_reader(rows: list[list[str]]) -> None:
    page = table(*map(" | ".join, rows)) + TWO
    if any("1,5 %" in row for row in rows):  # a decimal comma, which the other table contradicts
        page = page.removesuffix(TWO)
    with suppress(InputError):
        found = [record for record in read(page) if isinstance(record, Launch)]
        assert len(found) >= len(BOTH) or not page.endswith(TWO)
    if page.endswith(TWO):
        assert read(page)


def test_titles_stand_below_a_line_of_groups() -> None:
    titles, ruler, *rows = TWO.splitlines(keepends=True)
    assert launches_of("".join(["| | Old | New | |\n", ruler, titles, *rows])) == BOTH


def bare(page: str) -> str:
    """Return a table without the bars at the ends of its rows."""
    return "".join(f"{line.strip('| ')}\n" for line in page.splitlines())


def test_rows_may_do_without_the_bars_at_their_ends() -> None:
    assert launches_of(bare(TWO)) == BOTH
    groups = f"{' ' * 24}| Old | New\n"
    assert launches_of(groups + bare(TWO)) == BOTH
    assert launches_of(f"{bare(TWO)}\nfast | slow\n{groups}{TWO}") == BOTH


def test_lines_with_bars_that_no_ruler_follows_are_no_table() -> None:
    assert launches_of(f"one | two\nthree | four\nfive | six\n{TWO}") == BOTH
    assert launches_of(f"{TWO}scan | 12.5 us\n----\n") == BOTH


def test_a_message_that_may_be_of_either_launch_is_of_none() -> None:
    text = "Est. Speedup: 25%\n   On average, each thread waits for others."
    page = f"{TWO}    OPT   {text}\n\n{TWO}"
    assert launches_of(page) == BOTH
    assert skipped_of(page) == [
        "messages of which the launch is not certain: a.md:9",
    ]


def test_a_section_completes_the_labels_below_it() -> None:
    page = table(
        "Section | Metric | Value",
        "Speed | Duration | 12.5 us",
        " | DRAM Throughput | 31 %",
        "Occupancy | Theoretical | 75 %",
        " | Achieved | 50 %",
    )
    found = launches_of(f"**Kernel 0: scan_rows (8 x 4)**\n\n{page}")["scan_rows"]
    assert (found[REACHABLE], found[OCCUPANCY]) == (75, 50)


def test_a_column_of_numbers_may_stand_before_the_kernels() -> None:
    page = table(
        "ID | Kernel | Duration (us) | DRAM (%) | L2 hit rate (%)",
        "1 | scan_rows | 12.5 | 31 | 7",
        "2 | scan_warps | 7.25 | 52.5 | 8",
    )
    assert {name: each[DRAM] for name, each in launches_of(page).items()} == {
        "scan_rows": 31,
        "scan_warps": 52.5,
    }


def test_a_word_is_a_name_beside_names_that_begin_with_it() -> None:
    page = table(
        "Metric | unit | blur | blur_tiled | other",
        "Duration | ms | 1.5 | 1.2 | 1.1",
        "DRAM Throughput | % | 80 | 70 | 60",
        "Memory Throughput | % | 80 | 70 | 60",
        "Compute (SM) Throughput | % | 10 | 20 | 30",
    )
    assert [*launches_of(page)] == ["blur", "blur_tiled", "[other]"]


PRINTED = """\
scan_rows(float *) (64, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.6
Section: GPU Speed Of Light Throughput
----------------------- ----------- ------------
Metric Name             Metric Unit Metric Value
----------------------- ----------- ------------
Memory Throughput                 %        41.02
DRAM Throughput                   %        31.04
Duration                         us        12.52
Compute (SM) Throughput           %        11.01
----------------------- ----------- ------------
"""
LARGE = table(
    "Metric | big_rows | big_warps",
    "Duration | 2.5 ms | 3.5 ms",
    "DRAM Throughput | 61 % | 72 %",
    "Compute (SM) Throughput | 21 % | 24 %",
    "Memory Throughput | 61 % | 72 %",
)
SUMMARY = table(
    "Metric | Before",
    "Duration | 12.5 us",
    "DRAM Throughput | 31 %",
    "Compute (SM) Throughput | 11 %",
    "Memory Throughput | 41 %",
)


def test_a_table_beside_printed_launches_tells_of_others_where_its_values_are_others() -> None:
    assert [*launches_of(LARGE + PRINTED)] == ["scan_rows(float *)", "big_rows", "big_warps"]
    assert [*launches_of(SUMMARY + PRINTED)] == ["scan_rows(float *)"]
