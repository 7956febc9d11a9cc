"""Access efficiency, warp states, divergence, balance: worked out by hand."""

from __future__ import annotations

import duckdb
import pytest

from tests.support.facts import facts_of, kernels_of, vocabulary_once


def test_a_quarter_of_each_sector_is_used() -> None:
    facts = facts_of(global_load_bytes_per_sector=8.0, global_store_bytes_per_sector=32.0)
    assert facts["load_efficiency"] == pytest.approx(0.25)
    assert facts["store_efficiency"] == 1


def test_bytes_that_lanes_share_are_used_once() -> None:
    # A broadcast: 32 lanes of 4 bytes read one sector, counted as 128 bytes of 32.
    assert facts_of(global_load_bytes_per_sector=128.0)["load_efficiency"] == 1


def test_sectors_per_request_are_those_of_all_launches() -> None:
    (kernel,) = kernels_of(
        [
            {"duration": 1.0, "global_load_sectors": 400.0, "global_load_requests": 100.0},
            {"duration": 1.0, "global_load_sectors": 3200.0, "global_load_requests": 100.0},
        ]
    )
    assert kernel["load_sectors_per_request"] == pytest.approx(18)


@pytest.mark.parametrize("kind", ["load", "store"])
def test_an_access_takes_one_sector_at_least(kind: str) -> None:
    def waste(used: float | None, sectors: float | None) -> float | str | None:
        facts = facts_of(duration=1.0, **{
            f"global_{kind}_bytes_per_sector": used,
            f"global_{kind}_requests": None if sectors is None else 10.0,
            f"global_{kind}_sectors": None if sectors is None else 10.0 * sectors,
        })  # fmt: skip
        return facts[f"{kind}_waste"]

    # 32 threads of one byte use 1 of 32 bytes in each of 8 sectors, and need one of the 8.
    assert waste(1.0, 8.0) == pytest.approx(7 / 8)
    assert waste(16.0, 8.0) == pytest.approx(1 / 2)
    assert waste(8.0, None) == pytest.approx(3 / 4)
    assert waste(8.0, 0.5) == 0  # half of the requests fetch nothing
    assert waste(None, 8.0) is None
    # The widest accesses take 16; of 4 bytes a thread, 4 would do.
    assert waste(None, 16.0) is None
    assert waste(None, 32.0) == pytest.approx(7 / 8)


def test_full_coalescing_would_save_three_quarters() -> None:
    facts = facts_of(duration=1.0, global_l2_sectors=400.0, global_l2_sectors_ideal=100.0)
    assert facts["excess_sector_share"] == pytest.approx(0.75)


def test_conflicts_of_loads_are_a_share_of_their_passes_where_stores_were_not_counted() -> None:
    one = facts_of(duration=1.0, shared_load_conflicts=30.0, shared_load_wavefronts=40.0)
    assert one["shared_conflict_share"] == pytest.approx(0.75)
    other = facts_of(duration=1.0, shared_store_conflicts=10.0, shared_store_wavefronts=40.0)
    assert other["shared_conflict_share"] == pytest.approx(0.25)


def test_passes_are_instructions_and_their_conflicts_where_they_were_not_counted() -> None:
    loads = {"duration": 1.0, "shared_load_requests": 10.0, "shared_load_conflicts": 30.0}
    assert facts_of(**loads)["shared_conflict_share"] == pytest.approx(0.75)
    assert facts_of(**loads, shared_load_wavefronts=60.0)["shared_conflict_share"] == 0.5
    stores = {"shared_store_requests": 40.0, "shared_store_conflicts": 0.0}
    assert facts_of(**loads, **stores)["shared_conflict_share"] == pytest.approx(0.375)
    alone = facts_of(duration=1.0, shared_store_requests=10.0, shared_store_conflicts=30.0)
    assert alone["shared_conflict_share"] == pytest.approx(0.75)
    # Operands of matrix instructions are loaded by instructions of their own.
    assert facts_of(**loads, flops_tensor_fp16=1.0)["shared_conflict_share"] is None


def test_a_message_tells_how_much_of_the_traffic_is_local() -> None:
    assert facts_of(duration=1.0, local_share_told=0.4)["local_traffic_share"] == 0.4
    counted = {"local_load_sectors": 1.0, "local_store_sectors": 1.0, "l1_bytes": 128.0}
    assert facts_of(duration=1.0, local_share_told=0.4, **counted)["local_traffic_share"] == 0.5


def test_shared_atomics_take_turns() -> None:
    counted: dict[str, float] = {"duration": 1.0, "shared_atomics": 100.0}
    counted |= {"shared_atomic_wavefronts": 800.0, "sm_count": 10.0, "sm_elapsed_cycles": 200.0}
    facts = facts_of(**counted)
    assert facts["shared_atomic_ways"] == pytest.approx(8)
    assert facts["shared_atomic_time_share"] == pytest.approx(0.4)  # 800 passes in 2,000 cycles
    half = facts_of(**counted, sm_busy=0.5)
    assert half["shared_atomic_time_share"] == pytest.approx(0.8)
    turing = facts_of(**counted, compute_capability=7.5)  # where each pass takes two cycles
    assert turing["shared_atomic_time_share"] == pytest.approx(0.8)


def test_a_global_atomic_touches_sectors() -> None:
    facts = facts_of(duration=1.0, global_atomics=100.0, global_atomic_sectors=3200.0)
    assert facts["atomic_sectors_per_request"] == pytest.approx(32)


def test_shuffles_are_a_share_of_instructions_and_of_their_queue() -> None:
    queue: dict[str, float] = {"shuffle_instructions": 50.0, "shared_load_requests": 20.0}
    queue |= {"shared_store_requests": 10.0, "instructions_executed": 250.0, "duration": 1.0}
    facts = facts_of(**queue)
    assert facts["shuffle_share"] == pytest.approx(0.2)
    assert facts["shuffle_queue_share"] == pytest.approx(50 / 80)
    others = facts_of(**queue, shared_atomics=8.0, special_function_instructions=12.0)
    assert others["shuffle_queue_share"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("changed", "turns"),
    [
        ({}, True),
        ({"shared_store_requests": 49.0, "shared_load_requests": 98.0}, False),  # few are staged
        ({"shared_store_requests": 50.0, "shared_load_requests": 100.0}, True),
        ({"shared_store_requests": 200.0, "shared_load_requests": 400.0}, True),
        ({"shared_store_requests": 201.0, "shared_load_requests": 402.0}, False),
        ({"shared_load_requests": 199.0}, False),
        ({"shared_load_requests": 200.0}, True),
        ({"stall_long_scoreboard": 1.4}, False),
        ({"stall_long_scoreboard": 1.5}, True),
        ({"stall_barrier": 1.4}, False),
        ({"stall_barrier": 1.5}, True),
        ({"stall_barrier": None}, False),
    ],
)
def test_loads_barriers_and_arithmetic_take_turns(
    changed: dict[str, float | None], turns: bool
) -> None:
    tiles = {"global_load_requests": 100.0, "shared_store_requests": 100.0, "duration": 1.0}
    tiles |= {"shared_load_requests": 1000.0, "warp_latency": 10.0}
    tiles |= {"stall_long_scoreboard": 2.0, "stall_barrier": 2.0}
    assert facts_of(**{**tiles, **changed})["loads_between_barriers"] is turns


def test_untimed_launches_count_where_no_other_launch_was_timed() -> None:
    each = {"grid_size": 4.0, "block_size": 64.0, "warp_size": 32.0, "shared_store_conflicts": 0.0}
    untimed = {**each, "shared_load_conflicts": 80.0}
    (alone,) = kernels_of([untimed, untimed])
    assert alone["conflicts_per_warp"] == pytest.approx(10)
    (beside,) = kernels_of([untimed, {**each, "duration": 1.0, "shared_load_conflicts": 8.0}])
    assert beside["shared_load_conflicts"] == 8


def test_a_sentence_alone_tells_that_schedulers_are_idle() -> None:
    told = {"duration": 1.0, "stall_barrier": 8.0, "warp_latency": 20.0}
    assert facts_of(**told)["told_alone"] is True
    assert facts_of(**told, compute_utilization=0.5)["told_alone"] is None
    # 12 warps for each scheduler, which 16 cycles between two instructions let issue in 75 of 100.
    main = {"stall_long_scoreboard": 12.0, "stall_short_scoreboard": 0.0, "stall_wait": 4.0}
    fit = {"occupancy_max_warps": 48.0, "sub_partitions": 4.0}
    assert facts_of(duration=1.0, stall_barrier=0.0, **main, **fit)["told_alone"] is True
    assert facts_of(duration=1.0, stall_barrier=0.0, **main)["told_alone"] is None


@pytest.mark.parametrize("state", ["membar", "branch_resolving", "tex_throttle", "no_instruction"])
def test_any_state_may_be_the_one_that_a_page_names(state: str) -> None:
    facts = facts_of(**{"duration": 1.0, f"stall_{state}": 8.0, "warp_latency": 20.0})
    assert facts["told_stall_share"] == pytest.approx(0.4)
    assert facts["told_stall"] == state
    assert facts["top_stall"] is None
    assert facts["untold_stall_share"] == pytest.approx(0.6)


def test_threads_that_branches_left_bound_those_that_predicates_left() -> None:
    facts = facts_of(duration=1.0, threads_per_instruction=8.0, warp_size=32.0)
    assert facts["divergence"] == pytest.approx(0.75)


def test_addresses_tell_conflicts_better_than_counts() -> None:
    counted = {
        "duration": 1.0,
        "shared_load_wavefronts": 80.0,
        "shared_load_requests": 10.0,
        "shared_load_conflicts": 70.0,
        "shared_store_wavefronts": 20.0,
        "shared_store_requests": 20.0,
        "shared_store_conflicts": 0.0,
    }
    facts = facts_of(**counted)
    assert facts["shared_load_ways"] == 8
    assert facts["shared_store_ways"] == 1
    assert facts["shared_excess_share"] == pytest.approx(0.7)
    facts = facts_of(**counted, shared_wavefronts=100.0, shared_wavefronts_ideal=40.0)
    assert facts["shared_excess_share"] == pytest.approx(0.6)


def test_local_memory_is_a_share_of_l1() -> None:
    # 50 + 50 sectors of 32 bytes among 12,800 bytes.
    facts = facts_of(
        duration=1.0, local_load_sectors=50.0, local_store_sectors=50.0, l1_bytes=12800.0
    )
    assert facts["local_traffic_share"] == pytest.approx(0.25)


def test_local_memory_is_no_more_than_all_where_l1_was_counted_without_it() -> None:
    # 100 local sectors beside the 60 global ones of which the bytes of L1 were counted.
    facts = facts_of(
        duration=1.0, local_load_sectors=50.0, local_store_sectors=50.0, l1_bytes=60 * 32.0,
        global_load_sectors=40.0, global_store_sectors=20.0,
    )  # fmt: skip
    assert facts["local_traffic_share"] == pytest.approx(100 / 160)


@pytest.mark.parametrize(
    ("capability", "known", "asked"),
    [
        (9.0, {"l2_read_bytes": 60.0, "l2_write_bytes": 20.0}, 80),
        (8.6, {"l2_read_bytes": 60.0, "l2_write_bytes": 20.0}, 80),
        (8.0, {}, None), (9.0, {}, None), (10.0, {}, None), (8.6, {}, 160), (12.0, {}, 160),
        (None, {}, 160),
    ],
)  # fmt: skip
def test_l2_is_asked_for_less_than_it_moves_where_it_is_split(
    capability: float | None, known: dict[str, float], asked: float | None
) -> None:
    facts = facts_of(duration=1.0, l2_bytes=160.0, compute_capability=capability, **known)
    assert facts["l2_asked_bytes"] == asked


def test_bulk_copies_store_what_no_store_counts() -> None:
    counted = {
        "duration": 1.0, "dram_write_bytes": 6400.0, "global_store_sectors": 50.0,
        "l2_write_bytes": 9600.0, "local_store_sectors": 100.0,
    }  # fmt: skip
    for capability, writes in ((8.0, 4), (None, 4), (9.0, 1), (10.0, 1)):
        facts = facts_of(**counted, compute_capability=capability)
        assert facts["writes_per_store"] == pytest.approx(writes)
    facts = facts_of(**counted | {"local_store_sectors": None}, compute_capability=9.0)
    assert facts["writes_per_store"] == pytest.approx(6400 / 9600)


@pytest.mark.parametrize(
    ("known", "exchanges"),
    [
        ("'transpose', null, null", True),
        ("'stream', 'norm', null", True),
        ("null, null, 'scan'", True),
        ("'stream', null, 'copy'", False),
        ("'reduction', null, 'reduction'", False),
        ("null, null, null", False),
    ],
)
def test_names_and_operations_tell_of_exchanges(known: str, exchanges: bool) -> None:
    tells = vocabulary_once().facts["exchanges"].expression.sql()
    names = "(named_work, named_exchange, operation)"
    with duckdb.connect() as connection:
        found = connection.execute(f"select {tells} from (values ({known})) as t{names}")
        assert found.fetchone() == (exchanges,)


def test_bytes_in_flight_that_fill_device_memory_are_those_of_cub() -> None:
    # bandwidth and multiprocessors of V100, A100, H100, H200 and B200; KiB for each multiprocessor
    devices = (
        (9e11, 80, 12),
        (1.56e12, 108, 16),
        (3.35e12, 132, 32),
        (4.8e12, 132, 48),
        (8e12, 148, 64),
    )
    for bandwidth, count, needed in devices:
        facts = facts_of(duration=1.0, peak_dram_bandwidth=bandwidth, sm_count=float(count))
        assert facts["bytes_in_flight_needed"] == pytest.approx(needed * 1024, rel=0.2)


LOCAL = {  # 80 % of L1 is local; global accesses ask for 20 kB there
    "duration": 1.0, "local_load_sectors": 2500.0, "local_store_sectors": 0.0, "l1_bytes": 1e5,
    "global_load_sectors": 600.0, "global_store_sectors": 25.0, "l1_hit_rate": 0.9,
    "l2_read_bytes": 6e4, "l2_write_bytes": 2e4, "l2_bytes": 1e5, "l2_hit_rate": 0.5,
    "dram_bytes": 4e4,
}  # fmt: skip


def test_below_l1_no_more_is_left_than_global_accesses_ask_for() -> None:
    facts = facts_of(**LOCAL)
    assert facts["l2_without_local"] == pytest.approx(0.25)  # 20 of 80 kB; hits say 0.92
    assert facts["dram_without_local"] == pytest.approx(0.5)  # 20 of 40 kB; hits say 0.96
    facts = facts_of(**LOCAL | {"l1_hit_rate": 0.0, "dram_bytes": 3e4})
    assert facts["l2_without_local"] == pytest.approx(0.2)
    assert facts["dram_without_local"] == pytest.approx(0.6)
    facts = facts_of(**LOCAL | {"l2_read_bytes": None})
    assert facts["l2_without_local"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("l1", "reads", "busy"),
    [(0.4, 6e4, 0.7), (0.8, 6e4, 0.8), (0.4, 2e4, 0.7), (0.4, 1.9e4, 0.4), (0.4, None, 0.7)],
)
def test_local_memory_keeps_l2_busy_where_most_of_that_is_local(
    l1: float, reads: float | None, busy: float
) -> None:
    """L2 is 70 % busy; 20 kB of what is read and 20 kB written there is global."""
    changed = {"l1_utilization": l1, "l2_utilization": 0.7, "l2_read_bytes": reads}
    assert facts_of(**LOCAL | changed)["local_busy"] == busy


def test_what_l2_moves_by_itself_goes_along_with_what_is_asked() -> None:
    assert facts_of(**LOCAL)["l2_read_share"] == pytest.approx(0.75)


@pytest.mark.parametrize(("passes", "ways"), [(64.0, 32), (65.0, None)])
def test_more_passes_than_threads_are_of_other_instructions(
    passes: float, ways: float | None
) -> None:
    facts = facts_of(duration=1.0, shared_load_wavefronts=passes, shared_load_requests=2.0)
    assert facts["shared_load_ways"] == ways


def test_the_top_stall_is_no_waiting_while_ready() -> None:
    facts = facts_of(
        warp_latency=20.0,
        stall_long_scoreboard=8.0,
        stall_short_scoreboard=0.5,
        stall_wait=2.0,
        stall_barrier=0.5,
        stall_not_selected=9.0,
    )
    assert facts["top_stall"] == "long_scoreboard"
    assert facts["top_stall_share"] == pytest.approx(0.4)
    assert facts["stall_share_wait"] == pytest.approx(0.1)


def test_the_states_add_up_where_the_total_is_not_stored() -> None:
    main = {"stall_long_scoreboard": 1.0, "stall_short_scoreboard": 2.0, "stall_wait": 3.0}
    facts = facts_of(**main, stall_barrier=5.0)
    assert facts["stall_total"] == 11
    assert facts["top_stall"] == "barrier"
    assert facts["top_stall_share"] == pytest.approx(5 / 11)


@pytest.mark.parametrize(("busy", "full"), [(0.79, False), (0.8, True)])
def test_a_pipe_is_full_from_four_fifths_on(busy: float, full: bool) -> None:
    assert facts_of(pipe_fma=busy, pipe_xu=0.1)["full_pipe"] is full
    assert facts_of(pipe_fma=0.1, pipe_xu=busy)["full_pipe"] is full


@pytest.mark.parametrize(
    ("state", "queue"),
    [
        *((state, True) for state in ("lg_throttle", "mio_throttle", "tex_throttle")),
        *((state, True) for state in ("math_pipe_throttle", "membar", "drain", "sleeping")),
        *((state, False) for state in ("branch_resolving", "no_instruction", "imc_miss")),
    ],
)
def test_warps_queue_where_one_state_of_a_queue_is_most_of_it(state: str, queue: bool) -> None:
    main = dict.fromkeys(("long_scoreboard", "short_scoreboard", "wait", "barrier"), 1.0)
    known = {f"stall_{name}": cycles for name, cycles in main.items()}
    facts = facts_of(warp_latency=20.0, **known, **{f"stall_{state}": 8.2})
    assert facts["top_stall"] == state
    assert facts["warps_queue"] is queue
    assert facts_of(warp_latency=20.0, **known, **{f"stall_{state}": 8.0})["warps_queue"] is False


def test_without_states_nothing_is_known_of_a_queue() -> None:
    assert facts_of(duration=1.0)["warps_queue"] is None


def test_without_a_main_state_there_are_no_shares() -> None:
    facts = facts_of(stall_wait=3.0, stall_barrier=5.0, stall_short_scoreboard=1.0)
    assert facts["stall_total"] is None
    assert facts["stall_share_wait"] is None
    assert facts["top_stall"] is None
    assert facts["top_stall_share"] is None


def test_no_states_no_stall() -> None:
    facts = facts_of(duration=1.0)
    assert facts["stall_total"] is None
    assert facts["top_stall"] is None


def test_a_stall_is_weighed_by_issued_instructions() -> None:
    # (10 × 100 + 2 × 300) / 400 = 4 cycles an instruction.
    (kernel,) = kernels_of(
        [
            {"duration": 1.0, "stall_wait": 10.0, "instructions_issued": 100.0},
            {"duration": 9.0, "stall_wait": 2.0, "instructions_issued": 300.0},
        ]
    )
    assert kernel["stall_wait"] == pytest.approx(4)


def test_half_the_lanes_do_nothing() -> None:
    facts = facts_of(predicated_threads_per_instruction=16.0, warp_size=32.0)
    assert facts["divergence"] == pytest.approx(0.5)


def test_three_of_four_additions_could_fuse() -> None:
    facts = facts_of(duration=1.0, fp32_fused=25.0, fp32_unfused=75.0)
    assert facts["unfused_share_fp32"] == pytest.approx(0.75)


def test_the_busiest_multiprocessor_sets_the_pace() -> None:
    facts = facts_of(duration=1.0, sm_active_cycles=80.0, sm_active_cycles_max=100.0)
    assert facts["sm_imbalance"] == pytest.approx(0.2)


@pytest.mark.parametrize(("duration", "short"), [(9.9e-6, True), (1.0e-5, False), (None, None)])
def test_a_launch_below_ten_microseconds_is_short(
    duration: float | None, short: bool | None
) -> None:
    assert facts_of(duration=duration)["very_short"] is short


@pytest.mark.parametrize(
    ("changed", "queues"),
    [
        ({}, True),
        ({"stall_lg_throttle": 38.0}, False),  # half of the 76 cycles, no more
        ({"l1_utilization": 0.3}, False),
        ({"l2_utilization": 0.3}, False),
        ({"dram_utilization": 0.3}, False),
        ({"dram_utilization": None}, False),
        ({"global_atomics": 1000.0}, False),
    ],
)
def test_a_full_queue_before_idle_memory_waits_for_turns(
    changed: dict[str, float | None], queues: bool
) -> None:
    page = {"warp_latency": 76.0, "stall_lg_throttle": 55.0, "l1_utilization": 0.2}
    page |= {"l2_utilization": 0.14, "dram_utilization": 0.08}
    assert facts_of(**(page | changed))["queues_for_updates"] is queues


@pytest.mark.parametrize(
    ("changed", "busy"),
    [
        ({}, True),
        ({"atomic_slice_utilization": 0.2}, True),
        ({"atomic_slice_utilization": 0.19}, False),
        ({"atomic_slice_utilization": None}, False),
        ({"compute_utilization": 0.3}, False),
        ({"l1_utilization": 0.3}, False),
        ({"l2_utilization": 0.3}, False),
        ({"dram_utilization": 0.3}, False),
        ({"global_atomics": 1000.0}, False),  # counted: other rules have them
        ({"memory_utilization": 0.9, "l1_utilization": None}, False),  # memory sets the limit
    ],
)
def test_atomics_that_one_slice_of_an_idle_l2_serves_may_meet_on_one_address(
    changed: dict[str, float | None], busy: bool
) -> None:
    launch = {"atomic_slice_utilization": 0.72, "compute_utilization": 0.08}
    launch |= {"memory_utilization": 0.13, "l1_utilization": 0.1, "l2_utilization": 0.13}
    launch |= {"dram_utilization": 0.04}
    assert facts_of(**(launch | changed))["one_slice_updates"] is busy


@pytest.mark.parametrize(
    ("changed", "seconds"),
    [
        ({}, 0.4),  # 8 % of a second for each of five
        (
            {"atomic_slice_utilization": None},
            1.28,
        ),  # a million of 32 threads, of 4 cycles at 100 MHz
        ({"sm_clock": 1e9}, 0.128),
        ({"atomic_slice_utilization": 0.9, "sm_clock": None}, 4.5),
        ({"global_atomics": None, "atomic_slice_utilization": None}, None),
    ],
)
def test_atomics_take_no_longer_than_the_busiest_slice_can_spend_on_them(
    changed: dict[str, float | None], seconds: float | None
) -> None:
    launch = {"duration": 1.0, "global_atomics": 1e6, "warp_size": 32.0, "sm_clock": 1e8}
    launch |= {"atomic_slice_utilization": 0.08}
    worst = facts_of(**(launch | changed))["atomics_at_worst"]
    assert worst == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("known", "share"),
    [
        ({"shared_load_conflicts": 800.0, "shared_store_conflicts": 200.0}, 0.1),
        ({"shared_store_conflicts": 200.0}, 0.02),
        ({"shared_wavefronts": 900.0, "shared_wavefronts_ideal": 400.0}, 0.05),
        ({"shared_store_conflicts": 200.0, "sm_busy": 0.5}, 0.04),  # on half of the device
        ({}, None),
    ],
)
def test_passes_of_conflicts_take_their_cycles(
    known: dict[str, float], share: float | None
) -> None:
    facts = facts_of(**known, sm_count=10.0, sm_elapsed_cycles=1000.0)
    assert facts["conflict_time_share"] == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(
    ("used", "excess", "wastes"),
    [
        (25.0, None, True),
        (26.0, None, False),
        (None, 80.0, True),
        (None, 100.0, False),
        (26.0, 50.0, False),
    ],
)
def test_tells_wasted_sectors_by_loads_else_by_all_accesses(
    used: float | None, excess: float | None, wastes: bool
) -> None:
    sectors = (
        {} if excess is None else {"global_l2_sectors": 101.0, "global_l2_sectors_ideal": excess}
    )
    facts = facts_of(duration=1.0, global_load_bytes_per_sector=used, **sectors)
    assert facts["wastes_sectors"] is wastes
    assert facts_of(duration=1.0)["wastes_sectors"] is None


@pytest.mark.parametrize(
    ("queue", "back", "adds_up"),
    [(2.0, 1.1, True), (2.0, 0.9, False), (3.1, 0.5, False), (0.5, 3.1, False), (2.0, None, False)],
)
def test_waits_for_shared_memory_add_up_where_a_block_keeps_data_there(
    queue: float, back: float | None, adds_up: bool
) -> None:
    states = {
        "warp_latency": 10.0,
        "stall_mio_throttle": queue,
        "stall_short_scoreboard": back,
    }
    staged = facts_of(duration=1.0, **states, shared_memory_static=4096.0)
    assert staged["shared_stalls_add_up"] is adds_up
    assert facts_of(duration=1.0, **states)["shared_stalls_add_up"] is False
