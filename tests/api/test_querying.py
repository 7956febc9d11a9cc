"""A query finds the views that it names, and all of them where it asks which there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.api.querying import run_query
from advisor.errors import UsageError
from advisor.facts import VIEWS


def answer(database: Path, sql: str) -> list[tuple[Any, ...]]:
    with run_query(str(database), sql, wait=0) as found:
        return list(found.rows)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_every_view_can_be_asked_alone(one_night: Path, name: str) -> None:
    assert answer(one_night, f"select count(*) > 0 from {name}") == [(True,)]


def test_views_are_found_in_a_part_of_the_query_and_however_they_are_written(
    one_night: Path,
) -> None:
    sql = 'with every as (select * from Launches) select count(*) from every, (from "RUNS")'
    assert answer(one_night, sql) == [(14,)]
    sql = "select count(*) from runs, query_table('launches')"
    assert answer(one_night, sql) == [(14,)]


def test_all_views_are_there_for_who_asks_which_there_are(one_night: Path) -> None:
    listed = "select view_name from duckdb_views() where temporary and not internal"
    assert {name for (name,) in answer(one_night, listed)} == VIEWS
    (row,) = answer(one_night, f"select count(*) from runs, ({listed})")
    assert row == (len(VIEWS),)


def test_a_view_that_is_not_there_is_told_with_those_that_are(one_night: Path) -> None:
    with pytest.raises(UsageError, match='Did you mean "kernels"'):
        answer(one_night, "select * from kernelss")


def test_a_query_is_explained(one_night: Path) -> None:
    assert answer(one_night, "explain select limiter from kernels")
