"""Both gates of a comparison, by hand and on real launches."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from math import exp, log
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from advisor.tracking.comparing import Limits, load_comparing
from advisor.tracking.gates import (
    Gated,
    Samples,
    Spread,
    false_discovery_bar,
    has_two_levels,
    judge,
)
from advisor.tracking.launches import Launches, launch_tests
from advisor.tracking.levels import Levels
from advisor.tracking.ranks import rank_chances
from advisor.tracking.records import Verdict

SPLITS, SEED = 1000, 2026
DEPENDS_ON_DATA = ("radix", "nodebypoint5", "distancecalculations")
TOLD = (Verdict.REGRESSED, Verdict.IMPROVED, Verdict.ENVIRONMENT)


@pytest.fixture(scope="module")
def limits() -> Limits:
    return load_comparing().limits


def rank_chance(one: Sequence[float], other: Sequence[float], exact: int) -> float:
    return rank_chances(np.array([one]), np.array([other]), exact)[0]


def test_exact_chances_by_counting() -> None:
    assert rank_chance([1, 2, 3, 4], [5, 6, 7, 8], 40) == pytest.approx(2 / 70)
    assert rank_chance([5, 6, 7, 8, 9], [1, 2, 3, 4, 0], 40) == pytest.approx(2 / 252)
    assert rank_chance([1, 1, 1, 1], [1, 1, 1, 1], 40) == 1


def test_exact_chances_with_ties_by_enumeration() -> None:
    one, other = [1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 3.0, 4.0, 4.0]
    ranks = {1.0: 1.0, 2.0: 3.0, 3.0: 6.0, 4.0: 8.5}  # means of 1; 2–4; 5–7; 8–9
    every = [ranks[value] for value in (*one, *other)]
    middle = 4 * 5.0
    sums = [sum(chosen) for chosen in combinations(every, 4)]
    far = abs(sum(every[:4]) - middle)
    expected = sum(abs(each - middle) >= far for each in sums) / len(sums)
    assert rank_chance(one, other, 40) == pytest.approx(expected)


def test_series_with_equally_many_launches_are_tested_together_and_change_nothing(
    limits: Limits,
) -> None:
    series = [
        Launches([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 3.0, 4.0], 1.0, 1.0),
        Launches([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0], 2.0, 2.0),
        Launches([8.0, 5.0, 7.0, 6.0], [2.0, 1.0, 4.0, 3.0], 1.0, 0.5),
    ]
    found = launch_tests(series, limits)
    assert [launch_tests([each], limits)[0] for each in series] == found
    # 126 ways to choose five ranks of nine, and 70 to choose four of eight; two are as far.
    assert [each.by_ranks for each in found[1:]] == pytest.approx([2 / 126, 2 / 70])


def test_the_normal_form_is_near_the_exact_one() -> None:
    chance = random.Random(3)
    one = [chance.gauss(0, 1) for _ in range(20)]
    other = [chance.gauss(0.8, 1) for _ in range(20)]
    assert rank_chance(one, other, 0) == pytest.approx(rank_chance(one, other, 40), abs=1e-3)


def test_the_bar_of_false_discoveries_by_hand() -> None:
    # Of four, the bars are 0.0125, 0.025, 0.0375, 0.05: the third fails, the second holds.
    assert false_discovery_bar([0.04, 0.2, 0.01, 0.02], 0.05) == 0.02
    assert false_discovery_bar([0.3, 0.4], 0.05) < 0


def test_few_launches_are_insufficient_unless_the_past_tells(limits: Limits) -> None:
    few = Samples(base=[1.0, 1.0, 1.0], head=[1.1, 1.1, 1.1])
    known = Samples(base=[1.0], head=[1.1], past_noise=0.01)
    faster = Samples(base=[1.1], head=[1.0], past_noise=0.01)
    noisy = Samples(base=[1.0], head=[1.1], past_noise=0.2)
    found = [judge([each], limits)[0][0].verdict for each in (few, known, faster, noisy)]
    assert found == [
        Verdict.INSUFFICIENT,
        Verdict.REGRESSED,
        Verdict.IMPROVED,
        Verdict.UNCHANGED,
    ]


def test_launches_that_were_dropped_are_judged_by_their_spread(limits: Limits) -> None:
    def spread(median: float, launches: int = 10) -> Spread:
        return Spread(launches=launches, median=median, deviation=0.01)

    found = [
        judge([Samples(base=[], head=[], base_spread=spread(1.0), head_spread=other)], limits)[0][0]
        for other in (spread(1.05), spread(0.95), spread(1.012), spread(1.05, launches=3))
    ]
    assert [each.verdict for each in found] == [
        Verdict.REGRESSED,
        Verdict.IMPROVED,
        Verdict.REGRESSED,
        Verdict.INSUFFICIENT,
    ]
    # The error of 1.2 % is 1 % · √(2/10) = 0.447 %, so t = 2.667 of 18 degrees: 1.6 %.
    assert found[2].p_value == pytest.approx(0.0157, rel=0.02)


def test_launches_of_one_night_do_not_outweigh_the_noise_of_nights(limits: Limits) -> None:
    base = [1.0, 1.001, 0.999, 1.002, 0.998]
    head = [1.03 * value for value in base]
    (alone,), _ = judge([Samples(base=base, head=head)], limits)
    (known,), _ = judge([Samples(base=base, head=head, past_noise=0.02)], limits)
    assert (alone.verdict, known.verdict) == (Verdict.REGRESSED, Verdict.UNCHANGED)
    # ln 1.03 = 2.96 % over 2 % · √2 is 1.045 deviations.
    assert known.p_value == pytest.approx(0.296, abs=0.001)


def levels(effect: float, **said: Any) -> Levels:
    return Levels(**({"effect": effect, "noise": 0.01, "error": 0.5} | said))


def test_levels_of_nights_decide_where_launches_are_few(limits: Limits) -> None:
    def found(head: float, known: Levels) -> Verdict:
        return judge([Samples(base=[1.0], head=[head], levels=known)], limits)[0][0].verdict

    # 3 % over half a night's noise of 1 % is 6 deviations.
    assert found(1.02, levels(0.03)) is Verdict.REGRESSED
    assert found(0.98, levels(-0.03)) is Verdict.IMPROVED
    # Two results that do not show what the nights say, and odd nights, prove nothing.
    assert found(1.01, levels(0.03)) is Verdict.INCONCLUSIVE
    assert found(0.99, levels(0.03)) is Verdict.INCONCLUSIVE
    assert found(1.03, levels(0.03, is_doubtful=True)) is Verdict.INCONCLUSIVE
    # Two nights of one level are unchanged, however far the one strays.
    assert found(1.03, levels(0.001)) is Verdict.UNCHANGED
    # What the detector found needs no second proof.
    assert found(1.02, levels(0.02, error=1.4)) is Verdict.UNCHANGED
    assert found(1.02, levels(0.02, error=1.4, p_value=1e-6)) is Verdict.REGRESSED


def test_less_than_is_worth_acting_on_is_unchanged_however_sure(limits: Limits) -> None:
    base = [1.0 + place * 1e-6 for place in range(20)]
    (found,), _ = judge([Samples(base=base, head=[1.009 * value for value in base])], limits)
    assert found.verdict is Verdict.UNCHANGED
    assert found.p_value is not None
    assert found.p_value < 1e-6


def test_time_in_the_run_counts_its_launches(limits: Limits) -> None:
    same = [1.0, 1.001, 1.002, 0.999]
    samples = Samples(base=same, head=same * 2, base_launches=4, head_launches=8)
    (found,), _ = judge([samples], limits)
    assert found.verdict is Verdict.REGRESSED
    assert found.effect == pytest.approx(log(2))


def test_a_shift_of_the_whole_machine_is_one_finding(limits: Limits) -> None:
    def series(factor: float) -> Samples:
        base = [1.0, 1.001, 0.999, 1.002, 0.998]
        return Samples(base=base, head=[factor * value for value in base])

    found, shift = judge([*(series(1.05) for _ in range(9)), series(1.3)], limits)
    assert shift is not None
    assert (shift.moved, shift.series) == (9, 10)
    assert exp(shift.effect) == pytest.approx(1.05)
    assert [each.verdict for each in found] == [Verdict.ENVIRONMENT] * 9 + [Verdict.REGRESSED]


def test_two_levels_of_launches(limits: Limits) -> None:
    low = [1.0, 1.001, 0.999, 1.002]
    assert has_two_levels([*low, *(1.2 * value for value in low)], limits)
    assert not has_two_levels([*low, *low], limits)
    assert not has_two_levels([*low, *low, *low, 1.2], limits)


MIRRORED = {Verdict.REGRESSED: Verdict.IMPROVED, Verdict.IMPROVED: Verdict.REGRESSED}
TIMES = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=12)


@given(
    base=TIMES,
    head=TIMES,
    noise=st.none() | st.floats(0.001, 0.2),
    effect=st.none() | st.floats(-0.5, 0.5),
    unit=st.sampled_from([1e-9, 1e3]),
)
def test_the_other_way_round_only_the_words_change_and_no_unit_matters(
    base: list[float], head: list[float], noise: float | None, effect: float | None, unit: float
) -> None:
    limits = load_comparing().limits

    def judged(ours: list[float], theirs: list[float], sign: int) -> Gated:
        known = None if effect is None else levels(sign * effect)
        samples = Samples(base=ours, head=theirs, past_noise=noise, levels=known)
        return judge([samples], limits)[0][0]

    there, back = judged(base, head, 1), judged(head, base, -1)
    if there.judged is not None and there.needed is not None:
        assume(abs(abs(there.judged) - there.needed) > 1e-9)  # on the edge rounding decides
    assert back.verdict is MIRRORED.get(there.verdict, there.verdict)
    assert there.p_value == (None if back.p_value is None else pytest.approx(back.p_value))
    other = judged([unit * time for time in base], [unit * time for time in head], 1)
    assert other.verdict is there.verdict


@pytest.mark.real
def test_random_halves_of_real_launches(
    real_data: Path, real_database: Path, limits: Limits, capsys: pytest.CaptureFixture[str]
) -> None:
    series = _launches(real_database, real_data / "ncu-rep")
    assert len(series) == 37
    steady = [
        place
        for place, (name, times) in enumerate(series)
        if len(times) >= 10 and not any(word in name.lower() for word in DEPENDS_ON_DATA)
    ]
    assert len(steady) == 12
    chance = random.Random(SEED)
    false = told = 0
    for _ in range(SPLITS):
        halves = [_halves(times, chance) for _, times in series]
        false += sum(each.verdict in TOLD for each in judge(halves, limits)[0])
        moved = [
            Samples(base=each.base, head=[1.05 * value for value in each.head])
            if place in steady
            else each
            for place, each in enumerate(halves)
        ]
        found = judge(moved, limits)[0]
        told += sum(found[place].verdict is Verdict.REGRESSED for place in steady)
    shares = false / (SPLITS * len(series)), told / (SPLITS * len(steady))
    with capsys.disabled():
        print(f"\nfalse {shares[0]:.2%}, told {shares[1]:.1%} over {SPLITS} splits")
    assert shares[0] <= 0.01
    assert shares[1] >= 0.85


def _halves(times: list[float], chance: random.Random) -> Samples:
    shuffled = chance.sample(times, len(times))
    half = len(times) // 2
    return Samples(base=shuffled[:half], head=shuffled[half:])


def _launches(database: Path, folder: Path) -> list[tuple[str, list[float]]]:
    """Return the times of each variant in the files of a folder."""
    query = """
        SELECT any_value(short_name), list(duration ORDER BY launch_index)
        FROM launch JOIN kernel USING (kernel_id) JOIN run USING (run_id)
        WHERE duration > 0 AND starts_with(run.name, ?)
        GROUP BY run_id, variant_id HAVING count(*) >= 4 ORDER BY run_id, variant_id
    """
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(query, [str(folder)]).fetchall()
