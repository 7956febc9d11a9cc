"""Read traces of Wavescope: a line of JSON about the session, then one per dispatch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from advisor.errors import InputError, Location
from advisor.model import Launch, Record, ReportedDevice, Session
from advisor.readers import ReadOptions, Source

FORMAT = "wavescope"
COUNTERS = "wavescope"


def accepts(head: bytes) -> bool:
    """Detect by the first bytes whether this is a trace."""
    return head.startswith(b'{"wavescope":')


def read(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the session, then one launch per dispatch."""
    del options
    with source.open() as file:
        for number, line in enumerate(file):
            try:
                told = json.loads(line)
            except ValueError as error:
                at = Location(name=source.name, line=number + 1)
                raise InputError(f"no JSON: {error}", at=at) from error
            yield _launch(told, number - 1) if number else _session(told)


def _session(told: dict[str, Any]) -> Session:
    return Session(
        profiler=COUNTERS,
        profiler_version=told["wavescope"],
        command_line=told["command"],
        program=told["command"].split()[0],
        devices=(ReportedDevice(id=0, name=told["device"]),),
    )


def _launch(told: dict[str, Any], index: int) -> Launch:
    items, group = told["items"], told["group"]
    return Launch(
        index=index,
        kernel_name=told["kernel"],
        grid=(-(-items // group), 1, 1),
        block=(group, 1, 1),
        device=0,
        counters={name: float(value) for name, value in told["counters"].items()},
    )
