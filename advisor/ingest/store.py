"""Profiles → runs: read, derive and judge them in a draft, then store them in one transaction.

Several profiles may share it: to plan the statements takes longer than to run them over a few
launches. The file is locked for the transaction alone, so readers never wait for a parser.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from advisor.database import write
from advisor.database.columns import lacking_columns_told
from advisor.database.draft import DraftDatabase, is_new, publish
from advisor.database.facts_table import FactsTable
from advisor.database.launches import LaunchWriter
from advisor.database.outcomes import moved_series
from advisor.database.planning import plan_for
from advisor.database.read import StoredRun, get_runs
from advisor.database.rows import PlacedLaunch
from advisor.database.turns import taking_a_core
from advisor.database.variants import store_variants
from advisor.errors import InputError
from advisor.facts import statements_for
from advisor.hardware.seeding import seed_database
from advisor.ingest.detail import launches_in_detail
from advisor.ingest.identity import IncomingRun, identify_devices, place_devices
from advisor.ingest.records import Profile, Stored
from advisor.knowledge.knowledge import Knowledge
from advisor.model import Launch, Record, Session, Skipped
from advisor.readers import ReadOptions
from advisor.records import dataclass
from advisor.rules.engine.compiled import facts_of_incoming
from advisor.rules.engine.evaluate import evaluate_runs, run_words
from advisor.rules.engine.findings import store_evaluations
from advisor.rules.engine.outcomes import renew_outcomes

if TYPE_CHECKING:
    import duckdb

    from advisor.counters.staging import Mapping

_BATCH = 1024  # launches that are held at a time
_NUMBERS = 1_000_000  # counters and values per instruction that are held at a time


def store_profiles(
    draft: DraftDatabase,
    profiles: Sequence[Profile],
    *,
    knowledge: Knowledge,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Stored | InputError]:
    """Store each profile as one run, unless its content is stored already; return what became.

    A profile that is found damaged before anything of it was written is refused alone: in its
    place stands the error. All others are stored, or none.

    Raises:
        InputError: a profile is damaged further on, or holds values that cannot be stored; the
            database is as it was.
        DatabaseError: the database cannot be opened or written; it is as it was.
    """
    try:
        return _store(draft, profiles, knowledge, progress)
    except write.DATA_ERRORS as error:
        raise profiles[0].unstorable(error) from error


def check_profile(
    connection: duckdb.DuckDBPyConnection, profile: Profile, knowledge: Knowledge
) -> tuple[int, tuple[Skipped, ...]]:
    """Return the launches of a profile and what would be skipped, as if it were stored.

    ``connection`` is to a database of the newest schema, which stays as it is.

    Raises:
        InputError: as ``store_profiles``.
    """
    try:
        drafted = _drafted(connection, [profile], knowledge, keep=False)
    except write.DATA_ERRORS as error:
        raise profile.unstorable(error) from error
    for refused in drafted.refused.values():
        raise refused
    run = drafted.runs[profile.run_id]
    return run.launches, tuple(run.skipped)


def _store(
    draft: DraftDatabase,
    profiles: Sequence[Profile],
    knowledge: Knowledge,
    progress: Callable[[str], None],
) -> list[Stored | InputError]:
    started = time.monotonic()
    with draft.beginning() as connection:
        known = get_runs(connection, {profile.run_id for profile in profiles})
    _check_ids(profiles, known)
    new = [profile for profile in profiles if profile.run_id not in known]
    first: dict[str, IncomingRun] = {}
    drafted = _Drafted()
    if new:
        drafted = _drafted(draft.connection, new, knowledge, progress)
    incoming = drafted.runs
    if incoming:
        with draft.locked() as connection:
            known |= get_runs(connection, incoming)  # somebody else was faster
            _check_ids(profiles, known)
            first = {run_id: run for run_id, run in incoming.items() if run_id not in known}
            _publish(connection, [*first], knowledge)
            if len(new) > len(first):  # the same profile twice
                known |= get_runs(connection, incoming)
    seconds = time.monotonic() - started
    return [
        drafted.refused.get(id(profile))
        or (
            _new(run, seconds)
            if (run := first.get(profile.run_id)) is not None and run.profile is profile
            else _known(known[profile.run_id], seconds)
        )
        for profile in profiles
    ]


@dataclass(frozen=True, kw_only=True)
class _Drafted:
    """The runs in a draft by their ids, and why other profiles are not, by their `id`."""

    runs: dict[str, IncomingRun] = field(default_factory=dict)
    refused: dict[int, InputError] = field(default_factory=dict)


def _drafted(
    connection: duckdb.DuckDBPyConnection,
    profiles: Sequence[Profile],
    knowledge: Knowledge,
    progress: Callable[[str], None] = lambda _: None,
    *,
    keep: bool = True,
) -> _Drafted:
    """Read profiles into a draft, derive and judge their runs.

    Where it is not to ``keep`` them, the draft is as before.
    """
    seed_database(connection, knowledge.seed)
    drafted, known = _Drafted(), set[str]()
    plan_for(connection, _BATCH)
    with (
        taking_a_core(),
        lacking_columns_told(connection, knowledge.vocabulary.quantities.quantities.values()),
        write.second_transaction(connection),
        write.transaction(connection, keep=keep),
    ):
        for counters, group in _by_counters(profiles):
            mapping = knowledge.mapping(counters)
            batch = _Batch(LaunchWriter(connection, mapping.sql), mapping, progress)
            for profile in group:
                if profile.run_id in drafted.runs:
                    continue
                run = IncomingRun(profile=profile)
                try:
                    launches = _begun(run, mapping)
                except InputError as error:
                    drafted.refused[id(profile)] = error
                    continue
                drafted.runs[run.run_id] = run
                identify = partial(identify_devices, connection, run, knowledge)
                _read(run, launches, batch, identify)
            batch.finish()
            known |= mapping.known(batch.writer.valued)
        if drafted.runs:
            _finish(connection, list(drafted.runs.values()), knowledge, known)
    return drafted


def _publish(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], knowledge: Knowledge
) -> None:
    """Move runs from the draft into the file, and follow the series that they continue."""
    if not run_ids:
        return
    if not is_new(connection):
        seed_database(connection, knowledge.seed)
    with write.second_transaction(connection), write.transaction(connection):
        publish(connection, run_ids)
        moved = moved_series(connection, run_ids, knowledge.outcomes)
        follow(connection, moved, knowledge, run_ids)
    write.merge_row_groups(connection)


def store_facts(
    connection: duckdb.DuckDBPyConnection,
    run_ids: Sequence[str],
    knowledge: Knowledge,
    known: Collection[str] | None = None,
) -> FactsTable | None:
    """Store the variants of runs; return the facts of their kernels where they are few.

    ``known`` are the quantities that a launch of theirs can have, where that was found out.
    """
    statements = knowledge.variants
    if known is not None:
        statements = statements_for(statements, knowledge.vocabulary, known)
    few = partial(facts_of_incoming, connection, knowledge.compiled)
    return store_variants(connection, run_ids, statements, few)


def judge(
    connection: duckdb.DuckDBPyConnection,
    run_ids: Sequence[str],
    knowledge: Knowledge,
    table: FactsTable | None,
) -> None:
    """Evaluate every rule over runs; store what fires and what was ruled out.

    ``table`` has the facts of their kernels, where ``store_facts`` returned it.
    """
    words = run_words(connection, run_ids, knowledge.settings)
    found = evaluate_runs(connection, knowledge.compiled, run_ids, words=words, table=table)
    for run_id, evaluations in found.items():
        store_evaluations(connection, run_id, evaluations)


def follow(
    connection: duckdb.DuckDBPyConnection,
    series: Sequence[str],
    knowledge: Knowledge,
    incoming: Sequence[str] = (),
) -> None:
    """Recompute the outcome of the advice for series, from all that is stored of them.

    Or from what was settled before the runs ``incoming``, where nothing else has changed.
    """
    if series:
        renew_outcomes(connection, knowledge.compiled, series, knowledge.outcomes, incoming)


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
        self._numbers += _size(placed.launch)
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


def _begun(run: IncomingRun, mapping: Mapping) -> Iterator[Launch]:
    """Return the launches of the run's profile, of which the first were read already.

    What is wrong with a small profile, or with where a large one begins, is found before anything
    of it is in the draft. Where quantities rest on values of the device, so is the session.
    """
    if mapping.devices:
        run.session = _session(run, mapping)
    launches, first, numbers = _launches(run, mapping), list[Launch](), 0
    for launch in launches:
        first.append(launch)
        numbers += _size(launch)
        if len(first) == _BATCH or numbers > _NUMBERS:
            break
    return chain(first, launches)


def _read(
    run: IncomingRun,
    launches: Iterator[Launch],
    batch: _Batch,
    identify_devices: Callable[[], None],
) -> None:
    """Hand the launches of the run's profile to the batch."""
    if batch.mapping.devices:
        identify_devices()
    for launch in launches:
        if run.session.devices and not run.device_ids:
            identify_devices()
        batch.add(run.place(launch, batch.mapping.builds))
    if not run.device_ids:
        identify_devices()


def _launches(run: IncomingRun, mapping: Mapping) -> Iterator[Launch]:
    """Yield the launches of the run's profile and keep what else it says."""
    for record in _records(run, mapping):
        if isinstance(record, Launch):
            run.launches += 1
            run.launches_detailed += record.detailed
            yield record
        elif isinstance(record, Skipped):
            run.skipped.append(record)
        else:
            run.session = record
    run.profile.check_unchanged()
    if not run.launches:
        raise run.profile.without_launches()


def _session(run: IncomingRun, mapping: Mapping) -> Session:
    """Return what the profile says about the run as a whole, which may stand at its end."""
    found = (each for each in _records(run, mapping) if isinstance(each, Session))
    return next(found, run.session)


def _records(run: IncomingRun, mapping: Mapping) -> Iterator[Record]:
    options = ReadOptions(
        allow_truncated=run.profile.allow_truncated,
        detailed=launches_in_detail(run.profile.detail),
        keyed=frozenset(mapping.keyed),
        curves=frozenset(counter for _, counter in mapping.curves),
        instructions=frozenset(mapping.instructions),
        measures=mapping.measures,
        builds=mapping.builds,
    )
    return run.profile.reader.read(run.profile.source, options)


def _size(launch: Launch) -> int:
    """Return how many counters and values per instruction a launch holds."""
    return len(launch.counters) + sum(map(len, launch.instructions.values()))


def _by_counters(profiles: Sequence[Profile]) -> Iterator[tuple[str, list[Profile]]]:
    """Yield the profiles by the file that says what their counters mean."""
    for counters in dict.fromkeys(profile.reader.COUNTERS for profile in profiles):
        yield counters, [each for each in profiles if counters == each.reader.COUNTERS]


def _finish(
    connection: duckdb.DuckDBPyConnection,
    runs: Sequence[IncomingRun],
    knowledge: Knowledge,
    known: Collection[str],
) -> None:
    """Store what is known once every launch was seen."""
    write.upsert_kernels(connection, (kernel for run in runs for kernel in run.kernels))
    write.upsert_series(connection, (series for run in runs for series in run.series))
    for run in runs:
        if run.placed_without_device:
            place_devices(connection, run)
    digest = knowledge.compiled.digest
    write.insert_rows(connection, "run", [run.row(digest) for run in runs])
    plan_for(connection, sum(run.launches for run in runs))
    run_ids = [run.run_id for run in runs]
    table = store_facts(connection, run_ids, knowledge, known)
    judge(connection, run_ids, knowledge, table)


def _check_ids(profiles: Sequence[Profile], known: dict[str, StoredRun]) -> None:
    """Refuse profiles with the id of another one: ids have the first digits of a hash only."""
    hashes = {run_id: run.content_hash for run_id, run in known.items()}
    for profile in profiles:
        profile.check_same(hashes.setdefault(profile.run_id, profile.digest))


def _new(run: IncomingRun, seconds: float) -> Stored:
    return Stored(
        run_id=run.run_id,
        known=None,
        launches=run.launches,
        skipped=tuple(run.skipped),
        notes=tuple(run.notes),
        seconds=seconds,
    )


def _known(run: StoredRun, seconds: float) -> Stored:
    return Stored(
        run_id=run.run_id, known=run, launches=run.launches, skipped=(), notes=(), seconds=seconds
    )
