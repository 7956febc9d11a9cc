"""What a run tells of itself: its clock, whether it is whole, the parts of devices it ran on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from advisor.api.querying import run_query
from advisor.database.rows import RunRow
from advisor.ingest.identity import IncomingRun
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.records import HowToRead, Profile
from advisor.model import Launch, ReportedDevice, Session, Skipped
from advisor.readers import Source, reader_of
from seed.simulation.ncu_encoder import write_report

pytestmark = pytest.mark.usefixtures("unjudged")

ORIGIN = 1_712_195_495_505_583_251  # ns since 1970; a double of seconds is 119 ns off
LAUNCH = Launch(index=0, kernel_name="k", counters={"gpu__time_duration.sum": 5000.0})
NAME = "NVIDIA A100-SXM4-40GB"
INSTANCE = f"{NAME} MIG 3g.20gb"
REGISTERS, STATIC = "launch__registers_per_thread", "launch__shared_mem_per_block_static"


def incoming(labels: RunLabels | None = None) -> IncomingRun:
    source = Source(name="a.ncu-rep", content=b"")
    digest = "0123456789abcdef" * 4
    reader = reader_of("ncu-rep")
    profile = Profile(source=source, reader=reader, digest=digest, labels=labels or RunLabels())
    return IncomingRun(profile=profile, session=Session(profiler="p", clock_epoch="boot"))


def row_of(run: IncomingRun) -> RunRow:
    return run.row("hash")


@pytest.mark.parametrize(
    "later", [0, 1, 999_999_999, 86_400_000_000_001, 90 * 86_400 * 10**9 + 7, -3]
)
def test_launches_start_after_the_first_one_exact_to_a_nanosecond(later: int) -> None:
    run = incoming()
    untimed = run.place(LAUNCH)
    first = run.place(replace(LAUNCH, started_at=ORIGIN))
    second = run.place(replace(LAUNCH, started_at=ORIGIN + later))
    assert untimed.started_at is None
    assert first.started_at == 0.0
    assert second.started_at is not None
    assert round(second.started_at * 10**9) == later
    assert (row_of(run).clock_origin, row_of(run).clock_epoch) == (ORIGIN, "boot")


def test_a_run_without_times_has_no_origin() -> None:
    run = incoming()
    run.place(LAUNCH)
    assert row_of(run).clock_origin is None


def test_a_run_is_partial_where_something_was_cut_off() -> None:
    run = incoming()
    run.skipped.append(Skipped(place="a", reason="a range of kernels"))
    assert row_of(run).status == "complete"
    run.skipped.append(Skipped(place="b", reason="the rest is left out", cut=True))
    assert row_of(run).status == "partial"


def test_a_part_of_a_device_lies_beside_the_series() -> None:
    run = incoming()
    whole, part, other = (
        run.place(replace(LAUNCH, device_name=name)) for name in (NAME, INSTANCE, "Other")
    )
    assert whole.series_id == part.series_id
    assert whole.series_id != other.series_id
    assert [series.device_name for series in run.series] == [NAME, NAME, "Other"]
    assert (whole.device_name, part.device_name) == (NAME, INSTANCE)
    devices = (ReportedDevice(id=0, name=INSTANCE), ReportedDevice(id=1, name=NAME))
    run.session = replace(run.session, devices=devices)
    told = row_of(run)
    assert (told.device_names, told.partition) == (f"{INSTANCE}, {NAME}", "3g.20gb")


def test_ranks_form_a_group() -> None:
    told = row_of(incoming(RunLabels(group="job 7", rank=0, compiler="nvcc 12.4", note="faster")))
    assert (told.group_id, told.rank) == ("job 7", 0)
    assert (told.compiler, told.note) == ("nvcc 12.4", "faster")


PAGE = """==PROF== Connected to process 7 (/bin/x)
  copy(int) (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 8.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    Duration                         us         6.46
    Elapsed Cycles                cycle        7,000
    ----------------------- ----------- ------------
"""
TABLE = """"ID","Process ID","Process Name","Host Name","Kernel Name","gpu__time_duration.sum"
"","","","","","ns"
"0","7","x","127.0.0.1","copy(int)","6460"
"1","7","x","127.0.0.1","copy(int)","6470"
"""


def report() -> bytes:
    from io import BytesIO  # of the encoder alone

    file = BytesIO()
    times = (1_700_000_000 * 10**9, 1_700_000_002 * 10**9)
    launches = [replace(LAUNCH, index=n, started_at=at) for n, at in enumerate(times)]
    write_report(file, Session(profiler="ncu", started_at=1.7e9), launches)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "whole", "cut"),
    [
        ("a.ncu-rep", report(), len(report()) - 5),
        ("a.txt", PAGE.encode(), PAGE.index("7,000") + 2),
        ("a.csv", TABLE.encode(), len(TABLE) - 5),
    ],
)
def test_a_file_that_was_cut_gives_a_partial_run(
    tmp_path: Path, name: str, whole: bytes, cut: int
) -> None:
    for folder, content in (("whole", whole), ("cut", whole[:cut])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(content)
    database = str(tmp_path / "test.duckdb")
    results = ingest_paths(
        database, [str(tmp_path)], labels=RunLabels(), how=HowToRead(allow_truncated=True), wait=0
    )
    assert [result.status for result in results] == ["new", "new"]
    with run_query(
        database, "select parse_filename(parse_dirpath(name)), status from runs", wait=0
    ) as answer:
        assert dict(answer.rows) == {"whole": "complete", "cut": "partial"}


def test_a_report_tells_what_its_clock_counts_from(tmp_path: Path) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(report())
    database = str(tmp_path / "test.duckdb")
    list(ingest_paths(database, [str(tmp_path)], labels=RunLabels(), wait=0))
    query = (
        "select launches.started_at, clock_origin, clock_epoch, part, runtime"
        " from launches join runs using (run_id) order by 1"
    )
    with run_query(database, query, wait=0) as answer:
        assert [tuple(row) for row in answer.rows] == [
            (started, 1_700_000_000_000_000_000, "utc", 0, "CUDA") for started in (0.0, 2.0)
        ]


def built(registers: float | None, static: float | None = None) -> Launch:
    told = {REGISTERS: registers, STATIC: static}
    counters = {name: number for name, number in told.items() if number is not None}
    return replace(LAUNCH, grid=(8, 1, 1), block=(64, 1, 1), counters=counters)


def variants(*launches: Launch) -> list[str]:
    run = incoming()
    return [run.place(launch, (REGISTERS, STATIC)).variant_id for launch in launches]


def test_kernels_that_were_compiled_otherwise_are_other_variants() -> None:
    first, second, again, third = variants(built(40, 0), built(72, 0), built(40, 0), built(72, 512))
    assert first == again
    assert len({first, second, third}) == 3
    assert variants(built(72, 512), built(72, 0))[0] == first


def test_a_variant_of_one_build_is_named_without_it() -> None:
    (plain,) = {incoming().place(built(40, 0)).variant_id}
    assert set(variants(built(40, 0), built(40, 0))) == {plain}
    assert set(variants(built(72, 0))) == {plain}


def test_what_one_launch_lacks_tells_no_builds_apart() -> None:
    assert len(set(variants(built(None), built(40), built(40, 0), built(None, 0)))) == 1


def test_a_build_that_a_page_tells_by_its_values_is_another_variant() -> None:
    first, other, again, plain = variants(
        built(40), replace(built(None), build=1), replace(built(None), build=1), built(None)
    )
    assert (first, other) == (plain, again)
    assert first != other


def test_builds_of_other_shapes_are_not_told_apart() -> None:
    small = replace(built(72, 0), block=(32, 1, 1))
    (plain,) = variants(small)
    assert variants(built(40, 0), small)[1] == plain


def test_builds_are_stored_as_kernels_of_their_own(tmp_path: Path) -> None:
    head = "scan_rows (8, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 8.6"
    page = "".join(
        f"[{process}] app@127.0.0.1\n  {head}\n    Section: Launch Statistics\n"
        "    -------------------- --------------- -----------\n"
        f"    Registers Per Thread register/thread          {registers}\n"
        "    -------------------- --------------- -----------\n\n"
        for process, registers in ((11, 40), (12, 72), (13, 72))
    )
    path = tmp_path / "page.txt"
    path.write_text(page)
    database = str(tmp_path / "test.duckdb")
    list(ingest_paths(database, [str(path)], labels=RunLabels(), wait=0))
    query = "SELECT registers_per_thread, launch_count FROM kernels ORDER BY 1"
    with run_query(database, query, wait=0) as answer:
        assert [tuple(row) for row in answer.rows] == [(40, 1), (72, 2)]
