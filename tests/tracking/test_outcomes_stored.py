"""Outcomes in the database: of the simulated nights around the one with fewer spills."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from advisor.api.advised import rule_records
from advisor.api.querying import run_query
from advisor.api.refreshing import refresh_runs
from advisor.api.reporting import HistoryAsked, load_report
from advisor.api.runs import list_runs, prune_runs, remove_run
from advisor.ingest.profiles import RunLabels
from advisor.rules.engine.rank import rule_records as records_until
from advisor.tracking.settings import load_outcome_settings
from tests.support.shared import ingest_nights, ingest_together

NIGHTS = (18, 19, 20, 21)  # fewer spills from the 20th on: seed/simulation says so
SPILLS = "memory/local-memory"
STORED = "SELECT * FROM outcome ORDER BY ALL"


def ingest(path: Path, *numbers: int) -> None:
    """Ingest these nights at once."""
    days = {number: datetime.fromisoformat(f"2026-01-{number:02}") for number in numbers}
    ingest_nights(path, {n: RunLabels(at=day, branch="main") for n, day in days.items()})


def outcomes(path: Path, query: str = STORED) -> list[tuple[object, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nights") / "test.duckdb"
    ingest(path, *NIGHTS)
    return path


def test_advice_against_spills_worked(nights: Path) -> None:
    (found,) = rule_records(str(nights), SPILLS, wait=10)
    assert found.simulated
    first, second = found.outcomes
    assert (first["short_name"], first["state"]) == ("stencil_heat3d_kernel", "worked")
    assert (first["opened_at"].day, first["decided_at"].day) == (18, 20)
    assert first["achieved"] == pytest.approx(first["duration_before"] - first["duration_after"])
    assert (second["state"], second["opened_at"].day) == ("open", 20)
    assert (found.record.given, found.record.taken) == (2, 1)


@pytest.mark.parametrize(("night", "taken"), [(19, 0), (20, 0), (21, 1)])
def test_a_night_does_not_believe_what_it_decided_itself(
    nights: Path, night: int, taken: int
) -> None:
    with duckdb.connect(str(nights), read_only=True) as connection:
        query = "SELECT run_id FROM run WHERE day(started_at) = ?"
        ((run,),) = connection.execute(query, [night]).fetchall()
        records = records_until(connection, load_outcome_settings, simulated=True, until=run)
    assert (records[SPILLS].taken if SPILLS in records else 0) == taken


def test_report_and_record_count_the_same_advice_as_open(nights: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.duckdb"
    path.write_bytes(nights.read_bytes())
    _, rows = list_runs(str(path), limit=1, wait=10)
    remove_run(str(path), str(rows[0][0]), wait=10)  # the 20th is the newest, and alone
    shown = load_report(str(path), "latest", history=HistoryAsked(), wait=10).history
    assert shown is not None
    records = [each.record for each in rule_records(str(path), wait=10)]
    assert shown.outcomes == ()
    assert shown.open_advice == sum(each.states["open"] for each in records) > 0
    assert sum(each.taken for each in records) == 0


def test_the_record_counts_advice_for_two_branches_once(tmp_path: Path) -> None:
    path = tmp_path / "test.duckdb"
    days = {number: datetime.fromisoformat(f"2026-01-{number}") for number in (15, 16, 17, 18)}
    branches = {15: "main", 16: "feature/x", 17: "main", 18: "feature/x"}
    ingest_nights(path, {n: RunLabels(at=days[n], branch=b) for n, b in branches.items()})
    query = f"SELECT count(*) FROM outcome WHERE rule_id = '{SPILLS}'"
    assert outcomes(path, query) == [(2,)]  # each branch has its own history
    (found,) = rule_records(str(path), SPILLS, wait=10)
    assert (found.record.given, found.record.states["open"]) == (1, 1)
    assert [each["opened_at"].day for each in found.outcomes] == [15]


def test_nothing_else_was_decided(nights: Path) -> None:
    query = """
        SELECT DISTINCT short_name FROM outcome JOIN series USING (series_id)
        JOIN kernel USING (kernel_id) WHERE decided_run IS NOT NULL
    """
    assert outcomes(nights, query) == [("stencil_heat3d_kernel",)]


def test_the_order_of_ingesting_changes_nothing(nights: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.duckdb"
    for numbers in ((20,), (18, 21), (19,)):
        ingest(path, *numbers)
    assert outcomes(path) == outcomes(nights)


def test_a_run_that_is_removed_decides_nothing(nights: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.duckdb"
    path.write_bytes(nights.read_bytes())
    _, rows = list_runs(str(path), limit=10, wait=10)
    decided = next(row[0] for row in rows if str(row[-1]).endswith("night-20.ncu-rep (simulated)"))
    remove_run(str(path), str(decided), wait=10)
    (found,) = rule_records(str(path), SPILLS, wait=10)
    assert [(each["state"], each["opened_at"].day) for each in found.outcomes] == [("open", 18)]
    assert found.record.taken == 0  # the 21st alone decides nothing, here as in its report


PAGE = """
scale(float *) (4096, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0
    Section: GPU Speed Of Light Throughput
    Duration                                usecond   {duration}
    L1/TEX Cache Throughput                       %          90
    DRAM Throughput                               %          30
    Section: Command line profiler metrics
    l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum  request   1,000,000
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum   sector    {sectors}
"""
"""A page that does not name its device."""


@pytest.mark.parametrize(("label", "states"), [(None, {("open",)}), ("nightly", {("worked",)})])
def test_runs_of_no_named_device_are_one_history_where_a_label_says_so(
    label: str | None, states: set[tuple[str]], tmp_path: Path
) -> None:
    files = {}
    slow, fast = ("1,000", "32,000,000"), ("500", "4,000,000")
    for day, (duration, sectors) in enumerate((slow, slow, fast, fast), start=1):
        path = tmp_path / f"{day}.txt"
        path.write_text(PAGE.format(duration=f"{duration}.0{day}", sectors=sectors))
        files[str(path)] = RunLabels(at=datetime.fromisoformat(f"2026-01-0{day}"), label=label)
    ingest_together(tmp_path / "test.duckdb", files)
    query = "SELECT state FROM outcome WHERE rule_id = 'memory/uncoalesced-loads'"
    assert set(outcomes(tmp_path / "test.duckdb", query)) == states


def test_lines_and_time_are_compared_with_the_same_night(tmp_path: Path) -> None:
    """The kernel became faster of itself before it was made to load fewer sectors."""
    files = {}
    nights = [(duration, 32) for duration in (1000, 1001, 800, 801)] + [(400, 4), (401, 4)]
    for day, (duration, sectors) in enumerate(nights, start=1):
        path = tmp_path / f"{day}.txt"
        path.write_text(PAGE.format(duration=f"{duration:,}", sectors=f"{sectors},000,000"))
        moment = datetime.fromisoformat(f"2026-01-0{day}")
        files[str(path)] = RunLabels(at=moment, label="nightly")
    ingest_together(tmp_path / "test.duckdb", files)
    query = """
        SELECT duration_before, duration_after, lines FROM outcome
        WHERE rule_id = 'memory/uncoalesced-loads' AND state = 'worked'
    """
    ((before, after, told),) = outcomes(tmp_path / "test.duckdb", query)
    assert (before, after) == pytest.approx((800e-6, 400.5e-6))
    (time,) = (line for line in json.loads(str(told)) if line["name"] == "duration")
    assert (time["before"], time["after"]) == pytest.approx((800e-6, 400e-6))


KERNELS = "SELECT * FROM variant ORDER BY run_id, variant_id"
FINDINGS = "SELECT * FROM finding ORDER BY ALL"


def kernels(path: Path) -> list[str]:
    """Return every fact of every kernel; as text, for a NULL in a map is not equal to itself."""
    view = "SELECT * FROM kernels ORDER BY run_id, variant_id"
    with run_query(str(path), view, wait=10) as answer:
        return [str(row) for row in answer.rows]


def test_pruning_keeps_what_history_rests_on(nights: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.duckdb"
    path.write_bytes(nights.read_bytes())
    before = [outcomes(path, query) for query in (STORED, KERNELS, FINDINGS)]
    facts = kernels(path)
    assert len(prune_runs(str(path), keep=1, older_than=None, dry_run=True, wait=10).runs) == 3
    assert outcomes(path, "SELECT DISTINCT pruned_at FROM run") == [(None,)]
    limit = datetime.fromisoformat("2026-01-20")  # UTC without a zone, as all times of runs
    done = prune_runs(str(path), keep=1, older_than=limit, dry_run=False, wait=10)
    assert [run.moment.day for run in done.runs] == [19, 18]
    assert done.after == path.stat().st_size < done.before
    assert [outcomes(path, query) for query in (STORED, KERNELS, FINDINGS)] == before
    assert kernels(path) == facts
    left = "SELECT count(*) FROM {} JOIN run USING (run_id) WHERE pruned_at IS NOT NULL"
    for table in ("launch", "launch_keyed", "variant_instruction", "variant_place"):
        assert outcomes(path, left.format(table)) == [(0,)]
    assert outcomes(path, "SELECT count(DISTINCT run_id) FROM launch") == [(2,)]
    list(refresh_runs(str(path), None, wait=10))
    assert outcomes(path) == before[0]
    assert outcomes(path, "SELECT count(*) FROM finding") == [(len(before[2]),)]
