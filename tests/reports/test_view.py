"""From launches to the report, through the SQL and the rules of production."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import duckdb
import pytest

from advisor.database.variants import store_variants
from advisor.errors import UsageError
from advisor.facts import variant_statements
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.judgement import load_judgement
from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.records import Report, Rest
from advisor.reports.record.source import Request, read_source
from advisor.reports.record.view import build_report
from advisor.reports.write import render
from advisor.reports.write.machine import json_text
from advisor.reports.write.terminal import kernel_text, report_text
from advisor.rules.engine.compiled import Compiled
from tests.support.facts import Value, database_of, vocabulary_once

Launch = Mapping[str, Value]

_MADE: dict[str, Report] = {}

# 4 GB in 5 ms under a roof of 1 TB/s: 4 ms of memory, 80 %; 1 GFLOP at 10 TFLOP/s is 0.1 ms.
STREAM: Launch = {
    "variant_id": "stream",
    "launch_shape": "(4096, 1, 1)x(256, 1, 1)",
    "duration": 5e-3,
    "grid_size": 4096.0,
    "block_size": 256.0,
    "dram_bytes": 4e9,
    "flops_fp32": 1e9,
    "flops_fp32_source": "counted",
    "flops_fp64": 0.0,
    "flops_fp16": 0.0,
    "tensor_instructions": 0.0,
    "peak_dram_bandwidth": 1e12,
    "peak_fp32": 1e13,
    "compute_utilization": 0.1,
    "memory_utilization": 0.8,
    "dram_utilization": 0.8,
    "l2_utilization": 0.4,
    "l1_utilization": 0.3,
    "sm_clock": 1.4e9,
}
# The default set of the profiler: utilisations, launch and occupancy, no bytes, no operations.
BASIC: Launch = {
    "variant_id": "basic",
    "launch_index": 1,
    "duration": 1e-3,
    "grid_size": 10.0,
    "block_size": 64.0,
    "compute_utilization": 0.2,
    "memory_utilization": 0.3,
}
NO_FLOP: Launch = {
    **STREAM,
    "variant_id": "copy",
    "launch_index": 2,
    "duration": 2e-3,
    "dram_bytes": 1e9,
    "dram_utilization": 0.5,
    "flops_fp32": 0.0,
}


@contextmanager
def run_of(launches: Sequence[Launch], **changes: object) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database with one run of these launches."""
    run = {
        "run_id": "run",
        "content_hash": "0" * 64,
        "part": 0,
        "name": "some/folder/profile.ncu-rep",
        "format": "ncu-rep",
        "status": "complete",
        "size": 1000,
        "ingested_at": "2026-01-02",
        "started_at": "2026-01-01",
        "simulated": False,
        "profiler": "ncu",
        "skipped_reasons": json.dumps([{"place": "block 7", "reason": "cut off"}]),
        "skipped": 1,
        **changes,
    }
    with database_of(launches) as connection:
        try:
            connection.execute("create or replace table alembic_version (version_num varchar)")
            connection.execute("insert into alembic_version values ('0001')")
            insert(connection, "run", run)
            kernel = {"kernel_id": "kernel", "name": "void f<int>(int)", "short_name": "f<int>"}
            insert(connection, "kernel", {**kernel, "normalised_name": "f"})
            store_variants(connection, ["run"], variant_statements(vocabulary_once()))
            yield connection
        finally:
            for table in ("run", "kernel", "variant", "reference_finding"):
                connection.execute(f"delete from {table}")
            connection.execute("drop table if exists alembic_version")


@cache
def compiled_once() -> Compiled:
    """Return the shipped rules, with what profilers can tell."""
    return load_knowledge().compiled


def insert(connection: duckdb.DuckDBPyConnection, table: str, row: Mapping[str, object]) -> None:
    marks = ", ".join("?" for _ in row)
    names = ", ".join(f'"{name}"' for name in row)
    connection.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))


def report_of(
    launches: Sequence[Launch], *, kernel: str | None = None, every: bool = False, **changes: object
) -> Report:
    """Return the report of one run of these launches; made once, where several ask for it."""
    asked = repr((launches, kernel, every, changes))
    if asked not in _MADE:
        _MADE[asked] = made_report(launches, kernel, every, **changes)
    return _MADE[asked]


def made_report(
    launches: Sequence[Launch], kernel: str | None, every: bool, **changes: object
) -> Report:
    request = Request(
        run_id="run", database="a.duckdb", written_at=0.0, kernel=kernel, every_fact=every
    )
    with run_of(launches, **changes) as connection:
        return build_report(
            read_source(
                connection,
                request,
                vocabulary=vocabulary_once(),
                compiled=compiled_once(),
                judgement=load_judgement(),
            )
        )


def test_adds_up_the_run() -> None:
    report = report_of([STREAM, NO_FLOP])
    # 5 + 2 ms; at the roof 4 + 1 ms.
    assert report.duration == pytest.approx(7e-3)
    assert report.t_sol == pytest.approx(5e-3)
    assert report.wasted_time == pytest.approx(2e-3)


def test_lists_kernels_by_wasted_time() -> None:
    report = report_of([NO_FLOP, {**STREAM, "launch_index": 0}, BASIC])
    # 1 ms each for stream and copy, so the longer one leads; unknown waste comes last.
    assert [kernel.id for kernel in report.kernels] == ["stream", "copy", "basic"]
    assert report.kernels[2].wasted_time is None


def test_places_a_kernel_by_its_work_and_traffic() -> None:
    (chart,) = report_of([STREAM]).rooflines
    (mark,) = chart.placements
    # 1 GFLOP over 4 GB is 0.25 FLOP/B; in 5 ms that is 0.2 TFLOP/s; the roof there is 0.25 TFLOP/s.
    assert (mark.x, mark.y, mark.roof) == pytest.approx((0.25, 2e11, 2.5e11))
    assert chart.binding == "fp32"


def test_places_integer_products_by_their_operations() -> None:
    # 8 G operations over 4 GB are 2 a byte, 1.6 T in a second; under 1 TB/s at most 2 T. The
    # epilogue's 10 MFLOP are on no chart.
    integer = {
        **STREAM,
        "flops_fp32": 1e7,
        "ops_tensor_int8": 8e9,
        "tensor_instructions": 1e6,
        "tensor_instructions_unknown": 0.0,
        "peak_tensor_int8": 4e12,
    }
    report = report_of([integer])
    (chart,) = report.rooflines
    (mark,) = chart.placements
    assert chart.id == "integer"
    assert (mark.x, mark.y, mark.roof) == pytest.approx((2.0, 1.6e12, 2e12))
    (kernel,) = report.kernels
    assert (kernel.arithmetic_intensity, kernel.performance) == pytest.approx((2.0, 1.6e12))
    assert [time.label for time in kernel.resources] == ["DRAM", "tensor pipe", "FP32 pipe"]


def test_lists_kernels_without_work_under_the_chart() -> None:
    (chart,) = report_of([STREAM, NO_FLOP]).rooflines
    assert [row.kernel_id for row in chart.unplaced] == ["copy"]
    assert chart.unplaced[0].note.startswith("50")


def test_lists_kernels_of_other_units_under_the_chart() -> None:
    # Of 8 ms, 3 ms are in double precision, which the chart of single precision has no mark for.
    double = {
        **STREAM, "variant_id": "double", "launch_index": 1, "duration": 3e-3,
        "flops_fp32": 0.0, "flops_fp64": 1e9, "peak_fp64": 1e12,
    }  # fmt: skip
    single, other = report_of([STREAM, double]).rooflines
    assert (single.label, other.label) == ("FP32", "FP64")
    (outside,) = single.unplaced
    assert (outside.kernel_id, outside.reason) == ("double", "under FP64")
    assert outside.note.replace("\N{NO-BREAK SPACE}", " ") == "38 % of time"
    assert [each.reason for each in other.unplaced] == ["under FP32"]


def test_falls_back_to_the_plane_of_utilisations() -> None:
    report = report_of([BASIC])
    assert report.rooflines == ()
    assert report.plane is not None
    (mark,) = report.plane.placements
    assert (mark.x, mark.y) == (0.3, 0.2)


def test_names_one_command_for_what_is_unknown() -> None:
    report = report_of([BASIC], command_line="./app --steps 3")
    assert report.collect is not None
    assert report.collect.command is not None
    assert report.collect.command.startswith("ncu ")
    assert report.collect.command.endswith("./app --steps 3")


@pytest.mark.parametrize(
    "told", ['"C:\\Program Files\\Nsight\\ncu.exe" --set full app.exe', "/opt/ncu -o x ./app", " "]
)
def test_does_not_profile_the_profiler(told: str) -> None:
    report = report_of([BASIC], command_line=told, program="app")
    assert report.collect is not None
    assert report.collect.command is not None
    assert report.collect.command.count("ncu") == 1


def test_promises_less_than_the_kernels_take() -> None:
    report = report_of([STREAM, NO_FLOP, BASIC])
    times = {k.id: k.duration for k in report.kernels if k.duration}
    for action in report.actions:
        if action.gain is not None:
            most = sum(times[kernel.id] for kernel in action.kernels)
            assert 0 <= action.gain.low <= action.gain.likely <= action.gain.high < most


def test_ranks_cards_and_numbers_them_from_one() -> None:
    report = report_of([STREAM, NO_FLOP, BASIC])
    assert [action.number for action in report.actions] == [1, 2, 3][: len(report.actions)]
    assert report.actions


def test_leaves_folders_out_of_the_title() -> None:
    assert report_of([STREAM]).run.title == "profile.ncu-rep"


def test_tells_what_was_skipped_and_when() -> None:
    report = report_of([STREAM])
    assert report.skipped == (("block 7", "cut off"),)
    assert report.run.started_at == pytest.approx(1767225600.0)  # 2026-01-01 00:00 UTC


def test_tells_the_time_of_the_step_where_it_was_given() -> None:
    whole = {"skipped": 0, "skipped_reasons": None}
    untold = {c.label: c.note for c in report_of([STREAM], **whole).conditions}
    told = {c.label: c.note for c in report_of([STREAM], step_time=0.02, **whole).conditions}
    assert untold["timeline"] == "gaps between kernels are unknown"
    assert told["timeline"].replace("\N{NO-BREAK SPACE}", " ").startswith("a step takes 20.0 ms")


def test_marks_what_departs_from_the_usual() -> None:
    slow = {**NO_FLOP, "sm_clock": 0.7e9}
    conditions = {c.label: c for c in report_of([STREAM, slow], status="partial").conditions}
    assert conditions["clock spread"].departs
    assert conditions["clock spread"].value == "1 of 2 kernels differ"
    assert conditions["profile"].departs
    assert not conditions["driver"].departs
    assert conditions["driver"].value == "unknown"
    assert conditions["profile"].value == "cut off"


@pytest.mark.parametrize(
    ("told", "value", "note"),
    [
        ({"driver_version": "550.54"}, "550.54", "run-time library unknown"),
        ({"driver_version": "550.54", "runtime": "CUDA"}, "550.54", "CUDA unknown"),
        ({"runtime": "HIP", "runtime_version": "6.2"}, "unknown", "HIP 6.2"),
        ({"runtime": "HIP"}, "unknown", "not in the profile"),
    ],
)
def test_names_the_run_time_library_as_the_profile_does(
    told: dict[str, str], value: str, note: str
) -> None:
    (driver,) = (c for c in report_of([STREAM], **told).conditions if c.label == "driver")
    assert (driver.value, driver.note) == (value, note)


def report_in(connection: duckdb.DuckDBPyConnection) -> Report:
    """Return the report of the run that a database has."""
    return build_report(
        read_source(
            connection,
            Request(run_id="run", database="a.duckdb", written_at=0.0),
            vocabulary=vocabulary_once(),
            compiled=compiled_once(),
            judgement=load_judgement(),
        )
    )


def test_gathers_the_vendor_s_findings_by_kernel() -> None:
    finding = {"run_id": "run", "launch_index": 0, "rule": "SOLBottleneck", "title": "High"}
    with run_of([STREAM]) as connection:
        for text, estimate, severity in (
            ("5 % high", 0.1, "optimization"), ("9 % high", 0.2, "optimization"), ("", None, "ok"),
        ):  # fmt: skip
            row = {**finding, "text": text, "estimate": estimate, "severity": severity}
            insert(connection, "reference_finding", row)
        report = report_in(connection)
    (vendor,) = report.kernels[0].vendor
    assert (vendor.text, vendor.estimate, vendor.launches) == ("9 % high", 0.2, 1)


def printed_messages(told: Sequence[tuple[int, str, str]]) -> Report:
    """Return the report of launches of which a page prints messages, of rules without a name."""
    with run_of([STREAM, {**STREAM, "launch_index": 1}]) as connection:
        for launch, section, message in told:
            row = {"run_id": "run", "launch_index": launch, "rule": "", "title": ""}
            row |= {"section": section, "severity": "warning", "text": message}
            insert(connection, "reference_finding", row)
        return report_in(connection)


def test_keeps_messages_apart_whose_rule_has_no_name() -> None:
    report = printed_messages(
        [
            (0, "Grid", "The grid has 7 blocks, 1.5e-2 waves."),
            (1, "Grid", "The grid has 1,024 blocks, 2.25 waves."),
            (0, "Grid", "Blocks have 40 threads."),
            (0, "Limits", "Blocks have 40 threads."),
            (0, "Pipes", "It runs 12 FP32 instructions."),
            (0, "Pipes", "It runs 3 FP64 instructions."),
        ]
    )
    (kernel,) = report.kernels
    assert [(each.section, each.text, each.launches) for each in kernel.vendor] == [
        ("Grid", "Blocks have 40 threads.", 1),
        ("Grid", "The grid has 7 blocks, 1.5e-2 waves.", 2),
        ("Limits", "Blocks have 40 threads.", 1),
        ("Pipes", "It runs 12 FP32 instructions.", 1),
        ("Pipes", "It runs 3 FP64 instructions.", 1),
    ]


def test_names_the_section_where_a_rule_has_no_name() -> None:
    told = [(0, "Grid", "Blocks have 40 threads."), (0, "", "Nothing else.")]
    report = printed_messages(told)
    markdown = render.markdown(report, None)
    assert "| Grid (warning) | Blocks have 40 threads. | none given |" in markdown
    assert "| warning | Nothing else. | none given |" in markdown
    page = render.html(report)
    assert '<td class="what"><p>Grid</p><p class="sub">Blocks have 40 threads.</p></td>' in page
    assert '<td class="what"><p class="sub">Nothing else.</p></td>' in page
    lines = [line.strip() for line in kernel_text(report, report.kernels).splitlines()]
    assert lines[lines.index("Blocks have 40 threads.") - 1] == "warning: Grid"
    assert lines[lines.index("Nothing else.") - 1] == "warning"


def test_finds_kernels_by_name_or_id() -> None:
    assert [k.id for k in report_of([STREAM, NO_FLOP], kernel="copy").kernels] == ["copy"]
    assert len(report_of([STREAM, NO_FLOP], kernel="^f<").kernels) == 2
    with pytest.raises(UsageError, match="no kernel of run run is called 'nowhere'"):
        report_of([STREAM], kernel="nowhere")
    with pytest.raises(UsageError, match="no regular expression"):
        report_of([STREAM], kernel="(")


def test_names_the_run_that_is_absent() -> None:
    with run_of([STREAM]) as connection, pytest.raises(UsageError, match="no run 'other'"):
        build_report(
            read_source(
                connection,
                Request(run_id="other", database="a.duckdb", written_at=0.0),
                vocabulary=vocabulary_once(),
                compiled=compiled_once(),
                judgement=load_judgement(),
            )
        )


def test_shows_every_fact_on_request() -> None:
    few = report_of([STREAM]).kernels[0].facts
    every = report_of([STREAM], every=True).kernels[0].facts
    assert sum(len(group.facts) for group in every) > 200
    assert sum(len(group.facts) for group in few) < 60


@pytest.mark.parametrize("launches", [[STREAM, NO_FLOP, BASIC], [BASIC], [{"duration": None}]])
def test_is_written_in_every_format(launches: list[Launch]) -> None:
    report = report_of(launches)
    assert render.html(report).rstrip().endswith("</html>")
    assert render.markdown(report, "a.svg").startswith("# ")
    assert report_text(report)
    assert kernel_text(report, report.kernels)
    assert "NaN" not in json_text(report)


def test_puts_cards_about_the_measurement_last() -> None:
    # L2 passed on 4 GB to memory and was asked for 2 GB: the counters leave something out.
    doubtful = {**STREAM, "l2_bytes": 2e9}
    report = report_of([doubtful, {**NO_FLOP, "l2_bytes": 1e9}])
    about = [action.about_measurement for action in report.actions]
    assert True in about
    assert about == sorted(about)
    assert "Start by checking why bytes grow" not in report.verdict.sentence


def test_gives_each_reason_of_a_confidence_once() -> None:
    # Whether matrix instructions ran beside the barriers, nobody counted.
    stalls = {"stall_barrier": 5.0, "warp_latency": 10.0, "issue_slot_utilization": 0.3}
    actions = report_of([STREAM, NO_FLOP, {**BASIC, **stalls}]).actions
    reasons = [action.confidence_reason for action in actions]
    assert any("not checked" in reason for reason in reasons)
    for reason in reasons:
        parts = reason.split("; ")
        assert len(parts) == len(set(parts))


def test_tells_variants_of_one_name_apart() -> None:
    # f<int> three times: two of one shape, which only ids tell apart, and one of its own.
    other = {**STREAM, "variant_id": "other", "launch_index": 3, "grid_size": 1.0}
    shapes = {"stream": "8 × 256", "other": "9 × 256", "copy": "8 × 256"}
    sides = {k: {"grid_x": float(s[0]), "block_x": 256.0} for k, s in shapes.items()}
    launches = [{**each, **sides[str(each["variant_id"])]} for each in (STREAM, NO_FLOP, other)]
    apart = {kernel.id: kernel.told_apart for kernel in report_of(launches).kernels}
    assert apart == {"stream": "8 × 256, stream", "copy": "8 × 256, copy", "other": "9 × 256"}
    assert [kernel.told_apart for kernel in report_of([STREAM]).kernels] == [""]


def test_says_over_how_many_launches_a_value_adds_up() -> None:
    again = {**STREAM, "launch_index": 1}
    (verify, *_) = [action.verify for action in report_of([STREAM, again]).actions]
    said = [line.replace("\N{NO-BREAK SPACE}", " ") for line in verify]
    # 5 ms and 4 GB each.
    assert "Time goes down (now 10.0 ms, sum of 2 launches)" in said
    assert "DRAM traffic goes down (now 8.00 GB, sum of 2 launches)" in said
    assert "launches" not in " ".join(report_of([STREAM]).actions[0].verify)


def test_does_not_leave_alone_what_it_cannot_judge() -> None:
    # Of 8.001 ms, 1 µs is of a kernel without counters; a card speaks of the others.
    launch_only: Launch = {"variant_id": "bare", "launch_index": 3, "duration": 1e-6}
    report = report_of([STREAM, NO_FLOP, BASIC, launch_only])
    bare = next(kernel for kernel in report.kernels if kernel.id == "bare")
    assert not bare.is_judged
    assert report.not_judged is not None
    assert (report.not_judged.kernel_count, report.not_judged.duration) == (1, 1e-6)
    judged = [k for k in report.kernels if k.is_judged and not k.actions]
    assert (report.left_alone.kernel_count if report.left_alone else 0) == len(judged)


def test_says_of_no_unknown_time_that_it_is_none() -> None:
    unknown = Rest(kernel_count=1, duration=None, duration_share=None, untimed=1)
    assert " ".join(unknown.sentence.split()) == "1 kernel without a time"
    some = Rest(kernel_count=3, duration=1e-3, duration_share=0.1, untimed=1)
    assert " ".join(some.sentence.split()) == (
        "3 kernels (1 without a time), 1.00 ms or 10 % of the profiled kernel time"
    )
    launch_only: Launch = {"variant_id": "bare", "launch_index": 3, "duration": None}
    report = report_of([STREAM, launch_only])
    assert report.not_judged == unknown
    for text in (report_text(report), render.html(report), render.markdown(report, None)):
        words = " ".join(text.split())
        assert "1 kernel without a time" in words
        assert "0 s or" not in words


def test_says_what_there_is_to_do_where_no_card_speaks_of_a_kernel() -> None:
    (kernel,) = report_of([STREAM]).kernels
    assert kernel.without_action == "no step found"
    assert replace(kernel, smaller=1).without_action == "1 smaller finding"
    bare = replace(kernel, limiter=None, t_sol=None)
    assert bare.without_action == "not enough counters"


def test_counts_alike_what_no_card_speaks_of() -> None:
    """Beside what could be done in a kernel stands what promises the same time: it is no other."""
    tiny: Launch = {**NO_FLOP, "duration": 2e-5, "dram_bytes": 1e7}
    report = report_of([STREAM, tiny])
    assert len(report.actions) == 1
    kernel = next(each for each in report.kernels if not each.actions)
    gaining = [each for each in kernel.results if each.outcome == "fires" and each.gain]
    assert len(gaining) == 2
    assert (kernel.without_action, report.more_actions) == ("1 smaller finding", 1)
    assert report.more_findings == "1 finding with a smaller gain"
    assert report.left_alone is not None
    assert report.left_alone.saved == gaining[0].gain.likely if gaining[0].gain else 0.0
    assert " ".join(report.left_alone.sentence.split()) == (
        "1 kernel, 20.0 µs or 0.40 % of the profiled kernel time; findings there likely save "
        "4.44 µs, too little of the run for a step"
    )
    large = replace(report.left_alone, is_too_little=False)
    assert " ".join(large.sentence.split()).endswith("findings there likely save 4.44 µs")
    more = replace(report, more_actions=3)
    assert more.more_findings == (
        "1 finding with a smaller gain, 2 with hardly a gain, or none estimated"
    )


def test_tells_a_gain_of_nothing_from_one_that_nobody_knows() -> None:
    (kernel,) = report_of([STREAM]).kernels
    found = next(each for each in kernel.results if each.outcome == "fires")
    out = replace(found, outcome="ruled out", gain=None)
    assert replace(found, gain=None).without_gain == "not estimated"
    assert replace(found, gain=Gain(low=0.0, likely=0.0, high=0.0)).without_gain == "none"
    assert (out.without_gain, replace(out, is_void=True).without_gain) == ("none", "unknown")
    for outcome in ("unknown", "not knowable here"):
        assert replace(out, outcome=outcome).without_gain == "unknown"


def test_says_that_version_and_time_of_the_profiler_are_unknown() -> None:
    untold = report_of([STREAM], profiler_version=None, started_at=None)
    told = report_of([STREAM], profiler_version="2031.2", started_at="2031-05-06")
    for report, said in (
        (untold, "ncu, version unknown, time unknown"),
        (told, "ncu 2031.2, 2031-05-06 00:00 UTC"),
    ):
        assert f"| collected | {said} |" in render.markdown(report, None)
        assert f"<dt>collected</dt><dd>{said}</dd>" in render.html(report)
    assert "· ncu, version unknown · advisor" in " ".join(report_text(untold).split())


def test_says_what_it_cannot_judge_where_no_card_is_shown() -> None:
    # Too short to be profiled again for.
    report = report_of([{"variant_id": "bare", "duration": 1e-6}])
    assert report.left_alone is None
    assert report.not_judged is not None
    for text in (report_text(report), render.html(report), render.markdown(report, None)):
        assert "Not enough counters" in text
        assert "no step found" not in text


def test_asks_for_another_profile_of_what_only_has_a_time() -> None:
    report = report_of([{"variant_id": "bare", "duration": 1e-3}])
    assert [action.rule_id for action in report.actions] == ["roofline/profile-again"]
    assert report.not_judged is None
    for text in (report_text(report), render.html(report), render.markdown(report, None)):
        assert "Profile again to see what limits it" in text
        assert "no step found" not in text


def test_parts_the_kernels_of_an_action() -> None:
    names = ("first", "second", "third")
    report = report_of([{"variant_id": each, "duration": 1e-3} for each in names])
    (heading,) = (
        line for line in render.markdown(report, None).splitlines() if line.startswith("1. **")
    )
    assert ";" not in heading.replace("; ", "")
    assert "," not in heading.replace(", ", "")


def test_says_of_which_work_an_intensity_is() -> None:
    # 1 GFLOP in fp32 and 1 in fp64 over 4 GB: 0.25 each, 0.5 together.
    mixed = {**STREAM, "flops_fp64": 1e9, "flops_fp64_source": "counted", "peak_fp64": 5e12}

    def intensities(launch: Launch) -> dict[str, tuple[object, str]]:
        (kernel,) = report_of([launch]).kernels
        facts = (fact for group in kernel.facts for fact in group.facts)
        return {fact.label: (fact.value, fact.kind) for fact in facts if fact.unit == "FLOP/B"}

    told = intensities(mixed)
    assert told["intensity, DRAM"] == (0.5, "all work")
    assert told["intensity, DRAM, FP64"][0] == told["intensity, DRAM, FP32"][0] == 0.25
    assert told["ridge point"][1] == "for its mix of work"
    assert "intensity, DRAM, FP32" not in intensities(STREAM)
