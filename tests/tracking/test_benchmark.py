"""The benchmark of the detector scores as it says: by hand, and as published."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from advisor.tracking.scan import scan_many
from advisor.tracking.settings import load_settings
from benchmarks import annotated, history, history_rivals
from benchmarks.history_series import NOISES, Labelled, newly_stepped, quiet_nights, stepped


def test_a_step_counts_once_within_the_margin() -> None:
    assert history.matches((50, 100), (47, 52, 106)) == 1
    assert history.matches((50, 54), (52, 53)) == 2
    assert history.matches((), (10,)) == 0


def test_f1_by_hand() -> None:
    # Marks {0, 50} and {0, 50, 80} (0 always counts), found {0, 52, 120}: precision 2 of 3 against
    # {0, 50, 80}; recall (2/2 + 2/3) / 2 = 5/6; F1 = 2 × 2/3 × 5/6 / (2/3 + 5/6) = 20/27.
    assert annotated.f1([(50,), (50, 80)], (52, 120)) == pytest.approx(20 / 27)


def test_covering_by_hand() -> None:
    # Annotated halves of 100 nights, found one segment: each half is half of it.
    assert annotated.covering([(50,)], (), 100) == pytest.approx(0.5)
    # Found at 60: 50 of 60 nights, and 40 of 50: (50 × 5/6 + 50 × 4/5) / 100.
    assert annotated.covering([(50,)], (60,), 100) == pytest.approx((50 * 5 / 6 + 40) / 100)


@pytest.mark.real
def test_no_change_scores_as_published() -> None:
    series = {each.name: each for each in annotated.load()}
    if not series:
        pytest.skip("the annotated series are not here")
    for name, (f1, covering) in annotated.published().items():
        one = series[name]
        assert annotated.f1(one.marks, ()) == pytest.approx(f1)
        assert annotated.covering(one.marks, (), len(one.values)) == pytest.approx(covering)


def test_rank_segmentation_and_the_threshold_find_a_plain_step() -> None:
    values = np.where(np.arange(60) < 30, 1.0, 1.2) + 0.001 * np.sin(np.arange(60))
    case = Labelled(values=values, noise="")
    assert history_rivals.ranks([case])[0].steps == (30,)
    assert history_rivals.threshold([case])[0].steps == (30,)
    new = Labelled(values=values[:33], noise="")
    assert history_rivals.threshold([new])[0].newest == 1
    assert history_rivals.threshold([case])[0].newest == 0


@pytest.mark.parametrize("noise", NOISES)
def test_the_detector_reaches_the_bars_in_each_noise(noise: str) -> None:
    # Bounds are loose for the few series here; docs/history-detector.md has the figures.
    rng = np.random.default_rng(90210)
    quiet = history_rivals.ours(list(quiet_nights(noise, rng, 9, 5)))
    assert sum(answer.newest != 0 for answer in quiet) <= 2
    told = list(newly_stepped(noise, rng, 27, 0.1, 7))
    answers = history_rivals.ours(told)
    right = sum(case.newest == each.newest for case, each in zip(told, answers, strict=True))
    assert right >= 0.8 * len(told)
    cases = list(stepped(noise, rng, 22))
    found = [answer.steps for answer in history_rivals.ours(cases)]
    hits = sum(history.matches(c.steps, f) for c, f in zip(cases, found, strict=True))
    assert 2 * hits / (sum(map(len, found)) + sum(len(c.steps) for c in cases)) >= 0.8


def test_labels_of_series_are_where_they_say() -> None:
    for case in stepped("i.i.d. 0.3 %", np.random.default_rng(1), 11):
        edges = [0, *case.steps, len(case.values)]
        medians = [np.median(case.values[a:b]) for a, b in pairwise(edges)]
        assert all(abs(np.log(b / a)) > 0.02 for a, b in pairwise(medians))


def test_scans_nothing_without_complaint() -> None:
    assert scan_many([], settings=load_settings()) == []
