"""``python -m benchmarks.history [SEED]``: ``history scan`` beside other detectors.

Makes labelled series of nights, asks each detector the same questions, and writes
``docs/history-detector.md``. Apache Otava is installed into an environment of its own, and left out
where that is not possible. ``make bench`` runs the speeds alone.
"""

from __future__ import annotations

import math
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import annotated
from benchmarks import history_rivals as rivals
from benchmarks import history_series as make
from benchmarks.history_series import NOISES, Labelled
from benchmarks.measure import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from advisor.tracking.records import SeriesResult
    from benchmarks.history_rivals import Answer

    Maker = Callable[..., Iterable[Labelled]]

PAGE = rivals.ROOT / "docs" / "history-detector.md"
SEED = 2026
MARGIN = 5
NIGHTS = 25  # newest nights of each quiet series
TOLD = ((0.05, 2), (0.05, 3), (0.05, 7), (0.03, 14), (0.1, 2))
SHAPES = ("drift", "two-state", "outlier", "inconclusive", "environment", "whole drift")
_MOVED = ("regressed", "improved")
SPEED_SERIES, SPEED_NIGHTS, FEW = 1000, 365, 50


@dataclass(kw_only=True)
class Score:
    """What one detector reached, by question and noise."""

    false: dict[str, float] = field(default_factory=dict)
    told: dict[tuple[float, int], dict[str, float]] = field(default_factory=dict)
    found: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    named: dict[str, float] = field(default_factory=dict)
    annotated: tuple[float, float] | None = None


def ask(cases: Sequence[Labelled], folder: Path, *, with_otava: bool) -> dict[str, list[Answer]]:
    """Return the answers of every detector."""
    answers = {
        rivals.OURS: rivals.ours(cases),
        rivals.THRESHOLD: rivals.threshold(cases),
        rivals.RANKS: rivals.ranks(cases),
    }
    if with_otava:
        found = rivals.otava(cases, folder)
        answers |= {name: each for name, (each, _) in found.items()}
    return answers


def measure(seed: int, folder: Path, *, with_otava: bool, effort: int = 1) -> dict[str, Score]:
    """Return the scores by detector; ``effort`` multiplies the number of series."""
    rng = np.random.default_rng(seed)
    scores: dict[str, Score] = {}

    def each(
        cases: list[Labelled], record: Callable[[Score, str, list[Labelled], list[Answer]], None]
    ) -> None:
        for detector, answers in ask(cases, folder, with_otava=with_otava).items():
            score = scores.setdefault(detector, Score())
            for noise in NOISES:
                chosen = [i for i, case in enumerate(cases) if case.noise == noise]
                record(score, noise, [cases[i] for i in chosen], [answers[i] for i in chosen])

    def all_of(
        maker: Callable[..., Iterable[Labelled]], series: int, *rest: object
    ) -> list[Labelled]:
        return [case for noise in NOISES for case in maker(noise, rng, series * effort, *rest)]

    each(all_of(make.quiet_nights, 36, NIGHTS), _record_false)
    for share, nights in TOLD:
        each(
            all_of(make.newly_stepped, 36, share, nights),
            partial(_record_told, (share, nights)),
        )
    each(all_of(make.stepped, 44), _record_found)
    _name(scores[rivals.OURS], all_of(make.shaped, 24))
    _annotate(scores, folder, with_otava=with_otava)
    return scores


def _record_false(score: Score, noise: str, cases: list[Labelled], answers: list[Answer]) -> None:
    score.false[noise] = 1000 * sum(answer.newest != 0 for answer in answers) / len(cases)


def _record_told(
    step: tuple[float, int],
    score: Score,
    noise: str,
    cases: list[Labelled],
    answers: list[Answer],
) -> None:
    pairs = zip(cases, answers, strict=True)
    right = sum(case.newest == answer.newest for case, answer in pairs)
    score.told.setdefault(step, {})[noise] = right / len(cases)


def _record_found(score: Score, noise: str, cases: list[Labelled], answers: list[Answer]) -> None:
    pairs = list(zip(cases, answers, strict=True))
    score.found[noise] = (
        sum(matches(case.steps, answer.steps) for case, answer in pairs),
        sum(len(answer.steps) for answer in answers),
        sum(len(case.steps) for case in cases),
    )


def matches(true: Sequence[int], found: Sequence[int]) -> int:
    """Return how many steps were found within the margin, each found one counting once."""
    left, count = list(found), 0
    for step in true:
        near = [other for other in left if abs(other - step) <= MARGIN]
        if near:
            left.remove(min(near, key=lambda other: abs(other - step)))
            count += 1
    return count


def _name(score: Score, cases: list[Labelled]) -> None:
    answers = rivals.ours(cases)
    for shape in SHAPES:
        right = [
            _is_named(case, answer.scanned)
            for case, answer in zip(cases, answers, strict=True)
            if case.shape == shape and answer.scanned is not None
        ]
        score.named[shape] = sum(right) / len(right)


def _is_named(case: Labelled, found: SeriesResult) -> bool:
    if case.shape == "inconclusive":
        return found.newest.verdict == "inconclusive"
    if case.shape == "environment":
        return any(
            change.verdict == "environment" and abs(change.index - case.at) <= MARGIN
            for change in found.changes
        )
    if case.shape == "whole drift":
        way = math.copysign(1, found.newest.relative or 0.0)
        kinds = [change.kind for change in found.changes if change.index == found.newest.index]
        return found.newest.verdict in _MOVED and way == case.newest and kinds == ["drift"]
    near = [
        change
        for change in found.changes
        if change.kind == case.shape
        and (case.shape != "outlier" or abs(change.index - case.at) <= 1)
    ]
    return len(near) == 1


def _annotate(scores: dict[str, Score], folder: Path, *, with_otava: bool) -> None:
    """Score the annotated series; those of 'no change' must come out as published."""
    series = annotated.load()
    if not series:
        return
    for name, (f1, covering) in annotated.published().items():
        one = next(each for each in series if each.name == name)
        mine = annotated.f1(one.marks, ()), annotated.covering(one.marks, (), len(one.values))
        if not np.allclose(mine, (f1, covering), atol=1e-9):
            sys.exit(f"{name}: 'no change' scores {mine}, published is {(f1, covering)}")
    known = [np.flatnonzero(np.isfinite(one.values)) for one in series]
    cases = [
        Labelled(values=one.values[at], noise="annotated")
        for one, at in zip(series, known, strict=True)
    ]
    for detector, answers in ask(cases, folder, with_otava=with_otava).items():
        results = []
        for one, at, answer in zip(series, known, answers, strict=True):
            found = [int(at[step]) for step in _all_steps(answer)]
            covered = annotated.covering(one.marks, found, len(one.values))
            results.append((annotated.f1(one.marks, found), covered))
        f1s, coverings = zip(*results, strict=True)
        scores[detector].annotated = (float(np.mean(f1s)), float(np.mean(coverings)))


def _all_steps(answer: Answer) -> list[int]:
    """Return the nights of steps, and where drifts begin."""
    if answer.scanned is None:
        return list(answer.steps)
    changes = answer.scanned.changes
    return [change.index for change in changes if change.kind in ("step", "drift")]


def speeds(folder: Path, *, with_otava: bool) -> list[Line]:
    """Return the processor times of 1,000 series of 365 nights, half of them with a step."""
    rng = np.random.default_rng(SEED)
    names = list(NOISES)
    cases = []
    for number in range(SPEED_SERIES):
        level = np.where(np.arange(SPEED_NIGHTS) < 200, 0.0, 0.05 * (number % 2))
        noise = names[number // 2 % len(names)]
        cases.append(Labelled(values=make.make(noise, level, rng), noise=noise))
    what = f"{SPEED_SERIES:,} series × {SPEED_NIGHTS} nights"
    own = rivals.seconds_of_ours(cases)
    lines = [Line(what=f"{what}: {rivals.OURS}", value=own, unit="s", target="≤ 1 s")]
    if with_otava:
        for name, (_, seconds) in rivals.otava(cases[:FEW], folder).items():
            whole = seconds * SPEED_SERIES / FEW
            remark = f"from {FEW} series; {whole / own:.0f} × {rivals.OURS}"
            lines.append(Line(what=f"{what}: {name}", value=whole, unit="s", remark=remark))
    return lines


def run(folder: Path) -> list[Line]:
    """Return the speeds; ``folder`` is scratch space."""
    missing = rivals.install_otava()
    lines = speeds(folder, with_otava=missing is None)
    if missing:
        print(missing)
    return lines


def main(arguments: Sequence[str]) -> None:
    """Measure everything and write the page."""
    from benchmarks.history_page import page

    seed = int(arguments[0]) if arguments else SEED
    missing = rivals.install_otava()
    if missing:
        print(missing)
    with tempfile.TemporaryDirectory() as folder:
        scores = measure(seed, Path(folder), with_otava=missing is None)
        lines = speeds(Path(folder), with_otava=missing is None)
    text = page(scores, lines, seed, missing)
    print(text)
    if not arguments:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
