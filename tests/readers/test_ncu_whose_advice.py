"""Messages of the profiler's rules on pages: which launch they are of."""

from __future__ import annotations

import pytest

from advisor.model import Launch, ReferenceFinding, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
TABLE = """\
    Section: Command line profiler metrics
    -------------------------------------------------------- ----------- ------------
    Metric Name                                              Metric Unit Metric Value
    -------------------------------------------------------- ----------- ------------
    {}{:>26}
    -------------------------------------------------------- ----------- ------------

"""
KERNEL = "  {} (12, 1, 1)x(96, 1, 1), Context 1, Stream 7, Device 0, CC 8.7\n"
RULE = """\
    OPT   Est. Local Speedup: 71.5%
          The pattern for shared loads causes on average a 3.5 - way bank conflict across all 800
          requests. This results in {} bank conflicts,  which represent 71.43% of the overall 2800
          wavefronts for shared loads.
"""
UNCLEAR = "messages of which the launch is not certain: "


def launch(name: str, conflicts: int) -> str:
    return KERNEL.format(name) + TABLE.format(CONFLICTS, conflicts)


def told(page: str) -> tuple[list[int], list[str]]:
    """Return how many messages each launch has, and where the others stand."""
    source = Source(name="a.md", content=page.encode())
    records = list(ncu_text.read(source, ReadOptions()))
    counts = [len(each.reference_findings) for each in records if isinstance(each, Launch)]
    reasons = [each.reason for each in records if isinstance(each, Skipped)]
    return counts, [each.removeprefix(UNCLEAR) for each in reasons if UNCLEAR in each]


@pytest.mark.parametrize("conflicts", [2000, 2050])
def test_a_message_with_the_numbers_of_a_launch_is_its_own(conflicts: int) -> None:
    assert told(launch("fold", conflicts) + RULE.format(2000)) == ([1], [])


@pytest.mark.parametrize("conflicts", [0, 31, 90_000])
def test_a_message_with_other_numbers_than_its_launch_is_of_another(conflicts: int) -> None:
    assert told(launch("fold", conflicts) + RULE.format(2000)) == ([0], ["a.md:9"])


def test_a_message_may_tell_any_value_that_a_summary_covers() -> None:
    head = "  fold(int) (12, 1, 1)x(96, 1, 1), Device 0, CC 8.7, Invocations 3\n"
    ruler = f"    {'-' * 57} ----------- ------- ------- -------\n"
    titles = f"    {'Metric Name':<57} Metric Unit Minimum Maximum Average\n"
    row = f"    {CONFLICTS:<57} {'':11} {100:>7} {5000:>7} {900:>7}\n"
    page = f"{head}    Section: Command line profiler metrics\n{ruler}{titles}{ruler}{row}{ruler}\n"
    assert told(page + RULE.format(4000)) == ([1, 1, 1], [])
    assert told(page + RULE.format(9000))[0] == [0, 0, 0]


def test_a_message_below_the_name_of_another_kernel_is_not_of_the_launch_above() -> None:
    page = launch("fold(int)", 2000)
    assert told(f"{page}## `sum_tiles`\n{RULE.format(2000)}") == ([0], ["a.md:10"])
    assert told(f"{page}Kernel: `sum_tiles`\n{RULE.format(2000)}") == ([0], ["a.md:10"])
    for words in ("## `fold`\n", "## Conflicts\n", "And its rule:\n"):
        assert told(f"{page}{words}{RULE.format(2000)}") == ([1], [])


def test_a_message_below_the_next_section_is_of_the_launch_of_that() -> None:
    page = f"{launch('fold(int)', 2000)}## `tile_size`\n    Section: Occupancy\n"
    assert told(page + RULE.format(2000)) == ([1], [])


def test_a_message_below_a_command_may_be_of_any_kernel_above() -> None:
    command = "$ ncu --import all.ncu-rep --page details\n"
    start = f"{command}{launch('fold(int)', 2000)}"
    assert told(f"{start}{command}{RULE.format(2000)}") == ([1], [])
    both = f"{command}{launch('scan(int)', 2000)}{launch('fold(int)', 2000)}{command}"
    assert told(both + RULE.format(2000)) == ([0, 0], ["a.md:19"])


COLUMNS = """\
## Compute Workload Analysis

| Metric | fold_rows | scan_rows |
|---|---|---|
| Duration | 21.5 us | 12.5 us |
| DRAM Throughput | 31 % | 62 % |
| SM Busy | 11 % | 22 % |

### Comments:
"""
IDLE = "All compute pipelines are under-utilized."


def findings(page: str) -> dict[str, list[ReferenceFinding]]:
    source = Source(name="a.md", content=page.encode())
    records = ncu_text.read(source, ReadOptions())
    return {
        each.kernel_name: list(each.reference_findings)
        for each in records
        if isinstance(each, Launch)
    }


@pytest.mark.parametrize(
    "line",
    [
        "**OPT** (scan_rows): Est. Local Speedup: 17.5% - {}",
        "- **OPT** (`scan_rows`): Est. Local Speedup: 17.5%: {}",
        "OPT (scan_rows): Est. Local Speedup: 17.5% {}",
        "**scan_rows:**\n- OPT   Est. Local Speedup: 17.5% {}",
        "**`scan_rows`**:\n\n* OPT: Est. Local Speedup: 17.5% {}".replace("* ", "- "),
        "#### scan_rows\n**OPT** Est. Local Speedup: 17.5% {}",
    ],
)
def test_a_marked_message_is_of_the_launch_that_it_names(line: str) -> None:
    found = findings(COLUMNS + line.format(IDLE) + "\n")
    assert found["fold_rows"] == []
    (said,) = found["scan_rows"]
    assert (said.text, said.estimate, said.scope) == (IDLE, 0.175, "local")


def test_a_marked_message_is_of_the_section_around_it() -> None:
    (said,) = findings(f"{COLUMNS}**INF** (fold_rows): {IDLE}\n")["fold_rows"]
    assert (said.section, said.severity) == ("Compute Workload Analysis", "ok")


def test_a_marked_message_of_no_launch_is_noted() -> None:
    assert told(f"{COLUMNS}**OPT** (sum_tiles): {IDLE}\n") == ([0, 0], ["a.md:10"])
    assert told(f"{COLUMNS}**all of them:**\n- OPT   Est. Speedup: 5%\n") == ([0, 0], ["a.md:11"])
    assert told(f"{COLUMNS}- OK: both are fast\n**OK** (on this device): done\n") == ([0, 0], [])


def test_a_marked_message_may_be_of_the_launch_that_is_read() -> None:
    page = launch("fold(int)", 2000)
    assert told(f"{page}**OPT** (`fold`): {IDLE}\n") == ([1], [])
    assert told(f"{page}**OPT** (sum_tiles): {IDLE}\n") == ([0], ["a.md:9"])
