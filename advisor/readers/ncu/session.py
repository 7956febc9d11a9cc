"""What a report says about its run as a whole, merged from the pieces scattered over its blocks.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format"; Nsight Compute CLI,
"Command Line Options" for the defaults of the conditions.
"""

from __future__ import annotations

import math
import re
from typing import Any

from advisor.model import ReportedDevice, Session
from advisor.readers.ncu import messages
from advisor.readers.ncu.messages import moment, text, value_of

SIMULATED = "advisor.simulated"
"""The session property that marks a report whose counters come from a model of a machine."""

_DEFAULTS = {"replay-mode": "kernel", "cache-control": "all", "clock-control": "base"}
_CONFIGURED = re.compile(r"--config-file(-path\b|[ =]+on\b)")


class SessionPieces:
    """Collects what block headers say about the run: the last word wins, lists are appended."""

    def __init__(self) -> None:
        self._session = messages.Session()
        self._process = messages.Process()

    def add(self, header: Any) -> None:
        """Take the pieces that a block's header has."""
        if header.HasField("session"):
            self._session.MergeFrom(header.session)
        if header.HasField("process"):
            self._process.MergeFrom(header.process)

    def session(self) -> Session:
        """Return the whole of what was added."""
        message = self._session
        versions = {text(pair.key): text(pair.value) for pair in message.versions}
        properties = {text(pair.key): text(pair.value) for pair in message.properties.pairs}
        profiler, _, _ = versions.get("Nsight Compute Target", "").partition(" ")
        system = message.target if message.HasField("target") else message.host
        return Session(
            profiler="ncu",
            profiler_version=profiler or None,
            command_line=text(message.command_line).strip() or None,
            program=text(self._process.name or message.executable.path) or None,
            host=text(system.computer) or None,
            operating_system=" ".join(filter(None, (text(system.name), text(system.build))))
            or None,
            driver_version=versions.get("Display Driver Version") or None,
            runtime="CUDA",
            runtime_version=versions.get("CUDA Version") or None,
            started_at=moment(message.created),
            clock_epoch="utc",
            devices=_devices(message),
            simulated=properties.get(SIMULATED) == "true",
            **_conditions(message),
        )


def _conditions(message: Any) -> dict[str, str | None]:
    """Return replay mode, cache control and clock control, None where the report does not record.

    They are what the command line names, else what the UI kept. A recorded command line without
    the option means the documented default, unless it names a configuration file, which may set
    the option too.
    """
    line = text(message.command_line)
    kept = {
        "replay-mode": text(message.settings.replay_mode).lower(),
        "clock-control": text(message.settings.clock_control).lower(),
    }
    defaults = _DEFAULTS if line and not _CONFIGURED.search(line) else {}
    conditions = {}
    for option in _DEFAULTS:
        named = re.search(rf"--{option}[ =]+([a-z][a-z-]*)", line)
        value = named[1] if named else kept.get(option) or defaults.get(option)
        conditions[option.replace("-", "_")] = value
    return conditions


def _devices(message: Any) -> tuple[ReportedDevice, ...]:
    """Return the devices in file order; of one described twice, the last description."""
    devices = {device.id: device for device in message.devices}
    return tuple(
        ReportedDevice(id=device.id, name=text(device.name), attributes=_attributes(device))
        for device in devices.values()
    )


def _attributes(device: Any) -> dict[str, float | str]:
    values = ((text(entry.name), value_of(entry.value)) for entry in device.attributes)
    return {
        name: value
        for name, value in values
        if isinstance(value, str) or (value is not None and math.isfinite(value))
    }
