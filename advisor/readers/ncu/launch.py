"""Results of a report as launches: their counters, shapes and ranges.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format"; what it leaves open, as
observed in reports of 2019 to 2026.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from advisor.model import UNNAMED, Dim3, Keyed, Keys, Launch, Packed, Place, ReferenceFinding
from advisor.readers.base import ReadOptions
from advisor.readers.ncu import messages
from advisor.readers.ncu.code import CodeReader
from advisor.readers.ncu.columns import (
    Instances,
    Ints,
    Metrics,
    Values,
    read_instances,
    read_metrics,
)
from advisor.readers.ncu.findings import findings
from advisor.readers.ncu.messages import moment, text
from advisor.readers.ncu.values import is_size, shape_of
from advisor.records import dataclass

_LISTS = ("group:", "regex:")  # texts that only list the members of a request
_GRID_IN_BLOCKS_SINCE = (2020, 3)  # profiler version; before, the grid was stored in threads
_ADDRESS_LIMIT = 2**63  # what the database holds
_KEPT = 64  # curves and lists of counters or addresses, of the kernels launched last
_RULES_KEPT = 512  # results of rules: most say the same of many launches


@dataclass(frozen=True, kw_only=True)
class Result:
    """A result of a report, with its metrics as bytes, and its place among the launches.

    Of one that is not ``detailed``, what differs little between launches of a variant is left out.
    """

    message: Any
    index: int
    process: int | None
    detailed: bool = True


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Which metrics of a launch are what, by their places: launches of a kernel share it."""

    named: Keys[str]
    places: Ints
    keyed: tuple[tuple[str, int], ...]
    instructions: tuple[tuple[str, int], ...]
    invalid: int


@dataclass(frozen=True, kw_only=True)
class _Instanced:
    """The values of a launch's metrics by key, and those by the address of an instruction."""

    keyed: dict[str, Keyed]
    instructions: dict[str, Packed[int]]


class LaunchReader:
    """Turns the results of one report into launches.

    ``names`` is the report's table of texts; ``devices`` are the names of its devices by id,
    ``code`` reads what was compiled. Counters with one value per key are mostly curves that
    repeat with every launch of a kernel, so each curve is decoded once.
    """

    def __init__(
        self,
        options: ReadOptions,
        *,
        names: Sequence[str],
        devices: Mapping[int, str],
        version: str | None,
        code: CodeReader,
    ) -> None:
        self._names = names
        self._code = code
        self._devices = devices
        self._grid_in_blocks = _grid_in_blocks(version)
        self._keyed = options.keyed
        self._curves_asked = options.curves
        self._instructions = options.instructions
        self._remembered_layout = functools.lru_cache(maxsize=_KEPT)(self._new_layout)
        self._findings = functools.lru_cache(maxsize=_RULES_KEPT)(findings)
        self._remembered_texts = functools.lru_cache(maxsize=_KEPT)(self._new_texts)
        self._curves: dict[bytes, Keyed] = {}
        self._addresses = functools.lru_cache(maxsize=_KEPT)(_addresses)

    def launches(self, results: Sequence[Result]) -> list[Launch]:
        """Return the launches that ``results`` describe, which are read together.

        Raises:
            IndexError: a counter's name is not in the table of texts.
            DecodeError: a metric or what a rule says is damaged.
        """
        metrics = [list(each.message.metrics) for each in results]
        parts = read_metrics([*chain.from_iterable(metrics)]).split([*map(len, metrics)])
        layouts = [self._layout(*each) for each in zip(parts, results, strict=True)]
        found = self._instanced(layouts, metrics)
        return [*map(self._launch, results, parts, layouts, found)]

    def _launch(
        self, result: Result, read: Metrics, layout: _Layout, instanced: _Instanced
    ) -> Launch:
        message = result.message
        counters = Packed(layout.named, read.values.numbers[layout.places])
        counters = self._code.with_build(message, counters)
        block = _dimensions(message, "block")
        device = self._device(counters)
        return Launch(
            index=result.index,
            kernel_name=kernel_name(message),
            mangled_name=text(message.mangled) or None,
            grid=self._grid(message, counters, block),
            block=block,
            device=device,
            device_name=None if device is None else self._devices.get(device),
            context=message.context if message.HasField("context") else None,
            stream=message.stream if message.HasField("stream") else None,
            process=result.process,
            started_at=_nanoseconds(moment(message.created)),
            nvtx=tuple(ranges(message)),
            clock_locked=message.clock.executed if message.clock.HasField("executed") else None,
            counters=counters,
            texts=self._texts(read),
            keyed=instanced.keyed,
            instructions=instanced.instructions,
            places=self._places(message, instanced.instructions),
            reference_findings=self._vendor_findings(result),
            invalid_counters=layout.invalid,
            detailed=result.detailed,
        )

    def _places(self, message: Any, instructions: Mapping[str, Packed[int]]) -> Mapping[int, Place]:
        if not instructions:
            return {}
        return self._code.places(message, tuple(each.named for each in instructions.values()))

    def _vendor_findings(self, result: Result) -> tuple[ReferenceFinding, ...]:
        rules = result.message.rules if result.detailed else ()
        return tuple(chain.from_iterable(map(self._findings, rules)))

    def _layout(self, read: Metrics, result: Result) -> _Layout:
        values = read.values
        finite = np.isfinite(values.numbers)
        kinds = values.is_number.tobytes(), finite.tobytes()
        return self._remembered_layout(read.name_ids.tobytes(), *kinds, result.detailed)

    def _new_layout(
        self, name_ids: bytes, is_number: bytes, finite: bytes, detailed: bool
    ) -> _Layout:
        """Return which metrics count.

        Some versions repeat an entry with another value; the last one counts. An entry without a
        value says nothing.
        """
        names = [self._names[number] for number in np.frombuffer(name_ids, np.int64).tolist()]
        last = {name: place for place, name in enumerate(names)}
        numbers = {name: place for place, name in enumerate(names) if is_number[place]}
        kept = {name: place for name, place in numbers.items() if finite[place]}
        keyed = self._keyed if detailed else self._keyed - self._curves_asked
        instructions = self._instructions if detailed else frozenset()
        return _Layout(
            named=Keys(kept),
            places=np.array([*kept.values()], np.int64),
            keyed=tuple((name, place) for name, place in last.items() if name in keyed),
            instructions=tuple(
                (name, place) for name, place in last.items() if name in instructions
            ),
            invalid=len(numbers) - len(kept),
        )

    def _texts(self, read: Metrics) -> Mapping[str, str]:
        texts = read.values.texts
        ids = read.name_ids[[*texts]].tolist()
        return self._remembered_texts(tuple(ids), tuple(texts.values()))

    def _new_texts(self, name_ids: tuple[int, ...], texts: tuple[bytes, ...]) -> dict[str, str]:
        names = (self._names[number] for number in name_ids)
        pairs = zip(names, texts, strict=True)
        return {name: text(data) for name, data in pairs if not name.startswith(_LISTS)}

    def _instanced(
        self, layouts: Sequence[_Layout], metrics: Sequence[Sequence[bytes]]
    ) -> list[_Instanced]:
        """Return the values of instanced metrics by key, and those by instruction address."""
        if len(self._curves) > _KEPT:
            self._curves.clear()
        pairs = [*zip(layouts, metrics, strict=True)]
        curves = [{name: of[place] for name, place in layout.keyed} for layout, of in pairs]
        curve_data = dict.fromkeys(chain.from_iterable(each.values() for each in curves))
        new = [data for data in curve_data if data not in self._curves]
        by_address = [[of[place] for _, place in layout.instructions] for layout, of in pairs]
        asked = [*new, *chain.from_iterable(by_address)]
        lists = [messages.RawMetric.FromString(data).instances for data in asked]
        read = read_instances([*chain.from_iterable(lists)])
        ends = [*accumulate(map(len, lists), initial=0)]
        for data, begin, end in zip(new, ends, ends[1:], strict=False):
            self._curves[data] = _by_key(read, begin, end)
        return [
            _Instanced(
                keyed={
                    name: self._curves[data]
                    for name, data in each.items()
                    if self._curves[data].keys
                },
                instructions=instructions,
            )
            for each, instructions in zip(
                curves, self._by_address(layouts, read, ends[len(new) :]), strict=True
            )
        ]

    def _by_address(
        self, layouts: Sequence[_Layout], read: Instances, ends: Sequence[int]
    ) -> Iterator[dict[str, Packed[int]]]:
        """Yield the values by instruction address, where not zero; ``ends`` of each counter."""
        addresses, values = read.keys.integers, read.values.numbers
        kept = (addresses > 0) & (addresses < _ADDRESS_LIMIT) & np.isfinite(values) & (values != 0)
        kept[: ends[0]] = False
        addresses, values = addresses[kept], values[kept]
        counts = np.concatenate(([0], kept.cumsum()))
        starts = counts[ends].tolist()
        first = 0
        for layout in layouts:
            last = first + len(layout.instructions)
            begin, end = starts[first], starts[last]
            parts = self._addresses(
                addresses[begin:end].tobytes(), tuple(s - begin for s in starts[first : last + 1])
            )
            found = values[begin:end]
            yield {
                name: Packed(named, found[places])
                for (name, _), (named, places) in zip(layout.instructions, parts, strict=True)
            }
            first = last

    def _grid(self, result: Any, counters: Mapping[str, float], block: Dim3 | None) -> Dim3 | None:
        """Return the grid in blocks, which old reports store in threads.

        The counters of the launch decide where they are; without them the profiler's version does.
        """
        shape = shape_of(*(counters.get(f"launch__grid_dim_{axis}") for axis in "xyz"))
        if shape is not None:
            return shape
        grid = _dimensions(result, "grid")
        if grid is None or block is None:
            return None
        blocks = _divided(grid, block)
        size = counters.get("launch__grid_size")
        if size is None:
            return grid if self._grid_in_blocks else blocks
        candidates = (shape for shape in (grid, blocks) if shape and math.prod(shape) == size)
        return next(candidates, None)

    def _device(self, counters: Mapping[str, float]) -> int | None:
        """Return the id of the launch's device; a report of one device need not name it."""
        number = counters.get("launch__device_id")
        if number is not None and is_size(number):
            return int(number)
        return next(iter(self._devices)) if len(self._devices) == 1 else None


def _nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds) * 10**9


def _grid_in_blocks(version: str | None) -> bool:
    """Detect by the profiler's version, absent up to early 2020, what a stored grid counts."""
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= _GRID_IN_BLOCKS_SINCE


def kernel_name(result: Any) -> str:
    """Return the most readable name there is; C, Fortran and Triton kernels lack the first."""
    return text(result.demangled or result.function or result.mangled) or UNNAMED


def _dimensions(result: Any, field: str) -> Dim3 | None:
    if not result.HasField(field):
        return None
    shape = getattr(result, field)
    return shape_of(shape.x, shape.y, shape.z)


def _divided(grid: Dim3, block: Dim3) -> Dim3 | None:
    """Return ``grid`` over ``block`` where that leaves no rest on any axis."""
    if 0 in block or any(threads % size for threads, size in zip(grid, block, strict=True)):
        return None
    x, y, z = (threads // size for threads, size in zip(grid, block, strict=True))
    return x, y, z


def _by_key(read: Instances, begin: int, end: int) -> Keyed:
    """Return the values of one metric by opcode, block size, register count …"""
    numbers = read.values.numbers[begin:end]
    kept = (np.isfinite(numbers) & (numbers != 0)).nonzero()[0] + begin
    found = {place: key for place in kept.tolist() if (key := _key(read.keys, place)) is not None}
    values = read.values.numbers[list(found)].tolist()
    return Keyed(keys=tuple(found.values()), values=tuple(values))


def _key(keys: Values, place: int) -> str | None:
    if keys.is_number[place]:
        return str(keys.integers[place])
    return text(keys.texts[place]) or "0" if place in keys.texts else None


def _addresses(data: bytes, ends: Sequence[int]) -> list[tuple[Keys[int], slice | list[int]]]:
    """Return the addresses of each counter, which end at ``ends``, and where their values are.

    Of an address that comes twice the last value counts.
    """
    found = np.frombuffer(data, np.uint64).tolist()
    parts: list[tuple[Keys[int], slice | list[int]]] = []
    for begin, end in pairwise(ends):
        last = {found[place]: place for place in range(begin, end)}
        distinct = len(last) == end - begin
        parts.append((Keys(last), slice(begin, end) if distinct else [*last.values()]))
    return parts


def ranges(result: Any) -> Iterator[str]:
    """Yield the names of the NVTX ranges around the launch, per domain, innermost last."""
    registered = {
        (domain.id, entry.id): entry.text
        for domain in result.nvtx.domains
        for entry in domain.registered
    }
    for thread in result.nvtx.threads:
        if thread.id != result.thread:
            continue
        for stack in thread.stacks:
            for item in stack.ranges:
                message = item.attributes.message
                known = registered.get((stack.domain, message.handle), b"")
                yield text(item.name or message.text or known)
