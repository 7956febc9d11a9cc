"""A run while its launches stream in: who its kernels are, and the row that describes it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.database import ids, names, write
from advisor.database.records import storable
from advisor.database.rows import KernelRow, PlacedLaunch, RunRow, SeriesRow
from advisor.hardware import identify_device, model_of, partition_of
from advisor.hardware.seeding import store_device
from advisor.ingest.records import Profile
from advisor.model import Launch, Session, Skipped
from advisor.version import __version__

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge

_NANOSECONDS = 10**9  # in a second


@dataclass(kw_only=True)
class IncomingRun:
    """What is known of a run so far; ``notes`` say what is in doubt where nothing was left out."""

    profile: Profile
    session: Session = field(default_factory=lambda: Session(profiler="unknown"))
    launches: int = 0
    launches_detailed: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    device_ids: dict[int, str] = field(default_factory=dict)
    placed_without_device: bool = False
    _clock_origin: int | None = None
    _seen: dict[tuple[str, str | None, str], tuple[KernelRow, SeriesRow]] = field(
        default_factory=dict
    )
    _builds: dict[Hashable, list[list[float | None]]] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.profile.run_id

    @property
    def kernels(self) -> Sequence[KernelRow]:
        """The kernels of the launches so far."""
        return [kernel for kernel, _ in self._seen.values()]

    @property
    def series(self) -> Sequence[SeriesRow]:
        """The series of the launches so far."""
        return [series for _, series in self._seen.values()]

    def place(self, launch: Launch, builds: Sequence[str] = ()) -> PlacedLaunch:
        """Return the launch with the ids of what it belongs to.

        ``builds`` are the counters that tell how its kernel was compiled.
        """
        ranges = ids.ranges_key(launch.nvtx)
        key = (launch.kernel_name, launch.device_name, ranges)
        if key not in self._seen:
            self._seen[key] = self._identity(launch, self.profile.labels.label or ranges)
        kernel, series = self._seen[key]
        shape = launch_shape(launch)
        device_id = self._device_id(launch)
        self.placed_without_device |= device_id is None
        who = self.run_id, kernel.kernel_id, ranges, series.device_name, shape or ""
        told = [launch.counters.get(name) for name in builds]
        build = f"{launch.build or ''}{self._build((*who, launch.build), told)}"
        return PlacedLaunch(
            run_id=self.run_id,
            launch=launch,
            kernel_id=kernel.kernel_id,
            series_id=series.series_id,
            variant_id=ids.variant_id(*who, build),
            launch_shape=shape,
            device_id=device_id,
            device_name=launch.device_name,
            started_at=self._since_origin(launch.started_at),
        )

    def row(self, rules_hash: str) -> RunRow:
        """Return the run's provenance, once all of its profile was read."""
        labels, session = self.profile.labels, self.session
        row = RunRow(
            run_id=self.run_id,
            content_hash=self.profile.digest,
            format=self.profile.reader.FORMAT,
            ingested_at=datetime.now(UTC).replace(tzinfo=None),
            advisor_version=__version__,
            name=self.profile.source.name,
            size=self.profile.source.size,
            status="partial" if any(each.cut for each in self.skipped) else "complete",
            started_at=labels.at or _time(session.started_at),
            clock_origin=self._clock_origin,
            compiler=labels.compiler,
            commit=labels.commit,
            branch=labels.branch,
            note=labels.note,
            configuration=labels.configuration,
            label=labels.label,
            tags=labels.tags,
            step_time=labels.step_time,
            group_id=labels.group,
            rank=labels.rank,
            device_names=_joined(device.name for device in session.devices),
            partition=_joined(partition_of(device.name) for device in session.devices),
            launches=self.launches,
            launches_detailed=self.launches_detailed,
            skipped=len(self.skipped),
            skipped_reasons=self._remarks(),
            rules_hash=rules_hash,
        )
        return self._with_session(row)

    def _with_session(self, row: RunRow) -> RunRow:
        """Return the run with what its profile says about it as a whole."""
        session = self.session
        return replace(
            row,
            profiler=session.profiler,
            profiler_version=session.profiler_version,
            program=session.program,
            command_line=session.command_line,
            host=session.host,
            operating_system=session.operating_system,
            driver_version=session.driver_version,
            runtime=session.runtime,
            runtime_version=session.runtime_version,
            clock_epoch=session.clock_epoch,
            clock_control=session.clock_control,
            cache_control=session.cache_control,
            replay_mode=session.replay_mode,
            simulated=session.simulated,
        )

    def _since_origin(self, started_at: int | None) -> float | None:
        """Return seconds after the first event; exact to a nanosecond for a hundred days."""
        if started_at is None:
            return None
        if self._clock_origin is None:
            self._clock_origin = started_at
        return (started_at - self._clock_origin) / _NANOSECONDS

    def _remarks(self) -> str:
        """Return as JSON what was left out, and what is in doubt."""
        skipped = [*self.skipped, *(Skipped(place="device", reason=note) for note in self.notes)]
        remarks = [
            {"place": storable(each.place), "reason": storable(each.reason)} for each in skipped
        ]
        return json.dumps(remarks, ensure_ascii=False)

    def _device_id(self, launch: Launch) -> str | None:
        """Return the device of the launch; a profile with one device need not name it."""
        if len(self.device_ids) == 1:
            return next(iter(self.device_ids.values()))
        return None if launch.device is None else self.device_ids.get(launch.device)

    def _build(self, who: Hashable, told: list[float | None]) -> str:
        """Return what tells a build from the first of its kernel and shape, "" for that one.

        A number that one of two launches lacks tells nothing.
        """
        if not any(number is not None for number in told):
            return ""
        known = self._builds.setdefault(who, [])
        found = next((each for each in known if _may_be_one(each, told)), None)
        if found is None:
            known.append(told)
        return "" if (found or told) is known[0] else " ".join(map(str, found or told))

    def _identity(self, launch: Launch, problem: str) -> tuple[KernelRow, SeriesRow]:
        normalised = names.normalised_name(launch.kernel_name)
        kernel_id = ids.kernel_id(normalised)
        configuration = self.profile.labels.configuration
        model = launch.device_name and model_of(launch.device_name)
        kernel = KernelRow(
            kernel_id=kernel_id,
            name=launch.kernel_name,
            short_name=names.short_name(launch.kernel_name),
            normalised_name=normalised,
            mangled_name=launch.mangled_name,
        )
        series = SeriesRow(
            series_id=ids.series_id(kernel_id, problem, model, configuration),
            kernel_id=kernel_id,
            problem_key=problem,
            device_name=model,
            configuration=configuration,
        )
        return kernel, series


def _may_be_one(build: Sequence[float | None], other: Sequence[float | None]) -> bool:
    pairs = zip(build, other, strict=True)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def launch_shape(launch: Launch) -> str | None:
    """Return grid and block as the profiler prints them; None where one is unknown.

    Of one whose shape is unknown, only its size stands there.
    """
    grid, block = launch.grid or (launch.grid_size,), launch.block or (launch.block_size,)
    if None in (*grid, *block):
        return None
    return "x".join(f"({', '.join(map(str, sides))})" for sides in (grid, block))


def _joined(names: Iterable[str | None]) -> str | None:
    return ", ".join(dict.fromkeys(filter(None, names))) or None


def _time(seconds: float | None) -> datetime | None:
    """Return a moment given in seconds since 1970 as UTC without a zone."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def identify_devices(
    connection: duckdb.DuckDBPyConnection, run: IncomingRun, knowledge: Knowledge
) -> None:
    """Find the devices that the session describes."""
    for device in run.session.devices:
        match = identify_device(device.name, device.attributes, knowledge.seed.devices)
        run.device_ids[device.id] = store_device(connection, match)
        if match.note is not None and match.note not in run.notes:
            run.notes.append(match.note)


def place_devices(connection: duckdb.DuckDBPyConnection, run: IncomingRun) -> None:
    """Set the device of launches that were stored before the profile listed its devices."""
    only = len(run.device_ids) == 1
    for ordinal, device_id in run.device_ids.items():
        write.set_device(connection, run.run_id, device_id, None if only else ordinal)
