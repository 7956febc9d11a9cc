"""Write genuine Nsight Compute report containers from launches and a session.

Session data is written in pieces, some of them behind the first launch, and each launch's block
adds only the names that are new to the report: as the profiler does it. Reports of simulated
sessions carry the property ``advisor.simulated`` and a comment that says so.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format".
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from advisor.model import Launch, ReferenceFinding, ReportedDevice, Session
from advisor.readers.ncu import messages

_MAGIC = b"NVR\0"
_CONTAINER_VERSION = 7
_SIMULATED = b"advisor.simulated"
_COMMENT = b"Simulated: these counters come from a model of a machine, not from a device."
_SEVERITIES = {"none": 0, "ok": 1, "warning": 2, "error": 3, "optimization": 4}
_SCOPES = {None: 0, "local": 1, "global": 2}
_THREAD = 1  # of the launching process


def write_report(target: Path | BinaryIO, session: Session, launches: Iterable[Launch]) -> None:
    """Write ``launches`` as one report to a path or a binary stream.

    Integer counters are stored as integers, floats as doubles (NaN too). Keys of decimal digits
    and hexadecimal addresses ("0x…") are stored as integers, other keys as texts.
    """
    if isinstance(target, Path):
        with target.open("wb") as stream:
            _write(ReportWriter(stream), session, iter(launches))
    else:
        _write(ReportWriter(target), session, iter(launches))


def _write(writer: ReportWriter, session: Session, launches: Iterator[Launch]) -> None:
    first = next(launches, None)
    process = None if first is None else first.process
    pieces = _pieces(session, process)
    writer.block(session=next(pieces), process=_process(session, process))
    if first is not None:
        writer.launch(first)
    for piece in pieces:
        writer.block(session=piece)
    for launch in launches:
        writer.launch(launch)


class ReportWriter:
    """Writes a report block by block; ``names`` holds every name written so far."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._numbers: dict[str, int] = {}
        self._new: list[str] = []
        stream.write(_MAGIC)
        stream.write(_sized(messages.FileHeader(version=_CONTAINER_VERSION).SerializeToString()))

    def name_id(self, name: str) -> int:
        """Return the number of ``name``; a new one goes into the table of the next block."""
        if name not in self._numbers:
            self._numbers[name] = len(self._numbers)
            self._new.append(name)
        return self._numbers[name]

    def block(
        self,
        *,
        session: Any = None,
        process: Any = None,
        sources: Sequence[bytes] = (),
        results: Sequence[bytes] = (),
        ranges: Sequence[bytes] = (),
        with_names: bool = True,
    ) -> None:
        """Write one block with these messages and entries, and the names new since the last.

        Without ``with_names`` they wait for the next one: some versions write a name behind the
        launches that use it.
        """
        payload = b"".join(_sized(entry) for entry in (*sources, *results, *ranges))
        header = messages.BlockHeader(
            num_sources=len(sources),
            num_results=len(results),
            num_ranges=len(ranges),
            payload_size=len(payload),
            session=session,
            process=process,
        )
        if self._new and with_names:
            header.strings.texts.extend(name.encode() for name in self._new)
            self._new.clear()
        self._stream.write(_sized(header.SerializeToString()))
        self._stream.write(payload)

    def launch(self, launch: Launch) -> None:
        """Write a block with the result of ``launch``."""
        result = _result(launch)
        values: dict[str, float | str] = {**launch.counters, **launch.texts}
        for name, value in values.items():
            if name not in launch.keyed and name not in launch.instructions:
                result.metrics.add(name_id=self.name_id(name), value=_value(value))
        instanced: dict[str, Iterable[tuple[str | int, float]]] = {
            name: zip(keyed.keys, keyed.values, strict=True) for name, keyed in launch.keyed.items()
        }
        instanced |= {name: values.items() for name, values in launch.instructions.items()}
        for name, instances in instanced.items():
            metric = _instanced(self.name_id(name), launch.counters.get(name), instances)
            result.metrics.add().MergeFromString(metric.SerializeToString())
        self.block(results=[result.SerializeToString()])


def _sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _pieces(session: Session, pid: int | None) -> Iterator[Any]:
    """Yield the session as the profiler writes it: start first, command line last."""
    yield _start(session, pid)
    if session.devices:
        yield messages.Session(devices=[_device(device) for device in session.devices])
    versions = {
        "CUDA Version": session.runtime_version,
        "Display Driver Version": session.driver_version,
        "Nsight Compute Target": session.profiler_version,
    }
    for key, value in versions.items():
        if value is not None:
            yield messages.Session(versions=[messages.Pair(key=key.encode(), value=value.encode())])
    if session.simulated:
        mark = messages.Pair(key=_SIMULATED, value=b"true")
        yield messages.Session(comments=_COMMENT, properties=messages.Properties(pairs=[mark]))
    if session.command_line is not None:
        yield messages.Session(command_line=session.command_line.encode())


def _start(session: Session, pid: int | None) -> Any:
    piece = messages.Session(pid=pid)
    if session.started_at is not None:
        piece.created = int(session.started_at)
    if session.host is not None:
        piece.target.computer = session.host.encode()
    if session.operating_system is not None:
        piece.target.name = session.operating_system.encode()
    settings = {
        "replay_mode": session.replay_mode,
        "clock_control": session.clock_control,
    }
    for name, value in settings.items():
        if value is not None and session.command_line is None:
            setattr(piece.settings, name, value.encode())
    return piece


def _process(session: Session, pid: int | None) -> Any:
    program = None if session.program is None else session.program.encode()
    return messages.Process(pid=pid, name=program)


def _device(device: ReportedDevice) -> Any:
    attributes = [
        messages.Attribute(name=name.encode(), value=_value(value))
        for name, value in device.attributes.items()
    ]
    return messages.Device(id=device.id, name=device.name.encode(), attributes=attributes)


def _value(value: float | str) -> Any:
    match value:
        case str():
            return messages.Value(text=value.encode())
        case int():
            return messages.Value(u64=value)
        case _:
            return messages.Value(f64=value)


def _result(launch: Launch) -> Any:
    result = messages.Result(
        thread=_THREAD,
        function=_function(launch.kernel_name).encode(),
        demangled=launch.kernel_name.encode(),
        context=launch.context,
        stream=launch.stream,
        rules=list(_rules(launch.reference_findings)),
    )
    if launch.mangled_name is not None:
        result.mangled = launch.mangled_name.encode()
    for field, shape in (("grid", launch.grid), ("block", launch.block)):
        if shape is not None:
            x, y, z = shape
            getattr(result, field).MergeFrom(messages.Dim3(x=x, y=y, z=z))
    if launch.started_at is not None:
        result.created = launch.started_at // 10**9
    if launch.clock_locked is not None:
        result.clock.requested = True
        result.clock.executed = launch.clock_locked
    if launch.nvtx:
        stack = result.nvtx.threads.add(id=_THREAD).stacks.add(domain=0)
        for name in launch.nvtx:
            stack.ranges.add(name=name.encode())
    return result


def _function(kernel_name: str) -> str:
    """Return the bare name in a demangled one: ``void scale<float>(int)`` is ``scale``."""
    found = re.search(r"([^\s(<]+)(?=[(<]|$)", kernel_name)
    return kernel_name if found is None else found[1]


def _instanced(
    name_id: int, total: float | None, instances: Iterable[tuple[str | int, float]]
) -> Any:
    metric = messages.InstancedMetric(name_id=name_id)
    if total is not None:
        metric.value.MergeFrom(_value(total))
    for key, value in instances:
        metric.instances.add(key=_key(key), value=_value(value))
    return metric


def _key(key: str | int) -> Any:
    if isinstance(key, int):
        return messages.Value(u64=key)
    return _value(int(key) if key.isdecimal() else key)


def _rules(findings: Iterable[ReferenceFinding]) -> Iterator[Any]:
    """Yield one rule result per run of findings of one rule; without text it has no message."""
    grouped = itertools.groupby(findings, key=lambda finding: (finding.rule, finding.section))
    for (rule, section), group in grouped:
        same = list(group)
        result = messages.RuleResult(
            identifier=rule.encode(), name=same[0].title.encode(), section=section.encode()
        )
        for number, finding in enumerate(same):
            if finding.text:
                result.body.items.append(_item(number, finding))
        yield result


def _item(number: int, finding: ReferenceFinding) -> Any:
    item = messages.Item(
        message=messages.Message(
            text=finding.text.encode(),
            kind=_SEVERITIES[finding.severity],
            id=number,
            title=finding.title.encode(),
        )
    )
    for metric, value in finding.focus:
        item.focus.add(message=number, metric=metric.encode(), value=value)
    if finding.estimate is not None:
        item.speedup.kind = _SCOPES[finding.scope]
        item.speedup.percent = 100 * finding.estimate
    return item
