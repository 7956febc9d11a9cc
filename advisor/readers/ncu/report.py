"""Read kernel launches from a report of Nsight Compute (``.ncu-rep``, 2019 to 2026).

The reader streams: it holds about a megabyte of launches at a time, whatever the size of the file.
Session data, names of counters and code are scattered over the blocks, some of them behind the
launches that they belong to, so block headers are read twice: first to gather these, then with the
launches between them.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from google.protobuf.message import DecodeError

from advisor.errors import InputError
from advisor.model import Launch, Packed, Record, Session, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu.code import CodeReader
from advisor.readers.ncu.container import MAGIC, Block, Container, PayloadEntry
from advisor.readers.ncu.launch import LaunchReader, Result
from advisor.readers.ncu.messages import text
from advisor.readers.ncu.sampling import sampled
from advisor.readers.ncu.session import SessionPieces
from advisor.records import dataclass

FORMAT = "ncu-rep"
COUNTERS = "ncu"
_TOGETHER = 2**20  # bytes of results that are read together, unless they are many
_MOST = 256  # results that are
_EXPORT = (
    "all blocks are there, so another copy will hardly help; if Nsight Compute opens it, "
    "ingest what `ncu --import FILE --csv --page raw --print-units base` prints"
)


def accepts(head: bytes) -> bool:
    """Detect by the first four bytes whether this is a report."""
    return head.startswith(MAGIC)


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the session, then launches and what was skipped in file order.

    Counters are in the profiler's base units (byte, ns, Hz, percent).

    Raises:
        InputError: the report is cut short or damaged; names offset and block, and how many
            launches are whole. With ``options.allow_truncated`` those are kept, if there are any,
            and the rest is skipped.
    """
    with source.open() as file:
        container = Container(file, name=source.name, size=source.size)
        gathered = _gather(container, options)
        report = _Report(container, source.name, gathered, options)
        yield gathered.session
        try:
            yield from report.records()
        except InputError as error:
            if not options.allow_truncated or not report.launches:
                raise _with_count(error, report.launches, gathered.is_whole) from error
            reason = f"{error.problem}; the rest is left out"
            yield Skipped(place=str(error.at), reason=reason, cut=True)


@dataclass(frozen=True, kw_only=True)
class _Gathered:
    """What all blocks up to the first damage say together; ``is_whole`` where there is none.

    ``names`` is the table of texts that counters are named by, ``sources`` are the entries of code,
    ``detailed`` the places of the launches to read in detail, None for all.
    """

    session: Session
    names: Sequence[str]
    sources: Sequence[PayloadEntry]
    detailed: frozenset[int] | None
    is_whole: bool


class _Report:
    """The launches of one report, and how many there have been."""

    def __init__(
        self, container: Container, name: str, gathered: _Gathered, options: ReadOptions
    ) -> None:
        self.launches = 0
        self._container = container
        self._name = name
        self._process: int | None = None
        self._detailed = gathered.detailed
        self._waiting: list[tuple[PayloadEntry, Result]] = []
        self._bytes = 0  # of those that wait
        self._code = CodeReader(container, gathered.sources)
        self._reader = LaunchReader(
            options,
            names=gathered.names,
            devices={device.id: device.name for device in gathered.session.devices},
            version=gathered.session.profiler_version,
        )

    def records(self) -> Iterator[Launch | Skipped]:
        """Yield launches, and ranges as skipped, in file order."""
        try:
            for block in self._container.blocks():
                self._enter(block)
                for entry in self._container.entries(block):
                    yield from self._take(entry)
        except InputError:
            yield from self._flush()
            raise
        yield from self._flush()

    def _enter(self, block: Block) -> None:
        header = block.header
        for piece in (header.session, header.process):
            if piece.HasField("pid"):
                self._process = piece.pid

    def _take(self, entry: PayloadEntry) -> Iterator[Launch | Skipped]:
        if entry.kind == "result":
            index = self.launches + len(self._waiting)
            message = self._container.result(entry)
            detailed = self._detailed is None or index in self._detailed
            result = Result(message=message, index=index, process=self._process, detailed=detailed)
            self._waiting.append((entry, result))
            self._bytes += entry.size
            if self._bytes > _TOGETHER or len(self._waiting) == _MOST:
                yield from self._flush()
        elif entry.kind == "range":
            yield from self._flush()
            yield Skipped(
                place=f"{self._name}: block {entry.block}",
                reason="a range of kernels measured together, not a launch of one kernel",
            )

    def _flush(self) -> Iterator[Launch]:
        """Yield the launches of the results that wait."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        for launch in self._launches(waiting):
            yield launch
            self.launches += 1

    def _launches(self, results: Sequence[tuple[PayloadEntry, Result]]) -> Iterator[Launch]:
        """Read results together; where one of them is damaged, one by one to find it."""
        try:
            launches = self._reader.launches([result for _, result in results])
        except (IndexError, DecodeError) as error:
            if len(results) == 1:
                raise self._damaged(results[0][0], error) from error
            for each in results:
                yield from self._launches([each])
            return
        for (_, result), launch in zip(results, launches, strict=True):
            yield self._placed(launch, result.message)

    def _placed(self, launch: Launch, message: Any) -> Launch:
        """Return the launch with how its code was compiled, and what its instructions are."""
        counters = self._code.with_build(message, Packed.of(launch.counters))
        if not launch.instructions:
            return replace(launch, counters=counters)
        named = tuple(Packed.of(values).named for values in launch.instructions.values())
        places = self._code.places(message, named)
        return replace(launch, counters=counters, places=places)

    def _damaged(self, entry: PayloadEntry, error: Exception) -> InputError:
        problem = f"block {entry.block} has a damaged counter or rule ({error})"
        if isinstance(error, IndexError):
            problem = f"block {entry.block} names a counter that no table has"
        return self._container.damaged(entry.start, problem)


def _gather(container: Container, options: ReadOptions) -> _Gathered:
    """Return what the blocks up to the first damage say about the launches in all of them."""
    pieces = SessionPieces()
    names: list[str] = []
    entries: dict[str, list[PayloadEntry]] = {"source": [], "result": [], "range": []}
    detailed: frozenset[int] | None = None
    is_whole = False
    with contextlib.suppress(InputError):
        for block in container.blocks():
            pieces.add(block.header)
            names += [text(name) for name in block.header.strings.texts]
            if block.header.num_sources or options.detailed is not None:
                for entry in container.entries(block):
                    entries[entry.kind].append(entry)
        is_whole = True
    with contextlib.suppress(InputError):  # reading the launches says where it is damaged
        detailed = sampled(container, entries["result"], options.detailed)
    return _Gathered(
        session=pieces.session(),
        names=names,
        sources=entries["source"],
        detailed=detailed,
        is_whole=is_whole,
    )


def _with_count(error: InputError, launches: int, is_whole: bool) -> InputError:
    """Return ``error`` with the number of launches before it and what can be done.

    Where all blocks are whole, nothing is missing that another copy of the file would have.
    """
    again = "the file is cut short or damaged: copy it again" if not is_whole else _EXPORT
    if not launches:
        hint = f"no whole launch is before that; {again}"
        return InputError(error.problem, at=error.at, hint=hint)
    whole = "1 launch before it is" if launches == 1 else f"{launches:,} launches before it are"
    return InputError(
        f"{error.problem}; {whole} whole",
        at=error.at,
        hint=f"{again}, or take what is whole with --allow-truncated",
    )
