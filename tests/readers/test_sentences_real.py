"""Messages of the profiler's rules name the numbers that the same launches store as counters."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.model import Launch
from advisor.readers import ReadOptions, Source
from advisor.readers.ncu import report as ncu_report
from advisor.readers.ncu.values import counters_in, load_sentences

pytestmark = pytest.mark.real

_HALF_OF_THE_LAST_DIGIT = 0.051  # messages give one digit behind the point
_LEAST_PLACES = 60


def launches(folder: Path) -> list[Launch]:
    found: list[Launch] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        source = Source.from_path(path)
        try:
            records = [*ncu_report.read(source, ReadOptions(allow_truncated=True))]
        except InputError:
            continue
        found += [record for record in records if isinstance(record, Launch)]
    return found


def test_messages_say_what_counters_hold(real_data: Path) -> None:
    compared: Counter[str] = Counter()
    for launch in launches(real_data / "ncu-rep"):
        for finding in launch.reference_findings:
            for counter, value in counters_in([(finding.text, finding.estimate)]).items():
                if counter in launch.counters:
                    near = pytest.approx(launch.counters[counter], abs=_HALF_OF_THE_LAST_DIGIT)
                    assert value == near, (counter, finding.text)
                    compared[counter] += 1
    assert compared.total() >= _LEAST_PLACES, compared
    assert compared.keys() <= {sentence.counter for sentence in load_sentences()}


def test_messages_tell_shares_that_counters_give(real_data: Path) -> None:
    of_threads = "smsp__sass_thread_inst_executed_op_{kind}{name}_pred_on.sum.per_cycle_elapsed"
    compared = 0
    for launch in launches(real_data / "ncu-rep"):
        told = counters_in((each.text, each.estimate) for each in launch.reference_findings)
        for bits, kind in (("fp32", "f"), ("fp64", "d")):
            names = [of_threads.format(kind=kind, name=name) for name in ("add", "mul", "fma")]
            if f"message:{bits}_unfused" not in told or not launch.counters.keys() >= {*names}:
                continue
            unfused, fused = told[f"message:{bits}_unfused"], told[f"message:{bits}_fused"]
            added, multiplied, both = (launch.counters[name] for name in names)
            counted = (added + multiplied) / (added + multiplied + both)
            assert unfused / (unfused + fused) == pytest.approx(counted, abs=0.06)
            compared += 1
    assert compared >= 10  # by hand: warps whose threads are idle in part are all that differs


def test_unfused_instructions_tell_how_busy_their_pipe_is(real_data: Path) -> None:
    busy = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"
    compared = 0
    for launch in launches(real_data / "ncu-rep"):
        told = counters_in((each.text, each.estimate) for each in launch.reference_findings)
        if "message:fp32_worth" not in told or busy not in launch.counters:
            continue
        both = told["message:fp32_fused"] + told["message:fp32_unfused"]
        found = 2 * told["message:fp32_worth"] * both / told["message:fp32_unfused"]
        assert found == pytest.approx(launch.counters[busy], rel=1e-3)
        compared += 1
    assert compared >= 9


def test_messages_tell_how_far_the_mean_multiprocessor_is_behind_the_busiest(
    real_data: Path,
) -> None:
    compared = 0
    for launch in launches(real_data / "ncu-rep"):
        told = counters_in((each.text, each.estimate) for each in launch.reference_findings)
        busiest = launch.counters.get("sm__cycles_active.max")
        if busiest and "message:sm_imbalance.pct" in told:
            counted = 1 - launch.counters["sm__cycles_active.avg"] / busiest
            assert told["message:sm_imbalance.pct"] == pytest.approx(100 * counted, abs=0.006)
            compared += 1
    assert compared >= 2  # by hand
