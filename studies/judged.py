"""``python -m studies.judged``: what the program says beside what was judged by hand.

Holds limiter, first advice and range of every case in ``docs/judged/cases`` against the program,
as ``docs/judged/cases.md`` says, and prints a table per part, then every miss.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from studies.advised import ABSENT, DATA, Advised, Step, advised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from advisor.readers.base import Reader

HERE = Path(__file__).parent.parent / "docs" / "judged"
PARTS = ("held out", "seen since", "to learn from")
TARGETS = {"limiter": 0.95, "first advice": 0.85, "range": 0.8}
SMALL = 0.05  # of the kernel's time: what promises no more says "leave it"
FACTOR = 1.5  # by which a judged range is widened on both sides
SLACK = 0.03  # of the kernel's time, likewise
QUIET = {"nothing", "again"}  # said as well by saying nothing, half by promising nothing


@dataclass(frozen=True, kw_only=True)
class Case:
    """One launch as judged: rules instead of words, gain as shares of its time."""

    file: str
    launch: int
    kernel: str
    device: str
    limiter: tuple[str, ...]
    words: tuple[str, ...]
    first: frozenset[str]
    unacceptable: frozenset[str]
    gain: tuple[float, float] | None
    seen: bool = False
    fresh: bool = False

    @property
    def part(self) -> str:
        """Held out: a fresh case, or by the hash of the path, until somebody has seen it."""
        even = int(hashlib.sha256(self.file.encode()).hexdigest(), 16) % 2 == 0
        if even and not self.fresh:
            return PARTS[2]
        return PARTS[1] if self.seen else PARTS[0]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How the program did on one case; ``range`` is None where it is not compared."""

    case: Case
    said: Advised
    limiter: float
    first: float
    range: float | None


def load_ideas() -> dict[str, frozenset[str]]:
    """Return the rules that say each word of ``ideas.yaml``."""
    ideas = yaml.safe_load((HERE / "ideas.yaml").read_text("utf-8"))["ideas"]
    return {word: frozenset(idea["rules"]) for word, idea in ideas.items()}


def load_cases() -> list[Case]:
    """Return every case, in the order of their files."""
    ideas = load_ideas()
    return [
        _case(entry, ideas)
        for path in sorted((HERE / "cases").glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text("utf-8"))["cases"]
    ]


def _case(entry: Mapping[str, Any], ideas: Mapping[str, frozenset[str]]) -> Case:
    def rules(words: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(frozenset([w]) if "/" in w else ideas[w] for w in words))

    return Case(
        file=entry["file"],
        launch=entry["launch"],
        kernel=entry["kernel"],
        device=entry["device"],
        limiter=tuple(entry["limiter"]),
        words=tuple(entry["first"]),
        first=rules(entry["first"]),
        unacceptable=rules(entry["unacceptable"]),
        gain=None if entry["gain"] is None else (entry["gain"][0], entry["gain"][1]),
        seen=entry.get("seen", False),
        fresh="fresh" in entry,
    )


def judge(case: Case, said: Advised) -> Verdict:
    """Return how what is said stands to what was judged."""
    return Verdict(
        case=case,
        said=said,
        limiter=float(said.limiter in case.limiter),
        first=_first(case, said.steps),
        range=None if case.gain is None else float(_useful(case.gain, said.steps)),
    )


def _first(case: Case, steps: Sequence[Step]) -> float:
    rules = [step.rule for step in steps[:3]]
    quiet = bool(QUIET & set(case.words)) and all((s.likely or 0.0) <= SMALL for s in steps)
    if (rules and rules[0] in case.first) or (quiet and not rules):
        return 1.0
    if rules[:1] and rules[0] in case.unacceptable:
        return 0.0
    return 0.5 if quiet or case.first & set(rules) else 0.0


def _useful(gain: tuple[float, float], steps: Sequence[Step]) -> bool:
    low, high = gain
    likely = (steps[0].likely or 0.0) if steps else 0.0
    return low / FACTOR - SLACK <= likely <= high * FACTOR + SLACK


def shares(verdicts: Iterable[Verdict]) -> dict[str, tuple[float, int]]:
    """Return points and cases compared, by what is judged."""
    found = list(verdicts)
    columns = {
        "limiter": [each.limiter for each in found],
        "first advice": [each.first for each in found],
        "range": [each.range for each in found if each.range is not None],
    }
    return {name: (sum(points), len(points)) for name, points in columns.items()}


def by_repository(verdicts: Iterable[Verdict]) -> dict[str, float]:
    """Return the mean share right, each repository counted once, by what is judged."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for each in verdicts:
        groups[each.case.file.split("/")[1]].append(each)
    found: dict[str, list[float]] = defaultdict(list)
    for group in groups.values():
        for name, (points, count) in shares(group).items():
            if count:
                found[name].append(points / count)
    return {name: sum(each) / len(each) for name, each in found.items()}


def judged(
    stored: str | None = None, through: Callable[[Reader], Reader] = lambda reader: reader
) -> list[Verdict]:
    """Return how the program does on every case whose file is there.

    ``stored`` and ``through`` are as for ``advised``.
    """
    cases = [case for case in load_cases() if (DATA / case.file).is_file()]
    said = advised({case.file for case in cases}, stored=stored, through=through)
    nothing = Advised(limiter="unknown", duration=None, steps=())
    return [judge(case, said.get((case.file, case.launch), nothing)) for case in cases]


def misses(verdicts: Iterable[Verdict], part: str) -> list[str]:
    """Return a line for each case of a part in which something is not right."""
    return [
        _miss(each)
        for each in verdicts
        if each.case.part == part and (each.limiter < 1 or each.first < 1 or each.range == 0)
    ]


def _miss(verdict: Verdict) -> str:
    case, said = verdict.case, verdict.said
    wrong = []
    if verdict.limiter < 1:
        wrong.append(f"limiter {said.limiter}, judged {' or '.join(case.limiter)}")
    if verdict.first < 1:
        steps = ", ".join(step.rule for step in said.steps[:3]) or "nothing"
        wrong.append(f"first advice {verdict.first:g}: {steps}; judged {', '.join(case.words)}")
    if verdict.range == 0 and case.gain:
        likely = said.steps[0].likely if said.steps else None
        promised = "no promise" if likely is None else f"{likely:.0%}"
        wrong.append(f"range {promised}, judged {case.gain[0]:.0%} to {case.gain[1]:.0%}")
    return f"{case.file} {case.launch} {case.kernel}: {'; '.join(wrong)}"


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the Markdown table: two rows per part, the second with repositories as equals."""
    lines = ["| part | launches | limiter right | first advice right | range useful |"]
    lines.append("|---|---|---|---|---|")
    for part in PARTS:
        of_part = [each for each in verdicts if each.case.part == part]
        cells = [
            f"{points:g} of {count}, {points / count:.0%}" if count else "none"
            for points, count in shares(of_part).values()
        ]
        lines.append(f"| {part} | {len(of_part)} | {' | '.join(cells)} |")
        means = " | ".join(f"{mean:.0%}" for mean in by_repository(of_part).values())
        lines.append(f"| … each repository counted once | | {means} |")
    return lines


def main() -> None:
    """Print the table and the misses."""
    if not DATA.is_dir():
        print(ABSENT)
        return
    verdicts = judged()
    print("\n".join(table(verdicts)))
    for part in PARTS:
        print(f"\n{part}:")
        print("\n".join(f"* {line}" for line in misses(verdicts, part)))


if __name__ == "__main__":
    main()
