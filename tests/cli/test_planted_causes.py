"""From a planted cause to a named rule: ten kernels, one cause each, over 26 nights of reports.

Every kernel runs on a machine whose figures are round: at 1 GHz 1e13 FLOP/s on vectors, 1e14 on
matrix units, 1e12 B/s of DRAM, 3.2e12 B/s of L2. Unless something is planted a launch of 1 ms makes
4e9 FLOP (0.4 ms), moves 5e8 B through DRAM (0.5 ms, which binds) and 1e7 sectors of 32 B through L2
(0.1 ms). Terms are worked out by hand beside each cause.

From night 11 on the code is another one and so are ten kernels; from night 16 on one kernel runs
on half of the device; from night 21 on there is another driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import pytest

from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.model import Keyed, Launch, ReportedDevice, Session
from seed.simulation.ncu_encoder import write_report

NIGHTS, CODE, PARTITION, DRIVER = 26, 11, 16, 21
SECONDS_A_DAY = 86_400
FIRST = 1_767_236_400.0  # 2026-01-01T03:00 UTC
OF_NIGHT = (1.0, 1.002, 0.998, 1.001, 0.999)  # what a night strays by, in turn
OF_LAUNCH = (0.997, 0.999, 1.001, 1.003)
TERMS = ("launches", "work", "clock", "peaks", "efficiency")


@dataclass(frozen=True, kw_only=True)
class Work:
    """A launch: seconds, FLOP, matrix instructions of 4,096 FLOP, bytes, clock [GHz], and so on."""

    duration: float = 1e-3
    flops: float = 4e9
    matrix: float = 0.0
    dram_bytes: float = 5e8
    l2_hit: float = 60.0
    clock: float = 1.0
    units: int = 100
    grid: int = 1000
    registers: int = 64
    shared: int = 0
    spilled: float = 0.0
    resident: float = 80.0
    launches: int = 4


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A kernel, what it is from a night on, the terms of that, the rule and words of the cause."""

    kernel: str
    before: Work = field(default_factory=Work)
    after: Work
    since: int = CODE
    terms: dict[str, float]
    rule: str
    words: str
    verdict: str = "regressed"


PLANTED = (
    Planted(  # every peak at 4/5, and the time follows: ×1.25
        kernel="clock_drop",
        after=Work(duration=1.25e-3, clock=0.8),
        terms={"clock": log(1.25)},
        rule="change/clock",
        words="The clocks differ: SMs ran at 1.00 GHz → 800 MHz, DRAM at 1.00 GHz → 800 MHz.",
    ),
    Planted(  # 0.5 ms of bytes become 0.75 ms
        kernel="more_bytes",
        after=Work(duration=1.5e-3, dram_bytes=7.5e8),
        terms={"work": log(1.5)},
        rule="change/traffic",
        words="The DRAM traffic changed: 500 MB → 750 MB went through DRAM per launch.",
    ),
    Planted(  # 0.5 ms of bytes become 0.6 ms; the time grows by another tenth
        kernel="spills",
        after=Work(duration=1.32e-3, dram_bytes=6e8, registers=32, spilled=1e6),
        terms={"work": log(1.2), "efficiency": log(1.1)},
        rule="change/spills",
        words="A launch stores 0 → 1,000,000 sectors to local memory; a thread uses 64 → 32",
    ),
    Planted(
        kernel="smaller_grid",
        after=Work(duration=1.5e-3, grid=25),
        terms={"efficiency": log(1.5)},
        rule="change/launch-shape",
        words="The launch shape changed: A launch has 1,000 → 25 blocks of 256 threads.",
    ),
    Planted(  # 15e6 × 4,096 FLOP take 0.6144 ms at 1e14 FLOP/s, and 6.144 ms at 1e13
        kernel="lost_tensor_path",
        before=Work(duration=1.2288e-3, flops=0.0, matrix=15e6),
        after=Work(duration=12.288e-3, flops=6.144e10),
        terms={"work": log(10)},
        rule="change/lost-tensor-path",
        words="The tensor cores are no longer used: A launch executes 15,000,000 → 0",
    ),
    Planted(  # six launches of 1 ms for four; a launch takes what it took
        kernel="more_launches",
        after=Work(launches=6),
        terms={"launches": log(1.5)},
        rule="change/launches",
        words="The number of launches changed: 4 → 6 launches in the run.",
    ),
    Planted(  # 0.5 ms of bytes become 1 ms, since fewer sectors hit in L2
        kernel="l2_loss",
        after=Work(duration=2e-3, dram_bytes=1e9, l2_hit=20.0),
        terms={"work": log(2)},
        rule="change/lost-locality",
        words="The L2 hit rate went from 60.0 % to 20.0 %; 500 MB → 1.00 GB",
    ),
    Planted(
        kernel="occupancy",
        after=Work(duration=1.2e-3, resident=40.0, shared=65_536),
        terms={"efficiency": log(1.2)},
        rule="change/lost-occupancy",
        words="Fewer warps are resident: Resident warps went from 80 % to 40 % of the maximum.",
    ),
    Planted(  # half of the multiprocessors and of the memory: every peak halves, the time doubles
        kernel="smaller_partition",
        after=Work(duration=2e-3, units=50),
        since=PARTITION,
        terms={"peaks": log(2)},
        rule="change/peaks",
        words="The device has other peaks: The device has 100 → 50 SMs; the peak bandwidth of its"
        " DRAM is 1.00 TB/s → 500 GB/s.",
    ),
    Planted(
        kernel="driver",
        after=Work(duration=1.05e-3),
        since=DRIVER,
        terms={"efficiency": log(1.05)},
        rule="change/environment-changed",
        words="driver version from 550.54 to 560.35",
        verdict="environment",
    ),
)
BESIDE = (
    Planted(  # 8e9 FLOP take 0.8 ms, 12e9 take 1.2 ms
        kernel="more_operations",
        before=Work(duration=1.6e-3, flops=8e9),
        after=Work(duration=2.4e-3, flops=1.2e10, dram_bytes=5.1e8),
        terms={"work": log(1.5)},
        rule="change/operations",
        words="A launch makes 8.00 GFLOP → 12.0 GFLOP and moves 500 MB → 510 MB through DRAM.",
    ),
    Planted(  # other code has other registers: they explain nothing where the bytes explain all
        kernel="more_bytes_and_registers",
        after=Work(duration=1.5e-3, dram_bytes=7.5e8, registers=66),
        terms={"work": log(1.5)},
        rule="change/traffic",
        words="The DRAM traffic changed: 500 MB → 750 MB went through DRAM per launch.",
    ),
)
"""More than the ten: what must not be taken for another cause."""

STEADY = tuple(f"steady_{number}" for number in range(6))
EVERY = (*PLANTED, *BESIDE)
BY_NAME = {each.kernel: each for each in EVERY}

Run = Callable[..., Any]


def launches(kernel: str, work: Work, night: int, first: int) -> Iterator[Launch]:
    """Yield the launches of a kernel; their mean is the time of its work."""
    spread = OF_LAUNCH * 3
    for place in range(work.launches):
        share = spread[place] if work.launches == len(OF_LAUNCH) else 1.0
        yield Launch(
            index=first + place,
            kernel_name=f"{kernel}(float *)",
            grid=(work.grid, 1, 1),
            block=(256, 1, 1),
            device=0,
            process=1,
            counters=counters(work, work.duration * share * OF_NIGHT[night % 5]),
            texts={"device__attribute_display_name": "Made Device"},
            keyed={
                "sass__inst_executed_per_opcode_with_modifier_all": Keyed(
                    keys=("FFMA", "HMMA.16816.F32") if work.matrix else ("FFMA",),
                    values=(work.flops / 64, work.matrix) if work.matrix else (work.flops / 64,),
                )
            },
        )


def counters(work: Work, seconds: float) -> dict[str, float]:
    part = work.units / 100
    hertz = work.clock * 1e9
    fma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
    return {
        "gpu__time_duration.sum": seconds * 1e9,
        "launch__sm_count": work.units,
        "sm__cycles_elapsed.avg.per_second": hertz,
        "dram__cycles_elapsed.avg.per_second": hertz,
        "lts__cycles_elapsed.avg.per_second": hertz,
        fma: work.flops / 2,
        fma.replace("ffma", "fadd"): 0,
        fma.replace("ffma", "fmul"): 0,
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 5000 * part,
        "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum.peak_sustained": 1e5 * part,
        "dram__bytes.sum": work.dram_bytes,
        "dram__bytes.sum.peak_sustained": 1000 * part,
        "lts__t_sectors.sum": 1e7,
        "lts__t_sectors.avg": 1e7 / (50 * part),
        "lts__t_sectors.avg.peak_sustained": 2,
        "lts__t_sector_hit_rate.pct": work.l2_hit,
        "launch__registers_per_thread": work.registers,
        "launch__shared_mem_per_block_dynamic": work.shared,
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": work.spilled,
        "sm__warps_active.avg.pct_of_peak_sustained_active": work.resident,
    }


def made_night(number: int) -> tuple[Session, list[Launch]]:
    driver = "560.35" if number >= DRIVER else "550.54"
    session = Session(
        profiler="ncu",
        profiler_version="2024.3.2.0",
        command_line="ncu --set full ./program",
        host="lab",
        driver_version=driver,
        started_at=FIRST + number * SECONDS_A_DAY,
        clock_epoch="utc",
        devices=(ReportedDevice(id=0, name="Made Device"),),
    )
    found: list[Launch] = []
    for kernel in (*BY_NAME, *STEADY):
        planted = BY_NAME.get(kernel)
        work = Work()
        if planted is not None:
            work = planted.after if number >= planted.since else planted.before
        found += launches(kernel, work, number, len(found))
    return session, found


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the database of all nights, in commits "old" and, from night 11 on, "new"."""
    folder = tmp_path_factory.mktemp("planted")
    path = folder / "planted.duckdb"
    for commit, chosen in (("old", range(CODE)), ("new", range(CODE, NIGHTS))):
        files = []
        for number in chosen:
            files.append(folder / f"{number:02}.ncu-rep")
            write_report(files[-1], *made_night(number))
        labels = RunLabels(commit=commit, branch="main")
        found = list(ingest_paths(str(path), list(map(str, files)), labels=labels, wait=10))
        assert [each.status for each in found] == ["new"] * len(files)
    return path


def asked(advisor: Run, nights: Path, *words: str) -> Any:
    found = advisor("--db", str(nights), *words, "--format", "json")
    assert found.status == 0, found.err
    return json.loads(found.out)


def around(advisor: Run, nights: Path, since: int) -> dict[str, Any]:
    """Return what ``compare`` says of every kernel between a night before and one after.

    Both strayed alike (every fifth night does), so what is planted is all that there is.
    """
    base, head = (since - 1, since + 4)
    answer = asked(
        advisor, nights, "compare", f"last~{NIGHTS - 1 - base}", f"last~{NIGHTS - 1 - head}"
    )
    return {row["kernel"]: row for row in answer["rows"]}


@pytest.mark.parametrize("planted", EVERY, ids=lambda each: each.kernel)
def test_moves_its_term_by_what_was_planted_and_is_named(
    advisor: Run, nights: Path, planted: Planted
) -> None:
    rows = around(advisor, nights, planted.since)
    row = rows[planted.kernel]
    assert row["verdict"] == planted.verdict
    terms = {name: row["terms"][name] for name in TERMS}
    assert terms == pytest.approx(dict.fromkeys(TERMS, 0.0) | planted.terms, abs=1e-9)
    assert row["terms"].get("cycles") is None
    assert row["causes"][0]["rule"] == planted.rule
    assert planted.words in row["cause"].replace("\N{NO-BREAK SPACE}", " ")
    for other in EVERY:
        if other.since != planted.since:
            assert rows[other.kernel]["verdict"] == "unchanged"
    assert {rows[kernel]["verdict"] for kernel in STEADY} == {"unchanged"}


# What a night changed shows in the history of its series; one launch of more_launches takes as long
# as before. Of the ten causes the driver alone is the environment's.
NOT_IN_HISTORY = "more_launches"


def test_history_tells_each_on_its_night_with_the_same_cause(advisor: Run, nights: Path) -> None:
    answer = asked(advisor, nights, "history")
    told = {each["kernel"]: each["changes"] for each in answer["series"]}
    assert {kernel for kernel, changes in told.items() if changes} == (
        BY_NAME.keys() - {NOT_IN_HISTORY}
    )
    for kernel, planted in BY_NAME.items():
        if kernel == NOT_IN_HISTORY:
            continue
        (change,) = told[kernel]
        assert (change["index"], change["verdict"]) == (planted.since, planted.verdict)
        size = planted.after.duration / planted.before.duration - 1
        assert change["relative"] == pytest.approx(size, abs=0.002)
        words = "driver 550.54 → 560.35" if kernel == "driver" else planted.words
        assert words in change["cause"].replace("\N{NO-BREAK SPACE}", " ")
    assert answer["machine"] is None


def test_the_report_tells_each_with_the_same_cause(advisor: Run, nights: Path) -> None:
    moved = {row["kernel"]: row for row in asked(advisor, nights, "report")["history"]["moved"]}
    assert moved.keys() == BY_NAME.keys() - {NOT_IN_HISTORY}
    for kernel, row in moved.items():
        planted = BY_NAME[kernel]
        assert planted.words in row["cause"].replace("\N{NO-BREAK SPACE}", " ")
        expected = dict.fromkeys(TERMS, 0.0) | planted.terms
        # Medians of the nights around a change: their noise stays below a fifth of a percent.
        assert {name: row["terms"][name] for name in TERMS} == pytest.approx(expected, abs=0.002)
