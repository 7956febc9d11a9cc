"""What the code in a report says: names of instructions, their lines, and how it was compiled."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from advisor.cache import remembered
from advisor.documents import DocumentNode, MappingNode, load
from advisor.model import Keys, Packed, Place
from advisor.readers.ncu.container import Container, PayloadEntry
from advisor.readers.ncu.cubin import FunctionCode, read_build, read_function
from advisor.readers.ncu.messages import text
from advisor.records import dataclass
from advisor.resources import data_dir

_BYTES_EACH = 16  # of an instruction
_ALIGNMENT = 128  # of functions, in bytes
_DIGEST = 16  # bytes: two functions are never taken for one
_BITS = 0x1FF  # of the code that tell the instruction
_WAITS_SINCE = 7  # major compute capability: instructions hold how long the next one waits
_DEBUG_INFORMATION, _WAIT = "code:debug_information", "code:wait"
_KEPT = 64  # functions; launches of one kernel mostly follow each other


@dataclass(frozen=True, kw_only=True)
class Opcodes:
    """Names of instructions by their code, for the major compute capabilities of ``majors``."""

    majors: frozenset[int]
    names: Mapping[int, str]


class CodeReader:
    """Names the instructions of launches by the code in their report.

    The code is read when a launch first asks for it: most reports hold no values of instructions.
    """

    def __init__(self, container: Container, entries: Iterable[PayloadEntry]) -> None:
        self._container = container
        self._unread = [*entries]
        self._entries: dict[int, PayloadEntry] = {}
        self._function = functools.lru_cache(maxsize=_KEPT)(self._read)
        self._places = functools.lru_cache(maxsize=_KEPT)(self._named)
        self._build = functools.lru_cache(maxsize=_KEPT)(self._read_build)
        self._more = functools.lru_cache(maxsize=_KEPT)(_more)

    @functools.cached_property
    def _opcodes(self) -> Opcodes:
        return load_opcodes()

    def places(self, result: Any, addresses: tuple[Keys[int], ...]) -> Mapping[int, Place]:
        """Return what is known of the instructions at ``addresses``, which must be all with values.

        The first instruction of a kernel is always executed, so the smallest is where it begins,
        but for a kernel that calls functions which stand elsewhere: then some of them lie outside
        of its code, and nothing is named.
        """
        return self._places(result.source.reference, text(result.mangled), addresses)

    def with_build(self, result: Any, counters: Packed[str]) -> Packed[str]:
        """Return the counters of a launch, and how its code was compiled where the report has it.

        ``code:debug_information`` is 1 or 0; ``code:wait`` the mean cycles that an instruction
        makes the next one wait.
        """
        built = self._build(result.source.reference, text(result.mangled))
        if built is None:
            return counters
        names = self._more(counters.named, built.named)
        return Packed(names, np.concatenate((counters.numbers, built.numbers)))

    def _read_build(self, reference: int, name: str) -> Packed[str] | None:
        self._index()
        entry = self._entries.get(reference)
        source = None if entry is None else self._container.source(entry)
        if source is None or source.revision >> 16 < _WAITS_SINCE:
            return None
        build = read_build(source.code, name)
        if build is None or build.wait is None:
            return None
        return Packed.of(
            {_DEBUG_INFORMATION: float(build.has_debug_information), _WAIT: build.wait}
        )

    def _named(
        self, reference: int, name: str, addresses: tuple[Keys[int], ...]
    ) -> Mapping[int, Place]:
        wanted = set().union(*addresses)
        begin = min(wanted, default=0)
        if not wanted or begin % _ALIGNMENT:
            return {}
        self._index()
        known = self._function(reference, name)
        if (max(wanted) - begin) // _BYTES_EACH >= len(known):
            return {}
        return {address: known[(address - begin) // _BYTES_EACH] for address in wanted}

    def _index(self) -> None:
        """Find the references of the entries; one may come again with nothing in it."""
        for entry in self._unread:
            source = self._container.source(entry)
            if source is not None and source.code:
                self._entries[source.reference] = entry
        self._unread.clear()

    def _read(self, reference: int, name: str) -> tuple[Place, ...]:
        """Return what the instructions of a function are, in their order."""
        entry = self._entries.get(reference)
        source = None if entry is None else self._container.source(entry)
        if source is None:
            return ()
        has_names = source.revision >> 16 in self._opcodes.majors
        names = self._opcodes.names if has_names else {}
        return tuple(_places(read_function(source.code, name), names))


def _more(names: Keys[str], added: Keys[str]) -> Keys[str]:
    return Keys((*names, *added))


def _places(function: FunctionCode, names: Mapping[int, str]) -> Iterator[Place]:
    begins = list(function.lines)
    digest = blake2b(function.code, digest_size=_DIGEST).hexdigest()
    known: dict[tuple[str | None, str | None], Place] = {}
    for offset in range(0, len(function.code) - _BYTES_EACH + 1, _BYTES_EACH):
        code = int.from_bytes(function.code[offset : offset + 2], "little") & _BITS
        before = bisect_right(begins, offset)
        line = function.lines[begins[before - 1]] if before else None
        opcode = names.get(code)
        yield known.setdefault((opcode, line), Place(opcode=opcode, line=line, code=digest))


def load_opcodes() -> Opcodes:
    """Return the names of instructions, from the file of labels.

    Raises:
        RuleError: it has another form.
    """
    path = data_dir("rules") / "labels" / "sass.yaml"
    return remembered("opcodes", [path], "", lambda: _opcodes(load(path)))


def _opcodes(document: MappingNode) -> Opcodes:
    document.refuse_unknown(("majors", "opcodes"))
    return Opcodes(
        majors=frozenset(int(node.as_number()) for node in document.sequence("majors")),
        names={
            _number(code): name
            for name, codes in document.mapping("opcodes").items()
            for code in codes.as_sequence()
        },
    )


def _number(node: DocumentNode) -> int:
    try:
        return int(node.as_text(), 16)
    except ValueError as error:
        raise node.unexpected("a code such as 0x181") from error
