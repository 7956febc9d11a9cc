"""Messages of the profiler's rules on printed pages are read as the counters that they name."""

from __future__ import annotations

import pytest

from advisor.readers.ncu.values import counters_in

STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
HALF_UNFUSED = "This kernel executes 50 fused and 50 non-fused FP32 instructions."
EACH_WARP = "On average, each warp of this workload spends {} cycles being stalled {}"


def told(message: str, estimate: float | None = None) -> dict[str, float]:
    return counters_in([(message, estimate)])


@pytest.mark.parametrize(
    ("waiting", "state"),
    [
        ("waiting for sibling warps at a CTA barrier.", "barrier"),
        ("waiting for a scoreboard dependency on a L1TEX operation.", "long_scoreboard"),
        ("waiting for a scoreboard dependency on an L1TEX operation.", "long_scoreboard"),
        ("waiting for a scoreboard dependency on a MIO operation.", "short_scoreboard"),
        ("waiting for the MIO (memory input/output) instruction queue.", "mio_throttle"),
        ("waiting for an MIO instruction queue to be not full.", "mio_throttle"),
        ("waiting for the MIO instruction queue to be not full.", "mio_throttle"),
        ("waiting for the local/global instruction queue to be not full.", "lg_throttle"),
        ("waiting for the L1 instruction queue for local and global (LG)", "lg_throttle"),
        ("waiting for the L1 instruction queue for texture operations to be", "tex_throttle"),
        ("waiting for the L1TEX instruction queue to be not full.", "tex_throttle"),
        ("waiting on a fixed latency execution dependency.", "wait"),
        ("on a fixed latency execution dependency.", "wait"),
        ("waiting to be selected to fetch an instruction or waiting", "no_instruction"),
        ("due to not having the next instruction fetched yet.", "no_instruction"),
        ("waiting for a math execution pipeline to be available.", "math_pipe_throttle"),
        ("waiting on a memory barrier.", "membar"),
        ("waiting for a branch target to be computed, and the warp", "branch_resolving"),
        ("waiting on a dispatch stall. A warp stalled during dispatch", "dispatch_stall"),
        ("waiting for a thread in the warp to come out of the sleep state.", "sleeping"),
        (
            "due to all threads in the warp being in the blocked, yielded, or sleep state.",
            "sleeping",
        ),
        ("on a miscellaneous hardware reason.", "misc"),
        ("for a miscellaneous hardware reason.", "misc"),
        ("waiting for the micro scheduler to select the warp to issue.", "not_selected"),
        ("due to not being selected by the scheduler.", "not_selected"),
    ],
)
def test_reads_the_cycles_of_a_stall(waiting: str, state: str) -> None:
    assert told(EACH_WARP.format("18.1", waiting)) == {STALLED.format(state): 18.1}


@pytest.mark.parametrize("number", ["18,1", "1,018.1", "eighteen"])
def test_leaves_out_numbers_that_may_mean_another(number: str) -> None:
    assert told(EACH_WARP.format(number, "waiting for sibling warps at a CTA")) == {}


@pytest.mark.parametrize(
    ("pipe", "over", "counter"),
    [
        ("ALU", " based on active cycles", "sm__pipe_alu_cycles_active.avg.{}_active"),
        ("ALU", " based on elapsed cycles", "sm__pipe_alu_cycles_active.avg.{}_elapsed"),
        ("FP64", " based on active cycles", "sm__pipe_fp64_cycles_active.avg.{}_active"),
        ("FP64", " based on elapsed cycles", "sm__pipe_fp64_cycles_active.avg.{}_elapsed"),
        ("XU", " based on active cycles", "sm__inst_executed_pipe_xu.avg.{}_active"),
        ("XU", " based on elapsed cycles", "sm__inst_executed_pipe_xu.avg.{}_elapsed"),
        ("FP16", " based on active cycles", "sm__inst_executed_pipe_fp16.avg.{}_active"),
        ("LSU", " based on elapsed cycles", "sm__inst_executed_pipe_lsu.avg.{}_elapsed"),
        ("Tensor", " based on active cycles", "sm__pipe_tensor_cycles_active.avg.{}_active"),
        ("Tensor (FP)", " based on active cycles", "sm__pipe_tensor_cycles_active.avg.{}_active"),
        (
            "Tensor (INT)",
            " based on elapsed cycles",
            "sm__pipe_tensor_cycles_active.avg.{}_elapsed",
        ),
        ("FP64", ". It executes 64-bit", "sm__inst_executed_pipe_fp64.avg.{}_active"),
    ],
)
def test_reads_the_busiest_pipe(pipe: str, over: str, counter: str) -> None:
    message = f"{pipe} is the highest-utilized pipeline (41.7%){over}, taking into account"
    assert told(message) == {counter.format("pct_of_peak_sustained"): 41.7}


@pytest.mark.parametrize("over", ["active", "elapsed"])
def test_reads_the_tensor_pipe_that_shares_another(over: str) -> None:
    shared = f"Shared is the highest-utilized pipeline (91.9%) based on {over} cycles. It executes"
    counter = f"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_{over}"
    message = f"{shared} tensor operations. It's dominated by its Tensor (FP) sub-pipeline."
    assert told(message) == {counter: 91.9}
    assert told(f"{shared} it. It's dominated by its FP64 sub-pipeline.") == {}


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("waiting for the execution pipe to be available.", "math_pipe_throttle"),
        ("waiting after an EXIT instruction for all outstanding memory", "drain"),
        ("after EXIT waiting for all outstanding memory operations", "drain"),
    ],
)
def test_reads_stalls_and_the_time_between_two_instructions(words: str, state: str) -> None:
    message = EACH_WARP.format("17.6", words) + (
        " This stall type represents about 59.7% of the total average of 29.5 cycles between"
        " issuing two instructions."
    )
    assert told(message) == {
        f"smsp__average_warps_issue_stalled_{state}_per_issue_active.ratio": 17.6,
        "smsp__average_warp_latency_per_inst_issued.ratio": 29.5,
    }


def test_reads_how_much_of_each_sector_is_used() -> None:
    message = (
        "The memory access pattern for global loads from L1TEX might not be optimal. On average,"
        " only 17.1 of the 32 bytes transmitted per sector are utilized by each thread."
    )
    counter = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"
    assert told(message) == {counter: 17.1}
    assert told(message.replace("global", "local")) == {}


@pytest.mark.parametrize(("excess", "total"), [("3000", "4000"), ("3,000", "4,000")])
def test_takes_the_excess_from_the_total(excess: str, total: str) -> None:
    message = (
        f"This kernel has uncoalesced global accesses resulting in a total of {excess} excessive"
        f" sectors (75% of the total {total} sectors). Check the table."
    )
    assert told(message) == {
        "memory_l2_theoretical_sectors_global": 4000.0,
        "memory_l2_theoretical_sectors_global_ideal": 1000.0,
    }


@pytest.mark.parametrize(("kind", "op"), [("load", "ld"), ("store", "st")])
def test_reads_the_conflicts_of_shared_accesses(kind: str, op: str) -> None:
    message = (
        f"The memory access pattern for shared {kind}s might not be optimal and causes on average"
        f" a 3.0 - way bank conflict across all 20480 shared {kind} requests.This results in 40,960"
        f" bank conflicts,  which represent 66.67% of the overall 61440 wavefronts for shared"
        f" {kind}s. Check the Source Counters section."
    )
    assert told(message) == {
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum": 40960.0,
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum": 61440.0,
    }


@pytest.mark.parametrize("bits", ["32", "64"])
def test_reads_how_many_operations_stand_alone(bits: str) -> None:
    found = told(f"This kernel executes 30 fused and 70 non-fused FP{bits} instructions.")
    assert found == {f"message:fp{bits}_fused": 30, f"message:fp{bits}_unfused": 70}


@pytest.mark.parametrize(
    ("ratio", "share", "idle"),
    [
        ("32:1", "0%", True),
        ("64:1", "0%", True),
        ("32:1", "1%", False),
        ("32:1", " close to 0%", False),
        ("2:1", "0%", False),
    ],
)
def test_no_work_in_double_precision_leaves_a_token_pipe_idle(
    ratio: str, share: str, idle: bool
) -> None:
    message = (
        f"The ratio of peak float (fp32) to double (fp64) performance on this device is {ratio}."
        f" The kernel achieved  close to 1% of this device's fp32 peak performance and {share} of"
        f" its fp64 peak performance."
    )
    busy = "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"
    assert told(message) == ({busy: 0.0} if idle else {})


def test_takes_what_a_message_says_that_it_is_worth() -> None:
    assert told(HALF_UNFUSED, 0.1205)["message:fp32_worth"] == pytest.approx(12.05)
    assert "message:fp32_worth" not in told(HALF_UNFUSED)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("One or more SMs have a much higher", {"message:sm_imbalance.pct": 25.5}),
        ("One or more SMs have a much lower", {"message:sm_imbalance.pct": 25.5}),
        ("One or more SMSPs have a much higher", {}),
    ],
)
def test_reads_how_uneven_multiprocessors_are(start: str, expected: dict[str, float]) -> None:
    message = (
        f"{start} number of active cycles than the average number of active cycles. Additionally,"
        " others have a much lower number of active cycles. Maximum instance value is 25.50% above"
        " the average, while the minimum instance value is 40.00% below the average."
    )
    assert told(message) == expected


def test_reads_how_much_of_the_traffic_is_local() -> None:
    message = "This workload accesses local memory, accounting for {}% of all sectors requested in"
    assert told(message.format("12.30") + " L1TEX.") == {"message:local_share": 12.3}
    assert told(message.format("12.30") + " L2.") == {}


@pytest.mark.parametrize(("word", "op"), [("loads", "ld"), ("stores", "st")])
def test_reads_what_threads_ask_for_and_the_sectors_that_it_takes(word: str, op: str) -> None:
    message = (
        f"The memory access pattern for global {word} in L1TEX might not be optimal. On average,"
        " this kernel accesses 8.0 bytes per thread per memory request; but the address pattern,"
        " possibly caused by the stride between threads, results in 12.8 sectors per request, or"
        " 12.8*32 = 409.6 bytes of cache data transfers per request."
    )
    sectors = f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{op}.ratio"
    assert told(message) == {f"message:global_{op}_bytes": 8.0, sectors: 12.8}


def test_reads_the_blocks_of_a_grid_that_is_too_small_for_the_device() -> None:
    message = (
        "The grid for this launch is configured to execute only 24 blocks, which is less than the"
        " GPU's 36 multiprocessors. This can underutilize some multiprocessors."
    )
    assert told(message) == {"launch__grid_size": 24, "launch__sm_count": 36}


def test_says_nothing_of_other_messages() -> None:
    assert counters_in([("This workload exhibits low compute throughput.", 0.5), ("", None)]) == {}
