"""SQLite gives of a few kernels what DuckDB gives: values, types, and what rules say of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from advisor.database import few
from advisor.database.few import FewRows, FewTable, RowsOfTable
from advisor.database.planning import plan_for
from advisor.database.read import open_for_reading
from advisor.database.relations import Relations
from advisor.facts import current
from advisor.facts.few import take_few
from advisor.resources import data_dir
from advisor.rules.engine.compiled import facts_of_kernels
from advisor.rules.engine.evaluate import evaluate_table
from tests.facts.test_variants import made_launches, stored
from tests.support.facts import database_of, vocabulary_once
from tests.support.knowledge import compiled_once
from tests.support.shared import runs_of

EVERY_SO_MANY = 3  # real runs


def differences(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[str], relations: Relations
) -> list[str]:
    """Return the columns and rules in which the engines differ about kernels of runs."""
    compiled = compiled_once()
    here = facts_of_kernels(connection, compiled, runs, relations, name="by_few")
    assert isinstance(here, FewTable)
    there = facts_of_kernels(
        connection, compiled, runs, relations, name="by_all", every=True, in_database=True
    )
    pairs = [*zip(here.rows(), there.rows(), strict=True)]
    assert pairs
    assert {*compiled.names} <= pairs[0][0].keys()  # SQLite takes a name that it lacks for a text
    unlike = [
        f"{name}: {ours[name]!r} {value!r}"
        for ours, theirs in pairs
        for name, value in theirs.items()
        if (type(ours[name]), ours[name]) != (type(value), value)
    ]
    found, expected = (
        {(each.run_id, each.variant_id, each.rule.id): each for each in judged}
        for judged in (
            evaluate_table(connection, compiled, table, relations) for table in (here, there)
        )
    )
    assert expected
    assert found.keys() == expected.keys()
    return [*unlike, *(str(key) for key, each in expected.items() if found[key] != each)]


@pytest.mark.parametrize("seed", range(3))
def test_gives_what_duckdb_gives(seed: int) -> None:
    even = [launch for launch in made_launches(seed) if str(launch["variant_id"])[1:] in "23"]
    with stored(even) as connection:
        runs = sorted({str(launch["run_id"]) for launch in even})
        relations = current(connection, vocabulary_once())
        assert differences(connection, runs, relations) == []


@pytest.mark.real
def test_gives_what_duckdb_gives_of_real_runs(real_database: Path) -> None:
    compared = 0
    with open_for_reading(str(real_database)) as connection:
        plan_for(connection, 1)
        for run in sorted(runs_of(real_database).values())[::EVERY_SO_MANY]:
            relations = current(connection, vocabulary_once(), [run])
            if relations.even:
                compared += 1
                assert (run, differences(connection, [run], relations)) == (run, [])
    assert compared > 30


def test_gives_values_back_as_they_were() -> None:
    types = {"flag": "BOOLEAN", "count": "BIGINT", "map": "MAP(VARCHAR, BIGINT)", "word": "VARCHAR"}
    rows = FewRows(types)
    rows.take(
        "t", RowsOfTable(types=types, rows=[(True, 3, {"a": 1}, "x"), (None, None, None, None)])
    )
    found = rows.execute("SELECT * FROM t").fetchall()
    assert found == [(True, 3, {"a": 1}, "x"), (None, None, None, None)]
    assert [type(value) for value in found[0]] == [bool, int, dict, str]
    # As a number a count is a DOUBLE: a quotient of two has a fraction.
    assert rows.execute("SELECT count / 2 FROM t").fetchall() == [(1.5,), (None,)]


def test_hands_columns_to_the_database() -> None:
    types = {"run_id": "VARCHAR", "flag": "BOOLEAN", "count": "BIGINT", "share": "DOUBLE"}
    rows = FewRows(types)
    rows.take("t", RowsOfTable(types=types, rows=[("r", True, 3, 0.1), (None, None, None, None)]))
    with duckdb.connect() as connection:
        name = FewTable(engine=rows, name="t").in_database(connection, ["share", "flag", "count"])
        found = connection.execute(f"FROM {name}")
        kinds = [(column[0], str(column[1])) for column in found.description or ()]
        assert kinds == [("count", "BIGINT"), ("flag", "BOOLEAN"), ("share", "DOUBLE")]
        assert found.fetchall() == [(3, True, 0.1), (None, None, None)]


def test_leaves_many_kernels_to_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = [{"variant_id": str(number), "duration": 1e-3} for number in range(3)]
    compiled = compiled_once()
    assert compiled.few is not None
    with stored(launches) as connection:
        relations = current(connection, vocabulary_once())
        assert take_few(connection, compiled.few, relations, "few") is not None
        monkeypatch.setattr(few, "_FEW", 2)
        assert take_few(connection, compiled.few, relations, "few") is None


def test_leaves_to_duckdb_what_was_asked_of_another_sqlite() -> None:
    compiled = compiled_once()
    assert compiled.few is not None
    with stored([{"duration": 1e-3}]) as connection:
        relations = current(connection, vocabulary_once())
        older = replace(compiled.few, version="3.34.1")
        assert take_few(connection, older, relations, "few") is None


def test_leaves_what_is_not_stored_whole_to_duckdb() -> None:
    compiled = compiled_once()
    assert compiled.few is not None
    with database_of([{"duration": 1e-3}]) as connection:  # its variants are not stored
        relations = replace(current(connection, vocabulary_once()), even=False)
        assert take_few(connection, compiled.few, relations, "few") is None


def test_a_python_without_sqlite_says_the_same(tmp_path: Path) -> None:
    profile = data_dir("seed") / "runs" / "nightly" / "night-01.ncu-rep"
    told = [
        told_by(tmp_path / name, profile, without_sqlite=without)
        for name, without in (("with", False), ("without", True))
    ]
    assert "Do this first" in told[0]
    assert told[0] == told[1]


def told_by(folder: Path, profile: Path, *, without_sqlite: bool) -> str:
    """Return what is told about a profile by a process that may lack SQLite."""
    code = (
        "import sys\n"
        "if sys.argv.pop(1) == 'without': sys.modules['sqlite3'] = None\n"
        "from advisor.cli import main\n"
        "main()"
    )
    folder.mkdir()
    which = "without" if without_sqlite else "with"
    answers = [
        subprocess.run(
            [sys.executable, "-c", code, which, "--db", "advisor.duckdb", *words],
            env={**os.environ, "XDG_CACHE_HOME": str(folder)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for words in (("ingest", str(profile)), ("report",))
    ]
    return answers[-1]
