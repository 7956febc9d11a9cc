"""Which series moved, in which state, and how that is said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import pytest

from advisor.reports.record.history_settings import load_history_settings
from advisor.reports.record.history_words import history_sentence, quiet_words
from advisor.reports.record.moved import Move, RunVariant, moves, older_open
from advisor.reports.record.over_time import KernelNights, MovedSeries
from advisor.reports.record.series_records import (
    AcceptedLevel,
    History,
    HistoryNight,
    SeriesHistory,
)
from advisor.tracking.history import Tracked, change_at, scan_histories
from advisor.tracking.settings import load_settings
from advisor.wording import NO_BREAK

FIRST = datetime.fromisoformat("2026-01-01T03:00")
SETTINGS = load_settings()
MICRO = 1e-6


def noisy(*levels: tuple[int, float]) -> list[float]:
    """Return durations [s]: so many nights at each level [µs], with a noise of half a percent."""
    random = np.random.default_rng(7)
    flat = [level for nights, level in levels for _ in range(nights)]
    return [level * MICRO * (1 + 0.005 * random.standard_normal()) for level in flat]


def history_of(
    *series: Sequence[float], accepted: int | None = None, shown: int = 30, driver_at: int = 99
) -> History:
    """Return a history of series that all end on its newest night."""
    most = max(len(each) for each in series)
    nights = tuple(
        HistoryNight(
            run_id=f"r{number}",
            time=FIRST + timedelta(days=number),
            commit=f"commit{number:034}",
            note=None,
            environment="driver 2" if number >= driver_at else "driver 1",
            changed=("driver 1 → 2",) if number == driver_at else (),
        )
        for number in range(most)
    )
    levels = [] if accepted is None else [accepted]
    tracked = [
        Tracked(
            values=each,
            environment=[night.environment for night in nights[most - len(each) :]],
            accepted=levels,
        )
        for each in series
    ]
    results = scan_histories(tracked, settings=SETTINGS)
    return History(
        branch="main",
        is_simulated=False,
        nights=nights,
        series=tuple(
            SeriesHistory(
                series_id=f"s{number}",
                kernel=f"kernel{number}",
                kernel_name=f"kernel{number}",
                problem=None,
                device=None,
                configuration=None,
                launch_shape="1 × 32",
                launch_shapes=("1 × 32",),
                nights=nights[most - len(each) :],
                durations=tuple(each),
                result=result,
                splits=(),
                accepted=tuple(
                    AcceptedLevel(
                        index=index,
                        run_id=f"r{index}",
                        because="more accurate",
                        change=change_at(index, result, SETTINGS),
                    )
                    for index in levels
                ),
                calibrated_noise=None,
                is_missing=False,
            )
            for number, (each, result) in enumerate(zip(series, results, strict=True))
        ),
        shown_since=nights[max(0, most - shown)].time,
        notes=(),
        alike=(),
    )


def moved(history: History, launches: int = 1) -> list[Move]:
    """Return what moved where each series is launched so many times."""
    variants = {
        (each.series_id, each.launch_shape): RunVariant(
            variant_id=f"v{each.series_id}", name=each.kernel, launches=launches
        )
        for each in history.series
    }
    return moves(history, variants, SETTINGS)


def said(history: History) -> list[tuple[str, str, str]]:
    """Return kernel, verdict and state of what moved."""
    return [(move.row.kernel, move.row.verdict, move.row.state) for move in moved(history)]


def sentence(rows: Sequence[MovedSeries], older: int = 0, missing: Sequence[str] = ()) -> str:
    """Return the sentence of the verdict with plain spaces."""
    told = history_sentence(
        rows,
        older=older,
        since=FIRST,
        nights=30,
        missing=missing,
        too_few=None,
        settings=load_history_settings(),
    )
    return told.replace(NO_BREAK, " ")


def test_keeps_a_regression_open_from_the_night_on_that_told_it_first() -> None:
    steps = noisy((20, 100), (10, 150))
    assert said(history_of(steps)) == [("kernel0", "regressed", "open")]
    told_first = next(n for n in range(21, 31) if said(history_of(steps[:n]))[0][1] == "regressed")
    assert told_first == 22  # one night alone proves nothing
    assert said(history_of(steps[:told_first])) == [("kernel0", "regressed", "new")]
    assert said(history_of(steps[: told_first + 1])) == [("kernel0", "regressed", "open")]


def test_shows_one_night_alone_as_inconclusive() -> None:
    (alone,) = moved(history_of(noisy((20, 100), (1, 150))))
    row = alone.row
    assert (row.verdict, row.state, row.is_alone) == ("inconclusive", "new", True)
    assert (row.run_id, row.base_run) == ("r20", "r19")
    assert row.base == pytest.approx(100 * MICRO, rel=0.01)
    assert row.head == pytest.approx(150 * MICRO, rel=0.02)


def test_calls_a_regression_mended_that_a_later_change_undid() -> None:
    history = history_of(noisy((12, 100), (10, 150), (8, 100)))
    assert said(history) == [("kernel0", "improved", "open"), ("kernel0", "regressed", "mended")]


def test_keeps_a_regression_open_of_which_half_was_undone() -> None:
    history = history_of(noisy((12, 100), (10, 150), (8, 125)))
    assert ("kernel0", "regressed", "open") in said(history)


def test_takes_an_accepted_level_off_what_is_open() -> None:
    history = history_of(noisy((20, 100), (10, 150)), accepted=20)
    (move,) = moved(history)
    assert (move.row.state, move.row.because) == ("accepted", "more accurate")
    assert sentence([move.row]) == "Nothing new tonight."


def test_counts_older_regressions_that_still_stand() -> None:
    history = history_of(noisy((20, 100), (20, 150)), noisy((40, 100)), shown=10)
    assert said(history) == []
    assert older_open(history, SETTINGS) == 1
    assert sentence([], older=1) == (
        "Nothing new tonight. 1 regression from before 1 Jan still open."
    )


def test_puts_first_what_costs_the_run_most() -> None:
    history = history_of(
        noisy((20, 10), (10, 20)),  # doubled, 10 µs
        noisy((20, 1000), (10, 1100)),  # a tenth more, 100 µs
        noisy((20, 500), (10, 100)),
    )
    rows = [move.row for move in moved(history, launches=3)]
    assert [row.kernel for row in rows] == ["kernel1", "kernel0", "kernel2"]
    assert rows[0].lost == pytest.approx(300 * MICRO, rel=0.05)


def test_a_climb_from_the_first_night_on_is_set_against_that_one_and_names_no_commit() -> None:
    climb = [100 * MICRO * 1.01**night for night in range(20)]
    (move,) = moved(history_of(climb))
    assert (move.row.kind, move.row.verdict) == ("drift", "regressed")
    assert move.base_nights == range(1)
    assert move.head_nights == range(19, 20)
    assert (move.row.run_id, move.row.base_run) == ("r1", "r0")
    assert move.row.commit is None
    assert re.fullmatch(
        r"Nothing new tonight\. Still open: kernel0, \d+ % slower since 2 Jan\.",
        sentence([move.row]),
    )


def test_names_the_nights_on_both_sides_of_a_change() -> None:
    (move,) = moved(history_of(noisy((20, 100), (10, 150))))
    assert move.base_nights == range(20)
    assert move.head_nights == range(20, 30)


def test_tells_a_change_of_driver_apart() -> None:
    history = history_of(noisy((20, 100), (10, 150)), driver_at=20)
    (move,) = moved(history)
    assert move.row.verdict == "environment"
    assert sentence([move.row]) == (
        "Nothing new tonight. 1 kernel moved with driver 1 → 2 on 21 Jan."
    )


def test_says_new_open_and_nothing_apart() -> None:
    steps = noisy((20, 100), (10, 150))
    rows = [move.row for move in moved(history_of(steps[:22]))]
    assert re.fullmatch(r"New tonight: kernel0, (49|50) % slower \(commit0\)\.", sentence(rows))
    rows = [move.row for move in moved(history_of(steps))]
    still = (
        r"Nothing new tonight\. Still open: kernel0, (49|50) % slower since 21 Jan \(commit0\)\."
    )
    assert re.fullmatch(still, sentence(rows))
    assert sentence([]) == "Nothing moved in 30 nights."
    assert sentence([], missing=["gone"]) == "No result tonight: gone."


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["unchanged", "unchanged"], "Nothing."),
        ([], "Nothing."),
        (
            ["insufficient", "insufficient"],
            "Not known yet: a verdict needs 10 nights of a kernel.",
        ),
        (
            ["unchanged", "insufficient", "insufficient"],
            "Nothing in 1 kernel; of 2 other kernels there are fewer than the 10 nights"
            " that a verdict needs.",
        ),
    ],
)
def test_tells_that_nothing_moved_from_not_knowing(verdicts: list[str], words: str) -> None:
    kernels = [
        KernelNights(
            series_id="s",
            verdict=verdict,
            relative=None,
            since=None,
            state=None,
            noise=None,
            durations=(),
        )
        for verdict in verdicts
    ]
    assert quiet_words(kernels, 10, load_history_settings()) == words


def test_names_two_kernels_and_counts_the_others() -> None:
    history = history_of(*(noisy((20, 100 + n), (10, 150 + 2 * n)) for n in range(4)))
    rows = [move.row for move in moved(history)]
    assert sentence(rows).count("slower") == 2
    assert sentence(rows).endswith("and 2 more.")
