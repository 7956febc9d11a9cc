"""Pages printed to a terminal; the samples are written by hand in the form of 2022.3 and 2025.1."""

from __future__ import annotations

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Session, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text
from advisor.readers.ncu.values import whole_size
from advisor.units import parse_unit

NEW = """\
==PROF== Connected to process 12 (/opt/app)
==PROF== Profiling "saxpy" - 0: 0%....50%....100% - 8 passes
my program prints this
[12] app@127.0.0.1
  saxpy(float *, float *) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    DRAM Frequency                  Ghz         6.23
    Memory Throughput                 %        63.69
    Duration                         us        63.33
    ----------------------- ----------- ------------

    OPT   Est. Local Speedup: 91.12%
          All pipes are idle. Look at the launch
          statistics.

    Section: Launch Statistics
    -------------------------------- --------------- ---------------
    Grid Size                                                  1,024
    Function Cache Configuration                     CachePreferNone
    Static Shared Memory Per Block       Kbyte/block            1.02
    -------------------------------- --------------- ---------------
  saxpy(float *, float *) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
    Section: Occupancy
    --------------------- ----- -----
    Theoretical Occupancy     %   100
    --------------------- ----- -----
"""
OLD = """\
[863091] main@127.0.0.1
  nodes(unsigned int *, double *), 2022-Oct-06 17:54:34, Context 1, Stream 27
    Section: GPU Speed Of Light Throughput
    ------------------ --------------- ----------------
    Memory [%]                       %            41.86
    Duration                   msecond           707.33
    ------------------ --------------- ----------------
    WRN   This kernel is slow.
"""


def read(text: str) -> list[object]:
    source = Source(name="a.txt", content=text.encode())
    return list(ncu_text.read(source, ReadOptions()))


def test_reads_values_of_the_newer_form_in_base_units() -> None:
    launch = read(NEW)[0]
    assert isinstance(launch, Launch)
    assert launch.kernel_name == "saxpy(float *, float *)"
    assert (launch.grid, launch.block, launch.process) == ((64, 1, 1), (256, 1, 1), 12)
    assert launch.counters["dram__cycles_elapsed.avg.per_second"] == pytest.approx(6.23e9)
    assert launch.counters["gpu__time_duration.sum"] == pytest.approx(63_330)
    assert launch.counters["launch__grid_size"] == 1024
    assert launch.counters["launch__shared_mem_per_block_static"] == 1024  # 1.02 Kbyte
    assert launch.texts["launch__func_cache_config"] == "CachePreferNone"


def test_leaves_out_a_value_in_a_unit_of_something_else() -> None:
    page = OLD.replace("msecond", "   byte")
    time = frozenset({parse_unit("s").measures})
    options = ReadOptions(measures={"gpu__time_duration.sum": time})
    launch, skipped, _ = ncu_text.read(Source(name="a.txt", content=page.encode()), options)
    assert isinstance(launch, Launch)
    assert isinstance(skipped, Skipped)
    assert "gpu__time_duration.sum" not in launch.counters
    assert skipped.reason.endswith("something else: gpu__time_duration.sum in byte")


def test_takes_each_kernel_line_as_a_launch() -> None:
    launches = [record for record in read(NEW) if isinstance(record, Launch)]
    assert [launch.index for launch in launches] == [0, 1]
    assert launches[1].counters["sm__maximum_warps_per_active_cycle_pct"] == 100


def test_joins_the_lines_of_a_message_and_reads_its_estimate() -> None:
    launch = read(NEW)[0]
    assert isinstance(launch, Launch)
    (finding,) = launch.reference_findings
    assert finding.text == "All pipes are idle. Look at the launch statistics."
    assert (finding.severity, finding.scope) == ("optimization", "local")
    assert finding.estimate == pytest.approx(0.9112)


def test_reads_the_older_form() -> None:
    launch = read(OLD)[0]
    assert isinstance(launch, Launch)
    assert launch.kernel_name == "nodes(unsigned int *, double *)"
    assert launch.counters["gpu__time_duration.sum"] == pytest.approx(707.33e6)
    assert launch.stream == 27
    assert launch.grid is None
    assert launch.reference_findings[0].severity == "warning"


def test_reads_a_table_whose_lines_end_as_on_windows() -> None:
    launches = [record for record in read(NEW.replace("\n", "\r\n")) if isinstance(record, Launch)]
    assert len(launches) == 2


def test_ends_with_what_is_known_of_the_session() -> None:
    session = read(NEW)[-1]
    assert isinstance(session, Session)
    assert session.program == "/opt/app"


@pytest.mark.parametrize(
    ("page", "program"),
    [
        ("==PROF== Connected to process 7 (/bin/sh)\n" + NEW, "/opt/app"),
        (NEW + "[9] app@127.0.0.1\n", "/opt/app"),
        (NEW + "[9] other@127.0.0.1\n", None),
    ],
)
def test_names_a_program_where_it_ran_all_launches(page: str, program: str | None) -> None:
    session = read(page)[-1]
    assert isinstance(session, Session)
    assert session.program == program


def test_refuses_a_log_without_results() -> None:
    with pytest.raises(InputError, match="no result of the profiler"):
        read("==PROF== Connected to process 1 (/a)\n==PROF== Disconnected from process 1\n")


def launches_of(text: str) -> list[Launch]:
    return [record for record in read(text) if isinstance(record, Launch)]


def skipped_of(text: str) -> list[str]:
    return [record.reason for record in read(text) if isinstance(record, Skipped)]


PREFIXES = [
    "2026-01-02T03:04:05.1234567Z ", "2026-01-02 03:04:05 ", "[2026-01-02T03:04:05.123Z] ",
    "[2026/01/02 03:04:05] ", "Jan  2 03:04:05 ", "03:04:05 ", "[03:04:05] ",
    "0: ", "[1,0]<stdout>:", "\x1b[36m[03:04:05]\x1b[0m ", "\x1b]0;job 7\x07\x1b[0m",
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_reads_a_log_whose_lines_carry_time_or_rank(prefix: str) -> None:
    text = "".join(prefix + line for line in NEW.splitlines(keepends=True))
    assert ncu_text.accepts(text.encode())
    assert launches_of(text) == launches_of(NEW)


def test_reads_the_lines_of_each_rank_as_a_page_of_its_own() -> None:
    one = [f"0: {line}" for line in NEW.splitlines(keepends=True)]
    other = [f"1: {line}" for line in NEW.replace("63.69", "12.34").splitlines(keepends=True)]
    mixed = "".join(line for pair in zip(one, other, strict=True) for line in pair)
    launches = launches_of(mixed)
    assert [launch.index for launch in launches] == [0, 1, 2, 3]
    counter = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
    told = [launch.counters[counter] for launch in launches if counter in launch.counters]
    assert told == [63.69, 12.34]


def test_knows_that_clocks_were_not_locked_where_the_page_warns() -> None:
    warning = "    Warning: Data collection happened without fixed GPU frequencies.\n"
    text = OLD.replace("    Section", warning + "    Section")
    assert [launch.clock_locked for launch in launches_of(text)] == [False]
    assert [launch.clock_locked for launch in launches_of(OLD)] == [None]


def test_reads_a_message_without_a_type() -> None:
    text = OLD.replace("    WRN   This kernel is slow.", "          FP64 is\n          busy.")
    (finding,) = launches_of(text)[0].reference_findings
    assert (finding.severity, finding.text) == ("none", "FP64 is busy.")


def test_ends_a_message_at_a_blank_line_and_at_a_ruler() -> None:
    text = OLD + "    ----- ----\n    INF   Second.\n\n          no message\n"
    said = [(one.severity, one.text) for one in launches_of(text)[0].reference_findings]
    assert said == [("warning", "This kernel is slow."), ("ok", "Second.")]


def test_leaves_out_a_row_that_does_not_fit_its_table() -> None:
    text = OLD.replace("707.33", "707.33 9")
    assert "gpu__time_duration.sum" not in launches_of(text)[0].counters
    assert skipped_of(text) == ["rows that do not fit their table: a.txt:6"]


def until(line: int, characters: int | None = None) -> str:
    """Return the new page until a line, and that whole, or its first characters."""
    lines = NEW.splitlines(keepends=True)
    return "".join(lines[: line - 1]) + lines[line - 1][:characters]


@pytest.mark.parametrize(
    ("line", "characters"),
    [
        (7, 10),
        (7, 30),
        (8, 20),
        (9, 10),
        (9, None),
        (11, None),
        (12, 30),
        (12, 50),
        (13, 10),
        (20, 8),
    ],
)
def test_refuses_a_page_that_ends_inside_of_a_table(line: int, characters: int | None) -> None:
    with pytest.raises(InputError, match=rf"a\.txt:{line}: the table is cut off") as caught:
        read(until(line, characters))
    assert "--allow-truncated" in str(caught.value.hint)


def test_keeps_the_rows_before_the_cut_of_a_table_where_asked() -> None:
    source = Source(name="a.txt", content=until(28).encode())
    found = [*ncu_text.read(source, ReadOptions(allow_truncated=True))]
    assert [each.index for each in found if isinstance(each, Launch)] == [0, 1]
    (cut,) = (each for each in found if isinstance(each, Skipped))
    reason = "the table is cut off; the rows before that are kept"
    assert cut == Skipped(place="a.txt:28", reason=reason, cut=True)


@pytest.mark.parametrize(
    ("line", "characters"),
    [
        (13, None),
        (13, len("    ----------------------- ----------- ------------")),
        (17, 12),
        (19, None),
    ],
)
def test_takes_a_page_that_ends_between_tables(line: int, characters: int | None) -> None:
    (launch,) = launches_of(until(line, characters))
    assert launch.counters["gpu__time_duration.sum"] == 63_330


def test_takes_a_page_that_goes_on_behind_a_table_without_its_end() -> None:
    for after in ("\n", "Killed\n"):
        (launch,) = launches_of(until(12) + after)
        assert launch.counters["gpu__time_duration.sum"] == 63_330


def test_reads_counters_that_were_asked_for_by_name() -> None:
    text = """\
  f(int), Context 1, Stream 7
    Section: Command line profiler metrics
    -------------------- ------ ---------
    dram__sectors.sum    sector 4,375,932
    lts__t.avg.pct_of_peak    %        80
    a__novel.sum         parsec      1.50
    -------------------- ------ ---------
"""
    sectors, shortened = "dram__sectors.sum", "lts__t.avg.pct_of_peak_sustained_elapsed"
    assert dict(launches_of(text)[0].counters) == {sectors: 4_375_932, shortened: 80}
    assert skipped_of(text) == ["values in units that are not known: parsec"]


def test_reads_a_kernel_whose_name_has_everything_in_it() -> None:
    name = 'f<"a, Context 1, Stream 2", (3, 4, 5)x(6, 7, 8)>[x](int, ' + "long, " * 700 + "int)"
    launch = launches_of(NEW.replace("saxpy(float *, float *)", name))[0]
    assert launch.kernel_name == name
    assert (launch.grid, launch.stream) == ((64, 1, 1), 7)


def test_reads_a_shape_without_blanks() -> None:
    launch = launches_of(NEW.replace("(64, 1, 1)x(256, 1, 1)", "(64,1,1)x(256,1,1)"))[0]
    assert (launch.kernel_name, launch.grid, launch.block) == (
        "saxpy(float *, float *)",
        (64, 1, 1),
        (256, 1, 1),
    )


SUMMARY = """\
  once(int) (64, 1, 1)x(256, 1, 1), Device 0, CC 8.9, Invocations 1
    Section: Occupancy
    --------------------- ----------- ------- ------- -------
    Metric Name           Metric Unit Minimum Maximum Average
    --------------------- ----------- ------- ------- -------
    Achieved Occupancy              %   31.81   31.81   31.81
    Theoretical Occupancy           %     100     100     100
    --------------------- ----------- ------- ------- -------

  often(int) (1, 1, 1)x(256, 1, 1), Device 0, CC 8.9, Invocations 14
    Section: Occupancy
    --------------------- ----------- ------- ------- -------
    Metric Name           Metric Unit Minimum Maximum Average
    --------------------- ----------- ------- ------- -------
    Achieved Occupancy              %    7.81   35.49   22.02
    --------------------- ----------- ------- ------- -------
"""


ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"


def test_reads_the_launches_of_a_summary() -> None:
    once, *often = launches_of(SUMMARY)
    assert (once.kernel_name, once.grid, once.device) == ("once(int)", (64, 1, 1), 0)
    assert once.counters[ACHIEVED] == 31.81
    assert once.counters["sm__maximum_warps_per_active_cycle_pct"] == 100
    assert [launch.index for launch in often] == list(range(1, 15))
    assert {launch.kernel_name for launch in often} == {"often(int)"}
    achieved = [launch.counters[ACHIEVED] for launch in often]
    assert (min(achieved), max(achieved)) == (7.81, 35.49)
    assert sum(achieved) / 14 == pytest.approx(22.02)
    assert achieved[2:] == [pytest.approx((14 * 22.02 - 7.81 - 35.49) / 12)] * 12
    assert skipped_of(SUMMARY) == [
        "which launch had which value (a summary tells the least, the mean and the greatest): "
        "often(int)"
    ]


def test_what_is_the_same_in_all_launches_of_a_summary_stays_so() -> None:
    text = SUMMARY.replace(" 7.81   35.49   22.02", "32.87   32.87   32.87")
    text = text.replace(
        "Invocations 14", "Invocations 3"
    )  # (3 * 32.87 - 2 * 32.87) / 1 is 32.8699…
    assert {launch.counters[ACHIEVED] for launch in launches_of(text)[1:]} == {32.87}


def test_extremes_that_are_no_numbers_are_the_mean() -> None:
    text = SUMMARY.replace(" 7.81   35.49   22.02", "  nan     n/a   22.02")
    assert {launch.counters[ACHIEVED] for launch in launches_of(text)[1:]} == {22.02}


def test_no_launches_are_no_launch() -> None:
    _, often = SUMMARY.replace("Invocations 14", "Invocations 0").split("\n\n")
    with pytest.raises(InputError, match="only means"):
        read(f"==PROF== Connected to process 1 (/a)\n{often}")


def test_reads_two_launches_of_a_summary_and_one_behind_them() -> None:
    once, often = SUMMARY.replace("22.02", "21.65").split("\n\n")
    text = f"{often.replace('Invocations 14', 'Invocations 2')}\n{once}\n"
    assert [launch.counters[ACHIEVED] for launch in launches_of(text)] == [7.81, 35.49, 31.81]


def test_refuses_a_summary_of_more_launches_than_it_can_hold() -> None:
    _, often = SUMMARY.replace("Invocations 14", "Invocations 100000").split("\n\n")
    with pytest.raises(InputError, match="only means over 100,000 launches and more") as caught:
        read(f"==PROF== Connected to process 1 (/a)\n{often}")
    assert "--print-summary" in str(caught.value.hint)
    once, _ = SUMMARY.split("\n\n")
    assert [launch.kernel_name for launch in launches_of(f"{often}\n{once}\n")] == ["once(int)"]


def test_reads_a_summary_as_it_was_printed_in_2020() -> None:
    kernel = "  add, Block Size 256, Grid Size 64, 3 invocations \n"
    table = SUMMARY.split("\n", 1)[1].split("\n\n", maxsplit=1)[0]
    clocks = table.replace("Occupancy\n", "GPU Speed Of Light\n", 1).replace(
        "Achieved Occupancy              %   31.81   31.81   31.81",
        "Duration                  usecond       2       6       5",
    )
    least, greatest, other = launches_of(f"{kernel}{table}\n\n{kernel}{clocks}\n")
    assert (least.blocks, least.threads, least.kernel_name) == (64, 256, "add")
    durations = [each.counters["gpu__time_duration.sum"] for each in (least, greatest, other)]
    assert durations == [2_000, 6_000, 7_000]
    assert least.counters[ACHIEVED] == 31.81


def test_says_what_the_profiler_says() -> None:
    with pytest.raises(InputError, match="the profiler says: No kernels were profiled"):
        read("==PROF== Connected to process 1 (/a)\n==ERROR== No kernels were profiled.\n")


@pytest.mark.parametrize(
    ("cell", "size"),
    [
        ("1.02", 1024),
        ("4.61", 4608),  # 4,605 to 4,615: nine times 512
        ("8.19", 8192),
        ("33.28", 33280),
        ("0.00", 0),
        ("0.02", 16),
        ("102.40", 102400),
    ],
)
def test_a_rounded_size_is_the_roundest_number_of_bytes(cell: str, size: int) -> None:
    assert whole_size(cell, 1000.0) == size


def test_an_exact_size_stays() -> None:
    assert whole_size("4.61", 1.0) == 4.61
