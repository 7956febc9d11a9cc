"""Pages of which people kept pieces: what is of one launch where no line names its kernel."""

from __future__ import annotations

import pytest

from advisor.model import Launch, Session, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text

SCHEDULERS = """\
Section: Scheduler Statistics
---------------------------- ----------- ------------
Metric Name                  Metric Unit Metric Value
---------------------------- ----------- ------------
No Eligible                            %        {}
Active Warps Per Scheduler          warp         6.25
---------------------------- ----------- ------------
"""
SPEED = """\
Section: GPU Speed Of Light Throughput
----------------------- ----------- ------------
Metric Name             Metric Unit Metric Value
----------------------- ----------- ------------
Duration                         us        {}
L2 Cache Throughput               %         9.75
----------------------- ----------- ------------
"""
HEADED = SPEED.split("\n", 1)[1]
KERNEL = "blur(float *, int) (12, 1, 1)x(96, 1, 1), Context 1, Stream 7, Device 0, CC 8.7\n"
ELIGIBLE = "smsp__issue_inst0.avg.pct_of_peak_sustained_active"
TIME = "gpu__time_duration.sum"
WORDS = "And now with tiles:\n"
FENCES = "```\n\n```\n"
HEADING = "## With tiles\n"


def read(page: str) -> list[object]:
    source = Source(name="a.md", content=page.encode())
    return list(ncu_text.read(source, ReadOptions()))


def launches_of(page: str) -> list[Launch]:
    return [record for record in read(page) if isinstance(record, Launch)]


def session_of(page: str) -> Session:
    return next(record for record in read(page) if isinstance(record, Session))


def told(page: str) -> list[tuple[float | None, float | None]]:
    """Return of each launch what warps wait, in percent, and how long it takes, in microseconds."""
    counters = [launch.counters for launch in launches_of(page)]
    return [(each.get(ELIGIBLE), each.get(TIME, 0) / 1000 or None) for each in counters]


@pytest.mark.parametrize("apart", [WORDS, FENCES, HEADING])
def test_pieces_of_a_page_that_shows_a_section_twice_are_launches_of_their_own(apart: str) -> None:
    pages = [SCHEDULERS.format(40), SCHEDULERS.format(50), SPEED.format(6), SPEED.format(7)]
    assert told(apart.join(pages)) == [(40, None), (50, None), (None, 6), (None, 7)]
    in_turn = [pages[0], pages[2], pages[1], pages[3]]
    assert told(apart.join(in_turn)) == [(40, None), (None, 6), (50, None), (None, 7)]


@pytest.mark.parametrize("apart", [WORDS, FENCES, HEADING])
def test_pieces_of_a_page_that_shows_each_section_once_are_one_launch(apart: str) -> None:
    page = apart.join([SCHEDULERS.format(40), SPEED.format(6), SPEED.format(6).split("\n")[0]])
    assert told(page) == [(40, 6)]
    assert [type(record) for record in read(page)].count(Skipped) == 1


@pytest.mark.parametrize("between", ["", "\n\n", "...\n", "// \n"])
def test_sections_with_nothing_between_them_are_of_one_launch(between: str) -> None:
    pages = [SCHEDULERS.format(40), SPEED.format(6), SCHEDULERS.format(50), SPEED.format(7)]
    assert told(between.join(pages)) == [(40, 6), (50, 7)]


def test_begins_a_launch_each_time_that_a_section_comes_again() -> None:
    assert told("\n".join(map(SPEED.format, (5, 6, 7)))) == [(None, 5), (None, 6), (None, 7)]


def test_tables_without_a_title_are_pieces_too() -> None:
    pages = [HEADED.format(6), HEADED.format(7), SCHEDULERS.format(50).split("\n", 1)[1]]
    assert told(FENCES.join(pages)) == [(None, 6), (None, 7), (50, None)]


def test_what_follows_a_kernels_line_is_of_its_launch() -> None:
    page = WORDS.join([KERNEL + SCHEDULERS.format(40), SPEED.format(6)])
    assert told(page) == [(40, 6)]
    assert told(page + page.replace("blur", "sharpen")) == [(40, 6), (40, 6)]


def test_a_message_is_of_the_piece_that_it_follows() -> None:
    first, _ = launches_of(
        f"{SPEED.format(6)}\nOPT   Est. Speedup: 10%\n      Fewer.\n{WORDS}{SPEED.format(7)}"
    )
    assert [found.text for found in first.reference_findings] == ["Fewer."]


def test_headings_between_pieces_name_their_kernels() -> None:
    page = f"## `scan_rows`\n{SPEED.format(6)}\n## `sum_tiles`\n{SCHEDULERS.format(40)}"
    names = [launch.kernel_name for launch in launches_of(page)]
    assert (names, told(page)) == (["scan_rows", "sum_tiles"], [(None, 6), (40, None)])


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("$ ncu --section SchedulerStats ./app\n", 2),
        ("sudo /opt/tools/ncu -c 1 \\\n", 2),
        ("ncu then says what its schedulers do:\n", 1),
    ],
)
def test_what_stands_below_another_command_is_of_another_launch(command: str, count: int) -> None:
    launches = launches_of(KERNEL + SPEED.format(5) + command + SCHEDULERS.format(40))
    assert len(launches) == count
    assert launches[-1].counters[ELIGIBLE] == 40


def test_what_stands_below_a_command_that_ran_the_same_is_of_the_same_launch() -> None:
    first = "$ ncu --set basic -c 1 \\\n    ./app 4\n"
    again = "$ sudo ncu --section SchedulerStats -c 1 ./app 4\n"
    (launch,) = launches_of(first + KERNEL + SPEED.format(5) + again + SCHEDULERS.format(40))
    assert (launch.counters[TIME], launch.counters[ELIGIBLE]) == (5000, 40)
    other = again.replace("app 4", "app 5")
    assert len(launches_of(first + KERNEL + SPEED.format(5) + other + SCHEDULERS.format(40))) == 2


def test_a_command_names_the_kernel_of_what_stands_below_it() -> None:
    command = "ncu -k blur_rows --metrics some ./app\n"
    first, second = launches_of(KERNEL + SPEED.format(5) + command + SCHEDULERS.format(40))
    assert (first.kernel_name, second.kernel_name) == ("blur(float *, int)", "blur_rows")


def test_the_one_command_of_a_page_is_that_of_the_run() -> None:
    page = "$ sudo ncu \\\n  --launch-skip 3 ./app 4\n" + KERNEL + SPEED.format(5)
    again = page + "ncu --section SchedulerStats ./app 4\n" + SCHEDULERS.format(40)
    for each in (page, again):
        assert session_of(each).command_line == "ncu --launch-skip 3 ./app 4"
    other = page + "ncu --section SchedulerStats ./app 5\n" + SCHEDULERS.format(40)
    assert session_of(other).command_line is None


IMPORTED = "[ann@node-3 runs]$ /opt/tools/ncu --import /data/blur.ncu-rep --section {}\n"


def test_sections_that_are_printed_from_one_report_are_of_its_launch() -> None:
    first = IMPORTED.format("SpeedOfLight") + KERNEL + SPEED.format(5)
    second = IMPORTED.format("SchedulerStats") + KERNEL + SCHEDULERS.format(40)
    assert told(first + second) == [(40, 5)]
    assert told(first + second.replace(KERNEL, "")) == [(40, 5)]
    for other in (
        second.replace("blur.ncu-rep", "sharpen.ncu-rep"),
        second.replace("--section", "--launch-skip 2 --section"),
        second.replace("(12, 1, 1)", "(24, 1, 1)"),
    ):
        assert told(first + other) == [(None, 5), (40, None)]


def test_a_report_that_shows_a_section_twice_shows_several_launches() -> None:
    first, again = (IMPORTED.format("A") + KERNEL + SPEED.format(time) for time in (5, 6))
    assert told(first + again) == [(None, 5), (None, 6)]
    assert [launch.kernel_name for launch in launches_of(first + again)] == [
        "blur(float *, int)"
    ] * 2
    more = IMPORTED.format("B") + KERNEL + SCHEDULERS.format(40)
    assert told(first + KERNEL + SPEED.format(6) + more) == [(None, 5), (None, 6), (40, None)]


@pytest.mark.parametrize("kernel", [KERNEL, ""])
def test_a_command_tells_that_clocks_were_not_held(kernel: str) -> None:
    held, free = ("ncu --set basic ./app 4\n", "ncu --clock-control none ./app 4\n")
    page = kernel + SPEED.format(5)
    assert [launch.clock_locked for launch in launches_of(free + page)] == [False]
    both = launches_of(held + page + free + page + held + page)
    assert [launch.clock_locked for launch in both] == [None, False, None]


def test_what_ran_under_other_clocks_is_another_launch() -> None:
    held, free = ("ncu --set basic ./app 4\n", "ncu --clock-control=none ./app 4\n")
    assert told(held + KERNEL + SPEED.format(5) + free + SCHEDULERS.format(40)) == [
        (None, 5),
        (40, None),
    ]
