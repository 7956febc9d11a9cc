"""Pages without the line that names the kernel: the command, or the source below, names it."""

from __future__ import annotations

import pytest

from advisor.model import UNNAMED, Launch
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu import text as ncu_text

TABLE = """\
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    Duration                         us       {time}
    Compute (SM) Throughput           %        37.77
    Memory Throughput                 %        76.37
    DRAM Throughput                   %         0.67
"""
REMARK = """\
// Duration                usecond                           {time}
// SOL DRAM                %                                 52.08
// SOL L1/TEX Cache        %                                 91.3
// SM [%]                  %                                 73.88
"""


def names_of(page: str) -> list[str]:
    """Return the names of the launches of a page."""
    records = ncu_text.read(Source(name="a.md", content=page.encode()), ReadOptions())
    return [record.kernel_name for record in records if isinstance(record, Launch)]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ('sudo /opt/bin/ncu --set full -k regex:"scan_rows" -s 1 ./bench', "scan_rows"),
        ("ncu -k scan_rows ./a.out 1  # by half", "scan_rows"),
        ("$ ncu --kernel-name=regex:^scan_rows$ -o out ./a.out", "scan_rows"),
        ("!ncu.exe -k 'scanRows' a.exe", UNNAMED),  # another program's mark
        ("ncu.exe -k 'scanRows' a.exe", "scanRows"),
        ("ncu -k regex:scan ./a.out", UNNAMED),  # a part of names, perhaps
        ("ncu -k regex:scan_.* ./a.out", UNNAMED),
        ("ncu --set full ./a.out", UNNAMED),
        ("runcu -k scan_rows ./a.out", UNNAMED),
    ],
)
def test_the_command_names_the_kernel(command: str, name: str) -> None:
    page = f"```\n{command}\n```\n\n```\n{TABLE.format(time='12.50')}```\n"
    assert names_of(page) == [name]


def test_the_next_command_ends_what_the_last_one_named() -> None:
    first = f"ncu -k scan_rows ./a.out\n{TABLE.format(time='12.50')}\n"
    second = f"ncu ./a.out\n{TABLE.format(time='13.50')}\n"
    assert names_of(f"{first}\n{second}") == ["scan_rows", UNNAMED]


def test_a_command_that_goes_on_ends_nothing() -> None:
    command = "ncu -k scan_rows ./a.out\nncu --section WarpStateStats \\\n  -s 1 ./a.out\n"
    assert names_of(f"{command}{TABLE.format(time='12.50')}") == ["scan_rows"]


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void sumRows(float *x) {",
        "template <int N> __global__ void sumRows(float *x) {",
        "template <int N>\n__global__ __launch_bounds__(128) void sumRows(",
        'extern "C" __global__ void __launch_bounds__(128, 2) sumRows(float *x)',
        "\n__global__ void sumRows(float *x) {",
    ],
)
def test_the_kernel_below_a_remark_is_the_one_it_speaks_of(source: str) -> None:
    page = REMARK.format(time="372.22") + source + "\n  x[0] = 1;\n}\n"
    assert names_of(page * 2) == ["sumRows", "sumRows"]


def test_a_kernel_far_below_is_another_one() -> None:
    page = REMARK.format(time="372.22") + "\n\n\n\n__global__ void sumRows(float *x) {\n}\n"
    assert names_of(page) == [UNNAMED]


def test_a_kernel_that_has_a_name_keeps_it() -> None:
    head = "  scan(float *) (4, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 8.6\n"
    section = f"    Section: GPU Speed Of Light Throughput\n{TABLE.format(time='12.50')}"
    assert names_of(f"{head}{section}__global__ void sumRows(float *x)\n") == ["scan(float *)"]


RULER = "    ----------------------- ----------- ------------\n"


@pytest.mark.parametrize("begin", ["", RULER, "    Section: GPU Speed Of Light\n"])
@pytest.mark.parametrize("fence", ["", "```\n"])
def test_a_name_right_above_a_table_is_that_of_its_kernel(begin: str, fence: str) -> None:
    first, second = (begin + TABLE.format(time=time) for time in ("12.50", "13.50"))
    page = f"{fence}scan_rows  \n{first}{fence}\n{fence}    scan_tiles\n{second}{fence}"
    assert names_of(page) == ["scan_rows", "scan_tiles"]


def test_words_and_names_that_stand_apart_from_a_table_name_no_kernel() -> None:
    for above in ("Results\n", "scan_rows now:\n", "scan_rows\n\n"):
        assert names_of(above + TABLE.format(time="12.50")) == [UNNAMED]


def test_the_next_command_ends_what_a_name_above_a_table_named() -> None:
    first = f"scan_rows\n{TABLE.format(time='12.50')}\n"
    second = f"ncu ./a.out\n{TABLE.format(time='13.50')}\n"
    assert names_of(f"{first}\n{second}") == ["scan_rows", UNNAMED]
