"""A kernel at a roof is told to stop or to move fewer bytes, whatever else keeps it busy."""

from __future__ import annotations

from itertools import product

from tests.reports.test_view import STREAM, Launch, report_of

L1 = (None, 0.3, 0.82, 0.99)
USED = (None, 8.0, 25.0, 32.0)  # bytes of a sector of 32
SHARED = (None, 0.0, 4096.0)
REACHED = (4.1e9, 4.4e9, 4.6e9, 4.95e9)  # bytes in 5 ms under a roof of 1 TB/s

FIRST = {
    "roofline/stop",
    "roofline/dram-bound",
    # What goes before the volume of the bytes, each by what it found itself.
    "memory/uncoalesced-loads",
    "memory/uncoalesced-stores",
    "memory/excess-sectors",
    "memory/scattered-accesses",
}


def test_some_advice_is_left_at_the_roof_of_device_memory() -> None:
    launches: list[Launch] = [
        {
            **STREAM,
            "variant_id": f"kernel-{number}",
            "launch_index": number,
            "dram_bytes": moved,
            "dram_utilization": moved / 5e9,
            "memory_utilization": moved / 5e9,
            "l1_utilization": l1,
            "global_load_bytes_per_sector": loads,
            "global_store_bytes_per_sector": stores,
            "shared_memory_static": shared,
        }
        for number, (moved, l1, loads, stores, shared) in enumerate(
            product(REACHED, L1, USED, USED, SHARED)
        )
    ]
    kernels = report_of(launches).kernels
    assert len(kernels) == len(launches)
    without = [
        kernel.id
        for kernel in kernels
        if not FIRST & {found.rule_id for found in kernel.results if found.outcome == "fires"}
    ]
    assert without == []
