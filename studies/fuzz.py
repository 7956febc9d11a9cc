"""``python -m studies.fuzz [COUNT]``: read and store damaged profiles, 20,000 where none is given.

Stops with an error where a mutant is read wrongly, takes too long, or raises what is no InputError;
where storing it raises anything, or changes a whole report that is stored beside it.
"""

from __future__ import annotations

import collections
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.knowledge.load import load_knowledge
from advisor.readers.ncu import csv as ncu_csv
from advisor.readers.ncu import report as ncu_report
from advisor.readers.ncu import text as ncu_text
from tests.support.judging import LONGEST, in_page, in_report, judge
from tests.support.mutants import report_mutant
from tests.support.page_mutants import page_mutant
from tests.support.storing import store

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.readers import Reader
    from tests.support.judging import Values
    from tests.support.storing import Mutant

COUNT = 20_000
MEMORY = 512  # MB that reading may take over the imports
TOGETHER = 512  # mutants that share a database

Made = tuple["Reader", "Callable[[int], bytes]", "Callable[[bytes], Values]"]
KINDS: tuple[Made, ...] = (
    (ncu_report, report_mutant, in_report),
    (ncu_report, report_mutant, in_report),
    (ncu_csv, page_mutant, in_page),
    (ncu_text, page_mutant, in_page),
)


def main(count: int) -> None:
    """Read ``count`` mutants, half of them reports, and print the outcomes."""
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    before, started, slowest = _memory(), time.perf_counter(), (0.0, "")
    read: list[Mutant] = []
    signal.signal(signal.SIGALRM, _too_long)
    for seed in range(count):
        reader, mutant, values = KINDS[seed % len(KINDS)]
        data = mutant(seed)
        name = f"{reader.FORMAT}, seed {seed}"
        accepted, spent = _judged(name, reader, data, values(data))
        outcomes[reader.FORMAT, "accepted" if accepted else "refused"] += 1
        slowest = max(slowest, (spent, name))
        if accepted:
            read.append((name, reader, data))
    for (kind, what), number in sorted(outcomes.items()):
        print(f"{kind:10} {what:12} {number:>7,}")
    grown = _memory() - before
    for what, number in sorted(_stored(read).items()):
        print(f"{'database':10} {what:12} {number:>7,}")
    print(f"slowest: {slowest[0]:.2f} s ({slowest[1]}); memory over the imports: {grown:.0f} MB")
    print(f"{count:,} mutants in {time.perf_counter() - started:.0f} s")
    sys.exit(1 if slowest[0] > LONGEST or grown > MEMORY else 0)


def _judged(name: str, reader: Reader, data: bytes, values: Values) -> tuple[bool, float]:
    """Return whether a mutant was accepted, and how many seconds of the processor that took."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_REAL, 4 * LONGEST)
    try:
        accepted = judge(reader, data, values)
    except BaseException as error:
        error.add_note(name)
        raise
    signal.setitimer(signal.ITIMER_REAL, 0)
    return accepted, time.process_time() - started


def _stored(read: list[Mutant]) -> collections.Counter[str]:
    """Store the mutants that were read; return what became of them."""
    outcomes: collections.Counter[str] = collections.Counter()
    knowledge = load_knowledge()
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(read), TOGETHER):
            outcomes += store(Path(folder), read[first : first + TOGETHER], knowledge)
    return outcomes


def _too_long(*_: object) -> None:
    raise TimeoutError


def _memory() -> float:
    """Return the most memory that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
