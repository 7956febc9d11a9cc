"""The raw and the details page of ``ncu --csv``; the samples are written by hand."""

from __future__ import annotations

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Session, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import csv as ncu_csv
from advisor.readers.ncu.values import is_counter, load_labels
from advisor.units import parse_unit

FIXED = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream"'
)
RAW = (
    "==PROF== Connected to process 77 (/home/me/app)\n"
    "the program says hello\n"
    f'{FIXED},"dram__bytes_read.sum","gpu__time_duration.sum","launch__func_cache_config",'
    '"sm__throughput.avg.pct_of_peak_sustained_elapsed"\n'
    '"","","","","","","","","Mbyte","usecond","","%"\n'
    '"0","77","app","127.0.0.1","copy(float *, int)","2026-Jan-02 03:04:05","1","7","1.500000",'
    '"12.000000","CachePreferNone","41.250000"\n'
    '"1","77","app","127.0.0.1","copy(float *, int)","2026-Jan-02 03:04:05","1","7","",'
    '"1,234.500000","CachePreferNone","nan"\n'
)
DETAILS_HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value",'
    '"Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"\n'
)
LAUNCH = (
    '"0","77","app","127.0.0.1","copy(float *, int)","1","7","(256, 1, 1)","(64, 2, 1)","0","8.6",'
)
DETAILS = (
    DETAILS_HEADER
    + LAUNCH
    + '"GPU Speed Of Light Throughput","Memory Throughput","%","61.84",\n'
    + LAUNCH
    + '"Memory Workload Analysis","Memory Throughput","Gbyte/second","196.46",\n'
    + LAUNCH
    + '"SchedulerStats","","","","IssueSlotUtilization","OPT","Issue ""soon"".","local","38.2"\n'
)


def read(text: str | bytes, *, allow_truncated: bool = False) -> list[Launch | Session | Skipped]:
    return read_with(ReadOptions(allow_truncated=allow_truncated), text)


def read_with(options: ReadOptions, text: str | bytes) -> list[Launch | Session | Skipped]:
    content = text.encode() if isinstance(text, str) else text
    return list(ncu_csv.read(Source(name="a.csv", content=content), options))


def test_scales_the_raw_page_to_base_units() -> None:
    first = read(RAW)[0]
    assert isinstance(first, Launch)
    # 1.5 Mbyte are 1.5e6 bytes; 12 usecond are 12,000 ns; percent stay percent.
    assert first.counters["dram__bytes_read.sum"] == 1.5e6
    assert first.counters["gpu__time_duration.sum"] == 12_000
    assert first.counters["sm__throughput.avg.pct_of_peak_sustained_elapsed"] == 41.25
    assert first.texts["launch__func_cache_config"] == "CachePreferNone"


def test_leaves_out_empty_cells_and_counts_what_is_no_number() -> None:
    second = read(RAW)[1]
    assert isinstance(second, Launch)
    assert dict(second.counters) == {"gpu__time_duration.sum": 1_234_500.0}
    assert second.invalid_counters == 1


def test_names_the_program_and_no_host_that_every_machine_has() -> None:
    session = read(RAW)[-1]
    assert isinstance(session, Session)
    assert (session.program, session.host) == ("/home/me/app", None)


def test_tells_two_labels_of_one_name_apart_by_their_section() -> None:
    launch = read(DETAILS)[0]
    assert isinstance(launch, Launch)
    assert dict(launch.counters) == {
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 61.84,
        "dram__bytes.sum.per_second": pytest.approx(196.46e9),
        "device__attribute_compute_capability_major": 8.0,
        "device__attribute_compute_capability_minor": 6.0,
    }
    assert (launch.block, launch.grid, launch.device) == ((256, 1, 1), (64, 2, 1), 0)


def test_keeps_rule_rows_as_reference_findings() -> None:
    launch = read(DETAILS)[0]
    assert isinstance(launch, Launch)
    (finding,) = launch.reference_findings
    assert (finding.rule, finding.severity, finding.scope) == (
        "IssueSlotUtilization",
        "optimization",
        "local",
    )
    assert finding.text == 'Issue "soon".'
    assert finding.estimate == pytest.approx(0.382)


def test_names_labels_it_does_not_know() -> None:
    text = DETAILS_HEADER + LAUNCH + '"Occupancy","Novel Thing","%","1.00",\n'
    skipped = [record for record in read(text) if isinstance(record, Skipped)]
    assert len(skipped) == 1
    assert "Occupancy: Novel Thing" in skipped[0].reason


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_reads_what_a_windows_console_writes(encoding: str) -> None:
    records = read(RAW.replace("\n", "\r\n").encode(encoding))
    assert [record.index for record in records if isinstance(record, Launch)] == [0, 1]


def test_reads_several_tables_of_one_file() -> None:
    launches = [record for record in read(RAW + "noise\n" + DETAILS) if isinstance(record, Launch)]
    assert [launch.index for launch in launches] == [0, 1, 2]


def test_accepts_comma_decimals_where_nothing_contradicts() -> None:
    launch = read(RAW.replace("1.500000", "1,500000").replace("41.250000", "41,250000"
        ).replace("12.000000", "12,000000").replace("1,234.500000", "1234,500000"))[0]  # fmt: skip
    assert isinstance(launch, Launch)
    assert launch.counters["dram__bytes_read.sum"] == 1.5e6


def test_refuses_two_decimal_marks_and_names_both_places() -> None:
    with pytest.raises(InputError, match=r"a\.csv:6: .* at a\.csv:5") as caught:
        read(RAW.replace('"1,234.500000"', '"1234,500000"'))
    assert "LC_ALL=C" in str(caught.value.hint)


def test_names_the_line_of_a_bad_number() -> None:
    with pytest.raises(InputError, match=r"a\.csv:5: expected a number .* found '1\.5x'"):
        read(RAW.replace("1.500000", "1.5x"))


def test_refuses_a_row_that_is_cut_off_unless_asked_not_to() -> None:
    cut = RAW[: RAW.rindex('"1,234')]
    with pytest.raises(InputError, match="of 12 cells"):
        read(cut)
    kept = read(cut, allow_truncated=True)
    assert [type(record) for record in kept] == [Launch, Skipped, Session]


def test_refuses_a_file_without_a_table() -> None:
    with pytest.raises(InputError, match="no table"):
        read("a,b\n1,2\n")


def raw(*columns: tuple[str, str, str], name: str = "copy(float *, int)") -> str:
    """Return a raw page of one launch with these counters: name, unit, cell."""
    names, units, cells = (",".join(f'"{column[i]}"' for column in columns) for i in range(3))
    fixed = f'"0","77","app","10.0.0.7","{name}","2026-Jan-02 03:04:05","1","7"'
    return f'{FIXED},{names}\n"","","","","","","","",{units}\n{fixed},{cells}\n'


def launches_of(text: str | bytes) -> list[Launch]:
    return [record for record in read(text) if isinstance(record, Launch)]


def counters_of(*columns: tuple[str, str, str]) -> dict[str, float]:
    (launch,) = launches_of(raw(*columns))
    return dict(launch.counters)


@pytest.mark.parametrize(
    ("unit", "cell", "expected"),
    [
        ("byte", "1,234,567", 1_234_567),
        ("byte", "12,34,567", 1_234_567),
        ("Kbyte/block", "8.192", 8192),
        ("usecond", "3.5", 3500),  # ns
        ("second", "1.5", 1.5e9),
        ("cycle/nsecond", "1.25", 1.25e9),  # Hz
        ("Ghz", "1.25", 1.25e9),
        ("sector/usecond", "2", 2e6),
        ("", "1e3", 1000),
        ("%", "-0.5", -0.5),
        ("byte", "1234,5", 1234.5),
        ("byte", "0,123", 0.123),
        ("byte", "1.234,5", 1234.5),
        ("inst", "12 (3; 4; 5)", 12),
        ("inst", "(!) 12", 12),
    ],
)
def test_reads_numbers_as_they_are_printed(unit: str, cell: str, expected: float) -> None:
    assert counters_of(("a__b", unit, cell)) == {"a__b": pytest.approx(expected, rel=1e-15)}


@pytest.mark.parametrize("cell", ["", "n/a", "N/A", "no data", "(!) n/a", "-", " "])
def test_leaves_out_what_the_page_does_not_know(cell: str) -> None:
    (launch,) = launches_of(raw(("a__b", "byte", cell)))
    assert (dict(launch.counters), launch.invalid_counters) == ({}, 0)


@pytest.mark.parametrize("cell", ["nan", "-nan", "inf", "-nan(ind)", "(!) nan", "1e999"])
def test_counts_what_is_not_finite(cell: str) -> None:
    (launch,) = launches_of(raw(("a__b", "byte", cell)))
    assert (dict(launch.counters), launch.invalid_counters) == ({}, 1)


@pytest.mark.parametrize(
    "cell", ["0x10", "1_000", "10 00", "0 100", "１２", "1.23.4", "--", "1,23,4"]
)
def test_refuses_a_cell_with_a_unit_that_is_no_number(cell: str) -> None:
    with pytest.raises(InputError, match="expected a number"):
        read(raw(("a__b", "byte", cell)))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("23 982 976", 23_982_976.0),
        ("23\u202f982\u202f976,5", 23_982_976.5),
        ("23'982'976.5", 23_982_976.5),
        ("13.490.336", 13_490_336.0),
        ("9.420.231,80", 9_420_231.8),
    ],
)
def test_reads_thousands_as_other_languages_write_them(cell: str, value: float) -> None:
    (launch,) = launches_of(raw(("a__b", "byte", cell)))
    assert launch.counters["a__b"] == value


def test_takes_a_point_for_thousands_behind_a_comma_for_decimals() -> None:
    (launch,) = launches_of(raw(("a__b", "byte", "1,5"), ("c__d", "byte", "8.192")))
    assert (launch.counters["a__b"], launch.counters["c__d"]) == (1.5, 8192.0)


@pytest.mark.parametrize(
    "cells", [("1,5", "1.5"), ("1.5", "1,5"), ("1,5", "1,234"), ("1,234", "1,5"), ("8.192", "1,5")]
)
def test_refuses_a_decimal_mark_that_may_be_either(cells: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="decimal mark"):
        read(raw(("a__b", "byte", cells[0]), ("c__d", "byte", cells[1])))


@pytest.mark.parametrize("unit", ["furlong", "byte/", "Kbyte^9*Kbyte^9*Kbyte", "x" * 5000])
def test_leaves_out_a_value_in_a_unit_that_it_does_not_know(unit: str) -> None:
    records = read(raw(("a__b", unit, "1.5"), ("c__d", "byte", "2")))
    launch, skipped, _ = records
    assert isinstance(launch, Launch)
    assert isinstance(skipped, Skipped)
    assert dict(launch.counters) == {"c__d": 2}
    shown = unit if len(unit) <= 120 else f"{unit[:119]}…"
    assert skipped.reason == f"values in units that are not known: {shown}"


MEASURES = ReadOptions(
    measures={
        name: frozenset({parse_unit(unit).measures})
        for name, unit in (("a__time", "s"), ("a__stall", "cycle"))
    }
)


@pytest.mark.parametrize("unit", ["byte", "%", "inst", "byte/second", "hz"])
def test_leaves_out_a_value_in_a_unit_of_something_else(unit: str) -> None:
    launch, skipped, _ = read_with(MEASURES, raw(("a__time", unit, "1.5"), ("b", "byte", "2")))
    assert isinstance(launch, Launch)
    assert isinstance(skipped, Skipped)
    assert dict(launch.counters) == {}
    assert skipped.reason == f"values in units of something else: a__time in {unit}"


def test_takes_any_unit_that_measures_the_same() -> None:
    page = raw(("a__time", "msecond", "1.5"), ("a__stall", "inst", "2"), ("a__b", "byte", "3"))
    launch, _ = read_with(MEASURES, page)
    assert isinstance(launch, Launch)
    assert dict(launch.counters) == {"a__time": 1.5e6, "a__stall": 2, "a__b": 3}


def test_takes_a_value_without_a_unit_for_base_units() -> None:
    launch, _ = read_with(MEASURES, raw(("a__time", "", "1500"), ("a__b", "byte", "3")))
    assert isinstance(launch, Launch)
    assert dict(launch.counters) == {"a__time": 1500, "a__b": 3}


def test_refuses_a_blank_row_of_units_unless_all_are_counts() -> None:
    with pytest.raises(InputError, match=r"a\.csv:2: the row of units is blank") as caught:
        read_with(MEASURES, raw(("a__time", "", "1.5"), ("a__b", "", "3")))
    assert "--page raw" in str(caught.value.hint)
    launch, _ = read_with(MEASURES, raw(("a__stall", "", "1.5"), ("a__b", "", "3")))
    assert isinstance(launch, Launch)
    assert dict(launch.counters) == {"a__stall": 1.5, "a__b": 3}


def test_takes_every_column_that_has_a_counters_name() -> None:
    (launch,) = launches_of(
        raw(("inst_executed", "inst", "5"), ("Domain: range", "", "6"), ("a__b.sum", "", "7"))
    )
    assert dict(launch.counters) == {"inst_executed": 5, "a__b.sum": 7}


def test_knows_the_shape_and_the_device_that_counters_tell() -> None:
    columns = [(f"launch__grid_dim_{axis}", "", "4") for axis in "xyz"]
    columns += [(f"launch__block_dim_{axis}", "", "8") for axis in "xyz"]
    columns += [("launch__device_id", "", "1"), ("device__attribute_display_name", "", "GPU X")]
    columns += [("device__attribute_warp_size", "", "32")]
    launch, session = read(raw(*columns))
    assert isinstance(launch, Launch)
    assert isinstance(session, Session)
    assert (launch.grid, launch.block) == ((4, 4, 4), (8, 8, 8))
    assert (launch.device, launch.device_name) == (1, "GPU X")
    (device,) = session.devices
    assert (device.id, device.name) == (1, "GPU X")
    assert device.attributes["device__attribute_warp_size"] == 32


def test_knows_no_shape_that_cannot_be() -> None:
    columns = [
        (f"launch__grid_dim_{axis}", "", value)
        for axis, value in (("x", "-1"), ("y", "1.5"), ("z", "1"))
    ]
    (launch,) = launches_of(raw(*columns))
    assert launch.grid is None


def test_reads_a_kernel_name_of_four_kilobytes() -> None:
    name = 'f<"a,b", (char)93 ], Context 1, Stream 7>(' + "int, " * 800 + "int)"
    (launch,) = launches_of(raw(("a__b", "", "1"), name=name.replace('"', '""')))
    assert launch.kernel_name == name
    assert len(name) > 4000


def test_calls_a_kernel_without_a_name_so() -> None:
    (launch,) = launches_of(raw(("a__b", "", "1"), name=""))
    assert launch.kernel_name == "unnamed kernel"


def test_reads_a_cell_that_goes_on_over_lines() -> None:
    message = "First.\n\nThen, a word.\r\nLast."
    text = DETAILS.replace('Issue ""soon"".', message)
    (launch,) = launches_of(text)
    assert launch.reference_findings[0].text == message.replace('""', '"')


@pytest.mark.parametrize("first", ["", "Unnamed: 0"])
def test_reads_a_table_that_python_saved_with_the_numbers_of_its_rows(first: str) -> None:
    saved = f"{first},ID,Process ID,Kernel Name,a__b,c__d\n0,,,,usecond,%\n" + (
        '1,0.0,77.0,"copy(float *, int)",12.5,50\n2,1.0,77.0,add,1.5,25\n'
    )
    assert ncu_csv.accepts(saved.encode())
    one, two = launches_of(saved)
    assert (one.kernel_name, dict(one.counters)) == (
        "copy(float *, int)",
        {"a__b": 12_500, "c__d": 50},
    )
    assert (two.kernel_name, two.process) == ("add", 77)


SUMMARY = (
    '"Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device Id",'
    '"Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
    '"77","app","127.0.0.1","copy(float *)","256","64","0","1","Occupancy",'
    '"launch__occupancy_limit_blocks","block","16","16","16"\n'
    '"77","app","127.0.0.1","copy(float *)","256","64","0","1","GPU Speed Of Light Throughput",'
    '"gpu__time_duration.sum","usecond","12.5","12.5","12.5"\n'
    '"77","app","127.0.0.1","copy(float *)","256","32","0","1","GPU Speed Of Light Throughput",'
    '"gpu__time_duration.sum","usecond","7","7","7"\n'
)
MEANS = (
    '"77","app","127.0.0.1","add(float *)","256","64","0","3","GPU Speed Of Light Throughput",'
    '"gpu__time_duration.sum","usecond","1","3","2"\n'
)


def test_reads_what_a_summary_says_of_a_kernel_that_was_launched_once() -> None:
    assert ncu_csv.accepts(SUMMARY.encode())
    first, second = launches_of(SUMMARY)
    assert (first.kernel_name, first.device, first.process) == ("copy(float *)", 0, 77)
    assert (first.grid_size, first.block_size, second.grid_size) == (64, 256, 32)
    assert first.counters["gpu__time_duration.sum"] == 12_500
    assert first.counters["launch__occupancy_limit_blocks"] == 16
    assert second.counters["gpu__time_duration.sum"] == 7_000


def test_reads_the_launches_that_a_summary_tells_of_together() -> None:
    *others, least, greatest, rest = launches_of(SUMMARY + MEANS)
    assert others == launches_of(SUMMARY)
    durations = [each.counters["gpu__time_duration.sum"] for each in (least, greatest, rest)]
    assert durations == [1_000, 3_000, 2_000]
    assert [each.index for each in (least, greatest, rest)] == [2, 3, 4]
    (skipped,) = [record for record in read(SUMMARY + MEANS) if isinstance(record, Skipped)]
    assert "which launch had which value" in skipped.reason


def test_rounded_sizes_are_one_in_all_launches_of_a_summary() -> None:
    size = MEANS.replace("gpu__time_duration.sum", "launch__shared_mem_per_block_static")
    size = size.replace('"usecond","1","3","2"', '"Kbyte/block","4.61","4.61","4.61"')
    *_, least, greatest, rest = launches_of(SUMMARY + MEANS + size)
    sizes = {
        each.counters["launch__shared_mem_per_block_static"] for each in (least, greatest, rest)
    }
    assert sizes == {4608}


def test_a_header_without_one_of_the_extremes_tells_the_mean() -> None:
    cut = (SUMMARY + MEANS).replace('"Minimum",', "").replace('"1","3","2"', '"3","2"')
    cut = cut.replace('"16","16","16"', '"16","16"').replace(
        '"12.5","12.5","12.5"', '"12.5","12.5"'
    )
    cut = cut.replace('"7","7","7"', '"7","7"')
    durations = [each.counters["gpu__time_duration.sum"] for each in launches_of(cut)[2:]]
    assert durations == [2_000, 2_000, 2_000]


def test_refuses_means_over_too_many_launches() -> None:
    means = MEANS.replace('"0","3"', '"0","100000"')
    assert launches_of(SUMMARY + means) == launches_of(SUMMARY)
    with pytest.raises(InputError, match="only means over 100,000 launches and more"):
        read(SUMMARY.split('"77"', maxsplit=1)[0] + means)


@pytest.mark.parametrize(
    "prefix", ["2026-01-02T03:04:05.1Z ", "[03:04:05] ", "0: ", "[1,0]<stdout>:", "\x1b[0m"]
)
@pytest.mark.parametrize("page", [RAW, DETAILS])
def test_reads_a_log_whose_lines_carry_time_or_rank(page: str, prefix: str) -> None:
    text = "".join(prefix + line for line in page.splitlines(keepends=True))
    assert ncu_csv.accepts(text.encode())
    assert launches_of(text) == launches_of(page)


def test_reads_the_lines_of_each_rank_as_a_table_of_its_own() -> None:
    page = RAW.splitlines(keepends=True)
    other = RAW.replace("41.250000", "12.5").splitlines(keepends=True)
    mixed = "".join(f"0: {one}1: {two}" for one, two in zip(page, other, strict=True))
    launches = launches_of("3: a line of a rank without a table\n" + mixed)
    assert sorted(launch.index for launch in launches) == [0, 1, 2, 3]
    name = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    assert [one.counters[name] for one in launches if name in one.counters] == [41.25, 12.5]


def test_takes_what_looks_like_a_rank_inside_a_cell_for_the_cells_own() -> None:
    message = "First.\n2: Then, a word.\n03:04:05 Last."
    (launch,) = launches_of(DETAILS.replace('Issue ""soon"".', message))
    assert launch.reference_findings[0].text == message


def test_reads_what_a_spreadsheet_saved() -> None:
    for delimiter in (",", ";", "\t"):
        cells = ["ID", "Process ID", "Kernel Name", "a__b", "c__d"]
        rows = [cells, ["", "", "", "byte", "%"], ["0", "77", '"f(int, int)"', "1", "2.5"]]
        text = "\n".join(delimiter.join(row) for row in rows) + "\n"
        (launch,) = launches_of(text)
        assert (launch.kernel_name, launch.process) == ("f(int, int)", 77)
        assert dict(launch.counters) == {"a__b": 1, "c__d": 2.5}


def test_refuses_a_last_number_that_may_have_lost_digits() -> None:
    text = "ID,Process ID,Kernel Name,a__b\n,,,byte\n0,77,f,12"
    with pytest.raises(InputError, match="cut off"):
        read(text)
    assert len(launches_of(text + "\n")) == 1


def test_needs_no_line_end_after_a_quoted_cell() -> None:
    assert len(launches_of(raw(("a__b", "byte", "12")).rstrip("\n"))) == 1


def test_takes_other_lines_for_the_programs_own() -> None:
    lines = RAW.splitlines(keepends=True)
    noise = ['"hello"\n', "0.5,0.25\n", '"0" "77"\n', "\n", "==WARNING== slow\n", "\x00\x00\n"]
    text = "".join(line for pair in zip(lines, noise, strict=True) for line in pair)
    assert len(launches_of(text)) == 2


def test_names_a_page_for_a_terminal_that_stands_beside_a_table() -> None:
    page = "  copy(int) (1, 1, 1)x(1, 1, 1), Context 1, Stream 7\n    Section: Occupancy\n    ---\n"
    for text in (RAW + page, page + RAW):
        (skipped,) = (record for record in read(text) if isinstance(record, Skipped))
        assert skipped.reason.startswith("a page for a terminal beside what was read")


def test_refuses_rows_that_do_not_fit_the_header() -> None:
    row = RAW.splitlines()[-1]
    for damaged in (row + ',"1"', row.replace('"1","7",', '"1",')):
        with pytest.raises(InputError, match=r"a\.csv:6: the row has 1[13] of 12 cells"):
            read(RAW.replace(row, damaged))
        kept = read(RAW.replace(row, damaged), allow_truncated=True)
        assert [type(record) for record in kept] == [Launch, Skipped, Session]


def test_leaves_out_the_whole_launch_of_a_damaged_details_row() -> None:
    second = LAUNCH.replace('"0"', '"1"', 1)
    rest = "".join(DETAILS.replace(LAUNCH, second).splitlines(keepends=True)[1:])
    damaged = DETAILS.replace('"Memory Throughput","%","61.84",', '"Memory Throughput"') + rest
    with pytest.raises(InputError, match=r"a\.csv:2: the row has 13 of 20 cells"):
        read(damaged)
    first, launch, _ = read(damaged, allow_truncated=True)
    assert isinstance(first, Skipped)
    assert isinstance(launch, Launch)
    assert len(launch.counters) == 4


def test_refuses_a_details_value_that_is_cut_in_two() -> None:
    with pytest.raises(InputError, match="cut off"):
        read(DETAILS[: DETAILS.index("6.46")])


def test_reads_a_hundred_thousand_columns_and_refuses_more() -> None:
    columns = [(f"a__{number}", "byte", str(number)) for number in range(100_000)]
    (launch,) = launches_of(raw(*columns))
    assert launch.counters["a__99999"] == 99_999
    with pytest.raises(InputError, match="more than 200,000 cells"):
        read(raw(("a__b", "", '","' * 200_000)))


@pytest.mark.parametrize("line", ['"' * 9_000_000, "x" * 9_000_000])
def test_takes_a_line_of_nine_megabytes_before_a_table_for_the_programs(line: str) -> None:
    assert len(launches_of(line + "\n" + RAW)) == 2


def test_refuses_a_row_of_nine_megabytes() -> None:
    with pytest.raises(InputError, match=r"a\.csv:7: the row is no row of a table"):
        read(RAW + '"0","77","' + "y" * 9_000_000 + "\n")


def test_reads_utf_16_that_lost_its_mark() -> None:
    assert len(launches_of(RAW.encode("utf-16-le"))) == 2
    assert ncu_csv.accepts(RAW.encode("utf-16-le"))


def test_quotes_the_profilers_own_error_when_there_is_no_table() -> None:
    with pytest.raises(InputError, match="the profiler says: ERR_NVGPUCTRPERM"):
        read("==PROF== Connected to process 1 (/a)\n==ERROR== ERR_NVGPUCTRPERM - no permission\n")


def test_knows_the_hit_rate_of_l1_as_it_was_called_in_2019() -> None:
    page = DETAILS.replace('"Memory Throughput","Gbyte/second"', '"L1 Hit Rate","%"')
    (launch,) = launches_of(page)
    assert launch.counters["l1tex__t_sector_hit_rate.pct"] == 196.46


def test_has_a_counter_for_each_label_only_once() -> None:
    for section, labels in load_labels().sections.items():
        assert isinstance(labels, dict)
        for label, counter in labels.items():
            names = [counter] if isinstance(counter, str) else list(counter.values())
            assert all(is_counter(name) for name in names), (section, label)
            assert not is_counter(label), (section, label)


@pytest.mark.parametrize("page", [RAW, DETAILS])
def test_takes_the_first_device_that_the_program_names_above_the_table(page: str) -> None:
    printed = "device: NVIDIA GeForce RTX 5070 (sm_120), 48 SMs\nDevice 1: NVIDIA L4\n"
    launches = [each for each in read(printed + page) if isinstance(each, Launch)]
    assert {launch.device_name for launch in launches} == {"NVIDIA GeForce RTX 5070"}
    below = [each for each in read(page + "device: NVIDIA L4\n") if isinstance(each, Launch)]
    assert {launch.device_name for launch in below} == {None}
