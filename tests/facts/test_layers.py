"""Columns are computed in order of dependency."""

from __future__ import annotations

import duckdb

from advisor.facts.layers import Column, dependency_order, layered
from advisor.quoting import literal, quoted


def test_names_wait_for_what_they_need() -> None:
    layers, circle = dependency_order({"c": ["b", "x"], "a": ["x"], "b": ["a"], "d": []})
    assert layers == [["a", "d"], ["b"], ["c"]]
    assert circle == []


def test_names_that_wait_for_each_other_are_told() -> None:
    layers, circle = dependency_order({"a": ["b"], "b": ["a"], "c": ["a"], "d": []})
    assert layers == [["d"]]
    assert circle == ["a", "b", "c"]


def test_a_column_may_use_a_column_that_is_named_after_it() -> None:
    columns = [
        Column(name="twice", sql="2 * once", names=frozenset({"once"})),
        Column(name="once", sql="x + 1", names=frozenset({"x"})),
    ]
    query = layered("(select 3 as x)", columns)
    assert duckdb.sql(query).fetchall() == [(3, 4, 8)]


def test_layers_pass_on_only_what_is_read_above_them() -> None:
    columns = [
        Column(name="a", sql="x + 1", names=frozenset({"x"})),
        Column(name="b", sql="a + y", names=frozenset({"a", "y"})),
    ]
    query = layered("(select 3 as x, 4 as y, 5 as z)", columns, ["b", "z"])
    result = duckdb.sql(query)
    assert dict(zip(result.columns, result.fetchall()[0], strict=True)) == {"b": 8, "z": 5}
    assert '(select "y", "z", x + 1 as "a" from' in query


def test_what_nothing_reads_is_computed_last_and_stands_where_it_is_asked_for() -> None:
    columns = [
        Column(name="alone", sql="x * 2", names=frozenset({"x"})),
        Column(name="a", sql="x + 1", names=frozenset({"x"})),
        Column(name="b", sql="a + y", names=frozenset({"a", "y"})),
    ]
    query = layered("(select 3 as x, 4 as y)", columns, last=["b", "alone", "a"], hidden=["y"])
    result = duckdb.sql(query)
    assert result.columns == ["x", "b", "alone", "a"]
    assert result.fetchall() == [(3, 8, 6, 4)]
    assert query.endswith('from (select *, x + 1 as "a" from (select 3 as x, 4 as y))')


def test_what_takes_many_columns_is_computed_before_they_are_passed_on() -> None:
    columns = [
        Column(name="a", sql="x + y + z", names=frozenset({"x", "y", "z"})),
        Column(name="b", sql="z + 1", names=frozenset({"z"})),
        Column(name="c", sql="b + 1", names=frozenset({"b"})),
    ]
    query = layered("(select 3 as x, 4 as y, 5 as z)", columns, ["a", "c"])
    assert duckdb.sql(query).fetchall() == [(12, 7)]
    assert 'x + y + z as "a", z + 1 as "b" from (select 3' in query


def test_quotes_in_names_and_texts_stay_inside() -> None:
    value, name = literal("it's"), quoted('a"b')
    query = f"select {value} as {name}"
    result = duckdb.sql(query)
    assert result.columns == ['a"b']
    assert result.fetchall() == [("it's",)]
