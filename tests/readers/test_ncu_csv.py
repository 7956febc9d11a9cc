"""The raw and the details page of ``ncu --csv``; the samples are written by hand."""

from __future__ import annotations

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Session, Skipped
from advisor.readers import ncu_csv
from advisor.readers.base import ReadOptions, Source

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


def read(text: str | bytes, **options: bool) -> list[Launch | Session | Skipped]:
    content = text.encode() if isinstance(text, str) else text
    return list(ncu_csv.read(Source(name="a.csv", content=content), ReadOptions(**options)))


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
