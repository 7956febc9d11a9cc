"""The roofline of plain numbers: by hand, and as the exercise asks for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import advisor

PEAK, BANDWIDTH = 312e12, 2.039e12  # ridge 153.0162


def analysed(**operation: Any) -> dict[str, Any]:
    (found,) = advisor.roofline_analysis([operation], PEAK, BANDWIDTH)
    return dict(found)


def test_places_a_product_under_the_memory_roof() -> None:
    # 5,771,362,304 / 92,110,848 = 62.65671...; times 2.039e12 is 127.757 TFLOP/s, 40.95 % of 312.
    found = analysed(name="gate", flops=5_771_362_304, memory_bytes=92_110_848)
    assert found["name"] == "gate"
    assert found["arithmetic_intensity"] == 62.6567
    assert found["attainable_flops"] == pytest.approx(1.277570e14, rel=1e-6)
    assert found["bound"] == "memory-bound"
    assert found["efficiency"] == 40.95
    assert found["estimated_time_s"] == 0.00004517  # 92,110,848 B / 2.039e12 B/s


def test_takes_the_ridge_itself_for_compute_bound() -> None:
    (found,) = advisor.roofline_analysis([{"flops": 10.0, "memory_bytes": 1.0}], 100.0, 10.0)
    assert found["bound"] == "compute-bound"
    assert found["efficiency"] == 100.0
    assert found["estimated_time_s"] == 0.1


def test_gives_infinite_intensity_where_no_byte_moves() -> None:
    found = analysed(flops=312e12, memory_bytes=0)
    assert found["arithmetic_intensity"] == math.inf
    assert found["attainable_flops"] == PEAK
    assert found["bound"] == "compute-bound"
    assert found["estimated_time_s"] == 1.0
    assert found["name"] == ""


def test_gives_infinite_time_where_there_is_no_work() -> None:
    found = analysed(flops=0, memory_bytes=10)
    assert (found["attainable_flops"], found["estimated_time_s"]) == (0.0, math.inf)


@pytest.mark.parametrize("peaks", [(0, 1), (1, 0), (-1, 1), (1, -1), (math.nan, 1), (1, math.inf)])
def test_refuses_a_peak_that_is_not_positive(peaks: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="must be a positive number"):
        advisor.roofline_analysis([], *peaks)


@pytest.mark.parametrize("operation", [{"flops": 1}, {"memory_bytes": 1}])
def test_refuses_a_missing_key(operation: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="operation 0 has no"):
        advisor.roofline_analysis([operation], 1, 1)


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, "7e9", None])
def test_refuses_what_is_no_amount(value: object) -> None:
    with pytest.raises(ValueError, match="operation 0: flops must be 0 or more"):
        advisor.roofline_analysis([{"flops": value, "memory_bytes": 1}], 1, 1)


def test_takes_numbers_of_numpy_as_plain_ones() -> None:
    plain = analysed(flops=12, memory_bytes=4)
    assert analysed(flops=np.int64(12), memory_bytes=np.float32(4)) == plain
    assert plain["arithmetic_intensity"] == 3


@pytest.mark.parametrize("wrong", [10**400, "1", None, True])
def test_refuses_what_no_float_holds(wrong: Any) -> None:
    with pytest.raises(ValueError, match="peak_compute must be a positive number"):
        advisor.roofline_analysis([], wrong, 1)
    with pytest.raises(ValueError, match="operation 0: flops must be 0 or more"):
        analysed(flops=wrong, memory_bytes=1)
