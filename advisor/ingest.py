"""One profile → one run: read, derive, judge and store, in one transaction.

Launches stream through in batches, so memory does not grow with the file. What the database holds
of a file is all of it or nothing; a file whose content is there already is not stored again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.database import ids, names, write
from advisor.database.launches import insert_launches
from advisor.database.rows import KernelRow, PlacedLaunch, RunRow, SeriesRow
from advisor.errors import InputError, Location
from advisor.facts import Mapping, Vocabulary, create_views, load_mapping
from advisor.hardware import identify_device, store_device
from advisor.model import Launch, Session, Skipped
from advisor.readers import Reader, ReadOptions, Source
from advisor.rules.evaluate import evaluate
from advisor.rules.rule import Rule
from advisor.rules.settings import Settings
from advisor.rules.store import rules_hash, store_evaluations

if TYPE_CHECKING:
    import duckdb

_BATCH = 256  # launches that are held at a time
_CHUNK = 1024 * 1024
_SHAPE = (
    "grid_size", "grid_x", "grid_y", "grid_z", "block_size", "block_x", "block_y", "block_z",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What the user says about the runs; ``step_time`` is in seconds, ``at`` replaces the start."""

    label: str | None = None
    configuration: str | None = None
    commit: str | None = None
    branch: str | None = None
    tags: tuple[str, ...] = ()
    step_time: float | None = None
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What is loaded once and used for every profile."""

    vocabulary: Vocabulary
    rules: Sequence[Rule]
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What became of a profile; ``seconds`` is the time it took."""

    run_id: str
    new: bool
    launches: int
    skipped: tuple[Skipped, ...]
    seconds: float


def content_hash(source: Source) -> str:
    """Return the SHA-256 of the source's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with source.open() as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def store_profile(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    reader: Reader,
    *,
    labels: Labels,
    knowledge: Knowledge,
    allow_truncated: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Stored:
    """Store a profile as one run, unless its content is stored already.

    Raises:
        InputError: the profile is damaged or holds no launch; the database is as it was.
    """
    started = time.monotonic()
    digest = content_hash(source)
    run_id = ids.run_id(digest)
    if write.has_run(connection, run_id):
        row = connection.execute("SELECT launches FROM run WHERE run_id = ?", [run_id]).fetchone()
        return Stored(
            run_id=run_id,
            new=False,
            launches=0 if row is None else int(row[0]),
            skipped=(),
            seconds=time.monotonic() - started,
        )
    mapping = load_mapping(reader.COUNTERS)
    run = _Run(connection, run_id, labels, mapping, progress)
    options = ReadOptions(
        allow_truncated=allow_truncated,
        keyed=frozenset(mapping.keyed),
        instructions=frozenset(mapping.instructions),
    )
    with write.transaction(connection):
        session = run.take(reader.read(source, options))
        if not run.launches:
            raise _empty(source)
        run.place_devices(session)
        write.insert_run(connection, _run_row(run, session, source, reader, digest, knowledge))
        judge(connection, run_id, knowledge)
    return Stored(
        run_id=run_id,
        new=True,
        launches=run.launches,
        skipped=tuple(run.skipped),
        seconds=time.monotonic() - started,
    )


def judge(connection: duckdb.DuckDBPyConnection, run_id: str, knowledge: Knowledge) -> None:
    """Evaluate every rule over a run and store what fires and what was ruled out."""
    create_views(connection, knowledge.vocabulary)
    evaluations = evaluate(
        connection,
        knowledge.rules,
        run_id,
        vocabulary=knowledge.vocabulary,
        settings=knowledge.settings,
    )
    store_evaluations(connection, run_id, evaluations)


@dataclass
class _Run:
    """A run while its launches stream in."""

    connection: duckdb.DuckDBPyConnection
    run_id: str
    labels: Labels
    mapping: Mapping
    progress: Callable[[str], None]
    launches: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    seen: dict[tuple[str, str | None, str], tuple[KernelRow, SeriesRow]] = field(
        default_factory=dict
    )

    def take(self, records: Iterator[Launch | Skipped | Session]) -> Session:
        """Store the launches in batches and return the session that ends the stream."""
        batch: list[Launch] = []
        session = Session(profiler="unknown")
        for record in records:
            if isinstance(record, Launch):
                batch.append(record)
                if len(batch) == _BATCH:
                    self._store(batch)
                    batch = []
            elif isinstance(record, Skipped):
                self.skipped.append(record)
            else:
                session = record
        self._store(batch)
        write.upsert_kernels(self.connection, (kernel for kernel, _ in self.seen.values()))
        write.upsert_series(self.connection, (series for _, series in self.seen.values()))
        return session

    def place_devices(self, session: Session) -> None:
        """Tell the run's launches their device, by what the session says of it."""
        only = len(session.devices) == 1
        for device in session.devices:
            match = identify_device(device.name, device.attributes)
            store_device(self.connection, match)
            if match.note is not None:
                self.skipped.append(Skipped(place=device.name or "device", reason=match.note))
            self.connection.execute(
                "UPDATE launch SET device_id = ? WHERE run_id = ? AND (device_ordinal = ? OR ?)",
                [match.device_id, self.run_id, device.id, only],
            )

    def _store(self, batch: Sequence[Launch]) -> None:
        if not batch:
            return
        staging = self.mapping.stage(batch)
        self.connection.register("staging", staging)
        placed = [self._placed(launch) for launch in batch]
        flags = f"{self.mapping.flags_sql()} AS flags"
        chosen = ("SELECT * EXCLUDE", f"({', '.join(_SHAPE)}),", flags)
        quantities = " ".join((*chosen, "FROM (", self.mapping.sql("staging"), ")"))
        insert_launches(self.connection, self.run_id, placed, quantities=quantities)
        self.connection.unregister("staging")
        self.launches += len(batch)
        self.progress(f"{self.launches:,} launches")

    def _placed(self, launch: Launch) -> PlacedLaunch:
        problem = self.labels.label or "/".join(launch.nvtx)
        key = (launch.kernel_name, launch.device_name, problem)
        if key not in self.seen:
            self.seen[key] = self._identity(launch, problem)
        kernel, series = self.seen[key]
        shape = _launch_shape(launch)
        return PlacedLaunch(
            launch=launch,
            kernel_id=kernel.kernel_id,
            series_id=series.series_id,
            variant_id=ids.variant_id(self.run_id, series.series_id, shape or ""),
            launch_shape=shape,
            device_name=launch.device_name,
        )

    def _identity(self, launch: Launch, problem: str) -> tuple[KernelRow, SeriesRow]:
        normalised = names.normalised_name(launch.kernel_name)
        kernel_id = ids.kernel_id(normalised)
        configuration = self.labels.configuration
        series_id = ids.series_id(kernel_id, problem, launch.device_name, configuration)
        kernel = KernelRow(
            kernel_id=kernel_id,
            name=launch.kernel_name,
            short_name=names.short_name(launch.kernel_name),
            normalised_name=normalised,
            mangled_name=launch.mangled_name,
        )
        series = SeriesRow(
            series_id=series_id,
            kernel_id=kernel_id,
            problem_key=problem,
            device_name=launch.device_name,
            configuration=configuration,
        )
        return kernel, series


def _launch_shape(launch: Launch) -> str | None:
    """Return grid and block as the profiler prints them; None where one is unknown."""
    if launch.grid is None or launch.block is None:
        return None
    grid, block = (", ".join(map(str, sides)) for sides in (launch.grid, launch.block))
    return f"({grid})x({block})"


def _empty(source: Source) -> InputError:
    return InputError(
        "the profile holds no kernel launch",
        at=Location(name=source.name),
        hint="was the profiled program run to its end, and does the kernel filter match?",
    )


def _run_row(
    run: _Run,
    session: Session,
    source: Source,
    reader: Reader,
    digest: str,
    knowledge: Knowledge,
) -> RunRow:
    labels = run.labels
    started = labels.at or _time(session.started_at)
    reasons = [{"place": skipped.place, "reason": skipped.reason} for skipped in run.skipped]
    told = RunRow(
        run_id=run.run_id,
        content_hash=digest,
        format=reader.FORMAT,
        ingested_at=datetime.now(UTC).replace(tzinfo=None),
        advisor_version=__version__,
        name=source.name,
        size=source.size,
        started_at=started,
        commit=labels.commit,
        branch=labels.branch,
        configuration=labels.configuration,
        label=labels.label,
        tags=labels.tags,
        step_time=labels.step_time,
        device_names=", ".join(dict.fromkeys(device.name for device in session.devices)) or None,
        launches=run.launches,
        skipped=len(run.skipped),
        skipped_reasons=json.dumps(reasons, ensure_ascii=False),
        rules_hash=rules_hash(knowledge.rules),
    )
    return replace(
        told,
        profiler=session.profiler,
        profiler_version=session.profiler_version,
        program=session.program,
        command_line=session.command_line,
        host=session.host,
        operating_system=session.operating_system,
        driver_version=session.driver_version,
        cuda_version=session.cuda_version,
        clock_control=session.clock_control,
        cache_control=session.cache_control,
        replay_mode=session.replay_mode,
        simulated=session.simulated,
    )


def _time(seconds: float | None) -> datetime | None:
    """Return a moment given in seconds since 1970 as UTC without a zone."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
