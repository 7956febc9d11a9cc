"""Real reports of many devices and profiler versions, against the vendor's own export of them."""

from __future__ import annotations

import csv
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.model import Launch, Session
from advisor.readers import ReadOptions, Source
from advisor.readers.detect import detect

pytestmark = pytest.mark.real

DESCRIBING = 8  # first columns of an export, which tell the launch; the rest are counters
NO_VALUE = {"", "nan", "no data", "n/a"}
FRAGMENT = "window-512.ncu-rep"  # begins in the middle of a report


def launches_of(path: Path) -> list[Launch]:
    source = Source.from_path(path)
    session, *launches = detect(source).read(source, ReadOptions())
    assert isinstance(session, Session)
    return [record for record in launches if isinstance(record, Launch)]


def test_reads_every_report_but_the_fragment(real_data: Path) -> None:
    read: dict[Path, int] = {}
    refused: dict[str, str] = {}
    for path in sorted((real_data / "ncu-rep").rglob("*")):
        if path.is_file():
            try:
                read[path] = len(launches_of(path))
            except InputError as error:
                refused[path.name] = error.problem
    print(f"\n{len(read)} reports read, {sum(read.values())} launches; refused: {refused}")
    assert list(refused) == [FRAGMENT]
    assert refused[FRAGMENT] == "not a profile of a known format"
    assert (len(read), sum(read.values())) == (82, 740)


def is_printed_as(value: float | str | None, cell: str) -> bool:
    """Return whether the vendor prints ``value`` as ``cell``, to the last digit printed."""
    if isinstance(value, str):
        return value == cell
    if cell.lower() in NO_VALUE:
        return value is None
    try:
        printed = Decimal(cell.replace(",", ""))
    except InvalidOperation:
        return False
    half_a_digit = Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)
    # Printing a double of 16 digits in decimals may round its last binary digit.
    tolerance = half_a_digit + abs(printed) * Decimal("1e-15")
    return value is not None and abs(Decimal(value) - printed) <= tolerance


def differences(cells: dict[str, str], launch: Launch) -> list[str]:
    """Return what of an exported row the reader has otherwise, and what it has beyond it."""
    known = {**launch.counters, **launch.texts}
    wrong = [
        f"{name}: {cell!r} is exported, {known.get(name)!r} is read"
        for name, cell in cells.items()
        if not is_printed_as(known.get(name), cell)
    ]
    own = ("breakdown:", "code:")  # read of messages and of the code, which no table shows
    beyond = {name for name in known if not name.startswith(own)} - cells.keys()
    return wrong + [f"{name}: {known[name]!r} is read, nothing is exported" for name in beyond]


def test_has_every_value_that_the_vendor_exports(real_data: Path) -> None:
    exports = sorted((real_data / "ncu-export").rglob("*.raw-base.csv"))
    compared = empty = rows = 0
    wrong: list[str] = []
    for export in exports:
        report = real_data / "ncu-rep" / export.relative_to(real_data / "ncu-export")
        launches = launches_of(report.with_name(export.name.removesuffix(".raw-base.csv")))
        with export.open(encoding="utf-8", newline="") as file:
            names, _units, *table = csv.reader(file)
        for row, launch in zip(table, launches, strict=True):
            told = dict(zip(names[:DESCRIBING], row, strict=False))
            cells = dict(zip(names[DESCRIBING:], row[DESCRIBING:], strict=True))
            without = sum(cell.lower() in NO_VALUE for cell in cells.values())
            rows += 1
            compared += len(cells) - without
            empty += without
            wrong += [f"{export.name}, {launch.index}, {x}" for x in differences(cells, launch)]
            assert (told["Context"], told["Stream"]) == (str(launch.context), str(launch.stream))
            assert told["Kernel Name"] == launch.kernel_name
            assert launch.process in (None, int(told["Process ID"]))
    print(
        f"\n{len(exports)} exports, {rows} launches: {compared:,} values compared, "
        f"{empty:,} cells without a value; {len(wrong)} differ"
    )
    assert not wrong, wrong[:20]
    assert (len(exports), compared) == (45, 177_543)
