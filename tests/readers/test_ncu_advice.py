"""Messages of the profiler's rules on pages whose lines were moved."""

from __future__ import annotations

import pytest

from advisor.model import Launch
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text

PAGE = """\
Section: Occupancy
--------------------- ----- -----
Metric Name           Metric Unit Metric Value
--------------------- ----- -----
Theoretical Occupancy     %   100
--------------------- ----- -----

"""


def messages(page: str) -> list[str]:
    source = Source(name="a.txt", content=page.encode())
    (launch,) = (x for x in ncu_text.read(source, ReadOptions()) if isinstance(x, Launch))
    return [found.text for found in launch.reference_findings]


@pytest.mark.parametrize("kind", ["INF", "WRN", "OPT"])
@pytest.mark.parametrize("indent", [0, 1, 4, 6, 9])
def test_takes_all_lines_of_a_message_wherever_they_begin(kind: str, indent: int) -> None:
    begin = f"\n{' ' * indent}"
    lines = begin.join(["Half of the warps of this kernel", "wait for others", "all the time."])
    assert messages(f"{PAGE}{kind}   {lines}\n") == [lines.replace(begin, " ")]


def test_a_line_further_in_goes_on_behind_the_end_of_a_sentence() -> None:
    assert messages(f"{PAGE}WRN   Few warps run.\n  Add blocks.\n") == [
        "Few warps run. Add blocks."
    ]


@pytest.mark.parametrize(
    "other",
    [
        "\nthe program's own\n",
        "```\nthe author's own\n",
        "- Duration: 5 ms\n",
        "==PROF== Disconnected from process 7\n",
        "</details>\n",
        "Achieved Occupancy        %   50\n",
        "----- ----------\n",
        "Section: Launch Statistics\n",
    ],
)
def test_ends_a_message_where_something_else_begins(other: str) -> None:
    assert messages(f"{PAGE}INF   Half of the warps wait\n{other}") == ["Half of the warps wait"]


def test_ends_a_message_with_its_sentence() -> None:
    assert messages(f"{PAGE}INF   Half of the warps wait.\nNow with tiles\n") == [
        "Half of the warps wait."
    ]


def test_the_text_of_a_message_may_be_one_that_only_the_profiler_writes() -> None:
    text = "On average, each warp of this kernel spends 3.0 cycles being stalled."
    page = f"{PAGE}OPT   Est. Speedup: 12.5%\n    {text}\nOPT   Est. Speedup: 2%\n    More.\n"
    assert messages(page) == [text, "More."]
