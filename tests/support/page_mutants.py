"""Printed pages damaged where their structure is: the same seed gives the same mutant.

A page is taken apart into lines and cells and put together again with one to three of them changed,
in one of many encodings.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_FIXED = '"{id}","77","app","10.0.0.7","copy<float>(float *, ""x"", int) [a]","1","7"'
_SHAPE = ',"(256, 1, 1)","(64, 2, 1)","0","8.6"'
_COLUMNS = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream"'
_SHAPES = ',"Block Size","Grid Size","Device","CC"'
_RAW = (
    ("dram__bytes_read.sum", "Mbyte", "1.523417"),
    ("gpu__time_duration.sum", "usecond", "12.250000"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "41.250000"),
    ("inst_executed", "inst", "1,234,567"),
    ("dram__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.215432"),
    ("launch__func_cache_config", "", "CachePreferNone"),
    ("l1tex__t_sector_hit_rate.pct", "%", "nan"),
    ("lts__t_sectors.sum", "sector", "n/a"),
)
_DETAILS = (
    ("GPU Speed Of Light Throughput", "Memory Throughput", "%", "61.84", "r"),
    ("GPU Speed Of Light Throughput", "Duration", "usecond", "12.37", ""),
    ("Memory Workload Analysis", "Memory Throughput", "Gbyte/second", "196.46", ""),
    ("Launch Statistics", "Grid Size", "", "1,024", ""),
    ("Launch Statistics", "Function Cache Configuration", "", "CachePreferNone", ""),
    ("Occupancy", "Theoretical Occupancy", "%", "87.50", "r"),
    ("Command line profiler metrics", "dram__sectors_read.sum", "sector", "4,375,932", ""),
)


def raw_page() -> str:
    """Return a raw page of three launches among lines of the profiler and the program."""
    names, units, cells = (",".join(f'"{row[i]}"' for row in _RAW) for i in range(3))
    rows = "".join(f"{_FIXED.format(id=number)}{_SHAPE},{cells}\n" for number in range(3))
    blanks = ",".join(['""'] * 11)
    return (
        "==PROF== Connected to process 77 (/home/me/app)\nthe program says 17.5, then this\n"
        f"{_COLUMNS}{_SHAPES},{names}\n{blanks},{units}\n{rows}done\n"
    )


def details_page() -> str:
    """Return a details page of three launches with messages of rules."""
    lines = [
        f'{_COLUMNS}{_SHAPES},"Section Name","Metric Name","Metric Unit","Metric Value",'
        '"Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"'
    ]
    for number in range(3):
        for section, label, unit, cell, rule in _DETAILS:
            fixed = _FIXED.format(id=number) + _SHAPE
            lines.append(f'{fixed},"{section}","{label}","{unit}","{cell}",')
            if rule:
                text = 'Issue ""soon"",\nthen wait.'
                lines.append(f'{fixed},"{section}","","","","Rule","OPT","{text}","local","38.25"')
    return "\n".join(lines) + "\n"


def text_page() -> str:
    """Return a page as it is printed to a terminal, of three launches."""
    ruler = f"    {'-' * 34} {'-' * 13} {'-' * 20}"
    lines = ["==PROF== Connected to process 77 (/home/me/app)", "[77] app@10.0.0.7"]
    for _ in range(3):
        lines.append(
            "  copy<float>(float *, int) [a] (64, 2, 1)x(256, 1, 1), Context 1, Stream 7, "
            "Device 0, CC 8.6"
        )
        for section, label, unit, cell, rule in _DETAILS:
            lines += [f"    Section: {section}", ruler]
            lines += [f"    {label:<34} {unit:>13} {cell:>20}", ruler]
            if rule:
                lines += ["    OPT   Est. Local Speedup: 38.25%", "          Issue soon.", ""]
    return "\n".join(lines) + "\n"


def kept_page() -> str:
    """Return pages as people keep them, of three launches: in comments, with remarks, cut."""
    ruler = f"// {'-' * 34} {'-' * 13} {'-' * 20}"
    lines = ["// copy<float>(float *, int) (64, 2, 1)x(256, 1, 1), CC 8.6"]
    for number in range(2):
        lines += [
            "/*",
            "",
            ruler,
            f"// {'Metric Name':<34} {'Metric Unit':>13} {'Metric Value':>20}",
        ]
        lines += [ruler] if number else []
        for _, label, unit, cell, _ in _DETAILS:
            lines += [f"// {label:<34} {unit:>13} {cell:>20}   # {label}", "// ..."]
        lines += [ruler, "// OPT   Est. Speedup: 38.25%", "//       Wait.", "*/"]
    lines += [f"  > {label}\t{unit}\t{cell}" for _, label, unit, cell, _ in _DETAILS]
    lines.append("  > Elapsed Cycles\tcycle\t77,001")
    return "\n".join(lines) + "\n"


PAGES = (raw_page(), details_page(), text_page())

_NUMBER = re.compile(r"\d[\d.,]*")
_CELL = re.compile(r'"(?:[^"\n]|"")*"')
_UNIT = re.compile(r'"(?:%|[KMGT]?byte(?:/second)?|[num]?second|cycle/nsecond|sector|inst)"')
_ODD_CELLS = (
    "nan", "-nan", "inf", "n/a", "(!) n/a", "no data", "1e999", "1,5", "1.234,5", "0,123", "0x10",
    "12 (3; 4; 5)", "9" * 400, "１２", "-", "1_000", "1 000", "--", "",
)  # fmt: skip
_ODD_UNITS = ("furlong", "byte^9*byte^9", "second/second", "Kbyte", "%", "", "byte/", "/", "1/0")
_BRACKETS = ('"', '""', "(", "[", "{", "]", ", Context 1", " Context 1, Stream 7", "\\", "'")
_OUTPUT = (
    '"0","77"', '"5","77","half a row', "0,77,app", '"ID"', "    Section: Occupancy",
    "    ----- ----- -----", '"', "3:     Section: Occupancy", "[5] x@y@z",
    "  k(), Context 1, Stream 2", "2026-01-02T03:04:05Z done", "",
)  # fmt: skip


def page_mutant(seed: int, pages: Sequence[str] = PAGES) -> bytes:
    """Return one of printed pages with one to three of its lines or cells changed."""
    chance = random.Random(seed)
    text = chance.choice(pages)
    for _ in range(chance.randint(1, 3)):
        text = chance.choice(_IN_PAGES)(chance, text)
    return chance.choice(_ENCODINGS)(chance, text)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True) or [""]


def _cut_row(chance: random.Random, text: str) -> str:
    lines = _lines(text)
    where = chance.randrange(len(lines))
    keep = chance.randrange(len(lines[where]) + 1)
    lines[where] = lines[where][:keep] + chance.choice(["", "\n"])
    return "".join(lines)


def _cut_hole(chance: random.Random, text: str) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.choice([1, 2, 9, 60, 400]) :]


def _cut_end(chance: random.Random, text: str) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _shift_columns(chance: random.Random, text: str) -> str:
    lines = _lines(text)
    where = chance.randrange(len(lines))
    cells = lines[where].split(",")
    if chance.random() < 0.5:
        del cells[chance.randrange(len(cells))]
    else:
        cells.insert(chance.randrange(len(cells) + 1), '"1.5"')
    lines[where] = ",".join(cells)
    return "".join(lines)


def _change(pattern: re.Pattern[str], chance: random.Random, text: str, new: str) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    start, end = chance.choice(found).span()
    return text[:start] + new + text[end:]


def _odd_number(chance: random.Random, text: str) -> str:
    return _change(_NUMBER, chance, text, chance.choice(_ODD_CELLS))


def _odd_cell(chance: random.Random, text: str) -> str:
    return _change(_CELL, chance, text, f'"{chance.choice(_ODD_CELLS)}"')


def _odd_unit(chance: random.Random, text: str) -> str:
    return _change(_UNIT, chance, text, f'"{chance.choice(_ODD_UNITS)}"')


def _swap_units(chance: random.Random, text: str) -> str:
    found = list(_UNIT.finditer(text))
    if len(found) < 2:
        return text
    one, other = sorted(chance.sample(found, 2), key=lambda match: match.start())
    middle = text[one.end() : other.start()]
    return text[: one.start()] + other[0] + middle + one[0] + text[other.end() :]


def _nest(chance: random.Random, text: str) -> str:
    where = chance.randrange(len(text) + 1)
    return text[:where] + chance.choice(_BRACKETS) * chance.choice([1, 3, 100, 5000]) + text[where:]


def _insert_output(chance: random.Random, text: str) -> str:
    lines = _lines(text)
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(_OUTPUT) + "\n")
    return "".join(lines)


def _move_line(chance: random.Random, text: str) -> str:
    lines = _lines(text)
    line = lines[chance.randrange(len(lines))]
    if chance.random() < 0.5:
        lines.remove(line)
    lines.insert(chance.randrange(len(lines) + 1), line)
    return "".join(lines)


def _huge_row(chance: random.Random, text: str) -> str:
    lines = _lines(text)
    where = chance.randrange(len(lines))
    width = chance.choice([1_000, 1_000, 1_000, 100_000])
    lines[where] = lines[where].rstrip("\n") + ',"1.5"' * width + "\n"
    return "".join(lines)


_IN_PAGES: tuple[Callable[[random.Random, str], str], ...] = (
    _cut_row, _cut_hole, _cut_end, _shift_columns, _odd_number, _odd_cell, _odd_unit, _swap_units,
    _nest, _insert_output, _move_line, _cut_row, _shift_columns, _odd_number, _odd_unit, _huge_row,
)  # fmt: skip


def _as_utf8(chance: random.Random, text: str) -> bytes:
    return chance.choice([b"", b"", b"", b"\xef\xbb\xbf"]) + text.encode()


def _as_utf16(chance: random.Random, text: str) -> bytes:
    data = text.encode(chance.choice(["utf-16", "utf-16-le", "utf-16-be"]))
    return data if chance.random() < 0.8 else data[:-1]


def _as_windows(_chance: random.Random, text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def _mixed(chance: random.Random, text: str) -> bytes:
    encodings = ["utf-8", "utf-8", "utf-8", "utf-16-le", "utf-8-sig"]
    return b"".join(line.encode(chance.choice(encodings)) for line in _lines(text))


def _with_odd_bytes(chance: random.Random, text: str) -> bytes:
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 5)):
        data.insert(chance.randrange(len(data) + 1), chance.choice([0, 0x0B, 0x0C, 0x80, 0xFF, 13]))
    return bytes(data)


_ENCODINGS: tuple[Callable[[random.Random, str], bytes], ...] = (
    _as_utf8, _as_utf8, _as_utf8, _as_utf8, _as_utf16, _as_windows, _mixed, _with_odd_bytes,
)  # fmt: skip
