"""The reading rules of Nsight Compute reports, one by one."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.model import Keyed, Launch, Record, ReferenceFinding, ReportedDevice, Session, Skipped
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import messages as ncu_messages
from advisor.readers.ncu import report as ncu_report
from advisor.readers.ncu.launch import LaunchReader, Result
from seed.simulation.ncu_encoder import ReportWriter, write_report

SESSION = Session(
    profiler="ncu",
    profiler_version="2024.1.1.0",
    command_line="ncu --set full --cache-control none -o nightly ./solver --steps 3",
    program="/home/me/solver",
    host="node7",
    operating_system="Linux 6.8",
    driver_version="550.54.15",
    runtime="CUDA",
    runtime_version="12.4",
    started_at=1_700_000_000.0,
    clock_epoch="utc",
    replay_mode="kernel",
    cache_control="none",
    clock_control="base",
    devices=(
        ReportedDevice(id=1, name="GPU One", attributes={"warp_size": 32.0, "chip": "GX100"}),
    ),
    simulated=True,
)

LAUNCH = Launch(
    index=0,
    kernel_name="void scale<float>(float *, int)",
    mangled_name="_Z5scaleIfEvPT_i",
    grid=(3, 2, 1),
    block=(32, 4, 1),
    device=1,
    device_name="GPU One",
    context=1,
    stream=7,
    process=4242,
    started_at=1_700_000_001 * 10**9,
    nvtx=("epoch", "forward"),
    clock_locked=True,
    counters={"gpu__time_duration.sum": 6944.5, "dram__bytes.sum": 0.0, "inst_executed": 30.0},
    texts={"breakdown:sm__throughput": "a.sum,b.sum"},
    keyed={"opcodes": Keyed(keys=("FFMA", "HMMA.16816.F32"), values=(20.0, 10.0))},
    instructions={"inst_executed": {0x7F10: 20.0, 0x7F20: 10.0}},
    reference_findings=(
        ReferenceFinding(
            rule="Occupancy",
            title="Theoretical Occupancy",
            section="Occupancy",
            severity="optimization",
            text="limited by registers",
            estimate=0.25,
            scope="local",
            focus=(("registers", 96.0),),
        ),
        ReferenceFinding(rule="SlowPipe", title="Slow Pipe", section="Compute"),
    ),
)

WANTED = ReadOptions(keyed=frozenset({"opcodes"}), instructions=frozenset({"inst_executed"}))


def read(data: bytes, options: ReadOptions = WANTED) -> list[Record]:
    return list(ncu_report.read(Source(name="a.ncu-rep", content=data), options))


class Report:
    """A report under construction: results as messages, so that odd ones can be made."""

    def __init__(self, **session: Any) -> None:
        self.stream = io.BytesIO()
        self.writer = ReportWriter(self.stream)
        self.writer.block(session=ncu_messages.Session(**session))

    def add(self, metrics: dict[str, Any] | None = None, **fields: Any) -> Report:
        result = ncu_messages.Result(**{"function": b"k", **fields})
        for name, value in (metrics or {}).items():
            result.metrics.add(name_id=self.writer.name_id(name), value=value)
        self.writer.block(results=[result.SerializeToString()])
        return self

    def launches(self, options: ReadOptions = WANTED) -> list[Launch]:
        records = read(self.stream.getvalue(), options)
        return [record for record in records if isinstance(record, Launch)]


def f64(number: float) -> Any:
    return ncu_messages.Value(f64=number)


def u64(number: int) -> Any:
    return ncu_messages.Value(u64=number)


def version(text: str) -> Any:
    return ncu_messages.Pair(key=b"Nsight Compute Target", value=text.encode())


def test_gives_back_what_the_encoder_wrote() -> None:
    stream = io.BytesIO()
    write_report(stream, SESSION, [LAUNCH])
    assert read(stream.getvalue()) == [SESSION, LAUNCH]


def test_appends_the_tables_of_names_of_all_blocks() -> None:
    report = Report().add({"a": f64(1.0)}).add({"b": f64(2.0), "a": f64(3.0)})
    assert [launch.counters for launch in report.launches()] == [{"a": 1.0}, {"b": 2.0, "a": 3.0}]


@pytest.mark.parametrize("late_from", [0, 1, 2])
def test_knows_names_that_stand_behind_the_launches(late_from: int) -> None:
    # Seen in 2023.3: names that come five blocks behind the first launch that uses them.
    report = Report()
    values = ({"a": 1.0}, {"a": 2.0, "b": 3.0}, {"c": 4.0, "a": 5.0})
    for place, counters in enumerate(values):
        result = ncu_messages.Result(function=b"k")
        for name, value in counters.items():
            result.metrics.add(name_id=report.writer.name_id(name), value=f64(value))
        entry = result.SerializeToString()
        report.writer.block(results=[entry], with_names=place < late_from)
    report.writer.block()
    assert [launch.counters for launch in report.launches()] == [*values]


def test_merges_the_session_from_blocks_behind_the_launches() -> None:
    report = Report(pid=9).add()
    report.writer.block(session=ncu_messages.Session(versions=[version("2022.3.0.0 (build 317)")]))
    report.writer.block(session=ncu_messages.Session(command_line=b"ncu ./a "))
    report.writer.block(session=ncu_messages.Session(devices=[ncu_messages.Device(id=3)]))
    session, launch = read(report.stream.getvalue())
    assert isinstance(launch, Launch)
    assert isinstance(session, Session)
    assert (launch.device, launch.process) == (3, 9)
    assert session.profiler_version == "2022.3.0.0"
    assert session.command_line == "ncu ./a"
    assert [device.id for device in session.devices] == [3]


@pytest.mark.parametrize("kind", ["f32", "f64", "u32", "u64"])
def test_takes_a_stored_zero_as_a_value(kind: str) -> None:
    [launch] = Report().add({"a": ncu_messages.Value(**{kind: 0})}).launches()
    assert launch.counters == {"a": 0.0}
    assert launch.invalid_counters == 0


def test_takes_the_last_of_two_entries_of_one_counter() -> None:
    report = Report()
    result = ncu_messages.Result(function=b"k")
    for nanoseconds in (6944, 6880):
        number = report.writer.name_id("gpu__time_duration.sum")
        result.metrics.add(name_id=number, value=u64(nanoseconds))
    report.writer.block(results=[result.SerializeToString()])
    [launch] = report.launches()
    assert launch.counters == {"gpu__time_duration.sum": 6880.0}


def test_leaves_out_a_counter_without_a_value() -> None:
    [launch] = Report().add({"a": None, "b": u64(1)}).launches()
    assert launch.counters == {"b": 1.0}
    assert launch.invalid_counters == 0


def test_counts_what_is_no_finite_number() -> None:
    values = {"a": f64(math.nan), "b": f64(math.inf), "c": f64(-math.inf), "d": f64(1.5)}
    [launch] = Report().add(values).launches()
    assert launch.counters == {"d": 1.5}
    assert launch.invalid_counters == 3


def test_keeps_breakdowns_but_no_lists_of_requests() -> None:
    texts = {
        name: ncu_messages.Value(text=b"x,y") for name in ("breakdown:t", "group:g", "regex:r")
    }
    [launch] = Report().add(texts).launches()
    assert launch.texts == {"breakdown:t": "x,y"}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"demangled": b"k(int)", "function": b"k", "mangled": b"_Z1ki"}, "k(int)"),
        ({"demangled": b"", "function": b"k", "mangled": b"_Z1ki"}, "k"),
        ({"demangled": b"", "function": b"", "mangled": b"_Z1ki"}, "_Z1ki"),
        ({"function": b""}, "unnamed kernel"),
        ({"function": b"caf\xe9\0"}, "caf\\xe9"),
    ],
)
def test_names_a_kernel_as_readably_as_it_can(names: dict[str, bytes], expected: str) -> None:
    [launch] = Report().add(**names).launches()
    assert launch.kernel_name == expected


# 3 x 2 blocks of 32 x 4 threads: 6 blocks, 96 x 8 threads.
IN_BLOCKS = {"grid": {"x": 3, "y": 2, "z": 1}, "block": {"x": 32, "y": 4, "z": 1}}
IN_THREADS = {"grid": {"x": 96, "y": 8, "z": 1}, "block": {"x": 32, "y": 4, "z": 1}}
TOLD = {f"launch__grid_dim_{axis}": f64(size) for axis, size in zip("xyz", (5, 6, 7), strict=True)}
OLD, NEW = "2020.2.1.0 (build 1)", "2020.3.0.0 (build 1)"


@pytest.mark.parametrize(
    ("profiler", "fields", "metrics", "expected"),
    [
        (NEW, IN_BLOCKS, TOLD, (5, 6, 7)),
        (OLD, IN_THREADS, {"launch__grid_size": f64(6)}, (3, 2, 1)),
        (NEW, IN_BLOCKS, {"launch__grid_size": u64(6)}, (3, 2, 1)),
        (OLD, IN_BLOCKS, {"launch__grid_size": f64(6)}, (3, 2, 1)),
        (NEW, IN_BLOCKS, {"launch__grid_size": f64(7)}, None),
        (None, IN_THREADS, {}, (3, 2, 1)),
        (OLD, IN_THREADS, {}, (3, 2, 1)),
        (NEW, IN_BLOCKS, {}, (3, 2, 1)),
        (OLD, IN_BLOCKS, {}, None),
        (NEW, {"block": {"x": 32}}, {}, None),
        (NEW, {"grid": {"x": 2**40, "y": 1, "z": 1}, "block": {"x": 1}}, {}, None),
    ],
)
def test_gives_the_grid_in_blocks(
    profiler: str | None, fields: Any, metrics: Any, expected: tuple[int, int, int] | None
) -> None:
    versions = [] if profiler is None else [version(profiler)]
    [launch] = Report(versions=versions).add(metrics, **fields).launches()
    assert launch.grid == expected


def test_takes_the_device_that_the_counter_names() -> None:
    devices = [ncu_messages.Device(id=number) for number in (0, 1)]
    report = Report(devices=devices).add({"launch__device_id": u64(1)}).add()
    assert [launch.device for launch in report.launches()] == [1, None]


def test_passes_over_sources_unread() -> None:
    report = Report()
    result = ncu_messages.Result(function=b"k").SerializeToString()
    report.writer.block(sources=[b"\xff no message", b"x" * 5000], results=[result])
    assert [launch.kernel_name for launch in report.launches()] == ["k"]


def test_passes_over_fields_it_does_not_know() -> None:
    # Field 17 (a section), field 31 (text) and field 999, all length-delimited.
    unknown = b"\x8a\x01\x03abc" + b"\xfa\x01\x01z" + b"\xba\x3e\x02hi"
    report = Report()
    report.writer.block(results=[ncu_messages.Result(function=b"k").SerializeToString() + unknown])
    assert [launch.kernel_name for launch in report.launches()] == ["k"]


@pytest.mark.parametrize(
    ("stored", "severity"),
    [(0, "none"), (1, "ok"), (2, "warning"), (3, "error"), (4, "optimization"), (9, "none")],
)
def test_maps_the_stored_kind_of_a_message(stored: int, severity: str) -> None:
    message = ncu_messages.Message(text=b"t", kind=stored)
    rule = ncu_messages.RuleResult(identifier=b"R", body={"items": [{"message": message}]})
    [launch] = Report().add(rules=[rule]).launches()
    assert [finding.severity for finding in launch.reference_findings] == [severity]


def test_reads_a_finding_with_its_estimate_and_focus() -> None:
    text = (
        b"Look at @section:SchedulerStats:Scheduler Statistics@, "
        b"PC @source:14a6:0x14a6@ and the @url:Guide:https://example.org/#x@."
    )
    message = {"text": text, "kind": 4, "title": b"Latency"}
    item = {
        "message": message,
        "focus": [{"metric": b"m", "value": 2.5}, {"metric": b"n", "value": math.nan}],
        "speedup": {"kind": 2, "percent": 37.5},
    }
    table_only: dict[str, Any] = {}
    rule = {"identifier": b"R", "section": b"S", "body": {"items": [table_only, item]}}
    [launch] = Report().add(rules=[rule]).launches()
    assert launch.reference_findings == (
        ReferenceFinding(
            rule="R",
            title="Latency",
            section="S",
            severity="optimization",
            text="Look at Scheduler Statistics, PC 0x14a6 and the Guide.",
            estimate=0.375,
            scope="global",
            focus=(("m", 2.5),),
        ),
    )


@pytest.mark.parametrize("percent", [math.nan, -1.0, 100.5])
def test_takes_no_estimate_that_is_no_share(percent: float) -> None:
    item = {"message": {"text": b"t"}, "speedup": {"kind": 1, "percent": percent}}
    [launch] = Report().add(rules=[{"identifier": b"R", "body": {"items": [item]}}]).launches()
    assert launch.reference_findings[0].estimate is None
    assert launch.reference_findings[0].scope is None


def test_keeps_a_rule_that_had_nothing_to_say() -> None:
    [launch] = Report().add(rules=[{"identifier": b"R", "name": b"Rule R"}]).launches()
    assert launch.reference_findings == (ReferenceFinding(rule="R", title="Rule R"),)


def test_takes_the_ranges_of_the_launching_thread_alone() -> None:
    registered = [{"id": 5, "text": b"registered"}]
    mine = [{"name": b"outer"}, {"attributes": {"message": {"handle": 5}}}]
    nvtx = {
        "domains": [{"id": 2, "registered": registered}],
        "threads": [
            {"id": 8, "stacks": [{"domain": 2, "ranges": [{"name": b"other"}]}]},
            {"id": 7, "stacks": [{"domain": 2, "ranges": mine}]},
        ],
    }
    [launch] = Report().add(thread=7, nvtx=nvtx).launches()
    assert launch.nvtx == ("outer", "registered")


def instanced(report: Report, name: str, values: dict[Any, Any]) -> bytes:
    metric = ncu_messages.InstancedMetric(name_id=report.writer.name_id(name))
    for key, value in values.items():
        stored = {"text": key} if isinstance(key, bytes) else {"u64": key}
        metric.instances.add(key=stored, value=value)
    result = ncu_messages.Result(function=b"k")
    result.metrics.add().MergeFromString(metric.SerializeToString())
    return bytes(result.SerializeToString())


def test_keeps_values_by_key_only_where_asked_and_not_zero() -> None:
    report = Report()
    numbers = {64: f64(0.5), 128: f64(0.0), 256: u64(2), 512: f64(math.nan)}
    report.writer.block(results=[instanced(report, "curve", numbers)])
    report.writer.block(results=[instanced(report, "unasked", numbers)])
    asked = ReadOptions(keyed=frozenset({"curve"}))
    first, second = report.launches(asked)
    assert first.keyed == {"curve": Keyed(keys=("64", "256"), values=(0.5, 2.0))}
    assert second.keyed == {}


def test_keeps_values_by_address_in_hexadecimal() -> None:
    report = Report()
    numbers = {0x7F10: u64(3), 0: u64(4), 0x7F20: u64(0), b"FFMA": u64(5)}
    report.writer.block(results=[instanced(report, "inst_executed", numbers)])
    [launch] = report.launches()
    assert launch.instructions == {"inst_executed": {0x7F10: 3.0}}


def test_keeps_addresses_that_no_double_holds_and_the_last_of_two_values() -> None:
    report = Report()
    far = 2**62 + 1
    first, second = instanced(report, "inst_executed", {far: u64(3), 0x20: u64(1)}), {far: u64(9)}
    result = ncu_messages.Result.FromString(first)
    for key, value in second.items():
        more = ncu_messages.InstancedMetric(instances=[{"key": {"u64": key}, "value": value}])
        result.metrics[0].MergeFromString(more.SerializeToString())
    report.writer.block(results=[result.SerializeToString()])
    [launch] = report.launches()
    assert launch.instructions == {"inst_executed": {far: 9.0, 0x20: 1.0}}


def test_skips_ranges_and_says_why() -> None:
    report = Report()
    report.writer.block(ranges=[b"\x08\x01"])
    session, skipped = read(report.stream.getvalue())
    assert isinstance(skipped, Skipped)
    assert "a range of kernels measured together" in skipped.reason
    assert isinstance(session, Session)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (None, None, None)),
        ({"command_line": b"ncu ./a"}, ("kernel", "all", "base")),
        ({"command_line": b"ncu --cache-control=none ./a"}, ("kernel", "none", "base")),
        (
            {"command_line": b"ncu --replay-mode application --clock-control none ./a"},
            ("application", "all", "none"),
        ),
        ({"command_line": b"ncu --config-file off ./a"}, ("kernel", "all", "base")),
        ({"command_line": b"ncu --config-file-path a.ncu-cfg ./a"}, (None, None, None)),
        ({"settings": {"clock_control": b"Base"}}, (None, None, "base")),
    ],
)
def test_tells_the_conditions_of_the_run(
    fields: Any, expected: tuple[str | None, str | None, str | None]
) -> None:
    session = read(Report(**fields).stream.getvalue())[0]
    assert isinstance(session, Session)
    assert (session.replay_mode, session.cache_control, session.clock_control) == expected


@pytest.mark.parametrize(
    ("clock", "locked"),
    [(None, None), ({"requested": True, "executed": True}, True), ({"executed": False}, False)],
)
def test_tells_whether_the_clock_was_locked(clock: Any, locked: bool | None) -> None:
    [launch] = Report().add(clock=clock).launches()
    assert launch.clock_locked is locked


def test_refuses_a_counter_without_a_name() -> None:
    report = Report()
    result = ncu_messages.Result(metrics=[{"name_id": 5}]).SerializeToString()
    report.writer.block(results=[result])
    with pytest.raises(InputError, match=r"block 1 names a counter that no table has") as caught:
        report.launches()
    assert "copy it again" not in str(caught.value.hint)  # nothing of the file is missing
    assert "--page raw" in str(caught.value.hint)


def test_asks_for_another_copy_where_the_end_with_the_names_is_missing() -> None:
    report = Report()
    result = ncu_messages.Result(function=b"k")
    result.metrics.add(name_id=report.writer.name_id("a"), value=f64(1.0))
    report.writer.block(results=[result.SerializeToString()], with_names=False)
    report.writer.block()
    with pytest.raises(InputError, match=r"block 1 names a counter") as caught:
        read(report.stream.getvalue()[:-1])
    assert "cut short or damaged: copy it again" in str(caught.value.hint)


def test_refuses_damaged_instances() -> None:
    report = Report()
    name = report.writer.name_id("inst_executed")
    # Metric (field 13): name id, then an instance (field 3) that claims a key it does not hold.
    metric = bytes([0x08, name, 0x1A, 0x02, 0x0A, 0x7F])
    report.writer.block(results=[b"\x6a" + bytes([len(metric)]) + metric])
    with pytest.raises(InputError, match="damaged counter"):
        report.launches()


def test_reads_unlike_launches_together_as_one_by_one() -> None:
    report = Report()
    wanted = ReadOptions(keyed=frozenset({"curve"}), instructions=frozenset({"hits", "misses"}))

    def add(name: str, values: dict[Any, Any]) -> None:
        report.writer.block(results=[instanced(report, name, values)])

    report.add({"a": f64(1.0), "note": ncu_messages.Value(text=b"one")})
    add("hits", {0x10: u64(1), 0x20: u64(0), 0x30: f64(3.0)})
    report.add()
    add("misses", {0x30: u64(5)})
    report.add({"note": ncu_messages.Value(text=b"two"), "b": u64(2)})
    add("curve", {8: f64(0.5)})
    first, hits, empty, misses, last, curve = report.launches(wanted)
    assert (dict(first.counters), first.texts) == ({"a": 1.0}, {"note": "one"})
    assert hits.instructions == {"hits": {0x10: 1.0, 0x30: 3.0}}
    assert not empty.counters
    assert not empty.texts
    assert misses.instructions == {"misses": {0x30: 5.0}}
    assert (dict(last.counters), last.texts) == ({"b": 2.0}, {"note": "two"})
    assert curve.keyed == {"curve": Keyed(keys=("8",), values=(0.5,))}
    assert [each.index for each in (first, hits, empty, misses, last, curve)] == [*range(6)]


def test_holds_a_bounded_number_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    report, together = Report(), []
    results = [
        ncu_messages.Result(function=b"k" * size).SerializeToString()
        for size in (*[1] * 600, *[400_000] * 5)
    ]
    report.writer.block(results=results)
    read_them = LaunchReader.launches

    def counted(reader: LaunchReader, waiting: Sequence[Result]) -> list[Launch]:
        together.append(len(waiting))
        return read_them(reader, waiting)

    monkeypatch.setattr(LaunchReader, "launches", counted)
    assert [launch.index for launch in report.launches()] == [*range(605)]
    assert together == [256, 256, 91, 2]


def test_keeps_the_launches_before_a_damaged_one() -> None:
    report = Report().add({"a": f64(1.0)}).add({"a": f64(2.0)})
    result = ncu_messages.Result(metrics=[{"name_id": 5}]).SerializeToString()
    report.writer.block(results=[result])
    report.add({"a": f64(3.0)})
    with pytest.raises(InputError, match=r"block 3 names .*; 2 launches before it are whole"):
        report.launches()
    whole = report.launches(ReadOptions(allow_truncated=True))
    assert [launch.counters["a"] for launch in whole] == [1.0, 2.0]
