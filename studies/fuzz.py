"""``python -m studies.fuzz [COUNT [FOLDER]]``: read and store damaged profiles, 20,000 by default.

They are made of the project's own, or of those below FOLDER and the example runs.

It stops with an error where a mutant is read wrongly, takes too long, or raises what is no
InputError; where storing it raises anything, a refusal lacks place or hint, or a whole report that
is stored beside it has changed.
"""

from __future__ import annotations

import argparse
import collections
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import InputError
from advisor.knowledge.load import load_knowledge
from advisor.readers import Source
from advisor.readers.detect import detect
from advisor.readers.ncu import csv as ncu_csv
from advisor.readers.ncu import report as ncu_report
from advisor.readers.ncu import text as ncu_text
from advisor.resources import data_dir
from tests.support.judging import LONGEST, in_page, in_report, judge
from tests.support.mutants import report_mutant
from tests.support.page_mutants import page_mutant
from tests.support.storing import store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.readers import Reader
    from tests.support.judging import Values
    from tests.support.storing import Mutant

COUNT = 20_000
MEMORY = 512  # MB that reading may take over the imports
TOGETHER = 512  # mutants that share a database
SMALL = 300_000  # bytes of a profile that mutants are made of

Kind = tuple["Reader", "Callable[[int], bytes]", "Callable[[bytes], Values]"]
KINDS: tuple[Kind, ...] = (
    (ncu_report, report_mutant, in_report),
    (ncu_report, report_mutant, in_report),
    (ncu_csv, page_mutant, in_page),
    (ncu_text, page_mutant, in_page),
)


def main(count: int, folder: str | None) -> None:
    """Read and store ``count`` mutants, half of them reports, and print the outcomes.

    With a ``folder`` they are made of the profiles below it, and of the example runs.
    """
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    before, started, slowest = _memory(), time.perf_counter(), (0.0, "")
    mutants: list[Mutant] = []
    signal.signal(signal.SIGPROF, _too_long)
    with tempfile.TemporaryDirectory() as scratch:
        for seed, (reader, data, values) in enumerate(_made(count, folder)):
            name = f"{reader.FORMAT}, seed {seed}"
            if values is not None:
                accepted, spent = _judged(name, reader, data, values)
                outcomes[reader.FORMAT, "accepted" if accepted else "refused"] += 1
                slowest = max(slowest, (spent, name))
            mutants.append((name, reader, data))
            if len(mutants) == TOGETHER or seed == count - 1:
                stored = store(Path(scratch), mutants, load_knowledge())
                outcomes += collections.Counter({("database", k): n for k, n in stored.items()})
                mutants.clear()
    for (kind, what), number in sorted(outcomes.items()):
        print(f"{kind:10} {what:12} {number:>7,}")
    grown = _memory() - before
    print(f"slowest: {slowest[0]:.2f} s ({slowest[1]}); memory over the imports: {grown:.0f} MB")
    print(f"{count:,} mutants in {time.perf_counter() - started:.0f} s")
    sys.exit(1 if slowest[0] > LONGEST or grown > MEMORY else 0)


def _made(count: int, folder: str | None) -> Iterator[tuple[Reader, bytes, Values | None]]:
    """Yield mutants, each with who reads it and, of small profiles, which values it holds."""
    if folder is None:
        for seed in range(count):
            reader, mutant, values = KINDS[seed % len(KINDS)]
            data = mutant(seed)
            yield reader, data, values(data)
        return
    found = [_profile(path) for path in sorted(Path(folder).rglob("*")) if _is_small(path)]
    found += [_profile(path) for path in sorted(data_dir("seed").rglob("*.ncu-rep"))]
    originals = [each for each in found if each is not None]
    for seed in range(count):
        reader, data = originals[seed % len(originals)]
        if reader is ncu_report:
            yield reader, report_mutant(seed, data), None
        else:
            yield reader, page_mutant(seed, [data.decode(errors="replace")]), None


def _is_small(path: Path) -> bool:
    return path.is_file() and path.stat().st_size < SMALL


def _profile(path: Path) -> tuple[Reader, bytes] | None:
    """Return a profile and who reads it; None where nobody does."""
    try:
        return detect(Source.from_path(path)), path.read_bytes()
    except InputError:
        return None


def _judged(name: str, reader: Reader, data: bytes, values: Values) -> tuple[bool, float]:
    """Return whether a mutant was accepted, and how many seconds of the processor that took."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 4 * LONGEST)
    try:
        accepted = judge(reader, data, values)
    except BaseException as error:
        error.add_note(name)
        raise
    signal.setitimer(signal.ITIMER_PROF, 0)
    return accepted, time.process_time() - started


def _too_long(*_: object) -> None:
    raise TimeoutError


def _memory() -> float:
    """Return the most memory that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    parser.add_argument("folder", nargs="?")
    arguments = parser.parse_args()
    main(arguments.count, arguments.folder)
