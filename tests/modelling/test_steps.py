"""Steps: whom they mean, what they change, and what fused operations come to."""

from __future__ import annotations

import pytest

from advisor.errors import UsageError
from tests.modelling.conftest import Model

TWO = """\
devices:
  - name: made up
    ceilings: {dram: 1.0e+12, l2: 4.0e+12, tensor_bf16: 1.0e+14, vector_fp32: 1.0e+13}
sizes: {batch: 1}
per: batch
work: tensor_bf16
operations:
  - {name: first, work: vector_fp32, flops: batch * 40, bytes: batch * 3, writes: batch}
  - {name: second, flops: batch * 800, bytes: batch * 5, writes: batch * 2}
steps:
"""
FUSE = "  - {name: fuse, fuse: [first, second]}\n"


def test_fused_bytes_fall_by_twice_what_the_first_writes(written: Model) -> None:
    (step,) = written(TWO + FUSE).results[0].steps
    assert (step.flops, step.bytes) == (840, 6)


def test_of_unlike_work_the_slower_pipe_counts(written: Model) -> None:
    # 40 FLOP at 10 TFLOP/s take 4 ps, 800 at 100 take 8 ps; 6 B at 1 TB/s take 6 ps.
    (fused,) = written(TWO + FUSE).results[0].steps[0].operations
    assert fused.work == fused.binding_resource == "tensor_bf16"
    assert (fused.bound, fused.time) == ("compute", pytest.approx(8e-12))
    # The peak of this mix: 840 FLOP in 8 ps.
    assert fused.ridge_point == pytest.approx(840 / 8e-12 / 1e12)
    vector = TWO.replace("batch * 40,", "batch * 100,")
    (fused,) = written(vector + FUSE).results[0].steps[0].operations
    assert (fused.work, fused.time) == ("vector_fp32", pytest.approx(10e-12))


def test_later_steps_reach_into_what_is_fused(written: Model) -> None:
    more = "  - {name: more, sizes: {batch: 3}}\n"
    found = written(TWO + FUSE + more).results[0].steps[-1]
    assert (found.bytes, found.time_per_unit) == (18, pytest.approx(8e-12))


def test_what_is_fused_has_one_reuse(written: Model) -> None:
    reuse = "  - {name: tile, where: {name: first + second}, reuse: 2, served_by: l2}\n"
    (fused,) = written(TWO + FUSE + reuse).results[0].steps[-1].operations
    # 6 B: 3 ps from DRAM, 1.5 ps from L2, and 8 ps of arithmetic.
    assert (fused.bytes, fused.time) == (6, pytest.approx(8e-12))
    assert fused.share_of_bandwidth == pytest.approx(3 / 8)
    apart = "  - {name: tile, where: {name: first}, reuse: 2}\n"
    with pytest.raises(UsageError, match="differ in their reuse"):
        written(TWO + apart + FUSE)


def test_ranks_by_speed_up_per_result(written: Model) -> None:
    steps = "  - {name: fuse, fuse: [first, second]}\n  - {name: lower, collectives: 0.5}\n"
    fuse, lower = written(TWO + steps).results[0].steps
    # Before: 4 ps, as 40 FLOP on the vector pipe, and 8 ps; fused 8 ps.
    assert fuse.speedup == pytest.approx(12 / 8)
    assert (lower.speedup, lower.cumulative) == (pytest.approx(0.5), pytest.approx(0.75))
    assert (fuse.rank, lower.rank) == (1, 2)


def test_means_operations_by_pattern(written: Model) -> None:
    step = "  - {name: all, where: {name: '*'}, work: vector_fp32}\n"
    found = written(TWO + step).results[0].steps[0].operations
    assert {each.work for each in found} == {"vector_fp32"}


def test_the_ridge_itself_is_compute(written: Model) -> None:
    text = TWO.replace("batch * 800", "batch * 500").removesuffix("steps:\n")
    second = written(text).results[0].operations[1]
    assert (second.arithmetic_intensity, second.ridge_point, second.bound) == (100, 100, "compute")
