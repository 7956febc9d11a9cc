"""The machine model, against numbers worked out by hand from its description."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seed.simulation.execution import chain_latency, fit, run
from seed.simulation.machine import Instruction, Kernel, Machine, load_kernels, load_machine
from seed.simulation.tally import Tally, tally, waits
from seed.simulation.vendor_counters import STALLS

MACHINE = load_machine()
KERNELS = {kernel.name: kernel for kernel in load_kernels()}


def ideal(machine: Machine) -> Machine:
    """Return the machine without overhead, with units that reach their peaks side by side."""
    return replace(machine, efficiency={"others": 1.0}, launch_overhead=0.0, overlap_power=200.0)


def adds(**fields: int) -> Kernel:
    """Return a kernel of 1,000 independent fp32 adds per warp."""
    shape = {"grid": 108, "block": 1024, "registers": 32} | fields
    code = (Instruction(opcode="FADD", count=1000),)
    return Kernel(name="adds", signature="adds()", instructions=code, independent=4, **shape)


def total(name: str) -> Tally:
    return tally(run(KERNELS[name], MACHINE))


def test_it_fills_the_pipe_that_a_kernel_needs() -> None:
    # 32 warps of 1,000 adds on each multiprocessor, two warp instructions a cycle.
    assert run(adds(), ideal(MACHINE)).elapsed == pytest.approx(16_000, rel=0.01)


def test_it_pays_a_whole_round_for_one_block_too_many() -> None:
    # 64 registers: two blocks of 512 threads fit, so 216 run at once; the 217th runs on its own,
    # and its 16 warps need 8,000 cycles where two blocks needed 16,000.
    full = run(adds(grid=216, block=512, registers=64), ideal(MACHINE))
    one_more = run(adds(grid=217, block=512, registers=64), ideal(MACHINE))
    assert fit(one_more.kernel, MACHINE).fitting == 2
    assert full.elapsed == pytest.approx(16_000, rel=0.01)
    assert one_more.elapsed == pytest.approx(24_000, rel=0.01)
    # Active cycles are a mean: one multiprocessor for 24,000, the others for 16,000.
    assert one_more.active == pytest.approx(24_000 + 107 * 16_000, rel=0.01)


def test_it_waits_for_a_lone_load_as_long_as_memory_takes() -> None:
    code = (Instruction(opcode="LDG.E", count=10, in_flight=2),)
    lone = Kernel(
        name="lone", signature="lone()", grid=1, block=32, registers=16, instructions=code
    )
    # Ten loads from DRAM, 480 cycles each, two at a time; the issue is part of a load's time.
    assert sum(chain_latency(lone, MACHINE).values()) == pytest.approx(2400)
    assert run(lone, ideal(MACHINE)).elapsed == pytest.approx(2400, rel=0.01)


def test_it_streams_at_what_memory_can_reach() -> None:
    execution = total("copy_vec4_kernel").execution
    moved = (
        2 * 16_384 * 8 * 4 * 16 * 32
    )  # read and written: blocks, warps, accesses, sectors, bytes
    assert moved == 536_870_912
    peak = 1280 * 1.593e9
    assert moved / execution.duration / peak == pytest.approx(0.885, abs=0.01)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        # 232 registers: 7,424 for a warp, two warps on each of four schedulers, blocks of four.
        ("pair_forces_kernel", (2, 8, 16, 32)),
        # 168: 5,376 for a warp, three on a scheduler, blocks of eight; 73,728 + 1,024 B of 102,400.
        ("hgemm_mma_kernel", (1, 1, 8, 32)),
        # 24: 768, but at most 64 warps; eight blocks of 4,096 + 1,024 B fit into 65,536 B.
        ("transpose_tiles_kernel", (10, 12, 8, 32)),
    ],
)
def test_it_fits_as_many_blocks_as_the_hardware_would(
    name: str, limits: tuple[int, int, int, int]
) -> None:
    found = fit(KERNELS[name], MACHINE)
    assert (found.registers, found.shared, found.warps, found.blocks) == limits


def test_it_counts_the_operations_of_a_matrix_product() -> None:
    assert total("hgemm_mma_kernel").flop("tensor") == 2 * 4608 * 3840 * 4096
    tile = total("sgemm_tiled_kernel")
    assert 2 * tile.flop("ffma") == 2 * 2304 * 1536 * 2048


def test_it_moves_fewer_bytes_at_each_level_down() -> None:
    for name in KERNELS:
        totals = total(name)
        l1 = totals.sectors(lambda moved: moved.l1_sectors)
        l2 = totals.sectors(lambda moved: moved.l2_sectors)
        dram = totals.sectors(lambda moved: moved.dram_sectors)
        assert l1 >= l2 >= dram > 0, name


def test_it_explains_every_cycle_that_a_warp_waits() -> None:
    for name in KERNELS:
        totals = total(name)
        reasons = waits(totals)
        assert set(reasons) <= set(STALLS), name
        assert min(reasons.values()) >= 0, name
        assert reasons["selected"] == pytest.approx(1), name
        measured = totals.execution.warp_cycles / totals.executed
        assert sum(reasons.values()) == pytest.approx(measured), name


def test_it_refuses_to_edit_what_a_kernel_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"copy_vec4_kernel has no instruction DFMA"):
        KERNELS["copy_vec4_kernel"].changed({"DFMA": {"count": 1}})
