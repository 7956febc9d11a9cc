"""Questions to all runs of a lake: each view against numbers that were worked out by hand."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from advisor.api.fleet import judge_lake
from advisor.api.querying import run_query
from advisor.api.site import build_site
from advisor.configuration import DEFAULTS
from advisor.database.connect import open_for_reading
from advisor.database.questions import create_questions
from advisor.facts import create_views
from advisor.ingest.lake import add_database
from advisor.ingest.profiles import RunLabels
from advisor.knowledge.load import load_facts, load_knowledge
from advisor.reports.site.fleet_page import FleetAsked, fleet_shown
from advisor.reports.site.pages import PageWriter
from advisor.reports.write.links import Links
from advisor.resources import data_dir
from advisor.tracking.settings import load_settings
from tests.api.test_history import Fill, empty, fill, filling, night, noisy
from tests.support.shared import ingest_nights

__all__ = ["empty", "fill"]  # fixtures

SEED = data_dir("seed") / "runs" / "nightly"
JUDGED = {"rules_hash": load_knowledge().compiled.digest}


def asked(database: str, query: str) -> list[tuple[Any, ...]]:
    with run_query(database, query, wait=9) as answer:
        return list(answer.rows)


def lake_of(database: str, root: Path) -> str:
    list(add_database(str(root), database, wait=9))
    return f"lake:{root}"


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return a database of two profiled nights, and a lake of it; only to read."""
    folder = tmp_path_factory.mktemp("questions")
    database = str(folder / "nights.duckdb")
    ingest_nights(
        database, {n: RunLabels(at=datetime.fromisoformat(f"2026-01-0{n}")) for n in (1, 2)}
    )
    return database, lake_of(database, folder / "lake")


def test_kernels_by_wasted_time(nights: tuple[str, str]) -> None:
    database, lake = nights
    wasted: dict[str, float] = defaultdict(float)
    runs: dict[str, set[str]] = defaultdict(set)
    query = "SELECT kernel_id, run_id, wasted_time FROM kernels WHERE wasted_time IS NOT NULL"
    for kernel, run, time in asked(database, query):
        wasted[kernel] += time
        runs[kernel].add(run)
    rows = asked(lake, "SELECT kernel_id, wasted_time, run_ids FROM fleet_kernels")
    assert len(rows) == len(wasted) == 14
    assert [row[1] for row in rows] == pytest.approx(sorted(wasted.values(), reverse=True))
    assert all(set(row[2]) == runs[row[0]] and len(row[2]) == 2 for row in rows)


def test_findings_by_frequency_and_time(nights: tuple[str, str]) -> None:
    database, lake = nights
    times = {
        (run, variant): duration
        for run, variant, duration in asked(
            database, "SELECT run_id, variant_id, duration FROM kernels"
        )
    }
    found: dict[str, list[float | None]] = defaultdict(list)
    query = "SELECT rule_id, run_id, variant_id FROM findings WHERE outcome = 'fires'"
    for rule, run, variant in asked(database, query):
        found[rule].append(times.get((run, variant)))
    rows = asked(lake, "SELECT rule_id, findings, duration FROM fleet_findings")
    assert {row[0]: row[1] for row in rows} == {rule: len(each) for rule, each in found.items()}
    for rule, _, duration in rows:
        known = [time for time in found[rule] if time is not None]
        assert duration == (pytest.approx(sum(known)) if known else None)
    known_times = [row[2] for row in rows if row[2] is not None]
    assert known_times == sorted(known_times, reverse=True)


def test_a_host_that_is_slower_than_its_kind(fill: Fill, tmp_path: Path) -> None:
    """Of 1, 1 and 1.1 ms (median 1) and of 2, 2 and 2.4 ms (median 2), as often: 3.5 ms of 3 ms."""
    times = {"a": (1e-3, 2e-3), "b": (1e-3, 2e-3), "c": (1.1e-3, 2.4e-3)}
    runs = [
        night(n, host=host, commit="1234", durations=dict(zip(("gemm", "norm"), each, strict=True)))
        for n, (host, each) in enumerate(times.items())
    ]
    runs.append(night(3, host="d", commit="5678", durations={"gemm": 9.0}))  # another program
    runs.append(night(4, host="e", commit="1234", driver_version="9", durations={"gemm": 9.0}))
    lake = lake_of(fill(*runs), tmp_path / "lake")
    rows = asked(lake, "SELECT host, ratio, kernels, hosts, run_ids FROM fleet_devices")
    assert rows[0][1] == pytest.approx(3.5 / 3)
    assert (rows[0][0], *rows[0][2:]) == ("c", 2, 3, ["run002"])
    assert [row[:2] for row in rows[1:]] == [("a", 1.0), ("b", 1.0)]


def test_drivers_and_compilers_are_compared_where_all_else_is_equal(
    fill: Fill, tmp_path: Path
) -> None:
    """The newer driver takes 1.2 ms of 1 ms; the newer compiler, on the old driver, 0.9 ms."""
    same = {"commit": "1234", "host": "a"}
    old = {"driver_version": "550", "compiler": "nvcc 12"}
    lake = lake_of(
        fill(
            night(0, **same, **old, durations={"gemm": 1e-3}),
            night(1, **same, **old | {"driver_version": "560"}, durations={"gemm": 1.2e-3}),
            night(2, **same, **old | {"compiler": "nvcc 13"}, durations={"gemm": 0.9e-3}),
            night(3, commit="5678", host="a", driver_version="570", durations={"gemm": 9.0}),
        ),
        tmp_path / "lake",
    )
    query = "SELECT what, base, head, ratio, run_ids FROM fleet_environments ORDER BY what"
    compiler, driver = asked(lake, query)
    assert driver == ("driver", "550", "560", pytest.approx(1.2), ["run000", "run001"])
    assert compiler == ("compiler", "nvcc 12", "nvcc 13", pytest.approx(0.9), ["run000", "run002"])


@pytest.fixture(scope="module")
def weeks(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a lake of 24 nights: on night 18 gemm became slower, new came, and old went after 20.

    One run more is dated a year after it was stored. Only to read.
    """
    folder = tmp_path_factory.mktemp("weeks")
    gemm = noisy([1e-3] * 18 + [1.3e-3] * 6)
    runs = []
    for number, time in enumerate(gemm):
        durations = {"gemm": time}
        durations |= {"new": 1e-3} if number >= 18 else {}
        durations |= {"old": 1e-3} if number <= 20 else {}
        runs.append(night(number, durations=durations, **JUDGED))
    ahead = {"started_at": "2027-06-01 00:00:00", "run_id": "ahead", "durations": {"late": 1.0}}
    filled = filling(empty, folder)
    lake = lake_of(filled(*runs, night(0) | ahead | JUDGED), folder / "lake")
    judge_lake(lake)
    return lake


def test_what_came_went_and_moved_this_week(weeks: str) -> None:
    query = "SELECT what, name, run_ids FROM fleet_week ORDER BY what, name"
    assert asked(weeks, query) == [
        ("came", "new", ["run018"]),
        ("regressed", "gemm", ["run017", "run018"]),
        ("went", "old", ["run020", "run023"]),
    ]
    assert asked(weeks, "SELECT run_id FROM fleet_runs WHERE is_ahead") == [("ahead",)]


def test_the_page_leads_to_runs_and_says_what_was_found(weeks: str) -> None:
    links = Links(runs={"run018": "runs/run018.html"})
    with open_for_reading(weeks) as connection:
        create_views(connection, load_facts(DEFAULTS))
        settings = load_settings()
        create_questions(connection, settings.fewest_hosts, settings.fleet_days)
        asked = FleetAsked(connection=connection, titles={}, links=links, footer="")
        page = PageWriter(has_fleet=True, words={}).fleet(fleet_shown(asked))
    for words in ("25 runs", "1 run dated after", "went", 'class="regressed"'):
        assert words in page
    assert 'href="runs/run018.html"' in page


def test_a_site_of_a_lake_has_the_page(nights: tuple[str, str], tmp_path: Path) -> None:
    _, lake = nights
    folder = tmp_path / "site"
    build_site(lake, str(folder), wait=9)
    assert 'href="fleet.html"' in (folder / "index.html").read_text()
    page = (folder / "fleet.html").read_text()
    assert "2 runs waste" in page
    assert page.count('href="runs/') > 14
    named = asked(lake, "SELECT DISTINCT kernel_name, short_name FROM kernels")
    assert any("(" in full and "(" not in short for full, short in named)
    plain = page.replace("<wbr>", "")
    for full, short in named:
        assert f">{escape(short)}</a>" in plain
        assert (f' title="{escape(full)}"' in page) == (full != short)
    assert build_site(lake, str(folder), wait=9).written == 0
