"""Terms of a change, against calculations by hand.

A kernel of 6e9 FLOP at 6e12 FLOP/s (1 ms) and 1e9 B at 2e12 B/s (0.5 ms) in 2 ms.
"""

from __future__ import annotations

import random
from dataclasses import replace
from math import log
from typing import Any

import pytest

from advisor.tracking.attribution import Format, Resource, Side, Terms, attribute

RESOURCES = (
    Resource(name="fp32", clock="sm_clock", formats=(Format(amount="flops", peak="fp32"),)),
    Resource(
        name="tensor",
        clock="sm_clock",
        counted_by="tensor_instructions",
        formats=(Format(amount="fp16", peak="t16"), Format(amount="int8", peak="t8")),
    ),
    Resource(name="dram", clock="dram_clock", formats=(Format(amount="bytes", peak="dram"),)),
    Resource(name="l2", clock="l2_clock", formats=(Format(amount="l2_bytes", peak="l2"),)),
)
BASE = Side(
    launches=10,
    duration=0.02,
    amounts={"flops": 6e9, "bytes": 1e9, "l2_bytes": 2e9},
    peaks={"fp32": 6e12, "dram": 2e12, "l2": 5e12, "t16": 60e12, "t8": 120e12},
    clocks={"sm_clock": 1.5e9, "dram_clock": 1e9, "l2_clock": 1.5e9},
)


def after(**given: Any) -> Side:
    """Return the base with amounts, peaks, clocks, launches or duration of its own."""
    side = BASE
    for name, value in given.items():
        if name in ("launches", "duration"):
            side = replace(side, **{name: value})
            continue
        for group in ("amounts", "peaks", "clocks"):
            held = getattr(side, group)
            if name in held or (
                group == "amounts" and name in ("fp16", "int8", "tensor_instructions")
            ):
                side = replace(side, **{group: {**held, name: value}})
    return side


def terms(head: Side, base: Side = BASE) -> Terms:
    found = attribute(base, head, RESOURCES, clock="sm_clock")
    assert found is not None
    assert sum(found.parts.values()) == pytest.approx(found.total, abs=1e-9)
    assert found.total == pytest.approx(log(head.duration / base.duration), abs=1e-12)
    return found


def check(found: Terms, **planted: float) -> None:
    expected = dict.fromkeys(("launches", "work", "clock", "peaks", "efficiency"), 0.0) | planted
    assert found.parts == pytest.approx(expected, abs=1e-12)


# Ten causes. What is not planted stays 0.


def test_a_clock_drop() -> None:
    # Both clocks of the multiprocessors to 4/5: the peak follows, and so does the time.
    head = after(sm_clock=1.2e9, l2_clock=1.2e9, fp32=4.8e12, l2=4e12, duration=0.025)
    check(terms(head), clock=log(1.25))


def test_more_bytes_where_memory_binds() -> None:
    base = replace(BASE, amounts={"flops": 1e9, "bytes": 2e9, "l2_bytes": 2e9})  # 1 ms of bytes
    head = replace(base, amounts={**base.amounts, "bytes": 3e9}, duration=0.03)
    check(terms(head, base), work=log(1.5))


def test_spills_add_bytes_and_cost_efficiency() -> None:
    # Bytes 1e9 → 3e9 at 2e12 take 1.5 ms, more than the 1 ms of flops: work 1.5×, time 1.8×.
    found = terms(after(bytes=3e9, duration=0.036))
    check(found, work=log(1.5), efficiency=log(1.2))
    assert (found.binding, found.binding_after) == ("fp32", "dram")


def test_a_smaller_grid_costs_efficiency_alone() -> None:
    check(terms(after(duration=0.03)), efficiency=log(1.5))


def test_a_lost_tensor_path() -> None:
    # 30e9 FLOP on the matrix pipe at 60e12 take 0.5 ms; on the vector pipe at 6e12, 5 ms.
    base = after(fp16=30e9, flops=0.0, tensor_instructions=100.0, duration=0.01)
    head = after(flops=30e9, tensor_instructions=0.0, duration=0.1)
    found = terms(head, base)
    check(found, work=log(10))
    assert (found.binding, found.binding_after) == ("tensor", "fp32")


def test_a_driver_that_costs_efficiency() -> None:
    check(terms(after(duration=0.021)), efficiency=log(1.05))


def test_a_smaller_partition() -> None:
    # Half of the multiprocessors at the same clock: 3e12 FLOP/s, so 2 ms at the roof.
    check(terms(after(fp32=3e12, dram=1e12, l2=2.5e12, duration=0.04)), peaks=log(2))


def test_more_launches() -> None:
    check(terms(after(launches=15, duration=0.03)), launches=log(1.5))


def test_a_loss_of_l2_hits() -> None:
    # Bytes 1e9 → 4e9: 2 ms at the roof instead of 1 ms.
    check(terms(after(bytes=4e9, duration=0.04)), work=log(2))


def test_less_occupancy() -> None:
    check(terms(after(duration=0.024)), efficiency=log(1.2))


# What the definitions say about odd cases.


def test_a_switch_of_the_binding_resource_by_clock_and_peak() -> None:
    # Base: fp32 1 ms, dram 0.5 ms. Head: memory clock to 1/4, so dram at P₁′ takes 2 ms; its peak
    # is 0.4e12 and not 0.5e12, so 2.5 ms. In 5 ms: E₁ = 1/2, E₂ = 2.5/5 = 1/2.
    found = terms(after(dram_clock=0.25e9, dram=0.4e12, duration=0.05))
    check(found, clock=log(2), peaks=log(1.25))
    assert (found.binding, found.binding_after) == ("fp32", "dram")


def test_formats_of_one_pipe_add_up() -> None:
    # 60e9 / 60e12 + 120e9 / 120e12 = 2 ms; then 120e9 / 60e12 + 120e9 / 120e12 = 3 ms.
    base = after(fp16=60e9, int8=120e9, tensor_instructions=1.0)
    head = after(fp16=120e9, int8=120e9, tensor_instructions=1.0, duration=0.03)
    check(terms(head, base), work=log(1.5))


def test_a_peak_known_on_one_side_stands_for_both() -> None:
    head = after(fp32=None, sm_clock=1.2e9, l2_clock=1.2e9, l2=4e12, duration=0.03)
    check(terms(head), efficiency=log(1.5))


def test_a_resource_known_on_one_side_is_left_out() -> None:
    # Without flops: dram 0.5 ms before, 1 ms after.
    found = terms(after(flops=None, bytes=2e9, duration=0.04))
    check(found, work=log(2))
    assert found.resources == ("dram", "l2")


def test_cycles_where_no_resource_is_common() -> None:
    base = replace(BASE, amounts={"flops": 6e9})
    head = replace(BASE, amounts={"bytes": 1e9}, clocks={"sm_clock": 1.2e9}, duration=0.03)
    found = terms(head, base)
    assert found.parts == pytest.approx({"launches": 0.0, "clock": log(1.25), "cycles": log(1.2)})


def test_an_unknown_clock_is_no_term() -> None:
    found = terms(
        replace(BASE, amounts={}, clocks={}, duration=0.03), replace(BASE, amounts={}, clocks={})
    )
    assert found.clock is None
    assert found.cycles == pytest.approx(log(1.5))


def test_a_time_that_is_not_known_has_no_terms() -> None:
    assert attribute(BASE, after(duration=0.0), RESOURCES, clock="sm_clock") is None


def test_adds_up_whatever_is_known() -> None:
    chance = random.Random(7)
    for _ in range(300):
        sides = []
        for _ in range(2):
            side = Side(
                launches=chance.randint(1, 9),
                duration=chance.uniform(1e-6, 1),
                amounts={n: _maybe(chance, 1e9) for n in ("flops", "bytes", "l2_bytes", "fp16")},
                peaks={n: _maybe(chance, 1e12) for n in BASE.peaks},
                clocks={n: _maybe(chance, 1e9) for n in BASE.clocks},
            )
            sides.append(side)
        terms(sides[1], sides[0])


def _maybe(chance: random.Random, size: float) -> float | None:
    return chance.choice((None, 0.0, chance.uniform(0.1, 10) * size))
