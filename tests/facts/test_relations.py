"""The same SELECT of facts over tables, another file, a what-if."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from advisor.database.relations import (
    STORED,
    Relations,
    attached,
    what_if,
)
from advisor.database.variants import store_variants
from advisor.facts import kernels_select, variant_statements
from tests.support.facts import FROM_LAUNCHES, database_of, vocabulary_once

# 1 ms; 2 GFLOP at a peak of 10 TFLOP/s take 0.2 ms, 0.4 GB at 1 TB/s take 0.4 ms.
LAUNCH = {
    "duration": 1.0e-3,
    "flops_fp32": 2.0e9,
    "flops_fp64": 0.0,
    "flops_fp16": 0.0,
    "tensor_instructions": 0.0,
    "peak_fp32": 10.0e12,
    "dram_bytes": 4.0e8,
    "peak_dram_bandwidth": 1.0e12,
}
FACTS = ("t_fp32", "t_dram", "t_sol", "roof_fraction", "arithmetic_intensity", "binding_resource")
BY_HAND = (2.0e-4, 4.0e-4, 4.0e-4, 0.4, 5.0, "dram")
TABLES = (
    "run", "kernel", "series", "launch", "variant", "device", "ceiling", "occupancy_limit",
    "finding", "key_set", "text_set",
)  # fmt: skip


@pytest.fixture
def given() -> Iterator[duckdb.DuckDBPyConnection]:
    with database_of([LAUNCH]) as connection:
        store_variants(connection, ["run"], variant_statements(vocabulary_once()))
        yield connection
        connection.execute("delete from variant")


def facts_over(
    connection: duckdb.DuckDBPyConnection, relations: Relations
) -> tuple[float | str | None, ...]:
    query = kernels_select(vocabulary_once(), FACTS, relations)
    (row,) = connection.execute(query).fetchall()
    return row


def agrees(found: tuple[float | str | None, ...], expected: tuple[float | str | None, ...]) -> bool:
    return found[:-1] == pytest.approx(expected[:-1]) and found[-1] == expected[-1]


def test_of_the_open_file(given: duckdb.DuckDBPyConnection) -> None:
    assert agrees(facts_over(given, STORED), BY_HAND)
    assert agrees(facts_over(given, FROM_LAUNCHES), BY_HAND)


def test_of_another_file(given: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    given.execute(f"attach '{tmp_path / 'other.duckdb'}' as \"other's\"")
    try:
        for table in TABLES:
            given.execute(f'create table "other\'s".main.{table} as from main.{table}')
        given.execute("delete from main.launch")
        given.execute("delete from main.variant")
        other = attached("other's")
        assert agrees(facts_over(given, other), BY_HAND)
        assert agrees(facts_over(given, replace(other, variant=None)), BY_HAND)
    finally:
        given.execute('detach "other\'s"')


@pytest.mark.parametrize("relations", [STORED, FROM_LAUNCHES])
def test_of_launches_as_they_would_be(
    given: duckdb.DuckDBPyConnection, relations: Relations
) -> None:
    # A quarter of the traffic takes 0.1 ms, so the work binds: 0.2 ms of 1 ms, 20 FLOP/B.
    quarter = what_if(relations, {"dram_bytes": "dram_bytes / 4"})
    expected = (2.0e-4, 1.0e-4, 2.0e-4, 0.2, 20.0, "fp32")
    assert agrees(facts_over(given, quarter), expected)
    # In half the time as well, which changes no bound: 0.2 ms of 0.5 ms.
    both = what_if(quarter, {"duration": "duration * 0.5"})
    assert agrees(facts_over(given, both), (*expected[:3], 0.4, *expected[4:]))


def test_a_what_if_leaves_what_is_stored_alone(given: duckdb.DuckDBPyConnection) -> None:
    facts_over(given, what_if(STORED, {"dram_bytes": "dram_bytes / 4"}))
    assert agrees(facts_over(given, STORED), BY_HAND)
