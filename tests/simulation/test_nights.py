"""The example runs: the same every time, small, marked, and consistent in themselves."""

from __future__ import annotations

import ast
import io
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev

import pytest
import yaml

from advisor.model import Launch, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from seed.simulation import generate
from seed.simulation.machine import HERE, load_kernels
from seed.simulation.ncu_encoder import write_report

PLAN = generate.load_plan()
EXPECTED = yaml.safe_load((HERE / "expected.yaml").read_text(encoding="utf-8"))
NAMES = [kernel.name for kernel in load_kernels()]
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"


@cache
def night(number: int) -> dict[str, Launch]:
    _, launches = generate.build_night(PLAN, number)
    return dict(zip(NAMES, launches, strict=True))


def durations(kernel: str, first: int, last: int) -> list[float]:
    """Return seconds for the nights from ``first`` to ``last``, both included."""
    nights = range(first, last + 1)
    return [night(n)[kernel].counters["gpu__time_duration.sum"] * 1e-9 for n in nights]


@pytest.mark.parametrize("number", [1, 13, 30])
def test_it_writes_the_same_bytes_again(number: int) -> None:
    stream = io.BytesIO()
    write_report(stream, *generate.build_night(PLAN, number))
    kept = generate.RUNS / f"night-{number:02}.ncu-rep"
    assert stream.getvalue() == kept.read_bytes()


def test_it_keeps_the_nights_small() -> None:
    sizes = [path.stat().st_size for path in sorted(generate.RUNS.glob("*.ncu-rep"))]
    assert len(sizes) == PLAN.count == 30
    assert max(sizes) <= 60_000
    assert sum(sizes) <= 2_000_000


def test_it_says_of_every_night_when_it_was_and_what_it_ran(tmp_path: Path) -> None:
    few = generate.Plan(**(vars(PLAN) | {"count": 2}))
    generate.write_nights(tmp_path, few)
    listed = yaml.safe_load((generate.RUNS / "runs.yaml").read_text(encoding="utf-8"))["runs"]
    again = yaml.safe_load((tmp_path / "runs.yaml").read_text(encoding="utf-8"))["runs"]
    assert listed[:2] == again
    assert [run["file"] for run in listed] == sorted(
        path.name for path in generate.RUNS.glob("*.ncu-rep")
    )
    assert [run["at"] for run in listed] == sorted(run["at"] for run in listed)
    assert all(len(run["commit"]) == 40 and run["branch"] == "main" for run in listed)
    assert all(run["note"].startswith("simulated") for run in listed)
    changed = [now["commit"] != then["commit"] for then, now in pairwise(listed)]
    assert [n for n, new in enumerate(changed, start=2) if new] == [4, 8, 13, 17, 20, 27]


def test_it_is_read_back_as_it_was_built_and_is_marked_as_simulated() -> None:
    source = Source.from_path(generate.RUNS / "night-24.ncu-rep")
    options = ReadOptions(instructions=frozenset({"inst_executed"}))
    records = list(ncu_report.read(source, options))
    session = records[0]
    assert isinstance(session, Session)
    assert session.simulated
    assert session.driver_version == "560.35.03"
    assert session.devices[0].name == "NVIDIA A100-SXM4-80GB"
    launches = [record for record in records if isinstance(record, Launch)]
    for built, read in zip(night(24).values(), launches, strict=True):
        assert read.kernel_name == built.kernel_name
        assert dict(read.counters) == pytest.approx(dict(built.counters))
        assert read.instructions["inst_executed"] == built.instructions["inst_executed"]


@pytest.mark.parametrize("name", NAMES)
def test_it_stores_counters_that_agree_with_each_other(name: str) -> None:
    launch = night(1)[name]
    values = launch.counters
    seconds = values["gpu__time_duration.sum"] * 1e-9
    moved = values["dram__bytes_read.sum"] + values["dram__bytes_write.sum"]
    rate, clock = values["dram__bytes.sum.per_second"], "dram__cycles_elapsed.avg.per_second"
    assert moved == pytest.approx(rate * seconds, rel=1e-4)
    peak = values["dram__bytes.sum.peak_sustained"] * values[clock]
    assert values["gpu__dram_throughput" + ELAPSED] == pytest.approx(100 * rate / peak, rel=1e-9)
    stalled = [v for n, v in values.items() if n.startswith("smsp__average_warps_issue_stalled_")]
    latency = values["smsp__average_warp_latency_per_inst_issued.ratio"]
    assert len(stalled) == 18
    assert sum(stalled) == pytest.approx(latency, rel=1e-6)
    issued = values["smsp__issue_active.avg.per_cycle_active"]
    assert values["smsp__warps_active.avg.per_cycle_active"] == pytest.approx(latency * issued)
    for name_, members in launch.texts.items():
        if name_.startswith("breakdown:"):
            largest = max(values[member] for member in members.split(","))
            assert values[name_.removeprefix("breakdown:")] == largest
    shares = [value for counter, value in values.items() if ".pct" in counter]
    assert all(0 <= value <= 100 for value in shares)
    opcodes = launch.keyed["sass__inst_executed_per_opcode_with_modifier_all"].values
    assert sum(opcodes) == pytest.approx(values["smsp__inst_executed.sum"], rel=1e-6)


def test_it_plants_one_thing_in_every_kernel() -> None:
    assert list(EXPECTED["kernels"]) == NAMES


def test_it_regresses_when_a_commit_moves_more_bytes() -> None:
    before, after = durations("layer_norm_kernel", 1, 12), durations("layer_norm_kernel", 13, 30)
    # Four loads and two stores became seven and two: 9 / 6 of the bytes, at the same rate.
    assert mean(after) / mean(before) == pytest.approx(1.5, rel=0.02)
    assert max(before) < min(after)
    read = [night(n)["layer_norm_kernel"].counters["dram__bytes_read.sum"] for n in (12, 13)]
    assert read[1] / read[0] == pytest.approx(7 / 4)


def test_it_improves_when_spills_go() -> None:
    before, after = (
        durations("stencil_heat3d_kernel", 1, 19),
        durations("stencil_heat3d_kernel", 20, 30),
    )
    assert max(after) < 0.5 * min(before)
    spilt = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"
    loads = [night(n)["stencil_heat3d_kernel"].counters[spilt] for n in (19, 20)]
    assert loads[1] / loads[0] == pytest.approx(1 / 4)


def test_it_computes_faster_with_the_new_driver_and_streams_as_before() -> None:
    for name, ratio in (("sgemm_tiled_kernel", 1275 / 1290), ("copy_vec4_kernel", 1.0)):
        before, after = durations(name, 1, 23), durations(name, 24, 30)
        assert mean(after) / mean(before) == pytest.approx(ratio, abs=0.004), name


def test_it_scatters_a_little_and_only_a_little() -> None:
    changed = {"layer_norm_kernel", "stencil_heat3d_kernel"}
    for name in set(NAMES) - changed:
        values = durations(name, 1, 23)
        assert 0.0005 < stdev(values) / mean(values) < 0.01, name


def test_it_shares_nothing_with_the_rules_that_judge_it() -> None:
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        }
        ours = {module for module in imported if module.startswith("advisor")}
        assert ours <= {"advisor.model", "advisor.readers.ncu"}, path.name
