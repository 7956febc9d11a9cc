"""A small ELF file with one function and its line program, put together by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
HEADER_SIZE = 64

# A row's special opcode is (line advance + 5) + 14 × (address advance in instructions) + 10.
LEAST, BASE, SPAN, FIRST = 16, -5, 14, 10
LENGTHS = (0, 1, 1, 1, 1, 0, 0, 0, 1)


def special(instructions: int, lines: int) -> bytes:
    """Return the opcode that advances address and line, and adds a row."""
    return bytes([lines - BASE + SPAN * instructions + FIRST])


def set_address(value: int = 0) -> bytes:
    """Return the opcode that sets the address; a relocation says about which function."""
    return b"\x00\x09\x02" + struct.pack("<Q", value)


END = b"\x00\x01\x01"


def line_unit(program: bytes, *, files: Sequence[str], version: int = 2) -> tuple[bytes, int]:
    """Return a unit of ``.debug_line``, and the place of its program in it."""
    named = b"".join(name.encode() + b"\0\0\0\0" for name in files)
    more = b"\x01" if version >= 4 else b""
    rest = (
        struct.pack("<B", LEAST) + more + struct.pack("<BbBB", 1, BASE, SPAN, FIRST)
        + bytes(LENGTHS) + b"folder\0\0" + named + b"\0"
    )  # fmt: skip
    head = struct.pack("<HI", version, len(rest)) + rest
    unit = struct.pack("<I", len(head) + len(program)) + head + program
    return unit, len(unit) - len(program)


def elf(
    lines: bytes,
    relocations: Sequence[tuple[int, int]],
    *,
    code: bytes = bytes(64),
    added: bool = True,
    debug: bool = False,
) -> bytes:
    """Return an ELF file with the code of a function ``k``, with debug information where ``debug``.

    ``relocations`` are places of ``lines`` and offsets in the function.

    The offsets stand in the relocations where ``added``, else they must be 0.
    """
    kind = ".rela" if added else ".rel"
    entries = b"".join(
        struct.pack("<QQ", place, 1 << 32) + (struct.pack("<q", offset) if added else b"")
        for place, offset in relocations
    )
    symbols = SYMBOL.pack(0, 0, 0, 0, 0, 0) + SYMBOL.pack(0, 3, 0, 1, 0, 0)
    contents = {
        "": b"",
        ".text.k": code,
        ".debug_line": lines,
        f"{kind}.debug_line": entries,
        ".symtab": symbols,
        ".shstrtab": b"",
    }
    if debug:
        contents[".debug_info"] = b"\0"
    names = b"".join(name.encode() + b"\0" for name in contents)
    contents[".shstrtab"] = names
    body, headers, place = b"", b"", 0
    for name, content in contents.items():
        at = HEADER_SIZE + len(body)
        headers += SECTION.pack(place, 1, 0, 0, at, len(content), 0, 0, 1, 0)
        body += content
        place += len(name) + 1
    start = struct.pack("<Q", HEADER_SIZE + len(body))
    counts = struct.pack("<HH", len(contents), [*contents].index(".shstrtab"))
    head = b"\x7fELF\x02\x01".ljust(40, b"\0") + start + bytes(12) + counts
    return head.ljust(HEADER_SIZE, b"\0") + body + headers
