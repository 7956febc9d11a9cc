"""``advisor history``, ``runs label`` and ``series`` as they are typed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from advisor.api.marking import Calibrated
from advisor.cli.history_text import as_text, sparkline
from advisor.reports.record.series_records import (
    AcceptedLevel,
    History,
    HistoryNight,
    SeriesHistory,
)
from advisor.tracking.records import Change, ChangeKind, Newest, SeriesResult, Verdict

if TYPE_CHECKING:
    from conftest import Run

FIRST = datetime.fromisoformat("2026-01-01T03:00")


def test_one_night_is_too_few(filled: Run) -> None:
    done = filled("history")
    assert done.status == 0
    assert done.out.startswith("1 night (simulated), ")
    assert "14 series: 14 insufficient." in done.out.replace("\n  ", " ")


def test_json_names_runs_and_values(filled: Run) -> None:
    found = json.loads(filled("history", "gelu", "--format", "json").out)
    (series,) = found["series"]
    assert series["kernel"] == "gelu_kernel"
    assert series["newest"]["verdict"] == "insufficient"
    ((night, duration),) = series["values"]
    assert night == 0
    assert 0 < duration < 1
    assert found["nights"][0]["run"]


def test_a_kernel_may_be_called_like_no_command(filled: Run) -> None:
    assert filled("history", "show", "gelu").out == filled("history", "gelu").out
    assert "scan" in filled("history", "--help").out


def test_refuses_what_means_nothing(filled: Run) -> None:
    for words, said in (
        (("history", "nope"), "no series matches"),
        (("history", "["), "is no regular expression"),
        (("history", "--since", "0"), "show one night at least"),
        (("history", "--since", "soon"), "'soon' is no time"),
        (("history", "--branch", "nope"), "no run of branch 'nope'"),
        (("history", "accept", "gelu_kernel", "--at", "latest", "--because", ""), "for a reason"),
        (("history", "calibrate"), "no nights of one commit"),
        (("runs", "label", "latest"), "nothing to change"),
        (("series", "link", "gelu_kernel", "gelu_kernel"), "is one series"),
    ):
        done = filled(*words)
        assert done.status == 2, words
        assert said in done.err, words


def test_runs_are_called_otherwise(filled: Run) -> None:
    before = filled("series", "list", "--format", "json").out
    done = filled("runs", "label", "latest", "--label", "weekly", "--branch", "main")
    assert (done.status, "14 of their kernels belong to other series" in done.out) == (0, True)
    listed = json.loads(filled("series", "list", "--format", "json").out)
    assert {row["problem"] for row in listed} == {"weekly"}
    assert "of branch main" in filled("history").out
    assert filled("runs", "label", "weekly", "--label", "").status == 0
    assert filled("series", "list", "--format", "json").out == before


def regressed() -> History:
    """Return three nights of a series, which was slower on the last one."""
    nights = tuple(
        HistoryNight(
            run_id=f"run{n:02}",
            time=FIRST + timedelta(days=n),
            commit="abcdef0123456789",
            note=None,
            environment=None,
        )
        for n in range(3)
    )
    change = Change(
        kind=ChangeKind.STEP,
        index=2,
        end_index=2,
        before=0.001,
        after=0.0011,
        relative=0.1,
        p_value=1e-6,
        verdict=Verdict.REGRESSED,
    )
    newest = Newest(verdict=Verdict.REGRESSED, index=2, relative=0.1, p_value=1e-6)
    series = SeriesHistory(
        series_id="0123456789ab",
        kernel="gemm",
        kernel_name="gemm",
        problem="",
        device="A100",
        configuration=None,
        launch_shape="(1)x(32)",
        launch_shapes=("(1)x(32)",),
        nights=nights,
        durations=(0.001, 0.001, 0.0011),
        result=SeriesResult(nights=3, noise=0.002, changes=(change,), newest=newest),
        splits=(),
        accepted=(),
        calibrated_noise=None,
        is_missing=False,
    )
    return History(
        branch="main",
        is_simulated=False,
        nights=nights,
        series=(series,),
        shown_since=None,
        notes=(),
        alike=(),
    )


def test_text_names_the_change_the_run_and_the_next_command() -> None:
    found = regressed()
    text = as_text(found, "a b.duckdb", width=0, with_bars=False, every=False)
    lines = text.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert lines[0] == "3 nights of branch main, 2026-01-01 to 2026-01-03; 1 series: 1 regressed."
    (row,) = [line.split("  ") for line in lines if line.startswith("regressed")]
    cells = [cell.strip() for cell in row if cell.strip()]
    assert cells[:2] == ["regressed", "gemm"]
    assert cells[2:6] == ["+10.0 %", "2026-01-03", "1.10 ms", "0.2 %"]
    assert cells[-2:] == ["__#", "0123456789ab"]
    assert "next: advisor --db 'a b.duckdb' compare run01 run02" in lines
    accepted = (
        "      advisor --db 'a b.duckdb' history accept 0123456789ab --at run02 --because TEXT"
    )
    assert accepted in lines
    assert "Changes over all nights, the latest first; a launch took before and after:" in lines
    since = replace(found, shown_since=found.nights[1].time)
    text = as_text(since, "db", width=0, with_bars=False, every=False)
    assert "Changes over the last 2 nights, the latest first" in text.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    over_lake = as_text(found, "lake:a b", width=0, with_bars=False, every=False)
    assert "next: advisor --db 'lake:a b' compare run01 run02" in over_lake
    assert "accept" not in over_lake


def test_a_regression_stands_until_somebody_undoes_or_accepts_it() -> None:
    found = regressed()
    (series,) = found.series
    quiet = replace(series.result, newest=Newest(verdict=Verdict.UNCHANGED))
    text = as_text(
        replace(found, series=(replace(series, result=quiet),)),
        "db",
        width=0,
        with_bars=False,
        every=False,
    )
    assert "1 series: 1 regressed." in text
    assert "next: advisor --db db compare run01 run02" in text
    (change,) = series.result.changes
    level = AcceptedLevel(index=2, run_id="run02", because="wanted", change=change)
    text = as_text(
        replace(found, series=(replace(series, result=quiet, accepted=(level,)),)),
        "db",
        width=0,
        with_bars=False,
        every=False,
    )
    assert "1 series: 1 unchanged." in text
    assert "next:" not in text


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (range(1, 31), None),
        ([day for day in range(1, 31) if day != 18], "No night on 2026-01-18."),
        (
            [day for day in range(1, 31) if day not in {9, 10, 12, 20, 21}],
            "No night on 2026-01-09, 2026-01-10, 2026-01-12 and 2 more.",
        ),
        ([day for day in range(1, 31) if day % 7 not in {3, 4}], None),  # no weekends
        ([day for day in range(14, 25) if day != 18], "No night on 2026-01-18."),
        (range(1, 31, 7), None),  # once a week
        ([1], None),
    ],
)
def test_names_the_days_without_a_night_of_a_daily_series(days: list[int], said: str) -> None:
    found = regressed()
    nights = tuple(
        replace(found.nights[0], run_id=f"run{day}", time=FIRST + timedelta(days=day - 1))
        for day in days
    )
    text = as_text(
        replace(found, nights=nights, series=()), "db", width=0, with_bars=False, every=False
    )
    lines = [line for line in text.splitlines() if line.startswith("No night")]
    assert lines == ([] if said is None else [said])


def test_a_night_that_begins_before_midnight_is_that_of_the_next_day() -> None:
    nights = regressed().nights
    times = map(
        datetime.fromisoformat, ("2026-01-05T00:01", "2026-01-05T23:59", "2026-01-07T00:01")
    )
    moved = tuple(replace(night, time=time) for night, time in zip(nights, times, strict=True))
    assert replace(regressed(), nights=moved).missing_days() == []


def test_what_is_undecided_is_compared_and_cannot_be_accepted() -> None:
    found = regressed()
    (series,) = found.series
    for verdict, can_be_accepted in (
        (Verdict.INCONCLUSIVE, False),
        (Verdict.IMPROVED, False),
        (Verdict.ENVIRONMENT, True),
    ):
        newest = Newest(verdict=verdict, index=2, relative=0.02, p_value=0.01)
        result = replace(series.result, newest=newest, changes=())
        told = replace(found, series=(replace(series, result=result),))
        text = as_text(told, "db", width=0, with_bars=False, every=False)
        assert "next: advisor --db db compare run01 run02" in text
        assert ("history accept" in text) is can_be_accepted


def test_a_level_line_has_no_peak() -> None:
    assert sparkline([2.0, 2.0], "_.-") == ".."
    assert sparkline([1.0, 1.5, 2.0], "_.-") == "_.-"


def test_measured_noise_is_a_share_for_readers_and_a_number_for_programs(
    advisor: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = (Calibrated(series_id="abcdef123456", kernel="gemm", runs=30, noise=0.0050),)
    monkeypatch.setattr("advisor.api.marking.calibrate", lambda *_, **__: found)
    header, _, row = advisor("history", "calibrate").out.splitlines()
    assert header.split() == ["kernel", "noise", "nights", "series"]
    assert "0.50\N{NO-BREAK SPACE}%" in row
    listed = advisor("history", "calibrate", "--format", "csv").out.splitlines()
    assert listed[0] == "kernel,noise_percent,nights,series"
    assert listed[1].split(",")[1] == "0.5"
