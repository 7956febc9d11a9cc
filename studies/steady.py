"""``python -m studies.steady``: the judged launches, where profiles are a little otherwise.

Reads every profile of ``docs/judged/cases`` again, each value off by a few percent, and then with
the counters of the profiler's default set alone, and with those that jobs ask for by name
(``steady.yaml``), and prints the judged table for each. A threshold
that was fitted to these launches shows as a fall: what is told of strangers should not hang on the
third digit of a counter. Judgements rest on whole profiles, so some of what the default set cannot
tell is missed there.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from advisor.model import Launch
from advisor.profilers import load_profilers
from studies.advised import ABSENT, DATA
from studies.judged import PARTS, judged, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from advisor.model import Record
    from advisor.readers.base import Reader, ReadOptions, Source

SEEDS = 4
DEFAULT_SET = ("SpeedOfLight", "LaunchStats", "Occupancy")
FIXED = ("launch__", "device__", "profiler__", "smsp__maximum", "sm__maximum")
PEAK = (".peak_sustained", "max_rate")
FULL = 100.0  # per cent
SETS = Path(__file__).parent / "steady.yaml"
ASKED_ALWAYS = ("device__", "launch__grid", "launch__block_size", "launch__block_dim")
BREAKDOWN = "breakdown:"


class Otherwise:
    """A reader of what another reads, each launch changed."""

    def __init__(self, inner: Reader, change: Callable[[str, Launch], Launch]) -> None:
        self.FORMAT = inner.FORMAT
        self.COUNTERS = inner.COUNTERS
        self._inner = inner
        self._change = change

    def accepts(self, head: bytes) -> bool:
        """Detect what the reader detects."""
        return self._inner.accepts(head)

    def read(self, source: Source, options: ReadOptions) -> Iterator[Record]:
        """Yield what the reader yields, each launch changed.

        Raises:
            InputError: as the reader does.
        """
        for record in self._inner.read(source, options):
            yield self._change(source.name, record) if isinstance(record, Launch) else record


def noisy(sigma: float, seed: int) -> Callable[[str, Launch], Launch]:
    """Return a change that puts every measured value off by a share of ``sigma`` or so."""

    def change(name: str, launch: Launch) -> Launch:
        chance = random.Random(f"{seed} {name} {launch.index}")
        counters = {
            counter: value
            if counter.startswith(FIXED) or counter.endswith(PEAK)
            else _off(counter, value, math.exp(chance.gauss(0, sigma)))
            for counter, value in launch.counters.items()
        }
        return replace(launch, counters=counters)

    return change


def _off(counter: str, value: float, factor: float) -> float:
    """Return a value times a factor; a percentage that was one stays one."""
    is_share = "pct" in counter and value <= FULL
    return min(FULL, value * factor) if is_share else value * factor


def asked() -> Mapping[str, Callable[[str, Launch], Launch]]:
    """Return changes to what jobs ask for by name, by what the counters are called."""
    sets: Mapping[str, list[str]] = yaml.safe_load(SETS.read_text("utf-8"))["sets"]
    first, *_ = sets.values()
    return {name: only(frozenset(first) | frozenset(names)) for name, names in sets.items()}


def only(wanted: frozenset[str]) -> Callable[[str, Launch], Launch]:
    """Return a change that leaves a launch these counters, its shape and its device."""

    def change(_: str, launch: Launch) -> Launch:
        counters = {
            name: value
            for name, value in launch.counters.items()
            if name in wanted or name.startswith(ASKED_ALWAYS)
        }
        texts = {n: text for n, text in launch.texts.items() if not n.startswith(BREAKDOWN)}
        return replace(
            launch, counters=counters, texts=texts, keyed={}, instructions={}, reference_findings=()
        )

    return change


def default_set() -> Callable[[str, Launch], Launch]:
    """Return a change to what the profiler's default set would have."""
    sections = [each for each in load_profilers()["ncu"].sections if each.name in DEFAULT_SET]
    wanted = frozenset(counter for each in sections for counter in each.counters)

    def change(_: str, launch: Launch) -> Launch:
        counters = {n: v for n, v in launch.counters.items() if n.startswith(FIXED) or n in wanted}
        keyed = {name: value for name, value in launch.keyed.items() if name in wanted}
        return replace(
            launch, counters=counters, keyed=keyed, instructions={}, reference_findings=()
        )

    return change


def changes() -> Mapping[str, list[Callable[[str, Launch], Launch]]]:
    """Return the changes by what they are called; noise several times."""
    return {
        "as they are": [lambda _, launch: launch],
        "values off by 5 %": [noisy(0.05, seed) for seed in range(SEEDS)],
        "values off by 10 %": [noisy(0.1, seed) for seed in range(SEEDS)],
        "the default set alone": [default_set()],
        **{name: [change] for name, change in asked().items()},
    }


def main() -> None:
    """Print the table."""
    if not DATA.is_dir():
        print(ABSENT)
        return
    print("| profiles | part | limiter right | first advice right | range useful |")
    print("|---|---|---|---|---|")
    for name, made in changes().items():
        found = [
            verdict
            for change in made
            for verdict in judged(through=partial(Otherwise, change=change))
        ]
        for part in PARTS:
            of_part = [each for each in found if each.case.part == part]
            cells = " | ".join(f"{p / n:.0%}" for p, n in shares(of_part).values() if n)
            print(f"| {name} | {part} | {cells} |")


if __name__ == "__main__":
    main()
