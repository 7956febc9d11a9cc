"""Pages as people keep them: moved, cut, in comments, with remarks; written by hand for this."""

from __future__ import annotations

import pytest

from advisor.errors import InputError
from advisor.model import UNNAMED, Launch, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text
from advisor.units import parse_unit

KERNEL = "blur(float *, int) (12, 1, 1)x(96, 1, 1), Context 1, Stream 7, Device 0, CC 8.7\n"
SPEED = """\
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    Memory Throughput                 %        41.25
    Duration                         us        17.50
    L2 Cache Throughput               %         9.75
    ----------------------- ----------- ------------

    OPT   Est. Speedup: 12.5%
          Fewer bytes.
"""
SHAPE = """\
    Section: Launch Statistics
    -------------------- --------------- -----------
    # SMs                             SM          30
    Registers Per Thread register/thread          44
    -------------------- --------------- -----------
"""
ROWS = """\
DRAM Frequency             cycle/nsecond    5.25
Elapsed Cycles             cycle            1,234,567
Memory Throughput          %                41.25
Duration                   usecond          17.50
"""
TOLD = "On average, each warp of this kernel spends 3.0 cycles being stalled."
TIME = "gpu__time_duration.sum"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
L2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
REGISTERS = "launch__registers_per_thread"
SMS = "launch__sm_count"
VALUES = {TIME: 17_500, MEMORY: 41.25, REGISTERS: 44, SMS: 30}

MEASURES = {
    TIME: frozenset({parse_unit("s").measures}),
    MEMORY: frozenset({parse_unit("%").measures}),
    "dram__bytes.sum.per_second": frozenset({parse_unit("byte/s").measures}),
}


def read(page: str) -> list[object]:
    source = Source(name="a.txt", content=page.encode())
    return list(ncu_text.read(source, ReadOptions(measures=MEASURES)))


def launches_of(page: str) -> list[Launch]:
    assert ncu_text.accepts(page.encode())
    return [record for record in read(page) if isinstance(record, Launch)]


def skipped_of(page: str) -> list[str]:
    return [record.reason for record in read(page) if isinstance(record, Skipped)]


def lines_with(before: str, page: str) -> str:
    return "".join(before + line for line in page.splitlines(keepends=True))


def told(launch: Launch) -> dict[str, float]:
    return {name: launch.counters[name] for name in VALUES if name in launch.counters}


@pytest.mark.parametrize(
    "before", ["", "    ", "      ", "\t", "// ", "//", " * ", "# ", "> ", "/* "]
)
def test_knows_the_kernel_by_its_form_wherever_it_stands(before: str) -> None:
    (launch,) = launches_of(before + KERNEL + SPEED + SHAPE)
    assert launch.kernel_name == "blur(float *, int)"
    assert (launch.grid, launch.block, launch.stream) == ((12, 1, 1), (96, 1, 1), 7)
    assert told(launch) == VALUES


@pytest.mark.parametrize("before", ["", "  ", "        ", "\t", "// ", "# ", " * ", "> ", "> > "])
@pytest.mark.parametrize("fewer", [0, 2, 4])
def test_reads_a_page_at_any_indent_and_behind_comment_signs(before: str, fewer: int) -> None:
    page = "".join(
        line[min(fewer, len(line) - len(line.lstrip(" "))) :]
        for line in (SPEED + SHAPE).splitlines(True)
    )
    (launch,) = launches_of(lines_with(before, KERNEL + page))
    assert told(launch) == VALUES
    (finding,) = launch.reference_findings
    assert (finding.text, finding.estimate) == ("Fewer bytes.", 0.125)


@pytest.mark.parametrize(
    "line",
    [
        "blur(float *, int) (12, 1, 1)x(96, 1, 1), CC 8.7\n",
        "blur(float *, int) (12, 1, 1)x(96, 1, 1), Device 0, CC 8.7\n",
        "blur(float *, int) (12, 1, 1)x(96, 1, 1), \n  Context 1, Stream 7, Device 0, CC 8.7\n",
        "blur(float *, int) (12, 1, 1)x(96, 1, 1)\n",
        "blur(float *, int) (12, 1, 1)x(96, 1, 1), 2023-Jan-01 12:00:00, Context 1, Stream 7\n",
    ],
)
def test_reads_a_kernel_line_that_was_cut_or_broken(line: str) -> None:
    (launch,) = launches_of(line + SPEED)
    assert launch.kernel_name == "blur(float *, int)"
    assert (launch.grid, launch.block) == ((12, 1, 1), (96, 1, 1))
    assert launch.counters[TIME] == 17_500


def test_makes_an_unnamed_launch_of_each_run_of_sections_and_says_so() -> None:
    page = "Before:\n" + SPEED + SHAPE + "\nAfter:\n" + SPEED.replace("17.50", "11.00") + SHAPE
    first, second = launches_of(page)
    assert told(first) == VALUES
    assert told(second) == {**VALUES, TIME: 11_000}
    # Nothing tells that they are of one kernel.
    assert (first.kernel_name, second.kernel_name) == ("unnamed kernel", "[unnamed kernel 2]")
    assert skipped_of(page) == [
        "the name of a kernel, which the page does not tell: a.txt:2; a.txt:20"
    ]


def test_ends_a_named_launch_where_its_rows_come_again() -> None:
    first, second = launches_of(KERNEL + SPEED + "\nSlower:\n" + SPEED.replace("17.50", "99.00"))
    assert (first.kernel_name, first.counters[TIME]) == ("blur(float *, int)", 17_500)
    assert (second.kernel_name, second.counters[TIME]) == ("unnamed kernel", 99_000)


def test_reads_tables_of_which_only_the_head_is_left() -> None:
    table = SPEED[SPEED.index("    ---") : SPEED.index("    OPT")]
    counters = table.replace("L2 Cache Throughput      ", "l1tex__t_requests.sum    ")
    counters = "".join(
        line for line in counters.splitlines(True) if "Memory" not in line and "Dur" not in line
    )
    (launch,) = launches_of(f"Results\n\n{table}\n{counters}\n")
    assert launch.counters[MEMORY] == 41.25
    assert launch.counters["l1tex__t_requests.sum"] == 9.75


@pytest.mark.parametrize("before", ["", "// ", "   //   ", "# ", "\t"])
def test_reads_bare_rows_of_known_labels(before: str) -> None:
    page = f"/*\n{lines_with(before, ROWS)}*/\n"
    (launch,) = launches_of(page)
    assert dict(launch.counters) == {
        "dram__cycles_elapsed.avg.per_second": 5.25e9,
        "gpc__cycles_elapsed.max": 1_234_567,
        MEMORY: 41.25,
        TIME: 17_500,
    }


def test_begins_the_next_launch_where_a_bare_label_comes_again() -> None:
    page = ROWS + "\nwith tiles\n" + ROWS.replace("17.50", "11.00")
    assert [launch.counters[TIME] for launch in launches_of(page)] == [17_500, 11_000]


@pytest.mark.parametrize(
    "row",
    ["Registers Per Thread register/thread 44", "Registers Per Thread   44 register/thread"],
)
def test_reads_rows_with_one_blank_and_with_the_unit_behind(row: str) -> None:
    (launch,) = launches_of(f"{ROWS}{row}\n")
    assert launch.counters[REGISTERS] == 44


PRINTED_COLUMNS = """\
| Metric Name | Metric Unit | Metric Value |
| --- | --- | --- |
| Elapsed Cycles | cycle | 1,234,567 |
| **Memory Throughput** | % | **41.25** |
| `DRAM Throughput` | % | 40.5 |
| Duration | usecond | 17.50 |
"""
UNIT_BEHIND = """\
| Metric | Value | remark |
|---|---:|---|
| Elapsed Cycles | 1,234,567 cycle | |
| Memory Throughput | **41.25%** (of its peak) | far from full |
| DRAM Throughput | 40.5 % | |
| Duration | 17.50 us | |
"""


LISTED = """\
- **Elapsed Cycles**: 1,234,567 cycle
- Memory Throughput: 41.25%
- DRAM Throughput: 40.5 % (far from full)
- Duration: 17.50 us
"""


@pytest.mark.parametrize("table", [PRINTED_COLUMNS, UNIT_BEHIND, LISTED, LISTED.replace("- ", "")])
@pytest.mark.parametrize("before", ["", "  ", "> ", "// "])
def test_reads_tables_in_markdown_and_lists(before: str, table: str) -> None:
    (launch,) = launches_of(lines_with(before, table))
    assert dict(launch.counters) == {
        "gpc__cycles_elapsed.max": 1_234_567,
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 41.25,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 40.5,
        "gpu__time_duration.sum": 17_500,
    }


@pytest.mark.parametrize("other", ["9.25 us", "9.25 us, twice as fast", "9.25 us (tuned)"])
def test_reads_no_row_with_two_values_where_no_titles_tell_them_apart(other: str) -> None:
    compared = UNIT_BEHIND.replace("17.50 us | |", f"17.50 us | {other} |")
    rows = "".join(compared.splitlines(keepends=True)[2:])
    (launch,) = launches_of(f"{rows}| L2 Cache Throughput | 9.75% |\n")
    assert "gpu__time_duration.sum" not in launch.counters


def test_takes_a_number_without_a_unit_for_a_count() -> None:
    more = "| L2 Cache Throughput | 9.75% |\n| Grid Size | 96 |\n"
    page = UNIT_BEHIND.replace("17.50 us", "17.50") + more
    (launch,) = launches_of(page)
    assert launch.counters["launch__grid_size"] == 96
    assert "gpu__time_duration.sum" not in launch.counters
    assert skipped_of(page)[0].startswith("values in units of something else")


def test_reads_tables_in_markdown_only_where_nothing_was_printed() -> None:
    more = "| Registers Per Thread | 44 |\nDuration: 3 s\n"
    (launch,) = launches_of(KERNEL + SPEED + more)
    assert launch.counters[TIME] == 17_500
    assert "launch__registers_per_thread" not in launch.counters


def test_reads_a_message_that_is_all_of_the_page() -> None:
    (launch,) = launches_of(
        "What it says:\n\n"
        "> On average, each warp of this kernel spends 30.5 cycles being stalled waiting for the"
        " local/global instruction queue to be not full.\n"
    )
    stall = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"
    assert launch.counters == {stall: 30.5}


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        ("Est. Speedup", "global"),
        ("Est. Local Speedup", "local"),
        ("Estimated Speedup", "global"),
        ("Estimated Local Speedup", "local"),
    ],
)
def test_reads_what_a_message_is_worth(words: str, scope: str) -> None:
    (launch,) = launches_of(f"  OPT   {words}: 12.5%\n        {TOLD}\n")
    (found,) = launch.reference_findings
    assert (found.estimate, found.scope, found.text) == (0.125, scope, TOLD)


@pytest.mark.parametrize("worth", ["2.5e-05", "2.5E-5", "0.000025"])
def test_reads_what_a_message_is_worth_in_any_form(worth: str) -> None:
    (launch,) = launches_of(f"  OPT   Est. Speedup: {worth}%\n        {TOLD}\n")
    (found,) = launch.reference_findings
    assert (found.estimate, found.text) == (pytest.approx(2.5e-7), TOLD)


@pytest.mark.parametrize("indent", [1, 4, 10])
def test_reads_the_text_below_what_a_message_is_worth_at_any_indent(indent: int) -> None:
    words = TOLD.split(" of ")
    lines = [f"{' ' * indent}{words[0]}", f"{' ' * indent}of {words[1]}"]
    (launch,) = launches_of("\n".join(["OPT   Est. Speedup: 12.5%", *lines, ""]))
    assert [found.text for found in launch.reference_findings] == [TOLD]


def test_says_where_too_few_rows_were_left_out() -> None:
    page = ROWS + "\nagain\nDuration    usecond    11.00\n"
    assert len(launches_of(page)) == 1
    assert skipped_of(page)[-1] == "rows that do not fit their table: a.txt:7"


def test_tells_labels_of_two_sections_apart_by_their_units() -> None:
    (launch,) = launches_of(ROWS + "Memory Throughput    Gbyte/second    100.5\n")
    assert launch.counters[MEMORY] == 41.25
    assert launch.counters["dram__bytes.sum.per_second"] == 100.5e9


def test_takes_a_label_that_its_section_lacks_where_it_can_be_of_one_counter_only() -> None:
    stalls = """\
    Section: Warp State Statistics
    -------------------- --------------- -----------
    Stall Barrier                   inst        3.25
    Cycles                          inst        7.25
    Stall Wait                      inst        1.50
    Duration                       cycle        9.50
    -------------------- --------------- -----------
"""
    (launch,) = launches_of(KERNEL + SPEED + stalls)
    stall = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    assert launch.counters[stall.format("barrier")] == 3.25
    assert launch.counters[stall.format("wait")] == 1.5
    assert launch.counters[TIME] == 17_500
    assert 7.25 not in launch.counters.values()


def test_rows_behind_a_launch_that_tell_other_numbers_are_of_another() -> None:
    rows = """\
Memory Throughput          %                50.00
Duration                   usecond          9.25
L2 Cache Throughput        %                20.00
DRAM Throughput            %                31.00
Elapsed Cycles             cycle            1,234,567
"""
    page = f"```\n{KERNEL}{SPEED}{SHAPE}```\n\nThe next version:\n\n```\n{rows}```\n"
    first, second = launches_of(page)
    assert told(first) == VALUES
    assert second.kernel_name == UNNAMED
    assert told(second) == {TIME: 9_250, MEMORY: 50}


def test_rows_behind_a_launch_that_tell_the_same_are_of_it() -> None:
    (launch,) = launches_of(f"```\n{KERNEL}{SPEED}{SHAPE}```\n\nIn short:\n\n{ROWS}")
    assert told(launch) == VALUES
    assert 1_234_567 in launch.counters.values()


NO_PAGES = {
    "two rows": "".join(ROWS.splitlines(keepends=True)[:2]),
    "three rows of any program": "Memory: 41 %\nCompute: 17 %\nDuration: 3 s\n",
    "no units": "Duration    17.5\nThreads    96\nGrid Size    12\nBlock Size    8\n" * 2,
    "prose": "Duration in us is 17.50\nElapsed Cycles: cycle 5\nMemory Throughput was at 41 %\n",
    "values first": "17.50    us    Duration\n5    cycle    Elapsed Cycles\n" * 4,
    "other units": "Duration    parsec    1.5\nElapsed Cycles    foo    2\n" * 4,
    "counts in a list": "Threads: 96\nGrid Size: 12\nBlock Size: 8\n" * 2,
    "marks before a table's line": "`|` a\n** | **Duration** | us | 1.5 |\n`|a|b|c|`\n",
    "a context": "The blur kernel, Context 1, Stream 7\n",
    "a section": "Section: Occupancy\n\nOccupancy tells how many warps are resident.\n",
    "counts in Markdown": "| Threads | 96 |\n| Grid Size | 12 |\n| Block Size | 8 |\n" * 2,
    "code": 'printf("Metric Name   Metric Unit   Metric Value\\n");\n',
    "another table": "---- ---- ----\nmy_kernel   us   1.5\nDuration   us   1.5\n---- ---- ----\n",
}


@pytest.mark.parametrize("name", NO_PAGES)
def test_takes_no_other_text_for_a_page(name: str) -> None:
    assert not ncu_text.accepts(NO_PAGES[name].encode())
    with pytest.raises(InputError, match="no result of the profiler"):
        read(NO_PAGES[name])


def test_cuts_remarks_behind_rows_and_leaves_lines_between_them() -> None:
    page = KERNEL + (SPEED + SHAPE).replace("17.50\n", "17.50   # slow\n").replace(
        "9.75\n", "9.75 // of all\n    ...\n"
    ).replace("30\n", "30   <-- all of them\n").replace("44\n", "44  ← many\n").replace(
        "    Duration", "    // how long one launch takes, all in all\n    Duration"
    )  # fmt: skip
    (launch,) = launches_of(page)
    assert told(launch) == VALUES
    assert launch.counters["lts__throughput.avg.pct_of_peak_sustained_elapsed"] == 9.75
    assert skipped_of(page) == []


def test_reads_a_row_that_was_moved_out_of_its_columns() -> None:
    (launch,) = launches_of(KERNEL + SPEED.replace("Duration     ", "Duration"))
    assert launch.counters[TIME] == 17_500


def test_reads_a_row_of_which_the_value_was_moved_below_the_unit() -> None:
    moved = "Duration  us            17.50"  # in the columns of the label and of the unit
    page = SPEED.replace("Duration                         us        17.50", moved)
    (launch,) = launches_of(KERNEL + page)
    assert (launch.counters[TIME], launch.counters[MEMORY]) == (17_500, 41.25)


def test_says_which_rows_it_did_not_understand() -> None:
    page = KERNEL + SPEED.replace("17.50", "17.50 9") + SHAPE + "\n    Waves Per SM     some\n"
    assert skipped_of(page) == ["rows that do not fit their table: a.txt:19; a.txt:7"]


def test_reads_tables_that_have_a_name() -> None:
    page = KERNEL + """\

      Table Name : GPU Throughput
      ---------------- ----------- ------------
      Metric Name      Metric Unit Metric Value
      ---------------- ----------- ------------
      Memory [%]                 %        41.25
      ---------------- ----------- ------------

      Table Name : Warp State (All Cycles)
      ------------------------ ----------- ------------
      Metric Name              Metric Unit Metric Value
      ------------------------ ----------- ------------
      Stall Wait                      inst         2.25
      ------------------------ ----------- ------------
"""  # fmt: skip
    (launch,) = launches_of(page)
    assert launch.counters[MEMORY] == 41.25
    stall = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"
    assert launch.counters[stall] == 2.25


def test_does_not_count_an_untitled_table_to_the_section_before_it() -> None:
    table = SHAPE[SHAPE.index("    ---") :]
    page = KERNEL + SPEED + "\n" + table
    (launch,) = launches_of(page)
    assert told(launch) == VALUES
    assert skipped_of(page) == []


def test_leaves_a_table_of_the_programs_own_alone() -> None:
    table = "\n------- ------- -------\nmy_time      ms    fast\n------- ------- -------\n"
    (launch,) = launches_of(KERNEL + SPEED + table)
    assert "my_time" not in launch.counters
    assert skipped_of(KERNEL + SPEED + table) == []


@pytest.mark.parametrize("mark", [",", "."])
def test_what_people_write_does_not_decide_the_decimal_mark_of_tables(mark: str) -> None:
    prose = f"Theoretical Occupancy: 41{',' if mark == '.' else '.'}67 %\n\n"
    table = SPEED.replace(".", mark)
    for page in (prose + KERNEL + table, KERNEL + table + prose):
        launch = launches_of(page)[-1]
        assert (launch.counters[TIME], launch.counters[MEMORY]) == (17_500, 41.25)


def test_leaves_out_what_people_write_with_two_decimal_marks() -> None:
    rows = ["Duration: 17,50 us", "Memory Throughput: 41,25 %", "L2 Cache Throughput: 9,75 %"]
    page = "".join(f"- {row}\n" for row in (*rows, "Theoretical Occupancy: 12.5 %"))
    (launch,) = launches_of(page)
    assert launch.counters == {TIME: 17_500, MEMORY: 41.25, L2: 9.75}
    assert "rows that do not fit their table: a.txt:4" in skipped_of(page)


def test_reads_what_people_write_with_the_decimal_mark_of_the_tables() -> None:
    table = SPEED[SPEED.index("    ---") : SPEED.index("    OPT")].replace(".", ",")
    (launch,) = launches_of(f"{table}\n- Registers Per Thread: 1.024\n")
    assert launch.counters[REGISTERS] == 1024


@pytest.mark.parametrize("chart", ["", " (Overview)"])
def test_reads_what_sections_of_rooflines_print(chart: str) -> None:
    page = f"""\
    Section: GPU Speed Of Light Roofline Chart{chart}
    ----------------------------------------------------------- ----------- ------------
    Metric Name                                                 Metric Unit Metric Value
    ----------------------------------------------------------- ----------- ------------
    Theoretical Predicated-On FFMA Thread Instructions Executed  inst/cycle        2,560
    Theoretical Predicated-On DFMA Operations                        thread          160
    Predicated-On FADD Thread Instructions Executed Per Cycle    inst/cycle        12.25
    Predicated-On FFMA Operations Per Cycle                          thread        80.50
    ----------------------------------------------------------- ----------- ------------

    Traffic
    -------------- ----------- ------------
    Metric Name    Metric Unit Metric Value
    -------------- ----------- ------------
    DRAM Bandwidth     Gbyte/s        81.25
    -------------- ----------- ------------
"""
    (launch,) = launches_of(KERNEL + page)
    sass = "sass_thread_inst_executed_op"
    printed = {name: launch.counters[name] for name in launch.counters if "device__" not in name}
    assert printed == {
        f"sm__{sass}_ffma_pred_on.sum.peak_sustained": 2560,
        f"derived__sm__{sass}_dfma_pred_on_x2": 160,
        f"smsp__{sass}_fadd_pred_on.sum.per_cycle_elapsed": 12.25,
        f"derived__smsp__{sass}_ffma_pred_on_x2": 80.5,
        "dram__bytes.sum.per_second": 81.25e9,
    }


def test_reads_waves_that_stand_beside_the_speed_of_light() -> None:
    row = "    Waves Per SM                                 2.75\n"
    (launch,) = launches_of(KERNEL + SPEED.replace("    L2", row + "    L2"))
    assert launch.counters["launch__waves_per_multiprocessor"] == 2.75


def test_reads_how_much_of_the_cache_is_set_aside() -> None:
    page = SPEED.replace("GPU Speed Of Light Throughput", "Memory Workload Analysis")
    row = "    L2 Persisting Size            Mbyte         7.50\n"
    (launch,) = launches_of(KERNEL + page.replace("    Duration  ", row + "    Duration  "))
    assert launch.counters["launch__persisting_l2_cache_size"] == 7.5e6


def test_leaves_what_people_write_above_a_launch_to_the_launch() -> None:
    rows = ["Duration: 17.50 us", "Memory Throughput: 41 %", "L2 Cache Throughput: 9 %"]
    written = "".join(f"- {row}\n" for row in (*rows, "Achieved Occupancy: 50 %"))
    assert len(launches_of(written)) == 1
    (launch,) = launches_of(written + "\n" + KERNEL + SPEED)
    assert launch.kernel_name == "blur(float *, int)"
    assert skipped_of(written + "\n" + KERNEL + SPEED) == [
        "rows that do not fit their table: a.txt:1"
    ]
    named = f"## `sharpen_rows`\n{written}\n{KERNEL}{SPEED}"
    assert [launch.kernel_name for launch in launches_of(named)] == [
        "sharpen_rows",
        "blur(float *, int)",
    ]


def test_few_lines_that_a_program_writes_are_no_part_of_the_profile() -> None:
    written = "Static Shared Memory: 6 400 bytes\nMemory throughput: 41.5 GB/s\n"
    assert skipped_of(f"{written}\n{KERNEL}{SPEED}") == []
    (reason,) = skipped_of(f"{written}\n{SPEED}")
    assert "the name of a kernel" in reason


def test_what_people_write_above_a_launch_may_be_what_it_tells() -> None:
    rows = ["Duration: {} us", "L2 Cache Throughput: 9.75 %", "Theoretical Occupancy: 50 %"]
    written = "".join(f"{row}\n" for row in (*rows, "Registers Per Thread: 40"))
    assert len(launches_of(written.format("17.5"))) == 1
    assert skipped_of(f"{written.format('17.5')}\n{KERNEL}{SPEED}") == []
    assert skipped_of(f"{written.format('27.5')}\n{KERNEL}{SPEED}") == [
        "rows that do not fit their table: a.txt:1"
    ]
