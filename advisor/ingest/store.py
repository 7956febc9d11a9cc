"""Profiles → runs: read, derive, store and judge them in one transaction.

Several profiles may share it: to plan the statements takes longer than to run them over a few
launches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from advisor.database import write
from advisor.database.columns import require_columns
from advisor.database.launches import LaunchWriter
from advisor.database.outcomes import affected_series
from advisor.database.planning import plan_for
from advisor.database.rows import PlacedLaunch
from advisor.database.variants import store_variants
from advisor.errors import InputError, Location
from advisor.hardware import identify_device
from advisor.hardware.seeding import store_device
from advisor.ingest.identity import IncomingRun
from advisor.ingest.records import Profile, Stored
from advisor.knowledge.knowledge import Knowledge
from advisor.model import Launch, Record, Session, Skipped
from advisor.readers import ReadOptions
from advisor.rules.engine.evaluate import evaluate_runs, run_words
from advisor.rules.engine.outcomes import renew_outcomes
from advisor.rules.engine.store import store_evaluations

if TYPE_CHECKING:
    import duckdb

    from advisor.counters.mapping import Mapping

_BATCH = 1024  # launches that are held at a time
_NUMBERS = 200_000  # counters and values per instruction that are held at a time


def store_profiles(
    connection: duckdb.DuckDBPyConnection,
    profiles: Sequence[Profile],
    *,
    knowledge: Knowledge,
    progress: Callable[[str], None] = lambda _: None,
    keep: bool = True,
) -> list[Stored]:
    """Store each profile as one run, unless its content is stored already; return what became.

    ``connection`` must have the seed data. All of the profiles are stored, or none; none either
    where they are not to be kept, which tells whether they could be.

    Raises:
        InputError: a profile is damaged, holds no launch, or values that cannot be stored; the
            database is as it was.
    """
    try:
        return _store(connection, profiles, knowledge, progress, keep=keep)
    except write.DATA_ERRORS as error:
        raise _unstorable(profiles[0], error) from error


def _store(
    connection: duckdb.DuckDBPyConnection,
    profiles: Sequence[Profile],
    knowledge: Knowledge,
    progress: Callable[[str], None],
    *,
    keep: bool,
) -> list[Stored]:
    started = time.monotonic()
    require_columns(connection, knowledge.vocabulary.quantities.quantities.values())
    known = write.stored_hashes(connection, {profile.run_id for profile in profiles})
    _check_ids(profiles, known)
    incoming: dict[str, IncomingRun] = {}
    plan_for(connection, _BATCH)
    with write.bystander(connection), write.transaction(connection, keep=keep):
        for counters, group in _by_counters(profiles):
            mapping = knowledge.mapping(counters)
            batch = _Batch(LaunchWriter(connection, mapping.sql), mapping, progress)
            for profile in group:
                if profile.run_id not in known and profile.run_id not in incoming:
                    run = incoming[profile.run_id] = IncomingRun(profile=profile)
                    _read(run, batch, partial(_identify_devices, connection, run, knowledge))
            batch.finish()
        if incoming:
            _finish(connection, list(incoming.values()), knowledge)
    write.merge_row_groups(connection)
    seconds = time.monotonic() - started
    return [_stored(profile, incoming, known, seconds) for profile in profiles]


def judge(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], knowledge: Knowledge
) -> None:
    """Evaluate every rule over runs, store what fires and what was ruled out, and the outcomes.

    Outcomes are of all nights of the series that the runs continue.
    """
    words = run_words(connection, run_ids, knowledge.settings)
    found = evaluate_runs(connection, knowledge.compiled, run_ids, words=words)
    for run_id, evaluations in found.items():
        store_evaluations(connection, run_id, evaluations)
    follow(connection, affected_series(connection, run_ids), knowledge)


def follow(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], knowledge: Knowledge
) -> None:
    """Recompute the outcome of the advice for series, from all that is stored of them."""
    if series:
        renew_outcomes(connection, knowledge.compiled, series, knowledge.outcomes)


@dataclass
class _Batch:
    """Launches on their way into the database, of one profile or several."""

    writer: LaunchWriter
    mapping: Mapping
    progress: Callable[[str], None]
    _waiting: list[PlacedLaunch] = field(default_factory=list)
    _numbers: int = 0
    _written: int = 0

    def add(self, placed: PlacedLaunch) -> None:
        """Take a launch; write the batch when it is full."""
        self._waiting.append(placed)
        launch = placed.launch
        self._numbers += len(launch.counters) + sum(map(len, launch.instructions.values()))
        if len(self._waiting) == _BATCH or self._numbers > _NUMBERS:
            self._write()

    def finish(self) -> None:
        """Write the launches that wait, and what is known once all were seen."""
        self._write()
        self.writer.finish()

    def _write(self) -> None:
        if self._waiting:
            launches = [placed.launch for placed in self._waiting]
            devices = [placed.device_id for placed in self._waiting]
            self.writer.write(self._waiting, self.mapping.stage(launches, devices))
        self._written += len(self._waiting)
        self._waiting = []
        self._numbers = 0
        self.progress(f"{self._written:,} launches")


def _read(run: IncomingRun, batch: _Batch, identify_devices: Callable[[], None]) -> None:
    """Hand the launches of the run's profile to the batch.

    Where quantities rest on values of the device, the session is looked for before.
    """
    if batch.mapping.devices:
        run.session = _session(run, batch.mapping)
        identify_devices()
    for launch in _launches(run, batch.mapping):
        if run.session.devices and not run.device_ids:
            identify_devices()
        batch.add(run.place(launch))
    if not run.device_ids:
        identify_devices()


def _launches(run: IncomingRun, mapping: Mapping) -> Iterator[Launch]:
    """Yield the launches of the run's profile and keep what else it says."""
    for record in _records(run, mapping):
        if isinstance(record, Launch):
            run.launches += 1
            yield record
        elif isinstance(record, Skipped):
            run.skipped.append(record)
        else:
            run.session = record
    run.profile.check_unchanged()
    if not run.launches:
        raise _empty(run.profile)


def _session(run: IncomingRun, mapping: Mapping) -> Session:
    """Return what the profile says about the run as a whole, which may stand at its end."""
    found = (each for each in _records(run, mapping) if isinstance(each, Session))
    return next(found, run.session)


def _records(run: IncomingRun, mapping: Mapping) -> Iterator[Record]:
    options = ReadOptions(
        allow_truncated=run.profile.allow_truncated,
        keyed=frozenset(mapping.keyed),
        instructions=frozenset(mapping.instructions),
        measures=mapping.measures,
    )
    return run.profile.reader.read(run.profile.source, options)


def _by_counters(profiles: Sequence[Profile]) -> Iterator[tuple[str, list[Profile]]]:
    """Yield the profiles by the file that says what their counters mean."""
    for counters in dict.fromkeys(profile.reader.COUNTERS for profile in profiles):
        yield counters, [each for each in profiles if counters == each.reader.COUNTERS]


def _finish(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[IncomingRun], knowledge: Knowledge
) -> None:
    """Store what is known once every launch was seen."""
    write.upsert_kernels(connection, (kernel for run in runs for kernel in run.kernels))
    write.upsert_series(connection, (series for run in runs for series in run.series))
    for run in runs:
        if run.placed_without_device:
            _place_devices(connection, run)
    digest = knowledge.compiled.digest
    write.insert_rows(connection, "run", [run.row(digest) for run in runs])
    plan_for(connection, sum(run.launches for run in runs))
    run_ids = [run.run_id for run in runs]
    store_variants(connection, run_ids, knowledge.variants)
    judge(connection, run_ids, knowledge)


def _identify_devices(
    connection: duckdb.DuckDBPyConnection, run: IncomingRun, knowledge: Knowledge
) -> None:
    """Find the devices that the session describes."""
    for device in run.session.devices:
        match = identify_device(device.name, device.attributes, knowledge.devices)
        run.device_ids[device.id] = store_device(connection, match)
        if match.note is not None and match.note not in run.notes:
            run.notes.append(match.note)


def _place_devices(connection: duckdb.DuckDBPyConnection, run: IncomingRun) -> None:
    """Set the device of launches that were stored before the profile said which there are."""
    only = len(run.device_ids) == 1
    for ordinal, device_id in run.device_ids.items():
        write.set_device(connection, run.run_id, device_id, None if only else ordinal)


def _check_ids(profiles: Sequence[Profile], known: dict[str, tuple[str, int]]) -> None:
    """Refuse profiles with the id of another one: ids have the first digits of a hash only."""
    hashes = {run_id: content_hash for run_id, (content_hash, _) in known.items()}
    for profile in profiles:
        profile.check_same(hashes.setdefault(profile.run_id, profile.digest))


def _stored(
    profile: Profile,
    incoming: dict[str, IncomingRun],
    known: dict[str, tuple[str, int]],
    seconds: float,
) -> Stored:
    run = incoming.get(profile.run_id)
    new = run is not None and run.profile is profile
    return Stored(
        run_id=profile.run_id,
        new=new,
        launches=known[profile.run_id][1] if run is None else run.launches,
        skipped=tuple(run.skipped) if run is not None and new else (),
        notes=tuple(run.notes) if run is not None and new else (),
        seconds=seconds,
    )


def _unstorable(profile: Profile, error: Exception) -> InputError:
    """Return the error that a profile, the only one or one of several, cannot be stored."""
    reason = str(error).strip().partition("\n")[0]
    return InputError(
        f"what it holds cannot be stored: {reason}",
        at=Location(name=profile.source.name),
        hint="nothing of it was stored; please report it, with the file if you may share it",
    )


def _empty(profile: Profile) -> InputError:
    return InputError(
        "the profile holds no kernel launch",
        at=Location(name=profile.source.name),
        hint="was the profiled program run to its end, and does the kernel filter match?",
    )
