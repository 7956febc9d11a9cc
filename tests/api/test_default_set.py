"""Reports made with the profiler's default set still give advice, and the command for the rest.

The default set holds the two utilisations, launch statistics and occupancy, and nothing else: most
profiles that people send are like that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.api.querying import run_query
from advisor.api.reporting import load_report

REPORTS = (  # of ten GPUs or programs, 2020 to 2026
    "Abhishek7204__raytracingCuda/at-4679e770/profile.ncu-rep",
    "AlpriElse__cs599k/profile.ncu-rep",
    "AveryClapp__ESMM-Research/at-a62323b2/profile.ncu-rep",
    "DarrenLu666888__CUDATutorial/profile.ncu-rep",
    "F-Sossi__Two_body_project/profile.ncu-rep",
    "RottenFishbone__rs-wfc/profile.ncu-rep",
    "bwd29__self-join-MiSTIC/profile8.out.ncu-rep",
    "josiahls__cuda_learning_mojo/profile.ncu-rep",
    "piragi__fuzigrad/output.ncu-rep",
    "strrules105__PhysiCell/profile.nsight-cuprof-report",
)
NEEDS_NO_MORE = {"launch/small-grid", "launch/partial-warp", "occupancy/registers"}


@pytest.mark.real
def test_gives_limiter_launch_and_occupancy_advice_and_one_command(
    real_database: Path, real_data: Path
) -> None:
    with run_query(str(real_database), "select name, run_id from runs", wait=10) as answer:
        runs = dict(answer.rows)
    units = "select run_id, variant_id, limiting_unit from kernels"
    with run_query(str(real_database), units, wait=10) as answer:
        limiting = {(run, variant): unit for run, variant, unit in answer.rows}
    voided, starts = [], []
    for name in REPORTS:
        run = runs[str(real_data / "ncu-rep" / name)]
        report = load_report(str(real_database), run, wait=10)
        first = report.kernels[0]
        assert first.limiter in ("memory", "compute", "latency", "balanced"), name
        assert limiting[run, first.id], name
        undecided = {result.rule_id for result in first.results if result.outcome == "unknown"}
        assert undecided.isdisjoint(NEEDS_NO_MORE), name
        if report.actions and report.actions[0].rule_id == "validity/debug-build":
            voided.append(name)  # to be built anew before it is profiled again
            continue
        assert report.collect is not None, name
        if report.collect.command is None:
            # Launches that are mostly their start: no counter would change the advice.
            assert report.actions[0].rule_id == "launch/very-short", name
            starts.append(name)
            continue
        assert report.collect.command.startswith("ncu --section "), name
        said = [result.rule_id for result in first.results if result.outcome == "fires"]
        print(f"{name}: {first.limiter}, {limiting[run, first.id]}, {said}")
    assert len(voided) + len(starts) < len(REPORTS) / 2
