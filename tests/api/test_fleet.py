"""All runs of a lake judged at once: by today's rules, all or nothing, on either engine."""

from __future__ import annotations

import importlib.util
import math
import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from advisor.api.fleet import Judged, judge_lake
from advisor.api.fleet_engines import EngineName
from advisor.configuration import DEFAULTS, Configuration, load_configuration
from advisor.database.connect import open_for_reading
from advisor.database.lake import spark
from advisor.database.lake.scan import scan
from advisor.database.lake.verify import remove
from advisor.database.nights import branch_of_history, known_series
from advisor.database.parts import rows_of
from advisor.database.relations import STORED
from advisor.errors import DatabaseError, Location, UsageError
from advisor.expression import compile_expression
from advisor.facts import kernels_select
from advisor.ingest.lake import add_database
from advisor.ingest.profiles import RunLabels
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.moved import moves
from advisor.reports.record.series_history import read_history
from advisor.resources import data_dir
from advisor.rules.engine.compiled import FACTS_TABLE
from advisor.rules.engine.fleet import compute_here
from advisor.tracking.settings import load_settings
from tests.api.test_history import Fill, empty, fill, night, noisy
from tests.expression.test_portable import CONSTRUCTS, SYMBOLS
from tests.support.shared import ingest_nights

__all__ = ["empty", "fill"]  # fixtures

SEED = data_dir("seed") / "runs" / "nightly"
NIGHTS = 3
DISABLED = "roofline/no-floating-point"  # it neither excludes nor explains others
EQUAL = 1e-12  # relative

LACKING = [
    *(["Java 17"] if shutil.which("java") is None else []),
    *(
        ["pyspark, which make fleet installs"]
        if importlib.util.find_spec("pyspark") is None
        else []
    ),
]
needs_spark = pytest.mark.skipif(bool(LACKING), reason=f"there is no {', and no '.join(LACKING)}")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of three nights."""
    path = tmp_path_factory.mktemp("nights") / "nights.duckdb"
    days = range(1, NIGHTS + 1)
    ingest_nights(path, {n: RunLabels(at=datetime.fromisoformat(f"2026-01-0{n}")) for n in days})
    return path


@pytest.fixture(scope="module")
def made(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake of the database, to copy."""
    return made_lake(database, tmp_path_factory.mktemp("made") / "lake")


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Path:
    """Return a lake of the test's own."""
    return Path(shutil.copytree(made, tmp_path / "lake")).resolve()


@pytest.fixture(scope="module")
def rejudged_once(
    made: Path, other_rules: Configuration, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a lake that other rules have judged, to copy."""
    lake = Path(shutil.copytree(made, tmp_path_factory.mktemp("rejudged") / "lake"))
    assert judge_lake(str(lake), configuration=other_rules).runs == NIGHTS
    return lake


@pytest.fixture
def rejudged(rejudged_once: Path, tmp_path: Path) -> Path:
    """Return a lake of the test's own that other rules have judged."""
    return Path(shutil.copytree(rejudged_once, tmp_path / "lake")).resolve()


@pytest.fixture(scope="module")
def other_rules(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    """Return a configuration with one rule less."""
    folder = tmp_path_factory.mktemp("configured")
    (folder / "advisor.yaml").write_text(f"disable: [{DISABLED}]\n")
    return load_configuration(directory=folder, environment={})


def made_lake(database: Path, root: Path) -> Path:
    list(add_database(str(root), str(database), wait=9))
    return root.resolve()


def asked(lake: Path, query: str) -> list[tuple[object, ...]]:
    with open_for_reading(f"lake:{lake}") as connection:
        return connection.execute(query).fetchall()


def judged(lake: Path, table: str) -> list[tuple[object, ...]]:
    """Return the rows of a table of the one part that was judged."""
    (file,) = lake.glob(f"judged/*/{table}.parquet")
    keys = {"fact": "run_id, variant_id", "finding": "run_id, rule_id, variant_id"}
    with duckdb.connect() as connection:
        order = keys.get(table, "ALL")
        return connection.execute(f"FROM read_parquet('{file}') ORDER BY {order}").fetchall()


def by_rule(lake: Path) -> dict[object, int]:
    rows = asked(lake, "SELECT rule_id, count(*) FROM main.finding GROUP BY ALL")
    return {rule: int(str(n)) for rule, n in rows}


def test_runs_that_todays_rules_judged_are_left_alone(lake: Path) -> None:
    nothing = Judged(runs=0, findings=0, outcomes=0, left_out=())
    assert judge_lake(str(lake)) == replace(nothing, histories=1)
    assert judge_lake(str(lake)) == nothing
    assert not list((lake / "judged").glob("*/finding.parquet"))


def test_other_rules_judge_every_run_once(lake: Path, other_rules: Configuration) -> None:
    before = by_rule(lake)
    (old,) = {row[0] for row in asked(lake, "SELECT rules_hash FROM main.run")}
    done = judge_lake(str(lake), configuration=other_rules)
    assert (done.runs, done.findings) == (NIGHTS, len(judged(lake, "finding")))
    of_none = "SELECT count(*) FROM main.finding ANTI JOIN main.run USING (run_id, run_number)"
    assert asked(lake, of_none) == [(0,)]
    assert by_rule(lake) == {rule: n for rule, n in before.items() if rule != DISABLED}
    assert DISABLED in before
    (new,) = {row[0] for row in asked(lake, "SELECT rules_hash FROM main.run")}
    assert new != old
    assert judge_lake(str(lake), configuration=other_rules).runs == 0
    assert len(judged(lake, "fact")) == asked(lake, "SELECT count(*) FROM main.variant")[0][0]
    assert judge_lake(str(lake)).runs == NIGHTS  # and back
    assert by_rule(lake) == before


def test_older_nights_can_be_left_out(lake: Path, other_rules: Configuration) -> None:
    since = datetime.fromisoformat("2026-01-02")
    assert judge_lake(str(lake), since=since, configuration=other_rules).runs == NIGHTS - 1
    hashes = asked(lake, "SELECT rules_hash FROM main.run ORDER BY started_at")
    assert hashes[0] != hashes[1] == hashes[2]
    assert judge_lake(str(lake), configuration=other_rules).runs == 1


def test_several_processes_judge_what_one_does(
    lake: Path, rejudged_once: Path, other_rules: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "advisor.api.fleet_batches.AT_ONCE", 1
    )  # so that three runs are two batches
    assert judge_lake(str(lake), configuration=other_rules, jobs=2).runs == NIGHTS
    for table in ("finding", "fact", "outcome"):
        assert judged(lake, table) == judged(rejudged_once, table)


def test_a_process_that_is_killed_leaves_nothing(
    lake: Path, other_rules: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.api.fleet_batches.AT_ONCE", 1)
    monkeypatch.setattr("advisor.api.fleet_batches.judge_batch", killed)
    before = sorted(lake.rglob("*"))
    with pytest.raises(DatabaseError, match="was killed") as caught:
        judge_lake(str(lake), configuration=other_rules, jobs=2)
    assert "--jobs" in str(caught.value.hint)
    assert sorted(lake.rglob("*")) == before


def killed(*_: object) -> int:
    """Die as a process does that takes more memory than there is."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_outcomes_of_advice_are_those_of_the_database(rejudged: Path, database: Path) -> None:
    columns = "series_id, rule_id, opened_run, decided_run, state, achieved"
    query = f"SELECT {columns} FROM main.outcome WHERE rule_id <> '{DISABLED}' ORDER BY ALL"
    with open_for_reading(database) as connection:
        assert asked(rejudged, query) == connection.execute(query).fetchall()


def test_what_fails_midway_leaves_nothing(
    lake: Path, other_rules: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise DatabaseError("the machine went away")

    before = sorted(lake.rglob("*"))
    monkeypatch.setattr("advisor.api.fleet.follow_runs", fail)
    with pytest.raises(DatabaseError, match="went away"):
        judge_lake(str(lake), configuration=other_rules)
    assert sorted(lake.rglob("*")) == before


def test_only_spark_has_a_master(lake: Path) -> None:
    with pytest.raises(UsageError, match="only Spark has a master"):
        judge_lake(str(lake), master="spark://head:7077")


def test_without_spark_the_lake_stays_and_a_sentence_says_why(
    lake: Path, other_rules: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(lake.rglob("*"))
    for name in ("pyspark", "pyspark.errors", "py4j", "py4j.protocol"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DatabaseError, match="there is no Spark") as caught:
        judge_lake(str(lake), engine="spark", configuration=other_rules)
    assert "advisor[spark]" in str(caught.value.hint)
    assert sorted(lake.rglob("*")) == before


def scattered(database: Path, path: Path) -> Path:
    """Return a copy in which every number of a variant is random, one in ten unknown."""
    shutil.copy(database, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("SELECT setseed(0.17)")
        described = connection.execute("DESCRIBE variant").fetchall()
        doubles = [name for name, kind, *_ in described if kind == "DOUBLE"]
        value = "CASE WHEN random() < 0.1 THEN NULL ELSE exp(40 * random() - 20) END"
        changed = ", ".join(f'"{name}" = {value}' for name in doubles)
        connection.execute(f"UPDATE variant SET {changed}, facts_hash = 'others'")
    return path


def both_engines(
    database: Path, folder: Path, configuration: Configuration
) -> Iterator[tuple[EngineName, Path]]:
    engines: tuple[EngineName, ...] = ("duckdb", "spark")
    for engine in engines:
        lake = made_lake(database, folder / engine)
        judge_lake(str(lake), engine=engine, configuration=configuration)
        yield engine, lake


def is_same(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=EQUAL, abs_tol=0)
    return first == second


@needs_spark
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("is_random", [False, True], ids=["nights", "random kernels"])
def test_spark_computes_what_duckdb_computes(
    database: Path, tmp_path: Path, other_rules: Configuration, is_random: bool
) -> None:
    source = scattered(database, tmp_path / "random.duckdb") if is_random else database
    lakes = dict(both_engines(source, tmp_path, other_rules))
    facts = [judged(lake, "fact") for lake in lakes.values()]
    assert len(facts[0]) == len(facts[1]) > 0
    for here, there in zip(*facts, strict=True):
        assert all(map(is_same, here, there))
    said = [
        asked(lake, 'SELECT * EXCLUDE ("values", evidence) FROM main.finding ORDER BY ALL')
        for lake in lakes.values()
    ]
    assert len(said[0]) == len(said[1]) > 0
    for here, there in zip(*said, strict=True):
        assert all(map(is_same, here, there))


EDGES = (None, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 7.5, -2.5, 5e-324, 1.7e308, -1.7e308, 1e-300)
"""Zero to divide by, and numbers whose sums, products, powers or quotients are not finite."""


@needs_spark
@pytest.mark.spark
@pytest.mark.slow
def test_every_construct_means_the_same_on_spark(tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    from advisor.database.dialects import spelled

    numbers = random.Random(4)
    rows = [(i, a, b, c) for i, (a, b, c) in enumerate((a, b, 2.0) for a in EDGES for b in EDGES)]
    rows += [
        (len(rows) + i, *(numbers.choice((None, numbers.uniform(-9, 9))) for _ in "abc"))
        for i in range(300)
    ]
    words = (None, "b", "x", "it's", "xy")
    table = [(*row, words[row[0] % 5], (None, True, False)[row[0] % 3]) for row in rows]
    path = tmp_path / "given.parquet"
    sql = [
        compile_expression(text, SYMBOLS, at=Location(name="x")).sql(None, "portable")
        for text in CONSTRUCTS
    ]
    query = f"SELECT i, {', '.join(f'{each} AS x{n}' for n, each in enumerate(sql))} FROM given"
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE given"
            " (i BIGINT, a DOUBLE, b DOUBLE, c DOUBLE, word VARCHAR, flag BOOLEAN)"
        )
        connection.executemany("INSERT INTO given VALUES (?, ?, ?, ?, ?, ?)", table)
        connection.execute(f"COPY given TO '{path}' (FORMAT parquet)")
        here = connection.execute(f"{query} ORDER BY i").fetchall()
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = session.config("spark.sql.ansi.enabled", "true").getOrCreate()
    try:
        spark.read.parquet(str(path)).createOrReplaceTempView("given")
        there = spark.sql(f"{spelled(query, 'spark')} ORDER BY i").collect()
    finally:
        spark.stop()
    assert len(here) == len(there) == len(table)
    for index, (mine, other) in enumerate(zip(here, there, strict=True)):
        for text, first, second in zip(CONSTRUCTS, mine[1:], tuple(other)[1:], strict=True):
            assert is_same(first, second), (text, table[index], first, second)
            assert not isinstance(first, float) or math.isfinite(first)


LEVELS = {"main": 1.0, "fix": 1.3}
MOVED = "series_id, launch_shape, verdict, state, kind, run_id, base_run, base, head, relative"


@pytest.fixture
def tracked(fill: Fill) -> Path:
    """Return a database of 24 nights of two branches, in one of which a kernel became slower."""
    rules = {"rules_hash": load_knowledge().compiled.digest}
    runs = []
    for branch, level in LEVELS.items():
        slower = noisy([1e-3] * 12 + [level * 1e-3] * 12)
        steady = noisy([2e-3] * 24, seed=1)
        for number, times in enumerate(zip(slower, steady, strict=True)):
            durations = dict(zip(("gemm", "norm"), times, strict=True))
            name = f"{branch}{number:03}"
            runs.append(night(number, run_id=name, branch=branch, durations=durations, **rules))
    return Path(fill(*runs))


def moved_by_history(database: Path, branch: str) -> list[tuple[object, ...]]:
    """Return what ``history`` says of a branch, by the names of ``MOVED``."""
    with open_for_reading(database) as connection:
        chosen = branch_of_history(connection, branch)
        assert chosen is not None
        history = read_history(connection, chosen, known_series(connection))
    found = moves(history, {}, load_settings())
    rows = [(each.history.launch_shape, each.row) for each in found]
    return [
        (row.series_id, shape, *(getattr(row, name) for name in MOVED.split(", ")[2:]))
        for shape, row in rows
    ]


def test_what_moved_is_what_history_says(tracked: Path, tmp_path: Path) -> None:
    lake = made_lake(tracked, tmp_path / "moved")
    done = judge_lake(str(lake))
    assert (done.runs, done.histories, done.moved) == (0, 2, 1)
    (row,) = asked(lake, f"SELECT {MOVED} FROM main.moved")
    assert [row] == moved_by_history(tracked, "fix")
    assert moved_by_history(tracked, "main") == []
    assert row[:6] == ("s-gemm", "(1)x(32)", "regressed", "open", "step", "fix012")
    looked = asked(lake, "SELECT branch, until_run, runs, nights FROM main.followed ORDER BY ALL")
    assert looked == [("fix", "fix023", 24, 24), ("main", "main023", 24, 24)]
    assert judge_lake(str(lake)) == Judged(runs=0, findings=0, outcomes=0, left_out=())


def test_a_history_with_another_run_is_looked_at_again(tracked: Path, tmp_path: Path) -> None:
    lake = made_lake(tracked, tmp_path / "moved")
    judge_lake(str(lake))
    remove(lake, "fix023")
    done = judge_lake(str(lake))
    assert (done.histories, done.moved) == (1, 1)
    assert asked(lake, "SELECT runs FROM main.followed ORDER BY branch") == [(23,), (24,)]
    for number in range(12, 23):
        remove(lake, f"fix{number:03}")
    assert judge_lake(str(lake)).moved == 0
    assert asked(lake, "FROM main.moved") == []


@needs_spark
@pytest.mark.spark
@pytest.mark.slow
def test_spark_moves_what_duckdb_moves(tracked: Path, tmp_path: Path) -> None:
    lakes = dict(both_engines(tracked, tmp_path, DEFAULTS))
    rows = [asked(lake, "FROM main.moved ORDER BY ALL") for lake in lakes.values()]
    assert len(rows[0]) == len(rows[1]) == 1
    assert all(map(is_same, rows[0][0], rows[1][0]))


class LostError(Exception):
    """What stands for PySpark's exceptions."""


class Lost:
    """Stands for a session of Spark whose executors go away when anything is read."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True

    @property
    def read(self) -> object:
        raise LostError("An error occurred while calling o1.read.\n: the executors went away\nat 1")


@pytest.mark.parametrize(
    ("version", "problem"),
    [("3.5.1", "Spark 3.5.1 is installed"), ("4.0.0", "Spark failed: the executors went away$")],
)
def test_spark_of_another_version_or_that_fails_leaves_the_lake_as_it_was(
    lake: Path,
    other_rules: Configuration,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    problem: str,
) -> None:
    session = Lost()
    monkeypatch.setattr("advisor.database.lake.spark._session", lambda _: session)
    modules = {
        "pyspark": SimpleNamespace(__version__=version),
        "pyspark.errors": SimpleNamespace(PySparkException=LostError),
        "py4j": SimpleNamespace(),
        "py4j.protocol": SimpleNamespace(Py4JError=LostError),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    before = sorted(lake.rglob("*"))
    with pytest.raises(DatabaseError, match=problem) as caught:
        judge_lake(str(lake), engine="spark", configuration=other_rules)
    assert caught.value.exit_code == 4
    assert caught.value.hint
    assert session.stopped == (version == "4.0.0")
    assert sorted(lake.rglob("*")) == before


def test_the_latest_judging_holds_whatever_clocks_say(made: Path, rejudged: Path) -> None:
    """The clock of who judged first was years ahead."""
    before, lake = by_rule(made), rejudged
    (first,) = (lake / "judged").iterdir()
    moved_to(lake, first, first.with_name(f"20990101T000000000000Z-{first.name.partition('-')[2]}"))
    assert DISABLED not in by_rule(lake)
    assert judge_lake(str(lake)).runs == NIGHTS
    assert by_rule(lake) == before
    assert judge_lake(str(lake)) == Judged(runs=0, findings=0, outcomes=0, left_out=())


def moved_to(lake: Path, folder: Path, target: Path) -> None:
    """Rename a part, in its manifest too."""
    manifest = folder / "manifest.json"
    old, new = (str(each.relative_to(lake)) for each in (folder, target))
    manifest.write_text(manifest.read_text().replace(old, new))
    folder.rename(target)


@pytest.mark.parametrize("lost", ["manifest.json", "finding.parquet"])
def test_a_judging_that_is_not_whole_is_named_and_left_out(
    made: Path, rejudged: Path, lost: str
) -> None:
    before, lake = by_rule(made), rejudged
    (folder,) = (lake / "judged").iterdir()
    (folder / lost).unlink()
    assert by_rule(lake) == before
    (left_out,) = judge_lake(str(lake)).left_out
    assert left_out.place == str(folder.relative_to(lake))


ROW = ("run_id", "variant_id", "duration")


def facts_of(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> int:
    """Return of how many kernels of runs facts were computed."""
    compiled = load_knowledge().compiled
    compute_here(connection, compiled, run_ids, STORED)
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {FACTS_TABLE}").fetchall()
    return int(rows)


@pytest.mark.parametrize("asked_for", [1, 2])
def test_facts_of_runs_read_no_other_run(lake: Path, asked_for: int) -> None:
    """What DuckDB opens of a pattern is its first file, and those that are read."""
    with open_for_reading(f"lake:{lake}") as connection:
        files = sorted(lake.glob("runs/*/*/*/*/variant.parquet"), key=lambda f: scanned(lake, f))
        for file in files[asked_for:]:
            file.write_bytes(b"nothing to read")
        runs = [file.parent.parent.name.removeprefix("run_id=") for file in files[:asked_for]]
        assert facts_of(connection, runs) > 0
        sums = ["run_duration"] if asked_for == 1 else []
        select = kernels_select(load_knowledge().vocabulary, (*ROW, *sums))
        assert {row["run_id"] for row in rows_of(connection, select, runs)} == set(runs)
        with pytest.raises(duckdb.InvalidInputException):
            connection.execute("SELECT sum(duration) FROM variant")


def scanned(lake: Path, file: Path) -> int:
    """Return where a file comes in the order in which a lake names them."""
    return [part.folder for part in scan(lake).parts].index(file.parent)


class Builder:
    """Stands for what makes a session of Spark; has what it was told."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.sparkContext = SimpleNamespace(setLogLevel=lambda _: None)

    def appName(self, name: str) -> Builder:
        return self.config("spark.app.name", name)

    def master(self, name: str) -> Builder:
        return self.config("spark.master", name)

    def config(self, name: str, value: str) -> Builder:
        self.told[name] = value
        return self

    def getOrCreate(self) -> Builder:
        return self


@pytest.mark.parametrize(
    ("master", "is_submitted", "expected"),
    [
        (None, False, ("local[*]", True)),
        (None, True, (None, False)),
        ("spark://head:7077", False, ("spark://head:7077", False)),
        ("spark://head:7077", True, ("spark://head:7077", False)),
    ],
)
def test_the_master_is_that_of_the_submission_unless_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
    master: str | None,
    is_submitted: bool,
    expected: tuple[str | None, bool],
) -> None:
    """Memory is asked for where this process starts the only one that works."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    if is_submitted:
        monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "41234")
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    sessions = SimpleNamespace(builder=Builder(), getActiveSession=lambda: None)
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(SparkSession=sessions))
    told = spark._session(master).told
    assert (told.get("spark.master"), "spark.driver.memory" in told) == expected
