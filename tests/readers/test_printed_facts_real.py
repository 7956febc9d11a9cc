"""The facts of a launch are the same from its report and from what was printed of it."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from tests.support.facts import vocabulary_once
from tests.support.reports import ingested

pytestmark = [pytest.mark.real, pytest.mark.slow]

Row = dict[str, object]

# Six decimals of a number, of some in a unit a thousand times as large; two decimals.
RELATIVE = {"raw-base.csv": 1e-3, "raw.csv": 1e-3, "details.csv": 1e-2, "details.txt": 1e-2}
PERCENT = 1e-4  # difference of two percentages with two decimals
PLAIN = 1.1e-2  # quotient of two numbers with two decimals
SCALED_BYTES = 500.0  # half of the sixth decimal of a Gbyte

# FLOP and bytes per cycle are printed with two decimals.
PER_CYCLE = (
    "flops", "fp32_", "fp64_", "performance", "arithmetic_intensity", "bytes_per_flop",
    "fraction_fp", "unfused_share", "t_fp", "t_compute", "peak_l2_bandwidth", "work_done",
    "roofline_work",
)  # fmt: skip
PER_CYCLE_RELATIVE = 2e-2
# A quotient of two rates with two decimals, one of them from a tenth on.
QUOTIENTS = ("warp_latency", "stall_total")
QUOTIENTS_RELATIVE = 6e-2

# Pages tell the pipes of memory instructions together, and instructions by their issue slots.
TOLD_OTHERWISE = {"lsu_utilization", "instructions_per_warp", "work_was_removed"}
# A quotient of two percentages, of which one is next to nothing.
TOLD_OTHERWISE |= {"system_fill_share"}
# Without the stages of L1 a share of elapsed cycles may be taken for one of active ones,
# which is less.
AT_LEAST = {"l1_utilization", "memory_side"}
# Two measures of how busy device memory is, equal but for their digits.
ALIKE = {"dram", "units"}

# Facts of counters that are ratios: all pages print these with two decimals only.
TWO_DECIMALS = (
    "stall_", "shared_stall_share", "told_stall_share", "top_stall_share", "memory_stall_share",
    "waves",
    "waves_per_sm", "tail_share", "pipe_",
    "active_warps", "eligible_warps", "issue_slot_utilization", "sm_active_cycles", "warp_latency",
    "idle_slots", "missing_warps", "places_taken", "predicated_threads_per_instruction",
    "threads_per_instruction", "divergence",
)  # fmt: skip

IDENTITY = {"run_id", "variant_id", "kernel_id", "series_id", "device_id", "kernel_name"}
# Only a report says which counters make up a throughput, and what each opcode was executed.
OF_REPORTS = {
    "limiting_unit",
    "memory_side_unit",
    "compute_side_unit",
    "memory_leads",
    "shown_unit",
    "shown_share",
    "t_sol_known",
    "t_sol_complete",
    "evidence_level",
}
# A page without a device's name has no ceilings that were measured on it.
OF_REPORTS |= {"t_sol_achievable", "t_least_achievable", "roof_fraction_achievable"}
# Nor does it tell how long an empty launch takes on it: the shorter of two times is taken.
OF_REPORTS |= {"mostly_start", "start_counts", "waiting_because"}
# The time of the busiest unit is that of the busiest one that a page tells of.
OF_REPORTS |= {"t_units"}
OF_REPORTS |= {"t_sol_practical", "roof_reached", "at_practical_roof"}
# What no advice goes below rests on whether every term is known (t_sol_complete).
OF_REPORTS |= {"t_least", "t_least_practical", "roof_fraction", "wasted_time"}
# A page without device and capability is judged by the smallest device of all.
OF_REPORTS |= {"least_sm_count", "small_anywhere", "places_taken", "halves_take", "parts_take"}
# Nor does it tell how many schedulers a multiprocessor has.
OF_REPORTS |= {"enough_blocks"}
# Without what L2 reads and writes, how much of that is local is not known.
OF_REPORTS |= {"local_busy"}
# Without a duration a launch is left out of totals; a peak from a percentage near zero has no
# digits; a report's own limit may be for another carve-out of shared memory.
OF_REPORTS |= {"launches_excluded", "peak_dram_bandwidth", "blocks_by_shared_memory"}
# Facts that only rules read are made of the ones compared here: quotients of printed ratios have no
# digits left, and the largest of what is known is another where less is known.
FOR_RULES = ("advice.yaml", "knowledge.yaml")
OF_REPORTS |= {
    name for name, fact in vocabulary_once().facts.items() if Path(fact.at.name).name in FOR_RULES
}
# The mean over slices of L2 is printed with two decimals and multiplied by their number.
OF_REPORTS |= {"atomic_slice_utilization", "one_slice_updates"}
# Whether something is known is another matter on a page that has less.
OF_REPORTS |= {"main_stalls_known", "untold_stall_share"}
OF_MESSAGES = {
    "unfused_share_told_fp32",
    "unfused_share_told_fp64",
    "local_share_told",
}  # a report has the counts
# A page has the profiler's messages on accesses, also where a report has no counter of them.
OF_ACCESSES = {"global_load_bytes_per_sector", "global_store_bytes_per_sector"}
OF_ACCESSES |= {"load_efficiency", "store_efficiency", "load_waste", "store_waste"}
NOT_COMPARED = IDENTITY | OF_REPORTS | OF_MESSAGES | TOLD_OTHERWISE
# With fewer terms known, a bound is looser and says so (t_sol_known).
OF_TERMS = {"t_sol", "roof_fraction", "wasted_time", "binding_resource", "t_compute"}
OF_TERMS |= {"compute_roof_share"}
# In the first the counters have the names of 2019, in the second all failed and print as 0.
APART = ("Twisty/profile.nsight-cuprof-report", "profileMSDKT5.out.ncu-rep.raw.csv")


# Facts that agreed when this was written; a new formula may add some or take a few away.
EQUAL = {"raw-base.csv": 70_428, "raw.csv": 40_787, "details.csv": 21_800, "details.txt": 5_686}


@dataclass
class Tally:
    """What came out of comparing pages of one kind."""

    equal: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def rows(real_data: Path, real_launches: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], Row]:
    """Return every fact of every launch of the exports and of their reports, by file and launch."""
    folder = real_data / "ncu-export"
    reports = {
        str(path.relative_to(folder).with_name(path.name.rsplit(".", 2)[0]))
        for path in folder.rglob("*")
        if path.is_file()
    }
    with ingested(folder) as connection:
        printed = _by_launch(connection, "ncu-export")
    stored = _by_launch(real_launches, "ncu-rep")
    wanted = {f"ncu-rep/{report}" for report in reports}
    return printed | {key: row for key, row in stored.items() if key[0] in wanted}


def _by_launch(connection: duckdb.DuckDBPyConnection, folder: str) -> dict[tuple[str, str], Row]:
    result = connection.execute("select * from kernel_rows")
    names = [column[0] for column in result.description or ()]
    found = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    return {(f"{folder}/{row['run_id']}", str(row["variant_id"])): row for row in found}


def is_equal(kind: str, name: str, printed: object, stored: object) -> bool:
    if isinstance(printed, bool) or not isinstance(printed, (int, float)):
        return printed == stored
    if not isinstance(stored, (int, float)):
        return False
    relative = PER_CYCLE_RELATIVE if name.startswith(PER_CYCLE) else RELATIVE[kind]
    relative = QUOTIENTS_RELATIVE if name in QUOTIENTS else relative
    plain = PLAIN if name.startswith(TWO_DECIMALS) else PERCENT
    if kind == "raw.csv" and name.endswith("_bytes"):
        plain = SCALED_BYTES
    return abs(printed - stored) <= relative * abs(stored) + plain


def is_less(printed: object, stored: object) -> bool:
    return isinstance(printed, float) and isinstance(stored, float) and printed < stored


def compare(kind: str, printed: Row, stored: Row, tally: Tally) -> None:
    """Compare the facts that both know; what a page cannot tell is unknown, not wrong."""
    same_terms = printed["t_sol_known"] == stored["t_sol_known"]
    for name, value in printed.items():
        if name in NOT_COMPARED or name.endswith("_source"):
            continue
        if name == "binding_resource" and {value, stored[name]} == ALIKE:
            continue
        if name in OF_TERMS and not same_terms:
            continue
        if name == "limiter" and stored["counted_twice"] and printed["counted_twice"] is None:
            continue  # the page lacks the breakdown that shows one unit on both sides
        if name in OF_ACCESSES and stored[name] is None:
            continue
        if name in AT_LEAST and kind.startswith("details") and is_less(value, stored[name]):
            continue
        if value is None:
            tally.unknown += stored[name] is not None
        elif is_equal(kind, name, value, stored[name]):
            tally.equal += 1
        else:
            tally.wrong.append(f"{printed['run_id']}: {name}: {stored[name]!r}, {value!r}")


def test_the_facts_of_printed_pages_are_those_of_the_report(
    rows: dict[tuple[str, str], Row],
) -> None:
    tallies: dict[str, Tally] = collections.defaultdict(Tally)
    for (run, launch), printed in rows.items():
        folder, _, name = run.partition("/")
        if folder == "ncu-export" and not any(apart in run for apart in APART):
            kind = next(kind for kind in RELATIVE if name.endswith(f".{kind}"))
            stored = rows["ncu-rep/" + name.removesuffix(f".{kind}"), launch]
            compare(kind, printed, stored, tallies[kind])
    for kind, tally in tallies.items():
        print(f"\n{kind}: {tally.equal:,} facts equal, {tally.unknown:,} unknown to the page")
    wrong = [line for tally in tallies.values() for line in tally.wrong]
    assert not wrong, wrong[:20]
    assert all(tallies[kind].equal > 0.9 * EQUAL[kind] for kind in RELATIVE)
