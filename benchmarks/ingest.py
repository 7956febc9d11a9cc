"""Ingest of a report of 250 MB, made by repeating the results of a smaller one.

The smaller one is ``ADVISOR_BENCH_REPORT``, by default the largest of the example runs.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from advisor.readers.ncu import messages
from advisor.readers.ncu.container import MAGIC, Container
from advisor.resources import data_dir
from benchmarks.measure import ADVISOR, Line, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 250e6
IMPORTS = "import advisor.cli.ingest, advisor.ingest.store, duckdb, numpy, sqlglot"
DETAILS = ("all", "sample", "none")
READ = """
import sys, pathlib
from advisor.counters.mapping import load_mapping
from advisor.ingest.detail import launches_in_detail
from advisor.readers.ncu import report as ncu_report
from advisor.readers.base import ReadOptions, Source
mapping = load_mapping(ncu_report.COUNTERS)
options = ReadOptions(
    keyed=frozenset(mapping.keyed),
    curves=frozenset(counter for _, counter in mapping.curves),
    instructions=frozenset(mapping.instructions),
    detailed=launches_in_detail(sys.argv[2]),
)
for _ in ncu_report.read(Source.from_path(pathlib.Path(sys.argv[1])), options):
    pass
"""
_LENGTH = struct.Struct("<I")


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space."""
    small = _smaller()
    large = folder / "large.ncu-rep"
    launches = repeat(small, large, SIZE)
    bare = cost_of((sys.executable, "-c", IMPORTS), folder)
    database = folder / "large.duckdb"
    cost_of((*ADVISOR, "--db", database, "ingest", small), folder)
    cost = cost_of((*ADVISOR, "--db", database, "ingest", large), folder)
    none = cost_of((sys.executable, "-c", READ, small, "none"), folder).processor
    reading = {
        detail: cost_of((sys.executable, "-c", READ, large, detail), folder) for detail in DETAILS
    }
    again = cost_of((*ADVISOR, "--db", database, "ingest", large), folder)
    size = large.stat().st_size
    what = f"{size / 1e6:.0f} MB, {launches} launches"
    lines = [
        Line(what=f"ingest {what}: processor time", value=cost.processor, unit="s"),
        Line(
            what="the same: wall clock", value=cost.wall, unit="s",
            remark=f"{launches / cost.wall:,.0f} launches/s",
        ),
        Line(
            what="the same: memory over the imports", value=(cost.memory - bare.memory) / 1e6,
            unit="MB", target="≤ 150 MB", remark=f"the imports take {bare.memory / 1e6:.0f} MB",
        ),
        Line(what="the same file again: wall clock", value=again.wall, unit="s"),
        *(
            Line(
                what=f"reading alone, --detail {detail}: processor time",
                value=each.processor - none, unit="s",
                remark=f"{(each.memory - bare.memory) / 1e6:.0f} MB over the imports",
            )
            for detail, each in reading.items()
        ),
    ]  # fmt: skip
    read = reading["sample"].processor - none
    return [*lines, *_against_the_vendor(large, folder, cost.processor, read)]


def repeat(small: Path, large: Path, size: float) -> int:
    """Write ``small`` with its results appended again and again; return the number of launches.

    The blocks that are added carry no texts and no sources: those of ``small`` serve all.
    """
    with small.open("rb") as file:
        results = list(_results(file, small))
    shutil.copyfile(small, large)
    count = len(results)
    with large.open("ab") as out:
        while out.tell() < size:
            for entry in results:
                payload = _LENGTH.pack(len(entry)) + entry
                header = messages.BlockHeader(num_results=1, payload_size=len(payload))
                head = header.SerializeToString()
                out.write(_LENGTH.pack(len(head)) + head + payload)
            count += len(results)
    return count


def first_launch(report: Path, short: Path) -> None:
    """Write ``report`` up to its first result."""
    data = report.read_bytes()
    (size,) = _LENGTH.unpack_from(data, len(MAGIC))
    before = len(MAGIC) + _LENGTH.size + size
    with report.open("rb") as file:
        container = Container(file, name=report.name, size=len(data))
        for block in container.blocks():
            kept = [each for each in container.entries(block) if each.kind != "range"]
            if block.header.num_results:
                break
            before = block.end
    end = next(each.start + each.size for each in kept if each.kind == "result")
    block.header.num_results, block.header.num_ranges = 1, 0
    block.header.payload_size = end - block.start
    head = block.header.SerializeToString()
    parts = (data[:before], _LENGTH.pack(len(head)), head, data[block.start : end])
    short.write_bytes(b"".join(parts))


def _results(file: BinaryIO, path: Path) -> Iterator[bytes]:
    container = Container(file, name=path.name, size=path.stat().st_size)
    for block in container.blocks():
        for entry in container.entries(block):
            if entry.kind == "result":
                file.seek(entry.start)
                yield file.read(entry.size)


def _smaller() -> Path:
    if given := os.environ.get("ADVISOR_BENCH_REPORT"):
        return Path(given)
    return max(data_dir("seed").rglob("*.ncu-rep"), key=lambda path: path.stat().st_size)


def _against_the_vendor(large: Path, folder: Path, stored: float, read: float) -> list[Line]:
    what, nothing = "ncu --import --csv", float("nan")
    program = shutil.which("ncu")
    if program is None:
        return [Line(what=what, value=nothing, unit="s", remark="not measured: no ncu in PATH")]
    command = (program, "--import", large, "--csv", "--page", "raw")
    try:
        theirs = cost_of(command, folder).processor
    except subprocess.CalledProcessError:
        return [Line(what=what, value=nothing, unit="s", remark="this ncu refuses the file")]
    return [
        Line(what=f"{what}: processor time", value=theirs, unit="s"),
        Line(what="theirs / ours, stored", value=theirs / stored, unit="×", target="≥ 6 ×"),
        Line(what="theirs / ours, read only", value=theirs / read, unit="×"),
    ]
