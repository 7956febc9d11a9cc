"""Many processes add runs to one lake while one compacts it, others read it, some are killed.

``python -m benchmarks.lake_crowd [ADDING RUNS READING KILLS]``, by default 32, 2,000, 4 and 200.
Every run is added by two processes. In the end each run is there once and whole, and so it was at
each look.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.database.connect import (
    FETCHES_NOTHING,
    open_for_reading,
    open_for_writing,
    opened,
)
from advisor.database.lake.compact import compact
from advisor.database.lake.scan import scan
from advisor.database.lake.verify import damage
from advisor.database.lake.write import add_run, make_lake, runs_of
from advisor.errors import DatabaseError
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.resources import data_dir
from benchmarks.years import copy_nights

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerProcess

    Start = Callable[[], ForkServerProcess]

_WAIT = 600.0  # seconds for the lock of the database that runs come from
_PAUSE = 0.05  # seconds between two looks
_PARTS = """
    SELECT run_id, launches, (SELECT count(*) FROM main.launch WHERE launch.run_id = run.run_id),
        count(*) OVER (PARTITION BY run_id)
    FROM main.run
"""


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """How many processes add, read and are killed, and how many runs there are."""

    adding: int = 32
    runs: int = 2000
    reading: int = 4
    kills: int = 200


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What became of it: runs in the lake, those that are wrong, kills, looks and damage."""

    runs: int
    wrong: tuple[str, ...]
    kills: int
    looks: int
    damaged: tuple[str, ...]


def crowded(folder: Path, crowd: Crowd) -> Seen:
    """Let a crowd loose on a lake in ``folder``; return what was seen."""
    source, lake = folder / "source.duckdb", (folder / "lake").resolve()
    _make_source(source, crowd.runs)
    make_lake(lake)
    with opened(source, wait=_WAIT, read_only=True, reaches_others=True) as connection:
        run_ids = runs_of(connection)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    looks = folder / "looks"
    looks.mkdir()

    def start(work: Callable[[], None]) -> ForkServerProcess:
        process = context.Process(target=work)
        process.start()
        return process

    adding: list[tuple[Callable[[], None], ForkServerProcess]] = []
    for number in range(crowd.adding):
        own = [
            run
            for i, run in enumerate(run_ids)
            if number in (i % crowd.adding, (i + 1) % crowd.adding)
        ]
        work = partial(_add, source, lake, own, number)
        adding.append((work, start(work)))
    others = [start(partial(_compact, lake, looks / "stop"))]
    others += [start(partial(_look, lake, looks, n)) for n in range(crowd.reading)]
    kills = _killed(adding, start, crowd.kills)
    for _, process in adding:
        process.join()
    (looks / "stop").touch()
    for process in others:
        process.join()
    return _seen(lake, run_ids, looks, kills)


def _make_source(path: Path, runs: int) -> None:
    night = sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))[0]
    list(ingest_paths(str(path), [str(night)], labels=RunLabels(label="nightly"), wait=_WAIT))
    with open_for_writing(path) as connection:
        for first in range(1, runs, 50):
            copy_nights(connection, first, min(first + 49, runs - 1))


def _add(source: Path, lake: Path, run_ids: Sequence[str], seed: int) -> None:
    """Add runs in an order of its own; who is killed begins again, and finds what is there."""
    order = random.Random(seed).sample(list(run_ids), len(run_ids))
    with opened(source, wait=_WAIT, read_only=True, reaches_others=True) as connection:
        connection.execute("SET threads = 1")
        for run in order:
            add_run(connection, lake, run)


def _compact(lake: Path, stop: Path) -> None:
    while not stop.exists():
        compact(lake, FETCHES_NOTHING)
        time.sleep(_PAUSE)


def _look(lake: Path, looks: Path, number: int) -> None:
    """Look at the lake again and again; write down what is not whole."""
    seen = 0
    with (looks / f"{number}.txt").open("w", encoding="utf-8") as log:
        while not (looks / "stop").exists():
            for line in _wrong(lake):
                print(line, file=log)
            seen += 1
            time.sleep(_PAUSE)
    (looks / f"{number}.count").write_text(str(seen), encoding="utf-8")


def _wrong(lake: Path) -> list[str]:
    try:
        with open_for_reading(f"lake:{lake}") as connection:
            connection.execute("SET threads = 1")
            rows = connection.execute(_PARTS).fetchall()
    except DatabaseError as error:
        return [str(error)]
    return [
        f"{run}: {found} of {launches} launches, {times} times"
        for run, launches, found, times in rows
        if found != launches or times != 1
    ]


def _killed(
    adding: list[tuple[Callable[[], None], ForkServerProcess]],
    start: Callable[[Callable[[], None]], ForkServerProcess],
    kills: int,
) -> int:
    """Kill processes that add, and start them again; return how many were alive to be killed."""
    chosen, done = random.Random(0), 0
    while done < kills:
        alive = [number for number, (_, process) in enumerate(adding) if process.is_alive()]
        if not alive:
            break
        time.sleep(chosen.uniform(0.0, 2 * _PAUSE))
        number = chosen.choice(alive)
        work, process = adding[number]
        if process.pid is not None and process.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.join()
            done += process.exitcode == -signal.SIGKILL
            adding[number] = work, start(work)
    return done


def _seen(lake: Path, run_ids: Sequence[str], looks: Path, kills: int) -> Seen:
    compact(lake, FETCHES_NOTHING)
    compact(lake, FETCHES_NOTHING, grace=0)
    found = scan(lake)
    wrong = [line for log in looks.glob("*.txt") for line in log.read_text().splitlines()]
    wrong += _wrong(lake)
    wrong += [f"{run} is missing" for run in set(run_ids) - found.runs().keys()]
    return Seen(
        runs=len(found.runs()),
        wrong=tuple(wrong),
        kills=kills,
        looks=sum(int(each.read_text()) for each in looks.glob("*.count")),
        damaged=tuple(f"{each.place}: {each.reason}" for each in damage(found)),
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        names = ("adding", "runs", "reading", "kills")
        asked = {name: int(text) for name, text in zip(names, sys.argv[1:], strict=False)}
        told = crowded(Path(scratch), Crowd(**asked))
    print(told)
    sys.exit(1 if told.wrong or told.damaged else 0)
