"""Reports damaged where their structure is: the same seed gives the same mutant.

A report is taken apart into file header, blocks and entries by ``struct`` and put together again
with one to three things changed.
"""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from advisor.model import Keyed, Launch, ReferenceFinding, ReportedDevice, Session
from advisor.readers.ncu import messages
from seed.simulation.ncu_encoder import ReportWriter, write_report

_MAGIC_AND_HEADER = 10  # bytes of the encoder's magic and file header
_ODD_NUMBERS = (0, 1, 2, 7, 127, 128, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1)
_ODD_VALUES = (float("nan"), float("inf"), -1.0, 1e308, 5e-324, 2.0**32, 2.0**63, 0.5)
_ODD_TEXTS = (b"", b"\0", b"\xff\xfe", b"A" * 5000, "名前".encode(), b"group:x", b'a,b\n"c]')


def report() -> bytes:
    """Return a report of three launches with every kind of entry that the reader knows."""
    session = Session(
        profiler="ncu",
        profiler_version="2024.1.1.0",
        command_line="ncu --set full ./app",
        devices=(
            ReportedDevice(id=0, name="G", attributes={"warp_size": 32.0, "chip": "X100"}),
            ReportedDevice(id=1, name="H", attributes={"warp_size": 32.0}),
        ),
    )
    stream = io.BytesIO()
    write_report(stream, session, [_launch(index) for index in range(3)])
    extra = io.BytesIO()
    ReportWriter(extra).block(sources=[b"\x08\x01"], ranges=[b"\x08\x02"])
    return stream.getvalue() + extra.getvalue()[_MAGIC_AND_HEADER:]


def _launch(index: int) -> Launch:
    return Launch(
        index=index,
        kernel_name=f"void kernel{index}<float>(int)",
        grid=(4, 2, 1),
        block=(32, 1, 1),
        context=1,
        stream=7,
        nvtx=("step", "inner"),
        clock_locked=True,
        counters={
            "launch__grid_size": 8,
            "launch__device_id": 0,
            "gpu__time_duration.sum": 6944.0 + index,
            f"extra{index}.sum": 1.25,
        },
        texts={"launch__func_cache_config": "none", "breakdown:t": "a,b"},
        keyed={"opcodes": Keyed(keys=("FFMA", "128"), values=(2.0, 3.0))},
        instructions={"inst_executed": {0x7F10: 3.0, 0x7F20: 4.0}},
        reference_findings=(
            ReferenceFinding(rule="R", text="t", estimate=0.5, focus=(("extra0.sum", 1.25),)),
        ),
    )


@dataclass
class _Block:
    """A block of a report; ``size`` replaces the true size of its header where it is set."""

    header: bytes
    entries: list[bytes] = field(default_factory=list)
    size: int | None = None

    def written(self) -> bytes:
        size = len(self.header) if self.size is None else self.size
        return struct.pack("<I", size) + self.header + b"".join(map(_sized, self.entries))


def _sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def blocks(data: bytes) -> list[_Block]:
    """Return the blocks of an undamaged report."""
    found, position = [], _MAGIC_AND_HEADER
    while position < len(data):
        (size,) = struct.unpack_from("<I", data, position)
        header = data[position + 4 : position + 4 + size]
        position += 4 + size
        block, end = _Block(header), position + messages.BlockHeader.FromString(header).payload_size
        while position < end:
            (size,) = struct.unpack_from("<I", data, position)
            block.entries.append(data[position + 4 : position + 4 + size])
            position += 4 + size
        found.append(block)
    return found


def edges(data: bytes) -> list[int]:
    """Return where the blocks of an undamaged report begin, and its end."""
    positions = [_MAGIC_AND_HEADER]
    for block in blocks(data):
        positions.append(positions[-1] + len(block.written()))
    return positions


REPORT = report()


def report_mutant(seed: int, of: bytes = REPORT) -> bytes:
    """Return a report, small and of every kind of entry, with one to three of its parts changed."""
    chance = random.Random(seed)
    parts = blocks(of)
    for _ in range(chance.randint(1, 3)):
        chance.choice(_IN_BLOCKS)(chance, parts)
    data = of[:_MAGIC_AND_HEADER] + b"".join(part.written() for part in parts)
    return chance.choice(_IN_BYTES)(chance, data) if chance.random() < 0.4 else data


def _resize(chance: random.Random, parts: list[_Block]) -> None:
    chance.choice(parts).size = chance.choice(_ODD_NUMBERS)


def _recount(chance: random.Random, parts: list[_Block]) -> None:
    part = chance.choice(parts)
    header = _parsed(messages.BlockHeader, part.header)
    if header is None:
        return
    name = chance.choice(["num_sources", "num_results", "num_ranges", "payload_size"])
    odd = max(0, getattr(header, name) + chance.choice([-1, 1, 4]))
    setattr(header, name, chance.choice([odd, *_ODD_NUMBERS]))
    part.header = header.SerializeToString()


def _change_result(chance: random.Random, parts: list[_Block]) -> None:
    """Change name ids, values and dimensions of a launch, and keep all sizes true."""
    part = chance.choice([part for part in parts if part.entries] or parts)
    result = _parsed(messages.Result, part.entries[0]) if part.entries else None
    if result is None or not result.metrics:
        return
    metric = chance.choice(result.metrics)
    change = chance.randrange(5)
    if change == 0:
        metric.name_id = chance.choice(_ODD_NUMBERS)
    elif change == 1:
        metric.value.f64 = chance.choice(_ODD_VALUES)
    elif change == 2:
        metric.value.text = chance.choice(_ODD_TEXTS)
    elif change == 3:
        result.grid.x = chance.choice([*_ODD_NUMBERS, 2**64 - 1])
    else:
        result.demangled = chance.choice(_ODD_TEXTS)
    entry = result.SerializeToString()
    header = _parsed(messages.BlockHeader, part.header)
    if header is not None and header.payload_size < 2**31:
        header.payload_size = max(0, header.payload_size + len(entry) - len(part.entries[0]))
        part.header = header.SerializeToString()
    part.entries[0] = entry


def _parsed(message: Any, data: bytes) -> Any:
    try:
        return message.FromString(data)
    except DecodeError:
        return None


def _break_varint(chance: random.Random, parts: list[_Block]) -> None:
    """Let a number inside a message go on for longer than it does, or end it early."""
    part = chance.choice(parts)
    in_entry = bool(part.entries) and chance.random() < 0.7
    where = chance.randrange(len(part.entries)) if in_entry else 0
    data = bytearray(part.entries[where] if in_entry else part.header)
    if not data:
        return
    position = chance.randrange(len(data))
    if chance.random() < 0.5:
        data[position] ^= 0x80
    else:
        data[position:position] = b"\xff" * chance.choice([1, 4, 9, 10, 11])
    if not in_entry:
        part.header = bytes(data)
    elif chance.random() < 0.7:
        part.entries[where] = bytes(data)  # the block's payload size tells another length now
    else:
        part.entries[where] = bytes(data[: len(part.entries[where])])


def _duplicate(chance: random.Random, parts: list[_Block]) -> None:
    parts.insert(chance.randrange(len(parts) + 1), chance.choice(parts))


def _reorder(chance: random.Random, parts: list[_Block]) -> None:
    chance.shuffle(parts)


def _remove(chance: random.Random, parts: list[_Block]) -> None:
    if len(parts) > 1:
        del parts[chance.randrange(len(parts))]


def _exchange_entries(chance: random.Random, parts: list[_Block]) -> None:
    one, other = chance.choice(parts), chance.choice(parts)
    one.entries, other.entries = other.entries, one.entries


_IN_BLOCKS: tuple[Callable[[random.Random, list[_Block]], None], ...] = (
    _resize, _recount, _change_result, _change_result, _break_varint, _break_varint, _duplicate,
    _reorder, _remove, _exchange_entries,
)  # fmt: skip


def _truncate(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def _flip(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _repeat(chance: random.Random, data: bytes) -> bytes:
    start, end = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:end] + data[start:]


_IN_BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (_truncate, _flip, _repeat)
