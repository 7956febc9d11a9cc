"""The history of a branch: which nights belong to it, in which order, and their remarks."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from advisor.api.history import history
from advisor.api.history_json import as_json
from advisor.api.marking import accept, calibrate, link, list_series, pooled_deviation, unlink
from advisor.api.matching import SeriesWanted
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.nights import ShapeNights, chains_of
from advisor.database.pruning import older_runs
from advisor.database.read import find_run, list_runs
from advisor.database.records import insert_records
from advisor.errors import UsageError
from advisor.reports.record.past import SeriesAsked, past_of
from advisor.tracking.comparing import load_comparing
from advisor.tracking.records import Verdict

FIRST = datetime.fromisoformat("2026-01-01T03:00")
PLAIN_RUN = {
    "part": 0,
    "format": "test",
    "status": "complete",
    "ingested_at": "2026-06-01 00:00:00",
    "branch": "main",
    "simulated": False,
    "launches": 1,
    "skipped": 0,
    "advisor_version": "0",
}

Fill = Callable[..., str]


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty database to copy."""
    path = tmp_path_factory.mktemp("empty") / "new.duckdb"
    with open_for_writing(path):
        pass
    return path


@pytest.fixture
def fill(empty: Path, tmp_path: Path) -> Fill:
    """Return how to make a database of runs and, for each, durations by kernel."""
    return filling(empty, tmp_path)


def filling(empty: Path, folder: Path) -> Fill:
    """Return how to make a database in a folder, as ``fill`` does."""
    path = Path(shutil.copy(empty, folder / "test.duckdb"))

    def filled(*runs: dict[str, object]) -> str:
        with open_for_writing(path) as connection:
            for table, rows in rows_of(runs).items():
                names = dict.fromkeys(name for row in rows for name in row)
                whole = [dict.fromkeys(names) | row for row in rows]
                insert_records(connection, table, whole)
        return str(path)

    return filled


def rows_of(runs: Sequence[dict[str, object]]) -> dict[str, list[dict[str, object]]]:
    """Return the rows of each table; a duration's key is a kernel's name."""
    rows: dict[str, list[dict[str, object]]] = defaultdict(list)
    for run in runs:
        durations = run.get("durations", {})
        assert isinstance(durations, dict)
        told = {name: value for name, value in run.items() if name != "durations"}
        rows["run"].append(PLAIN_RUN | {"content_hash": run["run_id"]} | told)
        for place, (name, duration) in enumerate(durations.items()):
            ids = {"kernel_id": f"k-{name}", "series_id": f"s-{name}"}
            named = dict.fromkeys(("name", "short_name", "normalised_name"), name)
            rows["kernel"].append({"kernel_id": ids["kernel_id"]} | named)
            rows["series"].append(ids | {"problem_key": "", "device_name": "A100"})
            variant = {
                "run_id": run["run_id"],
                "variant_id": f"{run['run_id']}-{name}",
                "launch_shape": "(1)x(32)",
                "position": place,
                "launch_count": 2,
                "duration_median": duration,
                "totals_hash": "",
                "facts_hash": "",
            }
            rows["variant"].append(variant | ids)
    for table in ("kernel", "series"):
        rows[table] = list({str(row): row for row in rows[table]}.values())
    return rows


def night(number: int, **said: object) -> dict[str, object]:
    """Return the run of a night, from 0; its id is the night's."""
    at = (FIRST + timedelta(days=number)).isoformat(sep=" ")
    return {"run_id": f"run{number:03}", "started_at": at} | said


def nights_of(values: list[float], **said: object) -> list[dict[str, object]]:
    return [night(n, durations={"gemm": value}, **said) for n, value in enumerate(values)]


def noisy(levels: list[float], seed: int = 0) -> list[float]:
    spread = np.random.default_rng(seed).standard_normal(len(levels))
    return [float(level * (1 + 0.004 * s)) for level, s in zip(levels, spread, strict=True)]


def test_an_old_night_that_comes_late_is_not_the_latest(fill: Fill) -> None:
    early = night(9, run_id="aaaa", ingested_at="2026-01-10 00:00:00")
    late = night(3, run_id="bbbb", ingested_at="2026-05-01 00:00:00")
    untold = {"run_id": "cccc", "ingested_at": "2026-01-05 00:00:00"}
    with open_for_reading(fill(late, early, untold)) as connection:
        assert find_run(connection).run_id == "aaaa"
        assert [run.run_id for run in list_runs(connection)] == ["aaaa", "cccc", "bbbb"]


def test_runs_are_named_by_place_commit_branch_and_label(fill: Fill) -> None:
    database = fill(
        night(0, run_id="0aaa", commit="abcdef1234", branch="main"),
        night(1, run_id="0bbb", commit="abcdef1234", branch="main", label="good"),
        night(2, run_id="0ccc", commit="abcdff9999", branch="fix", label="main"),
        night(3, run_id="0ddd", commit="123456", branch="main"),
        night(4, run_id="0eee", branch="main", simulated=True),
        night(5, run_id="0fff", branch="main", commit="0ccc77"),
    )
    with open_for_reading(database) as connection:
        for name, run_id in {
            "latest": "0fff",
            "last": "0fff",
            "last~1": "0ddd",
            "last~3": "0aaa",
            "0ddd~1": "0bbb",
            "fix": "0ccc",
            "good": "0bbb",
            "abcdef": "0bbb",
            "abcdef12345678": "0bbb",
            "123456": "0ddd",
            "0a": "0aaa",
            "good~1": "0aaa",
        }.items():
            assert find_run(connection, name).run_id == run_id, name
        for name, said in {
            "main": r"means several runs: 0ccc \(label main, .*0fff",
            "abcd": r"means several runs: 0ccc .*0bbb|means several runs: 0bbb .*0ccc",
            "0ccc7": None,
            "last~4": "before 0fff are 3 of branch main",
            "nothing": "there is no run 'nothing'",
        }.items():
            if said is None:
                assert find_run(connection, name).run_id == "0fff"
            else:
                with pytest.raises(UsageError, match=said):
                    find_run(connection, name)


def test_it_is_of_the_newest_runs_branch_and_tells_what_it_leaves_out(fill: Fill) -> None:
    database = fill(
        night(0, branch="other", durations={"gemm": 9.0}),
        night(1, branch=None, durations={"gemm": 9.0}),
        night(2, simulated=True, durations={"gemm": 9.0}),
        night(3, durations={"gemm": 1.0}),
        night(4, durations={"gemm": 2.0}),
    )
    found = history(database)
    (series,) = found.series
    assert (found.branch, found.is_simulated) == ("main", False)
    assert series.durations == (1.0, 2.0)
    assert [each.run_id for each in series.nights] == ["run003", "run004"]
    assert series.result.newest.verdict is Verdict.INSUFFICIENT
    assert [note.partition(":")[0] for note in found.notes] == [
        "1 run without a branch left out",
        "1 run of other branches left out",
        "1 simulated run left out",
        "too few nights",
    ]
    assert history(database, branch="other").series[0].durations == (9.0,)
    with pytest.raises(UsageError, match="no run of branch 'none'"):
        history(database, branch="none")


def test_ranks_of_one_execution_are_one_night(fill: Fill) -> None:
    both = {"group_id": "step"}
    database = fill(
        night(0, run_id="b", rank=1, durations={"gemm": 3.0}, **both),
        night(0, run_id="a", rank=0, durations={"gemm": 1.0}, **both),
        night(1, durations={"gemm": 5.0}),
    )
    (series,) = history(database).series
    assert series.durations == (2.0, 5.0)
    assert [each.run_id for each in series.nights] == ["a", "run001"]


def test_what_the_driver_changed_is_named_environment(fill: Fill) -> None:
    values = noisy([1.0] * 30 + [1.08] * 6)
    runs = nights_of(values)
    for number, run in enumerate(runs):
        run["driver_version"] = "550" if number < 30 else "560"
    for unknown in (3, 12):
        runs[unknown]["driver_version"] = None
    found = history(fill(*runs))
    newest = found.series[0].result.newest
    assert (newest.verdict, newest.index) == (Verdict.ENVIRONMENT, 30)
    assert [(n, each.changed) for n, each in enumerate(found.nights) if each.changed] == [
        (30, ("driver 550 → 560",))
    ]


def test_series_begin_anew_with_another_profiler(fill: Fill) -> None:
    runs = nights_of(noisy([1.0] * 30 + [1.08] * 20))
    for number, run in enumerate(runs):
        run |= {"profiler": "ncu", "profiler_version": "1" if number < 30 else "2"}
    found = history(fill(*runs))
    (series,) = found.series
    assert series.splits == (30,)
    assert series.result.changes == ()
    assert found.nights[30].started_over == ("profiler ncu 1 → ncu 2",)


def test_windows_count_nights_with_results(fill: Fill) -> None:
    runs = nights_of(noisy([1.0] * 20 + [1.2] * 20))
    database = fill(*(run for number, run in enumerate(runs) if number % 7))
    found = history(database, since=5)
    assert sum(map(found.is_shown, found.nights)) == 5
    assert found.shown_changes(found.series[0]) == []
    assert [change.relative for change in found.series[0].result.changes] == [
        pytest.approx(0.2, abs=0.01)
    ]
    since = history(database, since=FIRST + timedelta(days=15))
    assert len(since.shown_changes(since.series[0])) == 1


def test_an_accepted_level_is_told_and_becomes_the_baseline(fill: Fill) -> None:
    database = fill(*nights_of(noisy([1.0] * 40 + [1.1] * 8)))
    newest = history(database).series[0].result.newest
    assert (newest.verdict, newest.index) == (Verdict.REGRESSED, 40)
    with pytest.raises(UsageError, match="for a reason"):
        accept(database, ["gemm"], at="last", because=" ", wait=0)
    with pytest.raises(UsageError, match="no series matches"):
        accept(database, ["conv"], at="last", because="why", wait=0)
    done = accept(database, ["gemm"], at="run041", because="safer sums", wait=0)
    assert done == ("run041", {"s-gemm": "gemm"})
    found = history(database)
    (series,) = found.series
    assert series.result.newest.verdict is Verdict.UNCHANGED
    (level,) = series.accepted
    assert (level.run_id, level.index, level.because) == ("run041", 41, "safer sums")
    assert level.change == series.result.changes[0]
    rows = as_json(found)["series"]
    assert isinstance(rows, list)
    assert rows[0]["changes"][0]["accepted"] == "safer sums"
    assert rows[0]["changes"][0]["run"] == "run040"


def test_a_linked_series_goes_on_and_one_alike_is_only_named(fill: Fill) -> None:
    old = [night(n, durations={"gemm_kernel_v1": 1.0, "copy": 1.0}) for n in range(5)]
    new = [night(n, durations={"gemm_kernel_v2": 1.0, "copy": 1.0}) for n in range(5, 8)]
    database = fill(*old, *new)
    found = history(database)
    assert [each.kernel for each in found.series if each.is_missing] == ["gemm_kernel_v1"]
    (alike,) = found.alike
    assert (alike.series_id, alike.continued_by) == ("s-gemm_kernel_v1", "s-gemm_kernel_v2")
    assert alike.because == "kernel gemm_kernel_v1 → gemm_kernel_v2"
    link(database, "gemm_kernel_v1", "gemm_kernel_v2", wait=0)
    joined = history(database)
    assert {each.kernel: len(each.nights) for each in joined.series} == {
        "gemm_kernel_v2": 8,
        "copy": 8,
    }
    assert joined.alike == ()
    listed = {each.series_id: each.continued_by for each in list_series(database, wait=0)}
    assert listed["s-gemm_kernel_v1"] == "s-gemm_kernel_v2"
    unlink(database, "gemm_kernel_v1", wait=0)
    assert len(history(database).series) == 3
    with pytest.raises(UsageError, match="is one series"):
        link(database, "copy", "copy", wait=0)


def test_series_that_ran_side_by_side_are_joined_only_where_told_so(fill: Fill) -> None:
    old = [night(n, durations={"one": 1.0}) for n in range(3)]
    both = [night(n, durations={"one": 1.0, "two": 3.0}) for n in range(3, 5)]
    new = [night(n, durations={"two": 3.0}) for n in range(5, 8)]
    database = fill(*old, *both, *new)
    with pytest.raises(UsageError, match="2 runs from run003 on hold both s-one and s-two"):
        link(database, "one", "two", wait=0)
    assert len(history(database).series) == 2
    link(database, "one", "two", overlapping=True, wait=0)
    (joined,) = history(database).series
    assert joined.durations == pytest.approx([1, 1, 1, 2, 2, 3, 3, 3])


def test_a_new_label_every_night_is_said(fill: Fill) -> None:
    runs = [night(n, label=f"night {n}", durations={"gemm": 1.0}) for n in range(4)]
    note, few = history(fill(*runs)).notes
    assert note.startswith("4 runs of 4 have a label of their own, so that every series falls")
    assert few.startswith("too few nights: a verdict needs 10 nights of one profiler")


def shape(name: str, place: int, *nights: int) -> ShapeNights:
    return ShapeNights(
        series_id="s", shape=name, place=place, nights=nights, durations=(1.0,) * len(nights)
    )


def test_a_changed_launch_shape_goes_on_and_shapes_side_by_side_are_apart() -> None:
    shapes = [
        shape("a", 0, 0, 1, 2),
        shape("b", 1, 0, 1, 2),
        shape("b2", 1, 3, 4),
        shape("a2", 0, 3, 4),
    ]
    found = [[each.shape for each in chain] for chain in chains_of(shapes)]
    assert found == [["a", "a2"], ["b", "b2"]]


def test_noise_is_pooled_around_the_mean_of_each_commit() -> None:
    # squares 0.01 + 0.01 and 0.01 + 0.01 + 0.04 over 1 + 2 free residuals: the root of 0.08 / 3
    samples = [[0.0, 0.2], [1.0, 1.0, 1.3]]
    assert pooled_deviation(samples, 3) == pytest.approx(np.expm1(0.163299316), rel=1e-6)
    assert pooled_deviation(samples, 4) is None


def test_calibrates_from_nights_of_one_commit_and_environment(fill: Fill) -> None:
    same = [night(n, durations={"gemm": v}, commit="abcd") for n, v in enumerate([1, 1.02] * 3)]
    other = [night(6, durations={"gemm": 9.0}, commit="ef01")]
    database = fill(*same, *other)
    (found,) = calibrate(database, wait=0)
    # logarithms lie half of ln 1.02 = 0.0198026 from their mean; six residuals, five of them free
    assert found.noise == pytest.approx(np.expm1(0.0099013 * (6 / 5) ** 0.5), rel=1e-4)
    assert found.runs == 6
    assert history(database).series[0].calibrated_noise == found.noise


def test_without_a_commit_there_is_nothing_to_calibrate_from(fill: Fill) -> None:
    with pytest.raises(UsageError, match="no nights of one commit"):
        calibrate(fill(*nights_of([1.0] * 6)), wait=0)


def test_the_past_is_of_one_branch_and_of_one_kind(fill: Fill) -> None:
    main = nights_of(noisy([1.0] * 30), label="m")
    other = [
        night(n, run_id=f"dev{n:03}", durations={"gemm": 9.0}, branch="dev") for n in range(30)
    ]
    made = [
        night(n, run_id=f"sim{n:03}", durations={"gemm": 5.0}, simulated=True) for n in range(30)
    ]
    limits = load_comparing().limits
    asked = [SeriesAsked(series="s-gemm", base_shape="(1)x(32)", head_value=9.0)]
    with open_for_reading(fill(*main, *other, *made)) as connection:
        base, head = find_run(connection, "run029"), find_run(connection, "dev029")
        (of_main,) = past_of(connection, base, head, asked, limits)
        (of_dev,) = past_of(connection, head, base, asked, limits)
    assert of_main.levels is not None
    assert of_main.levels.effect == pytest.approx(np.log(9), abs=0.005)
    assert of_main.levels.noise == pytest.approx(0.004, rel=0.4)
    assert of_dev.levels is not None
    assert of_dev.levels.effect == pytest.approx(0)


def test_the_noise_of_a_a_runs_counts_where_nights_are_few(fill: Fill) -> None:
    same = [night(n, durations={"gemm": v}, commit="abcd") for n, v in enumerate([1, 1.02] * 2)]
    database = fill(*same)
    (measured,) = calibrate(database, wait=0)
    asked = [SeriesAsked(series="s-gemm", base_shape="(1)x(32)", head_value=1.0)]
    with open_for_reading(database) as connection:
        base, head = find_run(connection, "run002"), find_run(connection, "run003")
        (found,) = past_of(connection, base, head, asked, load_comparing().limits)
    assert found.noise == measured.noise
    assert found.levels is None


def test_a_machine_that_moved_is_one_finding_whatever_is_asked_for(fill: Fill) -> None:
    rng = np.random.default_rng(3)
    names = [f"k{n}" for n in range(10)]
    runs = [
        night(
            n,
            durations={
                k: (1.0 if n < 35 else 1.06) * (1 + 0.004 * rng.standard_normal()) for k in names
            },
        )
        for n in range(40)
    ]
    database = fill(*runs)
    whole = history(database)
    assert {each.result.newest.verdict for each in whole.series} == {Verdict.ENVIRONMENT}
    assert {c.verdict for each in whole.series for c in each.result.changes} == {
        Verdict.ENVIRONMENT
    }
    assert whole.machine is not None
    assert (whole.machine.night.run_id, whole.machine.series) == ("run035", 10)
    assert whole.machine.relative == pytest.approx(0.06, abs=0.005)
    one = history(database, SeriesWanted(kernel="k3"))
    assert [each.result.newest.verdict for each in one.series] == [Verdict.ENVIRONMENT]
    assert one.machine == whole.machine


def test_a_machine_that_moved_on_the_newest_night_is_told_before_series_are_decided(
    fill: Fill,
) -> None:
    rng = np.random.default_rng(3)
    names = [f"k{n}" for n in range(10)]
    runs = [
        night(
            n,
            durations={
                k: (1.0 if n < 39 else 1.06) * (1 + 0.004 * rng.standard_normal()) for k in names
            },
        )
        for n in range(40)
    ]
    found = history(fill(*runs))
    assert {each.result.newest.verdict for each in found.series} == {Verdict.INCONCLUSIVE}
    assert found.machine is not None
    assert found.machine.night.run_id == "run039"
    assert found.machine.relative == pytest.approx(0.06, abs=0.005)


def test_pruning_keeps_so_many_nights_of_each_device_configuration_and_branch(fill: Fill) -> None:
    common = {"device_names": "A100", "configuration": "O3"}
    main = [night(n, **common) for n in range(4)]
    dev = [night(n, run_id=f"dev{n}", **(common | {"branch": "dev"})) for n in range(3)]
    other = [night(n, run_id=f"h100{n}", **(common | {"device_names": "H100"})) for n in range(2)]
    ranks = [
        night(n, run_id=f"rank{n}{rank}", group_id=f"g{n}", rank=rank, configuration="O2")
        for n in range(3)
        for rank in range(2)
    ]
    untold = [night(n, run_id=f"none{n}", branch=None) for n in range(3)]
    with open_for_reading(fill(*main, *dev, *other, *ranks, *untold)) as connection:
        older = [run.run_id for run in older_runs(connection, keep=2)]
        assert sorted(older) == ["dev0", "none0", "rank00", "rank01", "run000", "run001"]
        before = FIRST + timedelta(days=1)
        left = [run.run_id for run in older_runs(connection, keep=2, before=before)]
        assert sorted(left) == ["dev0", "none0", "rank00", "rank01", "run000"]
        assert len(older_runs(connection, keep=0)) == 18
