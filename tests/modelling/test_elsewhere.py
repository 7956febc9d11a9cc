"""Kernels on another device: least, likely and high worked out by hand, reasons and caveats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from advisor.hardware.devices import NOMINAL, PRACTICAL, Ceiling
from advisor.hardware.machines import Machine
from advisor.modelling.elsewhere import MeasuredWork, Predicted, TargetDevice, predict
from advisor.modelling.elsewhere_settings import ElsewhereSettings, load_settings

UNITS = {"dram": "B/s", "l2": "B/s"}


@pytest.fixture(scope="module")
def settings() -> ElsewhereSettings:
    """Return round numbers where a test works something out."""
    return replace(
        load_settings(),
        empty_launch=(("here", 1.0e-6), ("*", 2.0e-6)),
        units_of_a_block=(("paired", 2), ("*", 1)),
        same_vendor=1.5,
        other_vendor=2.0,
        no_practical_figure=1.25,
        cache_over_memory=8.0,
    )


def machine(nominal: Mapping[str, float], practical: Mapping[str, float] | None = None) -> Machine:
    ceilings = [
        Ceiling(
            resource=name,
            kind=kind,
            value=value,
            unit=UNITS.get(name, "FLOP/s"),
            basis="given",
            source="test",
            confidence="high",
        )
        for kind, values in ((NOMINAL, nominal), (PRACTICAL, practical or {}))
        for name, value in values.items()
    ]
    return Machine(
        device_id="there", name="There", memory_bytes=None, ceilings=tuple(ceilings), vendor="A"
    )


# 2 TB/s and 20 TFLOP/s, of which 80 % and 50 % are practical.
THERE = machine({"dram": 2.0e12, "vector_fp32": 20.0e12, "l2": 8.0e12},
                {"dram": 1.6e12, "vector_fp32": 10.0e12})  # fmt: skip
# Two launches took 402 µs, 2 of them empty: 400 µs for what takes 200 µs in practice here.
KERNEL = MeasuredWork(
    name="axpy",
    launches=2,
    measured=402.0e-6,
    work={"flops_fp32": 0.4e9},
    traffic={"dram": 0.16e9, "l2": 0.4e9},
    held={"dram": 200.0e-6, "vector_fp32": 100.0e-6},
    device_id="here",
    vendor="a",
    clock=1.0,
)


def on(
    settings: ElsewhereSettings, kernel: MeasuredWork = KERNEL, there: Machine = THERE
) -> Predicted:
    return predict(kernel, TargetDevice(there, settings))


def test_holds_the_share_of_the_practical_roof(settings: ElsewhereSettings) -> None:
    found = on(settings)
    assert found.low == pytest.approx(80.0e-6)  # 0.16 GB at 2 TB/s
    # 100 µs at 1.6 TB/s, twice that as here, and two empty launches of 2 µs.
    assert found.likely == pytest.approx(204.0e-6)
    assert found.high == pytest.approx(306.0e-6)
    assert (found.binding_resource, found.caveats, found.reason) == ("dram", (), None)


def test_binds_by_what_is_slow_there(settings: ElsewhereSettings) -> None:
    found = on(settings, replace(KERNEL, work={"flops_fp32": 4.0e9}))
    assert found.low == pytest.approx(200.0e-6)  # 4 GFLOP at 20 TFLOP/s
    assert found.likely == pytest.approx(804.0e-6)  # 400 µs at 10 TFLOP/s, twice, and 4 µs
    assert found.binding_resource == "vector_fp32"


def test_formats_of_the_matrix_units_add_up(settings: ElsewhereSettings) -> None:
    there = machine({"dram": 2.0e12, "tensor_fp16": 100.0e12, "tensor_tf32": 50.0e12},
                    {"dram": 1.6e12, "tensor_fp16": 100.0e12, "tensor_tf32": 50.0e12})  # fmt: skip
    work = {"flops_tensor_fp16": 10.0e9, "flops_tensor_tf32": 10.0e9}
    held = {"dram": 200.0e-6, "tensor_": 100.0e-6}
    found = on(settings, replace(KERNEL, work=work, held=held), there)
    assert found.low == pytest.approx(300.0e-6)  # 100 µs and 200 µs
    assert found.binding_resource == "tensor_tf32"


def test_is_never_likely_below_the_least(settings: ElsewhereSettings) -> None:
    found = on(settings, replace(KERNEL, measured=100.0e-6))
    assert found.low == found.likely == pytest.approx(80.0e-6)


def test_a_format_that_the_device_lacks_has_a_reason(settings: ElsewhereSettings) -> None:
    found = on(settings, replace(KERNEL, work={"flops_fp64": 1.0e9}))
    assert (found.low, found.likely, found.high) == (None, None, None)
    assert found.reason == "There has no figure for vector_fp64"


def test_a_trace_of_such_work_does_not_count(settings: ElsewhereSettings) -> None:
    work = {"flops_fp32": 0.4e9, "flops_fp64": 0.3e6}  # 0.07 %
    assert on(settings, replace(KERNEL, work=work)).likely == pytest.approx(204.0e-6)


def test_a_device_without_bandwidth_has_a_reason(settings: ElsewhereSettings) -> None:
    found = on(settings, there=machine({"vector_fp32": 20.0e12}))
    assert found.reason == "There has no figure for memory bandwidth"


def test_a_kernel_that_a_cache_binds_meets_that_cache(settings: ElsewhereSettings) -> None:
    held = {"dram": 100.0e-6, "l2": 200.0e-6}
    through = replace(KERNEL, traffic={"dram": 0.16e9, "l2": 1.6e9}, held=held)
    found = on(settings, through)
    assert found.low == pytest.approx(80.0e-6)
    assert found.likely == pytest.approx(404.0e-6)  # 1.6 GB at 8 TB/s, twice, and 4 µs
    assert found.binding_resource == "l2"
    without = machine({"dram": 2.0e12, "vector_fp32": 20.0e12})
    assert on(settings, through, without).reason == "L2 binds it, and There has no figure for it"


def test_a_share_is_held_of_the_same_resources_here_and_there(settings: ElsewhereSettings) -> None:
    # 20 GB through L2 bound it: 2.5 ms there at 8 TB/s, 5 ms here, of the 10 ms that it took. Its
    # work and memory, 0.1 ms there, explain none of that.
    kernel = replace(
        KERNEL,
        measured=10.002e-3,
        traffic={"dram": 0.16e9, "l2": 20.0e9},
        held={"dram": 0.2e-3, "l2": 5.0e-3},
    )
    assert on(settings, kernel).likely == pytest.approx(5.004e-3)


def test_a_cache_that_takes_longest_only_there_binds_it(settings: ElsewhereSettings) -> None:
    # 1.6 GB through L2 took 150 µs here, less than memory; at 8 TB/s they take 200 µs there.
    through = replace(KERNEL, traffic={"dram": 0.16e9, "l2": 1.6e9})
    found = on(settings, replace(through, held={"dram": 200.0e-6, "l2": 150.0e-6}))
    assert (found.likely, found.binding_resource) == (pytest.approx(404.0e-6), "l2")
    # Nobody timed them here, so nothing tells what share of L2 it holds.
    assert on(settings, replace(through, held={"dram": 200.0e-6})).binding_resource == "dram"


def test_work_that_nothing_here_compares_with_has_a_reason(settings: ElsewhereSettings) -> None:
    kernel = replace(KERNEL, work={"flops_fp32": 4.0e9}, held={"dram": 200.0e-6})
    found = on(settings, kernel)
    assert found.reason == "the profile lacks the peaks that its time compares with"


def test_a_grid_of_few_blocks_leaves_units_idle(settings: ElsewhereSettings) -> None:
    there = replace(THERE, unit_kind="SM", unit_count=128)
    kernel = replace(KERNEL, work={"flops_fp32": 4.0e9}, blocks=32)
    found = on(settings, kernel, there)
    assert found.low == pytest.approx(800.0e-6)  # 4 GFLOP at a quarter of 20 TFLOP/s
    # 1,600 µs at a quarter of 10 TFLOP/s, twice that as here, and 4 µs.
    assert found.likely == pytest.approx(3204.0e-6)
    assert found.caveats == ("32 blocks can keep only 32 of the 128 SMs there busy",)
    assert on(settings, replace(kernel, blocks=128), there).low == pytest.approx(200.0e-6)
    assert on(settings, replace(kernel, blocks=128), there).caveats == ()
    paired = replace(there, device_id="paired")
    assert on(settings, kernel, paired).low == pytest.approx(400.0e-6)
    assert on(settings, replace(kernel, blocks=None), there).low == pytest.approx(200.0e-6)


def test_few_blocks_leave_the_caches_of_units_idle_and_no_others(
    settings: ElsewhereSettings,
) -> None:
    there = machine({"dram": 2.0e12, "vector_fp32": 20.0e12, "l2": 8.0e12, "l1": 8.0e12},
                    {"dram": 1.6e12})  # fmt: skip
    there = replace(there, unit_kind="SM", unit_count=128)
    kernel = replace(KERNEL, traffic={"dram": 0.16e9, "l2": 1.6e9, "l1": 1.6e9}, blocks=64)
    through_l1 = replace(kernel, held={"dram": 100.0e-6, "l1": 200.0e-6})
    assert on(settings, through_l1, there).likely == pytest.approx(804.0e-6)  # at 4 TB/s
    through_l2 = replace(kernel, held={"dram": 100.0e-6, "l2": 200.0e-6})
    assert on(settings, through_l2, there).likely == pytest.approx(404.0e-6)  # at 8 TB/s


def test_another_vendor_widens_the_range(settings: ElsewhereSettings) -> None:
    found = on(settings, replace(KERNEL, vendor="B"))
    assert found.high == pytest.approx(2 * 204.0e-6)
    assert found.caveats == ("A's libraries and compiler may do the same work in another way",)


def test_a_held_clock_widens_the_range(settings: ElsewhereSettings) -> None:
    found = on(settings, replace(KERNEL, clock=0.75))
    assert found.high == pytest.approx(1.5 * 204.0e-6 / 0.75)
    assert found.caveats == ("the clock was held at 75\N{NO-BREAK SPACE}% of the rated one",)


def test_a_device_without_practical_figures_widens_the_range(settings: ElsewhereSettings) -> None:
    found = on(settings, there=machine({"dram": 2.0e12, "vector_fp32": 20.0e12}))
    # 0.16 GB at 90 % of 2 TB/s take 88.9 µs.
    assert found.likely == pytest.approx(2 * 0.16e9 / 1.8e12 + 4.0e-6)
    assert found.high == pytest.approx(1.5 * 1.25 * (found.likely or 0.0))
    assert found.caveats == ("what good kernels reach on There is not known",)


def test_a_cache_that_only_the_other_device_has_lowers_the_least(
    settings: ElsewhereSettings,
) -> None:
    there = replace(THERE, l2_bytes=100.0e6)  # a launch moves 80 MB
    found = on(settings, replace(KERNEL, cache_size=40.0e6), there)
    assert found.low == pytest.approx(20.0e-6)  # of the work: 0.4 GFLOP at 20 TFLOP/s
    assert found.likely == pytest.approx(204.0e-6)
    assert found.caveats == (
        "a launch's traffic fits the 100\N{NO-BREAK SPACE}MB of L2 there, and not the one here",
    )


def test_a_cache_that_only_this_device_has_raises_the_most(settings: ElsewhereSettings) -> None:
    there = replace(THERE, l2_bytes=40.0e6)
    found = on(settings, replace(KERNEL, cache_size=100.0e6), there)
    # All that is asked of L2, 0.4 GB, at 1.6 TB/s, twice as here, 1.5 times for the range.
    assert found.high == pytest.approx(1.5 * 2 * 250.0e-6)
    assert "of L2 here, and not the one there" in found.caveats[0]


def test_a_larger_cache_may_serve_traffic_that_was_counted(settings: ElsewhereSettings) -> None:
    there = replace(THERE, l2_bytes=70.0e6)  # a launch moves 80 MB
    found = on(settings, replace(KERNEL, cache_size=2.0e6), there)
    assert found.low == pytest.approx(80.0e-6)
    assert found.caveats == (
        "a larger L2 (70.0\N{NO-BREAK SPACE}MB there, 2.00\N{NO-BREAK SPACE}MB here) may serve some"
        " of its device-memory traffic, and it may then take less than the least time",
    )
    assert on(settings, replace(KERNEL, cache_size=70.0e6), there).caveats == ()
    # Its work alone takes 200 µs at least, with any cache.
    work = replace(KERNEL, work={"flops_fp32": 4.0e9}, cache_size=2.0e6)
    assert on(settings, work, there).caveats == ()


@pytest.mark.parametrize(
    ("lacking", "reason"),
    [
        (replace(KERNEL, measured=None), "it was not timed"),
        (
            replace(KERNEL, work=None, traffic={}),
            "the profile counts neither its work nor its traffic",
        ),
        (
            replace(KERNEL, work=None, memory_side=None),
            "the profile does not count its work, and memory is not what limits it",
        ),
        (
            replace(KERNEL, traffic={}, memory_side=True),
            "the profile does not count its traffic, and compute is not what limits it",
        ),
        (
            replace(KERNEL, held={}),
            "the profile lacks the peaks that its time compares with",
        ),
    ],
)
def test_a_profile_that_says_too_little_has_a_reason(
    lacking: MeasuredWork, reason: str, settings: ElsewhereSettings
) -> None:
    found = on(settings, lacking)
    assert (found.low, found.likely, found.high, found.reason) == (None, None, None, reason)


def test_memory_alone_is_enough_where_memory_is_the_busiest_side(
    settings: ElsewhereSettings,
) -> None:
    found = on(settings, replace(KERNEL, work=None, memory_side=True))
    assert found.likely == pytest.approx(204.0e-6)
    assert found.caveats == ("its work was not counted; memory is its busiest side",)


def test_the_shipped_settings_know_how_many_units_a_block_may_use() -> None:
    shipped = load_settings()
    assert shipped.busy("nvidia-rtx-4090", 64, 128) == 0.5
    assert shipped.busy("nvidia-rtx-4090", 1000, 128) == 1
    assert shipped.busy("amd-rx-7900-xtx", 24, 96) == 0.5  # two of a work-group processor
    assert shipped.busy("nvidia-rtx-4090", None, 128) == shipped.busy("other", 1, None) == 1


def test_the_shipped_settings_know_the_time_of_an_empty_launch() -> None:
    shipped = load_settings()
    assert shipped.empty("nvidia-h100-sxm5-80gb") == pytest.approx(1.5e-6)
    assert shipped.empty("reported-NVIDIA-thing") == pytest.approx(1.5e-6)
    assert shipped.empty("amd-mi300x") == pytest.approx(4.2e-6)
    assert shipped.empty("amd-mi250x") == pytest.approx(2.2e-6)
    assert shipped.empty("draft") == pytest.approx(2.0e-6)
