"""``python -m studies.corpus``: kernels with planted problems, measured, and what is said of them.

For each pair of ``benchmarks/corpus``: is the cure of the planted problem said first of the kernel
before, is it silent of the kernel after, and does the gain that CUDA events measured lie in the
range that was promised? Writes ``docs/corpus.md`` from the reports and times under ``seed/h200``.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from studies.advised import Advised, advised
from studies.judged import QUIET, load_ideas
from studies.ladders import WORTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "seed" / "h200"
PAIRS = ROOT / "benchmarks" / "corpus" / "pairs.yaml"
PAGE = ROOT / "docs" / "corpus.md"
APART = 3  # one pair of so many is kept apart, by the hash of its name
PARTS = ("to learn from", "kept apart")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A planted problem: the rules that cure it, and those that must be silent once it is cured.

    ``quiet``: to say nothing is right as well. ``seconds``: the median of each version. ``place``:
    the report without its version and, where it holds several kernels, the launch.
    """

    name: str
    planted: str
    first: frozenset[str]
    silent: frozenset[str]
    quiet: bool
    seconds: Mapping[str, float]
    place: tuple[str, int | None]

    @property
    def part(self) -> str:
        """Whether rules may be shaped by this pair."""
        digest = hashlib.sha256(self.name.encode()).hexdigest()
        return PARTS[int(digest, 16) % APART == 0]

    @property
    def gain(self) -> float | None:
        """What the cure gained, as share of the time before."""
        if len(self.seconds) < 2:
            return None
        return 1 - self.seconds["after"] / self.seconds["before"]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is said of a pair: of the kernel that takes most time before, and after; None unread."""

    pair: Pair
    before: Advised | None
    after: Advised | None

    @property
    def right(self) -> bool:
        """Whether the cure is said first of the kernel before, or of its run.

        A cure that gained next to nothing should not have been.
        """
        if self.before is None:
            return False
        if self.pair.gain is not None and self.pair.gain < WORTH and not self.pair.quiet:
            return not {step.rule for step in self.before.steps[:1]} & self.pair.first
        first = [step.rule for step in self.before.steps[:1]]
        return bool({*first, *(step.rule for step in self.before.run)} & self.pair.first) or (
            self.pair.quiet and not first
        )

    @property
    def silent(self) -> bool | None:
        """Whether the cure is not said of the kernel after; None where there is none."""
        if self.after is None:
            return None
        return not {step.rule for step in self.after.steps[:1]} & self.pair.silent

    @property
    def range(self) -> tuple[float, float] | None:
        """The gain that is promised for the cure, as shares of the time before."""
        if self.before is None:
            return None
        steps = (*self.before.run, *self.before.steps[:3])
        shown = (each for step in steps for each in (step, *step.beside))
        for step in shown:
            if step.rule in self.pair.first and step.low is not None and step.high is not None:
                return step.low, step.high
        return None

    @property
    def inside(self) -> bool | None:
        """Whether the measured gain lies in the range; None where there is none worth a step."""
        gain = self.pair.gain
        if self.range is None or gain is None or gain < WORTH:
            return None
        return self.range[0] <= gain <= self.range[1]


def load_pairs() -> list[Pair]:
    """Return the pairs that were timed, in the order of the file."""
    ideas = load_ideas()

    def rules(words: Iterable[str]) -> frozenset[str]:
        sets = (frozenset([word]) if "/" in word else ideas[word] for word in words)
        return frozenset().union(*sets)

    seconds: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (MEASURED / "times.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        seconds[row["pair"]][row["version"]] = row["ms"] / 1e3
    return [
        Pair(
            name=name,
            planted=entry["planted"],
            first=rules(entry["first"]),
            silent=rules(set(entry.get("silent", entry["first"])) - QUIET),
            quiet="nothing" in entry["first"],
            seconds=seconds[name],
            place=(entry.get("report", name), entry.get("launch")),
        )
        for name, entry in yaml.safe_load(PAIRS.read_text("utf-8"))["pairs"].items()
    ]


def told() -> list[Told]:
    """Return what is said of every pair."""
    files = [path.name for path in sorted((MEASURED / "full").glob("*.gz"))]
    found = advised(files, under=MEASURED / "full")
    return [
        Told(pair=pair, before=_main(pair, "before", found), after=_main(pair, "after", found))
        for pair in load_pairs()
    ]


def _main(pair: Pair, version: str, found: Mapping[tuple[str, int], Advised]) -> Advised | None:
    """Return what is said of the kernel that takes most time, or of the launch that is named."""
    report, launch = pair.place
    file = f"{report}-{version}.ncu-rep.gz"
    launches = [
        each for (name, index), each in found.items() if name == file and launch in (None, index)
    ]
    return max(launches, key=lambda each: each.total or 0, default=None)


def page(found: Sequence[Told]) -> str:
    """Return ``docs/corpus.md``."""
    return "\n".join([*_head(), *summary(found), "", *_rows(found), "", *_ceilings(), ""])


def _head() -> Iterator[str]:
    yield "# Planted problems on an H200: what is said, what it was worth\n"
    yield (
        "Kernels written for this project (`benchmarks/corpus`), each with one planted problem and "
        "without it, run on one NVIDIA H200: every result is checked, times are medians of 41 "
        "repeats by CUDA events outside the profiler, reports are `ncu --set full "
        "--clock-control none` (`seed/h200/full`). What an expert would say first was written "
        "down before the program "
        "was asked. A third of the pairs is kept apart by the hash of the name; two of its misses "
        "were looked at and put right since, so that half says less now than at its first run.\n"
    )
    yield (
        "*First*: the cure is the first advice for the kernel that takes most time, or advice on "
        "the run. *Silent*: it is not the first advice after the cure. *Range*: the gain promised "
        "for it, beside the one measured; bold where the measured gain lies outside. Made by "
        "`python -m studies.corpus`.\n"
    )


def summary(found: Sequence[Told]) -> Iterator[str]:
    """Yield the table of shares."""
    yield "| pairs | first | silent after | gain inside the range |"
    yield "|---|---|---|---|"
    for part in (*PARTS, "all"):
        some = [each for each in found if part in (each.pair.part, "all") and each.before]
        cells = [_share(each.right for each in some)]
        cells += [_share(each.silent for each in some), _share(each.inside for each in some)]
        yield f"| {part} | {' | '.join(cells)} |"
    for part, cells in yaml.safe_load(PAIRS.read_text("utf-8"))["first_run"].items():
        yield f"| {part}, at the first run | {' | '.join(cells)} |"


def _share(verdicts: Iterable[bool | None]) -> str:
    known = [each for each in verdicts if each is not None]
    return f"{sum(known)} of {len(known)}"


def _rows(found: Sequence[Told]) -> Iterator[str]:
    yield "| pair | planted | before | after | gained | advised before | first | range | silent |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for each in sorted(found, key=lambda each: PARTS.index(each.pair.part)):
        yield f"| {' | '.join(_cells(each))} |"


def _cells(each: Told) -> Iterator[str]:
    pair, gain = each.pair, each.pair.gain
    yield pair.name + (" (kept apart)" if pair.part == PARTS[1] else "")
    yield pair.planted
    for version in ("before", "after"):
        yield f"{pair.seconds[version] * 1e3:.4g} ms" if version in pair.seconds else ""
    yield "" if gain is None else f"{gain:.0%}"
    if each.before is None:
        yield from ("not profiled", "", "", "")
        return
    rules = [step.rule for step in (*each.before.steps[:3], *each.before.run)]
    yield ", ".join(rules) or "nothing"
    yield "yes" if each.right else "**no**"
    ends = "" if each.range is None else f"{each.range[0]:.0%} to {each.range[1]:.0%}"
    yield f"**{ends}**" if each.inside is False else ends
    yield {True: "yes", False: "**no**", None: ""}[each.silent]


def _ceilings() -> Iterator[str]:
    yield "## Ceilings\n"
    yield (
        "By `benchmarks/corpus/ceilings.cu` and `library_ceilings.py` on the same device, medians "
        "of 21 repeats, beside the rated figures. L1, shared memory and int8 by warps are not "
        "given: the compiler had taken the loads out of the loop (corrected since, not run "
        "again).\n"
    )
    yield "| resource | what | measured | rated | share |"
    yield "|---|---|---|---|---|"
    measured = yaml.safe_load((ROOT / "seed" / "ceilings" / "measured.yaml").read_text("utf-8"))
    for row in measured["measured"]["nvidia-h200-sxm-141gb"]:
        if row["source"] == "corpus":
            yield f"| {' | '.join(_ceiling(row))} |"


def _ceiling(row: Mapping[str, Any]) -> Iterator[str]:
    yield from (row["resource"], row["what"], f"{row['value'] / 1e12:.4g} T{row['unit']}")
    rated = row.get("reference")
    yield "" if rated is None else f"{rated / 1e12:.4g} T{row['unit']}"
    yield "" if rated is None else f"{row['value'] / rated:.0%}"


def main() -> None:
    """Write the page."""
    found = told()
    PAGE.write_text(page(found), encoding="utf-8")
    print("\n".join(summary(found)))


if __name__ == "__main__":
    main()
