"""Many processes and one database: sixteen ingest, then sixteen spool while one merges.

Four readers look at the database every second, and one process is stopped at the head of the queue
for it. Every profile is handed over twice, by two processes and
at about the same moment. What the processes were told is compared with what is stored in the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.database import ids
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.ingest.spool import merge_spool, spool_paths
from advisor.knowledge.load import load_knowledge
from advisor.resources import data_dir
from benchmarks.measure import Line, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import duckdb

    from advisor.ingest.batches import Ingested

    Work = Callable[[Sequence[str]], Iterable[Ingested]]

PROCESSES = 16
READERS = 4
_PROFILES = 2  # that a process hands over at a time and nobody did before
_WAIT = 600.0  # seconds that a process waits for its turn: with so many, they are not few
_START_UP = 15.0  # seconds in which all processes import what they need
_PAUSE = 1.0  # seconds between two looks of a reader
_BREATH = 1.0  # seconds between two calls of a process that spools, so that merging keeps up
_NAME = b"train_step"  # of a range in the example runs; any other of this length will do
_WHOLE = """
    SELECT run_id, run.launches = (SELECT count(*) FROM launch WHERE launch.run_id = run.run_id)
        AND EXISTS (FROM finding WHERE finding.run_id = run.run_id)
        AND EXISTS (FROM launch_keyed WHERE launch_keyed.run_id = run.run_id)
    FROM run
"""
_QUEUES = """
import sys, time
from pathlib import Path
from advisor.database.turns import taking_turns
with taking_turns(Path(sys.argv[1])) as turn:
    turn.queue()
    print(turn.wait(60), flush=True)
    time.sleep(3600)
"""
_OWNED = "SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id'"


@dataclass(frozen=True, kw_only=True)
class Span:
    """When a process works: from one moment to another, in seconds of the wall clock."""

    begin: float
    end: float

    def passes(self, pause: float = 0.0) -> Iterator[int]:
        """Count from 0 until the end, with ``pause`` seconds after each number."""
        time.sleep(max(0.0, self.begin - time.time()))
        number = 0
        while time.time() < self.end:
            yield number
            number += 1
            time.sleep(pause)


@dataclass(frozen=True, kw_only=True)
class Told:
    """Runs that a process handed over, those it was told to be new, its slowest call [s]."""

    handed: frozenset[str] = frozenset()
    new: tuple[str, ...] = ()
    longest: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How often a reader looked, and runs not whole or gone since the look before.

    ``longest`` is the slowest look, ``waited`` the longest time until the file was open [s].
    """

    looks: int
    halves: frozenset[str]
    gone: frozenset[str]
    longest: float
    waited: float


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """What came of a crowd: what was handed over, what was said to be stored, what was seen.

    ``seconds`` are from the first call of anyone to the end of the last.
    """

    handing: Sequence[Told]
    storing: Sequence[Told]
    seen: Sequence[Seen]
    seconds: float


def run(folder: Path) -> list[Line]:
    """Return the figures; ``folder`` is scratch space.

    Exits with an error where a run was lost, stored twice, or not whole when it was looked at.
    """
    load_knowledge()  # what commands keep between them is there for all processes
    seconds = float(os.environ.get("ADVISOR_BENCH_SECONDS", "60"))
    return [*_ingesting(folder / "ingest", seconds), *_spooling(folder / "spool", seconds)]


def _ingesting(folder: Path, seconds: float) -> list[Line]:
    database = _made(folder)
    ingest = partial(ingest_paths, database, labels=RunLabels(), wait=_WAIT)
    span = _span(seconds)
    with _stopped_first(database), _processes() as pool:
        writers = [pool.submit(_hand_over, folder, n, ingest, span) for n in range(PROCESSES)]
        readers = [pool.submit(_look, database, span) for _ in range(READERS)]
        told = [writer.result() for writer in writers]
        took = time.time() - span.begin
        seen = [reader.result() for reader in readers]
    crowd = Crowd(handing=told, storing=told, seen=seen, seconds=took)
    return _lines(f"{PROCESSES} ingest", Path(database), crowd)


def _spooling(folder: Path, seconds: float) -> list[Line]:
    database, bundles = _made(folder), str(folder / "bundles")
    spool = partial(spool_paths, bundles, labels=RunLabels())
    merge = partial(merge_spool, database, bundles, wait=_WAIT)
    span = _span(seconds)
    with _processes() as pool:
        spoolers = [
            pool.submit(_hand_over, folder, n, spool, span, _BREATH) for n in range(PROCESSES)
        ]
        merger = pool.submit(_merge, merge, span)
        readers = [pool.submit(_look, database, span) for _ in range(READERS)]
        told = [spooler.result() for spooler in spoolers]
        stored = [merger.result(), _call(merge), _call(merge)]
        took = time.time() - span.begin
        seen = [reader.result() for reader in readers]
    if stored[-1].new:
        sys.exit(f"merged once more, though nothing was spooled: {stored[-1].new}")
    crowd = Crowd(handing=told, storing=stored, seen=seen, seconds=took)
    return _lines(f"{PROCESSES} spool, one merges", Path(database), crowd)


def _made(folder: Path) -> str:
    (folder / "bundles").mkdir(parents=True)
    with open_for_writing(folder / "crowd.duckdb"):
        return str(folder / "crowd.duckdb")


@contextlib.contextmanager
def _stopped_first(database: str) -> Iterator[None]:
    """Have a process at the head of the queue for a database that is stopped."""
    command = [sys.executable, "-c", _QUEUES, database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.kill()


def _span(seconds: float) -> Span:
    begin = time.time() + _START_UP
    return Span(begin=begin, end=begin + seconds)


def _processes() -> ProcessPoolExecutor:
    """Return room for everybody at once, each in a process that shares nothing with another."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(PROCESSES + READERS + 1, mp_context=context)


def _hand_over(folder: Path, number: int, work: Work, span: Span, pause: float = 0.0) -> Told:
    """Hand over new profiles and, in the same call, those of the neighbour."""
    load_knowledge()
    own = folder / str(number)
    own.mkdir()
    calls = []
    for turn in span.passes(pause):
        paths = []
        for origin in (number, (number + 1) % PROCESSES):
            for place in range(turn * _PROFILES, (turn + 1) * _PROFILES):
                paths.append(own / f"{origin}-{place}.ncu-rep")
                paths[-1].write_bytes(_profile(origin, place))
        calls.append(_call(partial(work, list(map(str, paths))), paths))
    return _sum(calls)


def _profile(origin: int, place: int) -> bytes:
    """Return a profile of which there is no other: an example run, with a range of its own name."""
    name = f"{origin:03}-{place:06}".encode()
    folder = data_dir("seed") / "runs" / "nightly"
    return (folder / "night-01.ncu-rep").read_bytes().replace(_NAME, name)


def _merge(merge: Callable[[], Iterable[Ingested]], span: Span) -> Told:
    load_knowledge()
    return _sum([_call(merge) for _ in span.passes()])


def _call(work: Callable[[], Iterable[Ingested]], paths: Sequence[Path] = ()) -> Told:
    """Do the work to its end; whatever was refused ends the benchmark."""
    started, new = time.perf_counter(), []
    for result in work():
        if result.error is not None:
            raise result.error
        if result.status == "new" and result.run_id is not None:
            new.append(result.run_id)
    spent = time.perf_counter() - started
    handed = (ids.run_id(hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths)
    return Told(handed=frozenset(handed), new=tuple(new), longest=spent)


def _sum(calls: Sequence[Told]) -> Told:
    return Told(
        handed=frozenset().union(*(call.handed for call in calls)),
        new=tuple(run_id for call in calls for run_id in call.new),
        longest=max((call.longest for call in calls), default=0.0),
    )


def _look(database: str, span: Span) -> Seen:
    """Look at every run again and again, each time on a connection of its own."""
    halves, gone, before = set[str](), set[str](), set[str]()
    longest, waited, looks = 0.0, 0.0, 0
    for _ in span.passes(_PAUSE):
        started = time.perf_counter()
        with open_for_reading(database, _WAIT) as connection:
            waited = max(waited, time.perf_counter() - started)
            whole, broken = _found(connection)
        longest, looks = max(longest, time.perf_counter() - started), looks + 1
        halves |= broken
        gone |= before - whole
        before = whole
    return Seen(
        looks=looks,
        halves=frozenset(halves),
        gone=frozenset(gone),
        longest=longest,
        waited=waited,
    )


def _stored(database: str) -> tuple[set[str], set[str]]:
    """Return the runs that are stored whole, and those of which only a part is there."""
    with open_for_reading(database, _WAIT) as connection:
        return _found(connection)


def _found(connection: duckdb.DuckDBPyConnection) -> tuple[set[str], set[str]]:
    runs = dict(connection.execute(_WHOLE).fetchall())
    owners = set[str]()
    for (table,) in connection.execute(_OWNED).fetchall():
        found = connection.execute(f"SELECT DISTINCT run_id FROM {table}").fetchall()
        owners.update(*found)
    whole = {run_id for run_id, is_whole in runs.items() if is_whole}
    return whole, owners.union(runs) - whole


def _lines(who: str, database: Path, crowd: Crowd) -> list[Line]:
    """Return the figures of a crowd; exit where something is not as it must be."""
    stored, halves = _stored(str(database))
    handed = frozenset().union(*(told.handed for told in crowd.handing))
    new = Counter(run_id for told in crowd.storing for run_id in told.new)
    looks = sum(seen.looks for seen in crowd.seen)
    wrong = {
        "runs lost": len(handed - stored),
        "runs from nowhere": len(stored - handed),
        "runs stored and not told to be new": len(stored - new.keys()),
        "runs told to be new twice": sum(number > 1 for number in new.values()),
        "runs seen by halves": len(halves.union(*(seen.halves for seen in crowd.seen))),
        "runs that were seen and went away": len(frozenset().union(*(s.gone for s in crowd.seen))),
    }
    lines = [
        Line(
            what=f"{who}: {len(stored):,} runs stored", value=len(stored) / crowd.seconds,
            unit="runs/s", remark=f"{database.stat().st_size / 1e6:,.0f} MB",
        ),
        Line(
            what="slowest call of a process that hands profiles over",
            value=max(told.longest for told in crowd.handing), unit="s",
        ),
        Line(
            what=f"slowest of {looks:,} looks of {READERS} readers",
            value=max(seen.longest for seen in crowd.seen), unit="s", target="≤ 2 s",
        ),
        Line(
            what="longest that a reader waited for the file to be open",
            value=max(seen.waited for seen in crowd.seen), unit="s",
        ),
        *(Line(what=what, value=number, unit="", target="0") for what, number in wrong.items()),
    ]  # fmt: skip
    if any(wrong.values()):
        show(who, lines)
        sys.exit(f"{who}: {', '.join(what for what, number in wrong.items() if number)}")
    return lines
