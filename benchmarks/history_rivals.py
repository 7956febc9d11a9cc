"""The detectors that the benchmark of ``history scan`` compares, all asked the same questions."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from advisor.tracking.records import ChangeKind, Verdict
from advisor.tracking.scan import Nights, scan_many
from advisor.tracking.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.tracking.records import SeriesResult
    from benchmarks.history_series import Floats, Labelled

ROOT = Path(__file__).parent.parent
OTAVA = ROOT / ".cache" / "otava"
PACKAGE = "apache-otava"
OPTIONS = {
    "Otava default": {"window_len": 50, "max_pvalue": 1e-3, "min_magnitude": 0.0},
    "Otava p 1e-6, ≥ 1 %": {"window_len": 50, "max_pvalue": 1e-6, "min_magnitude": 0.01},
}
OURS, THRESHOLD, RANKS = "history scan", "5 % threshold", "rank segmentation"
WINDOW = 14  # nights that count as new, for every detector
SHARE, BEFORE = 0.05, 7  # the fixed threshold, and the nights whose median it is compared with
RANK_SCORE, RANK_NIGHTS = 3.9, 5  # about p 1e-4 at a chosen night; the shortest segment


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a detector says about a series: nights of steps, and how the newest moved (-1, 0, 1).

    ``scanned`` is everything that ours says.
    """

    steps: tuple[int, ...]
    newest: int
    scanned: SeriesResult | None = None


def ours(cases: Sequence[Labelled]) -> list[Answer]:
    """Return the answers of ``history scan``."""
    nights = [Nights(values=case.values, environment=case.environment) for case in cases]
    return [_answer(found) for found in scan_many(nights, settings=load_settings())]


def _answer(found: SeriesResult) -> Answer:
    moved = found.newest.verdict in (Verdict.REGRESSED, Verdict.IMPROVED, Verdict.ENVIRONMENT)
    way = 0 if not moved else int(math.copysign(1, found.newest.relative or 0.0))
    steps = tuple(change.index for change in found.changes if change.kind is ChangeKind.STEP)
    return Answer(steps=steps, newest=way, scanned=found)


def threshold(cases: Sequence[Labelled]) -> list[Answer]:
    """Return those of the newest night against the median of a week, as dashboards do it."""
    return [_over_threshold(case.values) for case in cases]


def _over_threshold(values: Floats) -> Answer:
    before = np.lib.stride_tricks.sliding_window_view(values, BEFORE)[:-1]
    moved = values[BEFORE:] / np.median(before, axis=1) - 1
    far = np.abs(moved) > SHARE
    begins = np.flatnonzero(far & ~np.concatenate(([False], far[:-1]))) + BEFORE
    return Answer(steps=tuple(begins.tolist()), newest=int(np.sign(moved[-1]) * far[-1]))


def ranks(cases: Sequence[Labelled]) -> list[Answer]:
    """Return those of binary segmentation by the rank-sum test, without further care."""
    answers = []
    for case in cases:
        steps = sorted(_rank_steps(case.values, 0))
        edges = [0, *steps, len(case.values)]
        way = 0
        if steps and steps[-1] >= len(case.values) - WINDOW:
            new, old = case.values[edges[-2] :], case.values[edges[-3] : edges[-2]]
            way = int(np.sign(np.median(new) - np.median(old)))
        answers.append(Answer(steps=tuple(steps), newest=way))
    return answers


def _rank_steps(values: Floats, start: int) -> list[int]:
    n = len(values)
    at = np.arange(RANK_NIGHTS, n - RANK_NIGHTS + 1)
    if not len(at):
        return []
    order = np.argsort(np.argsort(values)) + 1.0
    sums = np.cumsum(order)[at - 1]
    scores = np.abs(sums - at * (n + 1) / 2) / np.sqrt(at * (n - at) * (n + 1) / 12)
    best = int(np.argmax(scores))
    if scores[best] < RANK_SCORE:
        return []
    cut = int(at[best])
    left, right = _rank_steps(values[:cut], start), _rank_steps(values[cut:], start + cut)
    return [*left, start + cut, *right]


def install_otava() -> str | None:
    """Put Otava into an environment of its own; return why that is not possible, or None."""
    python = _otava_python()
    if (
        python.exists()
        and not subprocess.run(
            [python, "-c", "import otava"], capture_output=True, check=False
        ).returncode
    ):
        return None
    venv.create(OTAVA, with_pip=True, clear=True)
    command = [str(python), "-m", "pip", "install", "--quiet", PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if not done.returncode else f"{PACKAGE} cannot be installed; left out"


def _otava_python() -> Path:
    return OTAVA / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def otava(cases: Sequence[Labelled], folder: Path) -> dict[str, tuple[list[Answer], float]]:
    """Return Otava's answers, by its options, and the processor time [s] each took."""
    source, target = folder / "series.json", folder / "found.json"
    series = [case.values.tolist() for case in cases]
    source.write_text(json.dumps({"series": series, "options": OPTIONS}))
    script = Path(__file__).with_name("history_otava.py")
    subprocess.run([_otava_python(), script, source, target], check=True)
    results = json.loads(target.read_text())
    return {
        name: (
            [_of_otava(found, len(v)) for found, v in zip(result["found"], series, strict=True)],
            result["seconds"],
        )
        for name, result in results.items()
    }


def _of_otava(found: Sequence[tuple[int, float]], nights: int) -> Answer:
    new = [share for index, share in found if index >= nights - WINDOW]
    way = int(math.copysign(1, new[-1])) if new else 0
    return Answer(steps=tuple(index for index, _ in found), newest=way)


def seconds_of_ours(cases: Sequence[Labelled]) -> float:
    """Return the processor time [s] of ``history scan``, the best of three."""
    nights = [Nights(values=case.values) for case in cases]
    settings = load_settings()
    times = []
    for _ in range(3):
        started = process_time()
        scan_many(nights, settings=settings)
        times.append(process_time() - started)
    return min(times)
