"""One result of a report as a launch: its counters, shape and ranges.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format"; what it leaves open, as
observed in reports of 2019 to 2026.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from advisor.model import Dim3, Keyed, Launch
from advisor.readers import ncu_messages as messages
from advisor.readers.base import ReadOptions
from advisor.readers.ncu_findings import findings
from advisor.readers.ncu_messages import moment, text, value_of
from advisor.readers.ncu_values import is_size, shape_of

_LISTS = ("group:", "regex:")  # texts that only list the members of a request
_GRID_IN_BLOCKS_SINCE = (2020, 3)  # profiler version; before, the grid was stored in threads
_ADDRESS_LIMIT = 2**63  # what the database holds
_CURVES_KEPT = 64  # of one report: those of the kernels launched last


class LaunchReader:
    """Turns the results of one report into launches.

    ``names`` is the report's table of texts, which grows as blocks are read; ``devices`` are the
    names of its devices by id. Counters with one value per key are mostly curves that repeat with
    every launch of a kernel, so each curve is decoded once.
    """

    def __init__(
        self,
        options: ReadOptions,
        *,
        names: Sequence[str],
        devices: Mapping[int, str],
        version: str | None,
    ) -> None:
        self._names = names
        self._devices = devices
        self._grid_in_blocks = _grid_in_blocks(version)
        self._keyed = options.keyed
        self._instructions = options.instructions
        self._wanted = options.keyed | options.instructions
        self._curve = functools.lru_cache(maxsize=_CURVES_KEPT)(_by_key)

    def launch(self, result: Any, *, index: int, process: int | None) -> Launch:
        """Return the launch that ``result`` tells of.

        Raises:
            IndexError: a counter's name is not in the table of texts.
        """
        numbers, texts, instanced = self._values(result)
        counters = {name: number for name, number in numbers.items() if math.isfinite(number)}
        block = _dimensions(result, "block")
        device = self._device(counters)
        return Launch(
            index=index,
            kernel_name=_kernel_name(result),
            mangled_name=text(result.mangled) or None,
            grid=self._grid(result, counters, block),
            block=block,
            device=device,
            device_name=None if device is None else self._devices.get(device),
            context=result.context if result.HasField("context") else None,
            stream=result.stream if result.HasField("stream") else None,
            process=process,
            started_at=moment(result.created),
            nvtx=tuple(_ranges(result)),
            clock_locked=result.clock.executed if result.clock.HasField("executed") else None,
            counters=counters,
            texts=texts,
            keyed={n: self._curve(data) for n, data in instanced.items() if n in self._keyed},
            instructions={
                n: _by_address(data) for n, data in instanced.items() if n in self._instructions
            },
            reference_findings=tuple(findings(result)),
            invalid_counters=len(numbers) - len(counters),
        )

    def _values(self, result: Any) -> tuple[dict[str, float], dict[str, str], dict[str, bytes]]:
        """Return numbers (perhaps NaN), texts, and wanted counters with instances as raw bytes.

        Some versions repeat an entry with another value; the last one counts. An entry without a
        value says nothing.
        """
        numbers: dict[str, float] = {}
        texts: dict[str, str] = {}
        instanced: dict[str, bytes] = {}
        for metric in result.metrics:
            name = self._names[metric.name_id]
            value = value_of(metric.value)
            if isinstance(value, float):
                numbers[name] = value
            elif value is not None and not name.startswith(_LISTS):
                texts[name] = value
            if name in self._wanted:
                instanced[name] = metric.SerializeToString()
        return numbers, texts, instanced

    def _grid(self, result: Any, counters: Mapping[str, float], block: Dim3 | None) -> Dim3 | None:
        """Return the grid in blocks, which old reports store in threads.

        The counters of the launch decide where they are; without them the profiler's version does.
        """
        told = shape_of(*(counters.get(f"launch__grid_dim_{axis}") for axis in "xyz"))
        if told is not None:
            return told
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
        told = counters.get("launch__device_id")
        if told is not None and is_size(told):
            return int(told)
        return next(iter(self._devices)) if len(self._devices) == 1 else None


def _grid_in_blocks(version: str | None) -> bool:
    """Tell by the profiler's version, absent up to early 2020, what a stored grid counts."""
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= _GRID_IN_BLOCKS_SINCE


def _kernel_name(result: Any) -> str:
    """Return the most readable name there is; C, Fortran and Triton kernels lack the first."""
    return text(result.demangled or result.function or result.mangled) or "unnamed kernel"


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


def _by_key(data: bytes) -> Keyed:
    """Return the values of an instanced metric by opcode, block size, register count …"""
    found = [(_key(key), number) for key, number in _instances(data)]
    known = [(key, number) for key, number in found if key is not None]
    return Keyed(keys=tuple(key for key, _ in known), values=tuple(value for _, value in known))


def _by_address(data: bytes) -> dict[int, float]:
    """Return the values of an instanced metric by instruction address."""
    found = ((key.u64 or key.u32, number) for key, number in _instances(data))
    return {address: number for address, number in found if 0 < address < _ADDRESS_LIMIT}


def _instances(data: bytes) -> Iterator[tuple[Any, float]]:
    """Yield key and value of the instances whose value is finite and not zero."""
    for instance in messages.InstancedMetric.FromString(data).instances:
        value = instance.value
        number = float(value.u64 or value.f64 or value.u32 or value.f32)
        if number and math.isfinite(number):
            yield instance.key, number


def _key(key: Any) -> str | None:
    return text(key.text) or str(key.u64 or key.u32) if key.WhichOneof("kind") else None


def _ranges(result: Any) -> Iterator[str]:
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
