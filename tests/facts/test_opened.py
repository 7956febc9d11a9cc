"""Quantities opened in Python have the values that SQL stored of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.counters.mapping import Ways, load_ways
from advisor.counters.opened import LaunchOpener
from advisor.database.connect import open_for_reading
from advisor.errors import Location
from advisor.expression import Kind, Symbol, compile_expression, written
from advisor.expression.reduced import reduced
from advisor.facts.devices import device_values
from advisor.ingest.refresh import stored_launches
from advisor.units import DIMENSIONLESS

MOST = 4  # launches of a real run that are compared
AT = Location(name="by hand")


@pytest.fixture(scope="module")
def ways() -> Ways:
    return load_ways("ncu")


def compare(connection: duckdb.DuckDBPyConnection, run_id: str, ways: Ways, most: int) -> int:
    """Compare every quantity of some launches with what is stored; return how many had a value."""
    names = [name for name in ways.formulas if name in ways.mapping.quantities.quantities]
    device = {name: ways.mapping.quantities.device[name] for name in ways.mapping.devices}
    launches, devices = stored_launches(connection, run_id, after=-1, most=most)
    stored = _rows(connection, f"SELECT * FROM launch WHERE run_id = '{run_id}'", "launch_index")
    rated = _rows(connection, device_values(device), "device_id") if device else {}
    known = 0
    for launch, device_id in zip(launches, devices, strict=True):
        opener = LaunchOpener(ways, launch, rated.get(device_id, {}))
        row = stored[launch.index]
        for name in names:
            value = next(opener.open(name)).value
            if isinstance(row[name], float):
                assert value == pytest.approx(row[name], rel=1e-12), (run_id, launch.index, name)
            else:
                assert value == row[name], (run_id, launch.index, name)
            known += value is not None
    return known


def _rows(connection: duckdb.DuckDBPyConnection, query: str, key: str) -> dict[Any, dict[str, Any]]:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description or ()]
    rows = (dict(zip(names, row, strict=True)) for row in cursor.fetchall())
    return {row[key]: row for row in rows}


def test_a_simulated_run(one_night: Path, ways: Ways) -> None:
    with open_for_reading(str(one_night)) as connection:
        ((run_id,),) = connection.execute("SELECT run_id FROM run").fetchall()
        assert compare(connection, run_id, ways, most=100) > 1000


@pytest.mark.real
def test_real_runs(real_database: Path, ways: Ways) -> None:
    with open_for_reading(str(real_database)) as connection:
        query = "SELECT run_id FROM run WHERE profiler = 'ncu' ORDER BY run_id"
        runs = [run_id for (run_id,) in connection.execute(query).fetchall()]
        known = [compare(connection, run_id, ways, MOST) for run_id in runs]
    assert len(known) > 100
    assert min(known) > 0


NUMBER = Symbol(kind=Kind.NUMBER, unit=DIMENSIONLESS)


@pytest.mark.parametrize(
    ("text", "values", "left"),
    [
        ("case when a > 1 then b else c end", {"a": 2.0, "b": 5.0, "c": 6.0}, "b"),
        ("case when a > 1 then b else c end", {"a": 1.0, "b": 5.0, "c": 6.0}, "c"),
        ("coalesce(a, b, c)", {"a": None, "b": 5.0, "c": 6.0}, "b"),
        ("max_known(a, b, c)", {"a": None, "b": 5.0, "c": 6.0}, "max(b, c)"),
        ("sum_known(a, b)", {"a": 3.0, "b": None}, "a"),
        ("a + coalesce(b, c) * 2", {"a": 3.0, "b": None, "c": 1.0}, "a + c * 2"),
        ("a + coalesce(b, c) * 2", {"a": None, "b": None, "c": 1.0}, "a + coalesce(b, c) * 2"),
    ],
)
def test_what_gave_a_value_is_left(text: str, values: dict[str, float | None], left: str) -> None:
    found = compile_expression(text, dict.fromkeys("abc", NUMBER), at=AT)
    assert written(reduced(found.tree, values.get, found.scales)) == left
