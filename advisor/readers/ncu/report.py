"""Read kernel launches from a report of Nsight Compute (``.ncu-rep``, 2019 to 2026).

The reader streams: it holds about a megabyte of launches at a time, whatever the size of the file.
Session data, names of counters and code are scattered over the blocks, some of them behind the
launches that they belong to, so all headers are read first, to gather these and to learn where the
launches lie.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from google.protobuf.message import DecodeError

from advisor.errors import InputError
from advisor.model import Launch, Record, Session, Skipped
from advisor.readers.base import ReadOptions, Source
from advisor.readers.ncu.code import CodeReader
from advisor.readers.ncu.container import MAGIC, Container, PayloadEntry
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
                raise _with_count(
                    error, report.launches, is_whole=gathered.damage is None
                ) from error
            reason = f"{error.problem}; the rest is left out"
            yield Skipped(place=str(error.at), reason=reason, cut=True)


@dataclass(frozen=True, kw_only=True)
class _Gathered:
    """What all blocks up to the first ``damage`` say together.

    ``names`` is the table of texts that counters are named by, ``sources`` are the entries of code,
    ``results`` those of launches and ranges in file order, each with the id of its process;
    ``detailed`` the places of the launches to read in detail, None for all.
    """

    session: Session
    names: Sequence[str]
    sources: Sequence[PayloadEntry]
    results: Sequence[tuple[PayloadEntry, int | None]]
    detailed: frozenset[int] | None
    damage: InputError | None


class _Report:
    """The launches of one report, and how many there have been."""

    def __init__(
        self, container: Container, name: str, gathered: _Gathered, options: ReadOptions
    ) -> None:
        self.launches = 0
        self._container = container
        self._name = name
        self._gathered = gathered
        self._waiting: list[tuple[PayloadEntry, Result]] = []
        self._bytes = 0  # of those that wait
        self._reader = LaunchReader(
            options,
            names=gathered.names,
            devices={device.id: device.name for device in gathered.session.devices},
            version=gathered.session.profiler_version,
            code=CodeReader(container, gathered.sources),
        )

    def records(self) -> Iterator[Launch | Skipped]:
        """Yield launches, and ranges as skipped, in file order."""
        try:
            for entry, process in self._gathered.results:
                yield from self._take(entry, process)
        except InputError:
            yield from self._flush()
            raise
        yield from self._flush()
        if self._gathered.damage is not None:
            raise self._gathered.damage

    def _take(self, entry: PayloadEntry, process: int | None) -> Iterator[Launch | Skipped]:
        if entry.kind == "result":
            index, asked = self.launches + len(self._waiting), self._gathered.detailed
            result = Result(
                message=self._container.result(entry),
                index=index,
                process=process,
                detailed=asked is None or index in asked,
            )
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
        else:
            yield from launches

    def _damaged(self, entry: PayloadEntry, error: Exception) -> InputError:
        problem = f"block {entry.block} has a damaged counter or rule ({error})"
        if isinstance(error, IndexError):
            problem = f"block {entry.block} names a counter that no table has"
        return self._container.damaged(entry.start, problem)


def _gather(container: Container, options: ReadOptions) -> _Gathered:
    """Return what the blocks up to the first damage say about the launches in all of them."""
    pieces, names = SessionPieces(), list[str]()
    sources, results = list[PayloadEntry](), list[tuple[PayloadEntry, int | None]]()
    process: int | None = None
    damage: InputError | None = None
    detailed: frozenset[int] | None = None
    try:
        for block in container.blocks():
            pieces.add(block.header)
            names += [text(name) for name in block.header.strings.texts]
            for piece in (block.header.session, block.header.process):
                process = piece.pid if piece.HasField("pid") else process
            for entry in container.entries(block):
                if entry.kind == "source":
                    sources.append(entry)
                else:
                    results.append((entry, process))
    except InputError as error:
        damage = error
    launches = [entry for entry, _ in results if entry.kind == "result"]
    with contextlib.suppress(InputError):  # reading the launches says where it is damaged
        detailed = sampled(container, launches, options.detailed)
    return _Gathered(
        session=pieces.session(),
        names=names,
        sources=sources,
        results=results,
        detailed=detailed,
        damage=damage,
    )


def _with_count(error: InputError, launches: int, *, is_whole: bool) -> InputError:
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
