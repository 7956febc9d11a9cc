"""What is said of a page beside its launches: what was left out of it, and where that stands."""

from __future__ import annotations

import pytest

from advisor.errors import Location
from advisor.model import Launch, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text
from advisor.readers.ncu.notes import Unknown

PAGE = """\
blur(float *, int) (12, 1, 1)x(96, 1, 1), Context 1, Stream 7, Device 0, CC 8.7
    Section: Occupancy
    --------------------- ----------- ------------
    Metric Name           Metric Unit Metric Value
    --------------------- ----------- ------------
    Theoretical Occupancy           %           75
    --------------------- ----------- ------------
"""
TIMES = """\
 Time (%)  Total Time (ns)  Instances  Avg (ns)        Name
 --------  ---------------  ---------  --------  ------------------
    100.0          120,500          5    24,100  blur(float *, int)
"""


def skipped_of(page: str) -> list[str]:
    source = Source(name="a.txt", content=page.encode())
    records = list(ncu_text.read(source, ReadOptions()))
    assert sum(isinstance(record, Launch) for record in records) == 1
    return [record.reason for record in records if isinstance(record, Skipped)]


@pytest.mark.parametrize(
    "title",
    [
        " ** GPU Kernel Summary (cuda_gpu_kern_sum):\n\n",
        "[5/8] Executing 'cuda_gpu_kern_sum' stats report\n\n",
        "### GPU Kernel Summary (cuda_gpu_kern_sum)\n```\n",
    ],
)
@pytest.mark.parametrize("page", ["{0}{1}", "{1}{0}", "{0}{1}{0}"])
def test_says_that_a_table_of_another_program_is_not_read(title: str, page: str) -> None:
    expected = "tables of another program, which are not read: Nsight Systems (cuda_gpu_kern_sum)"
    assert skipped_of(page.format(title + TIMES, PAGE)) == [expected]


def test_knows_such_a_table_by_its_head() -> None:
    expected = "tables of another program, which are not read: Nsight Systems"
    assert skipped_of(TIMES + PAGE) == [expected]


def test_a_title_is_no_table() -> None:
    assert skipped_of("[3/8] Executing 'nvtx_sum' stats report\n" + PAGE) == []


def test_shortens_a_long_name_behind_a_word() -> None:
    labels = Unknown("labels")
    labels.add("Bytes of the cache " * 10)
    labels.add("x" * 300)
    (record,) = labels.skipped("a.txt")
    first, second = record.reason.removeprefix("labels: ").split("; ")
    assert first == ("Bytes of the cache " * 6).rstrip() + "…"
    assert (len(second), second[-1]) == (120, "…")


def test_tells_the_whole_place() -> None:
    rows = Unknown("rows")
    rows.place(Location(name="folder/" * 40 + "a.txt", line=1234))
    (record,) = rows.skipped("a.txt")
    assert record.reason.endswith("/a.txt:1234")
