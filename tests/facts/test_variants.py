"""What is stored of a variant gives the facts that its launches give, and outlives them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.database.relations import STORED
from advisor.database.variants import store_variants
from advisor.errors import RuleError
from advisor.facts import (
    Vocabulary,
    create_views,
    current,
    kernels_select,
    load_vocabulary,
    statements_for,
    variant_statements,
)
from tests.facts.test_view import nodes
from tests.support.facts import FROM_LAUNCHES, Row, database_of, vocabulary_once

KEYS = ["run_id", "variant_id"]


@contextmanager
def stored(launches: list[Row]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database with these launches, and their variants as ingest stores them."""
    with database_of(launches) as connection:
        runs = sorted({str(launch.get("run_id", "run")) for launch in launches})
        try:
            store_variants(connection, runs, variant_statements(vocabulary_once()))
            yield connection
        finally:
            connection.execute("delete from variant")


def rows(
    connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary, **choice: Any
) -> list[dict[str, object]]:
    query = kernels_select(vocabulary, **choice)
    result = connection.execute(f"select * from ({query}) order by run_id, variant_id")
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def differences(row: dict[str, object], other: dict[str, object]) -> list[str]:
    """Return the columns that differ by more than the order of a sum can bring about."""
    assert row.keys() == other.keys()
    return [name for name in row if not alike(row[name], other[name])]


def alike(value: object, other: object) -> bool:
    if isinstance(value, float) and isinstance(other, float):
        # What is left of 1 has the error of the sum, which adds launches in any order.
        return math.isclose(value, other, rel_tol=1e-12, abs_tol=1e-14)
    return value == other


def made_launches(seed: int) -> list[Row]:
    """Return launches of two runs; half of the variants have counters that some launches lack."""
    chance = random.Random(seed)
    quantities = vocabulary_once().quantities.quantities
    launches: list[Row] = []
    for _ in range(30):
        variant = chance.randrange(4)
        lacking = 0.3 if variant < 2 else 0.0
        unknown = {n for n in quantities if random.Random(n + str(variant)).random() < 0.1}
        values = {
            name: chance.uniform(0.1, 1.0) * (1.0 if quantity.unit == "1" else 1.0e6)
            for name, quantity in quantities.items()
            if not quantity.is_text and name not in unknown and chance.random() >= lacking
        }
        values["duration"] = chance.uniform(1.0e-6, 1.0e-3)
        run = chance.choice("ab")
        ids = {"run_id": run, "variant_id": f"{run}{variant}", "kernel_id": f"k{variant}"}
        launches.append({**values, **ids, "grid_size": float(chance.randrange(4))})
    return launches


@pytest.mark.parametrize("seed", range(2))
def test_stored_variants_have_the_facts_of_their_launches(seed: int) -> None:
    with stored(made_launches(seed)) as connection:
        expected = rows(connection, vocabulary_once(), relations=FROM_LAUNCHES)
        found = rows(connection, vocabulary_once())
        partly = connection.execute(
            "select variant_id[2:] from variant where paired_sums is not null"
        ).fetchall()
    assert [differences(*pair) for pair in zip(found, expected, strict=True)] == [[]] * len(found)
    assert partly
    assert {number for (number,) in partly} <= {"0", "1"}


def test_a_ratio_holds_where_only_a_launch_without_a_time_has_it() -> None:
    # 640 of 20 sectors and requests; the third launch never ran, so it tells nothing.
    timed = {"duration": 1e-3, "dram_bytes": 4e6, "grid_size": 8.0}
    counted = {"global_load_sectors": 640.0, "global_load_requests": 20.0, "grid_size": 8.0}
    failed = {"global_store_sectors": 90.0, "global_store_requests": 10.0, "grid_size": 0.0}
    with stored([timed, counted, failed]) as connection:
        (row,) = rows(connection, vocabulary_once())
    assert (row["load_sectors_per_request"], row["store_sectors_per_request"]) == (32.0, None)
    assert (row["global_load_sectors"], row["dram_bytes"]) == (None, 4e6)
    assert (row["launch_count"], row["launches_excluded"]) == (3, 2)


def single_launches(seed: int) -> list[Row]:
    return [
        {**launch, "variant_id": f"v{number:02}", "detailed": number % 2 == 0}
        for number, launch in enumerate(made_launches(seed))
    ]


@pytest.mark.parametrize("seed", range(2))
def test_a_single_launch_adds_up_to_itself(seed: int) -> None:
    statements = variant_statements(vocabulary_once())
    launches = single_launches(seed)
    invalid = [not launch["grid_size"] for launch in launches]
    with database_of(launches) as connection:
        query = f"select * from ({statements.single_totals}) order by variant_id"
        found = connection.execute(query)
        names = [column[0] for column in found.description or ()]
        singles = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        assert [row.pop("is_uneven") for row in singles] == invalid
        columns = ", ".join(f'"{name}"' for name in singles[0])
        query = f"select {columns} from ({statements.totals}) order by variant_id"
        totals = connection.execute(query).fetchall()
    known = [row for row, is_invalid in zip(singles, invalid, strict=True) if not is_invalid]
    expected = [row for row, is_invalid in zip(totals, invalid, strict=True) if not is_invalid]
    assert [tuple(row.values()) for row in known] == expected  # to the last bit
    assert len(known) > 10
    assert any(invalid)
    means = ("dram_utilization", "occupancy_achieved")
    assert all(sum(row[name] is not None for row in known) > 5 for name in means)


@pytest.mark.parametrize("seed", range(4, 7))
def test_statements_for_what_launches_have_say_the_same(seed: int) -> None:
    quantities = vocabulary_once().quantities.quantities
    had = {name for name in quantities if random.Random(f"{name}{seed}").random() < 0.4}
    kept = had | {"run_id", "variant_id", "kernel_id", "grid_size", "detailed", "duration"}
    few = [{n: v for n, v in each.items() if n in kept} for each in single_launches(seed)]
    statements = variant_statements(vocabulary_once())
    narrow = statements_for(statements, vocabulary_once(), kept)
    together = [{**each, "variant_id": each["variant_id"][-1]} for each in few]
    for launches, name in ((few, "single_totals"), (together, "even_totals")):
        with database_of(launches) as connection:
            whole, narrowed = (
                connection.execute(
                    f"select columns(*) from (select {names} from ({query})) order by variant_id"
                ).fetchall()
                for query, names in (
                    (getattr(each, name), columns_of(connection, getattr(statements, name)))
                    for each in (statements, narrow)
                )
            )
        assert narrowed == whole
        assert len(getattr(narrow, name)) < 0.9 * len(getattr(statements, name))


def columns_of(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    described = connection.execute(f"describe {query}").fetchall()
    return ", ".join(f'"{name}"' for name, *_ in described)


def test_a_launch_that_is_not_valid_is_left_out_where_it_is_the_only_one() -> None:
    launches = single_launches(3)
    with stored(launches) as connection:
        found = rows(connection, vocabulary_once())
        expected = rows(connection, vocabulary_once(), relations=FROM_LAUNCHES)
        # The time of the run is a sum of many, in any order.
        assert not any(differences(*pair) for pair in zip(found, expected, strict=True))
        excluded = "select variant_id from variant where launches_excluded = 1 order by variant_id"
        assert connection.execute(excluded).fetchall() == [
            (each["variant_id"],) for each in launches if not each["grid_size"]
        ]


def test_sums_are_paired_where_a_launch_lacks_a_counter() -> None:
    # Work is known of two launches, traffic of the second and third: they pair in the second, where
    # 6 MFLOP over 2 MB are 3 FLOP/B.
    work = {"flops_fp64": 0.0, "flops_fp16": 0.0, "tensor_instructions": 0.0}
    launches: list[Row] = [
        {"duration": 1.0, "flops_fp32": 1.0e6, **work},
        {"duration": 1.0, "flops_fp32": 6.0e6, **work, "dram_bytes": 2.0e6},
        {"duration": 1.0, "dram_bytes": 5.0e6},
    ]
    with stored(launches) as connection:
        (row,) = rows(connection, vocabulary_once(), names=[*KEYS, "arithmetic_intensity", "flops"])
    assert row["flops"] == pytest.approx(7.0e6)
    assert row["arithmetic_intensity"] == pytest.approx(3.0)


def test_statistics_are_those_of_the_launches() -> None:
    times = [{"duration": value} for value in (2.0, 1.0, 6.0)]
    with stored([*times, {"duration": 9.0, "grid_size": 0.0}]) as connection:
        names = ("min", "median", "mean", "max", "first", "stddev")
        columns = ", ".join(f"duration_{name}" for name in names)
        query = f"select {columns}, duration, launch_count, launches_excluded from variant"
        ((*spread, total, launches, excluded),) = connection.execute(query).fetchall()
    # Mean 3, squares 1 + 4 + 9 over 2: a variance of 7.
    assert spread == pytest.approx([1, 2, 3, 6, 2, 7**0.5])
    assert (total, launches, excluded) == (9, 4, 1)


def test_variants_are_placed_by_their_first_launch() -> None:
    order = [{"variant_id": name, "duration": 1.0} for name in "cab"]
    with stored([*order, *order[::-1]]) as connection:
        query = "select variant_id from variant order by position"
        assert connection.execute(query).fetchall() == [("c",), ("a",), ("b",)]
        positions = connection.execute("select min(position), max(position) from variant")
        assert positions.fetchall() == [(0, 2)]


def test_what_is_tracked_is_what_the_view_says() -> None:
    facts = vocabulary_once().facts.values()
    tracked = [fact.name for fact in facts if fact.stored and fact.level == "kernel"]
    assert {"t_least", "roof_fraction", "limiter", "arithmetic_intensity"} <= set(tracked)
    with stored(made_launches(7)) as connection:
        columns = ", ".join(tracked)
        ordered = f"select {columns} from {{}} order by run_id, variant_id"
        create_views(connection, vocabulary_once(), ["kernels"])
        try:
            kept = connection.execute(ordered.format("main.variant")).fetchall()
            assert connection.execute(ordered.format("kernels")).fetchall() == kept
        finally:
            create_views(connection, vocabulary_once(), relations=FROM_LAUNCHES)
    known = [sum(row[place] is not None for row in kept) for place in range(len(tracked))]
    assert sum(count > 0 for count in known) > len(tracked) / 2


def test_facts_outlive_the_launches() -> None:
    with stored(made_launches(1)) as connection:
        before = rows(connection, vocabulary_once())
        connection.execute("delete from launch where run_id = 'a'")
        assert rows(connection, vocabulary_once()) == before
        assert current(connection, vocabulary_once()).from_launches == ()
        store_variants(connection, ["a", "b"], variant_statements(vocabulary_once()))
        after = rows(connection, vocabulary_once())
    assert [differences(*pair) for pair in zip(after, before, strict=True)] == [[]] * len(before)


def test_no_launch_is_read_for_facts_of_stored_variants() -> None:
    names = [*KEYS, "limiter", "t_sol", "roof_fraction", "time_share"]
    query = f"select * from ({kernels_select(vocabulary_once(), names)}) where run_id = 'b'"
    with stored(made_launches(2)) as connection:
        ((_, plan),) = connection.execute(f"explain (format json) {query}").fetchall()
    scans = {
        node["extra_info"]["Table"].split(".")[-1]: node["extra_info"].get("Filters")
        for node in nodes(json.loads(plan))
        if "Table" in node["extra_info"]
    }
    assert "launch" not in scans
    assert scans["variant"] == "run_id='b'"


def test_other_facts_of_a_launch_are_computed_from_launches() -> None:
    with stored([{"duration": 1.0, "dram_bytes": 3.0}]) as connection:
        connection.execute("update variant set totals_hash = 'other', dram_bytes = 5")
        relations = current(connection, vocabulary_once())
        assert relations.from_launches == ("run",)
        names = [*KEYS, "dram_bytes"]
        (row,) = rows(connection, vocabulary_once(), names=names, relations=relations)
        assert row["dram_bytes"] == 3
        connection.execute("delete from launch")  # then what was stored is all there is
        relations = current(connection, vocabulary_once())
        (row,) = rows(connection, vocabulary_once(), names=names, relations=relations)
        assert row["dram_bytes"] == 5


PACK = """
facts:
  mine: {unit: B, level: launch, aggregate: sum, formula: 2 * dram_bytes, about: a, source: b}
  mine_per_second: {unit: B/s, paired: true, formula: mine / duration, about: a, source: b}
"""


def pack(folder: Path, text: str) -> Path:
    (folder / "facts").mkdir()
    (folder / "facts" / "mine.yaml").write_text(text)
    return folder


def test_facts_of_a_user_may_be_computed_per_launch(tmp_path: Path) -> None:
    vocabulary = load_vocabulary([pack(tmp_path, PACK)])
    launches: list[Row] = [{"duration": 1.0, "dram_bytes": 3.0}, {"duration": 9.0}]
    with stored(launches) as connection:
        store_variants(connection, ["run"], variant_statements(vocabulary))
        relations = current(connection, vocabulary)
        names = [*KEYS, "mine", "mine_per_second", "dram_bytes"]
        (row,) = rows(connection, vocabulary, names=names, relations=relations)
        assert (row["mine"], row["mine_per_second"]) == (6, 6)
        connection.execute("delete from launch")
        relations = current(connection, vocabulary)
        (row,) = rows(connection, vocabulary, names=names, relations=relations)
        assert (row["mine"], row["mine_per_second"], row["dram_bytes"]) == (None, None, 3)


def test_a_truth_value_of_a_user_is_one(tmp_path: Path) -> None:
    fact = "{kind: boolean, level: launch, formula: known(dram_bytes), about: a, source: b}"
    vocabulary = load_vocabulary([pack(tmp_path, f"facts:\n  counted: {fact}\n")])
    with stored([{"duration": 1.0, "dram_bytes": 3.0}]) as connection:
        store_variants(connection, ["run"], variant_statements(vocabulary))
        relations = current(connection, vocabulary)
        (row,) = rows(connection, vocabulary, names=[*KEYS, "counted"], relations=relations)
        assert row["counted"] is True


def test_a_user_cannot_track_a_fact(tmp_path: Path) -> None:
    text = "facts:\n  mine: {unit: s, tracked: true, formula: duration, about: a, source: b}\n"
    with pytest.raises(RuleError, match="only shipped facts have a column"):
        load_vocabulary([pack(tmp_path, text)])


def test_from_two_sources_at_once() -> None:
    with stored(made_launches(3)) as connection:
        expected = rows(connection, vocabulary_once(), relations=FROM_LAUNCHES)
        mixed = replace(STORED, from_launches=("b",))
        found = rows(connection, vocabulary_once(), relations=mixed)
    assert [differences(*pair) for pair in zip(found, expected, strict=True)] == [[]] * len(found)
