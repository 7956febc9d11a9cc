"""Kernels on both engines: facts and outcomes that Spark computes equal those of DuckDB.

``python -m studies.engines KERNELS [PATH…]`` compares all kernels of the profiles below the paths
(without one, of the example runs), and then so many random ones that are made of them: one value
in ten is unknown, one in twenty zero, and half of the others are anywhere between 2e-9 and 5e8.
Texts, codes and what is unknown must be equal, numbers within 1e-12 relative. Needs Java and
``advisor[spark]``. ADVISOR_STUDY_MASTER names a cluster in place of all cores of this machine.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS
from advisor.database.connect import FETCHES_NOTHING
from advisor.database.lake.door import opened_over
from advisor.database.lake.scan import scan
from advisor.database.lake.spark import SparkLake, open_spark
from advisor.database.relations import STORED, Relations
from advisor.facts import current
from advisor.ingest.lake import add_database
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.knowledge.load import load_knowledge
from advisor.quoting import literal, quoted
from advisor.resources import data_dir
from advisor.rules.engine.compiled import FACTS_TABLE, Compiled
from advisor.rules.engine.fleet import compute_here, take_computed
from advisor.rules.engine.on_spark import write_on_spark
from advisor.rules.language.rule import Outcome
from advisor.rules.language.subjects import KERNEL

if TYPE_CHECKING:
    import duckdb

WITHIN = 1e-12  # relative
AT_ONCE = 250_000  # random kernels that are compared by one statement
_COMPILED = ("spark.sql.codegen.factoryMode", "FALLBACK")  # pays off from some 50,000 kernels on
_WAIT = 60.0  # seconds
_NUMBERS = ("DOUBLE", "FLOAT")
_KEY = ("run_id", "variant_id")
_RANDOM = """
    CASE WHEN random() < 0.1 THEN NULL WHEN random() < 0.05 THEN 0
        WHEN random() < 0.5 AND {name} IS NOT NULL THEN {name} * exp(2 * random() - 1)
        ELSE exp(40 * random() - 20) END AS {name}
"""
_KEPT = {"device_name", "totals_hash", "facts_hash", *_KEY, "kernel_id", "series_id", "device_id"}


@dataclass(frozen=True, kw_only=True)
class Engines:
    """Both engines over one lake, and the rules; ``compiled`` reads all facts of kernels."""

    connection: duckdb.DuckDBPyConnection
    spark: SparkLake
    compiled: Compiled


def differences(
    engines: Engines, run_ids: Sequence[str], relations: Relations, seen: Counter[str]
) -> Iterator[str]:
    """Yield the columns of facts, and the rules, in which kernels of runs differ."""
    connection, compiled = engines.connection, engines.compiled
    relations = current(connection, compiled.vocabulary, run_ids, relations)
    started = perf_counter()
    compute_here(connection, compiled, run_ids, relations)
    program = compiled.of_kernels
    key = compiled.parts[KERNEL].kind.key
    _keep(connection, "facts_here", f"FROM {FACTS_TABLE}")
    _keep(connection, "outcomes_here", program.outcomes(FACTS_TABLE, key))
    between = perf_counter()
    computed = write_on_spark(engines.spark, compiled, run_ids, relations)
    there = take_computed(computed, connection, compiled, run_ids, relations)
    seen["seconds of DuckDB"] += round(between - started)
    seen["seconds of Spark"] += round(perf_counter() - between)
    ((kernels,),) = connection.execute("SELECT count(*) FROM facts_here").fetchall()
    seen["kernels"] += kernels
    yield from _unlike(connection, "facts_here", FACTS_TABLE, _KEY, kernels)
    for found in _unlike(connection, "outcomes_here", str(there.decided), (key,), kernels):
        column, _, rest = found.partition(":")
        number = column.removeprefix("o")
        yield f"{program.rules[int(number)].id if number.isdigit() else column}:{rest}"
    seen["facts of a kernel"] = len(compiled.names)
    seen["rules"] = len(program.rules)
    seen["fired"] += _fired(connection, len(program.rules))


def _keep(connection: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {select}")


def _fired(connection: duckdb.DuckDBPyConnection, rules: int) -> int:
    """Return how many times a rule fires."""
    code = list(Outcome).index(Outcome.FIRES)
    counts = " + ".join(f"count(*) FILTER (o{n} = {code})" for n in range(rules))
    ((found,),) = connection.execute(f"SELECT {counts} FROM outcomes_here").fetchall()
    return int(found)


def _unlike(
    connection: duckdb.DuckDBPyConnection,
    here: str,
    there: str,
    key: Sequence[str],
    rows: int,
) -> Iterator[str]:
    """Yield the columns of two tables that differ, with an example, and rows that one lacks."""
    kinds = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE {here}").fetchall()}
    names = [name for name in kinds if name not in key]
    unlike = {name: _differs(quoted(name), kinds[name] in _NUMBERS) for name in names}
    joined = f"{here} AS here JOIN {there} AS there USING ({', '.join(key)})"
    counts = ", ".join(f"count(*) FILTER ({each})" for each in unlike.values())
    (found,) = connection.execute(f"SELECT count(*), {counts} FROM {joined}").fetchall()
    if found[0] != rows:
        yield f"rows: {rows} here, {found[0]} of them there"
    for name, count in zip(names, found[1:], strict=True):
        if count:
            column = quoted(name)
            values = f"SELECT here.{key[-1]}, here.{column}, there.{column} FROM {joined}"
            example = connection.execute(f"{values} WHERE {unlike[name]} LIMIT 1").fetchall()
            yield f"{name}: {count} of {rows} kernels, such as {example[0]}"


def _differs(column: str, is_number: bool) -> str:
    here, there = f"here.{column}", f"there.{column}"
    if not is_number:
        return f"{here} IS DISTINCT FROM {there}"
    far = f"abs({here} - {there}) > {WITHIN} * greatest(abs({here}), abs({there}))"
    strange = f"NOT isfinite({here}) OR NOT isfinite({there})"
    lacking = f"({here} IS NULL) <> ({there} IS NULL)"
    return f"coalesce({lacking} OR {here} <> {there} AND ({far} OR {strange}), false)"


def scattered(
    engines: Engines, path: Path, run_ids: Sequence[str], kernels: int, seed: int
) -> Relations:
    """Write random kernels to a file; return relations that read them, on both engines."""
    connection, spark = engines.connection, engines.spark
    kinds = connection.execute("DESCRIBE main.variant").fetchall()
    columns = []
    for name, kind, *_ in kinds:
        column = quoted(name)
        if name == "facts_hash":
            columns.append("'others' AS facts_hash")
        elif name == "variant_id":
            columns.append(f"format('{{:04}}-{{:08}}', {seed}, number) AS variant_id")
        elif kind == "DOUBLE":
            columns.append(_RANDOM.format(name=column))
        elif name not in _KEPT and kind in {"VARCHAR", "BOOLEAN"}:
            columns.append(f"if(random() < 0.1, NULL, {column}) AS {column}")
        else:
            columns.append(column)
    connection.execute(f"SELECT setseed({seed / 1e4})")
    which = ", ".join(map(literal, run_ids))
    _keep(connection, "templates", f"FROM main.variant WHERE run_id IN ({which})")
    _keep(connection, "numbered", "SELECT *, row_number() OVER () - 1 AS place FROM templates")
    rows = f"(SELECT unnest(range({kernels})) AS number)"
    ((templates,),) = connection.execute("SELECT count(*) FROM numbered").fetchall()
    of_them = f"number % {templates} = place"
    query = f"SELECT {', '.join(columns)} FROM {rows} JOIN numbered ON {of_them}"
    connection.execute("SET threads = 1")  # the same numbers every time
    connection.execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet)")
    connection.execute("RESET threads")
    schema = spark.session.table(spark.name("variant")).schema
    view = spark.session.read.schema(schema).parquet(str(path))
    view.createOrReplaceTempView(spark.name("variant"))
    return replace(STORED, variant=f"read_parquet({literal(str(path))})")


def compared(paths: Sequence[str], kernels: int, folder: Path) -> Iterator[str]:
    """Yield all differences, and say on stderr what was compared."""
    database, lake = str(folder / "kernels.duckdb"), (folder / "lake").resolve()
    given = [Path(path) for path in paths] or [data_dir("seed") / "runs"]
    profiles = [f for path in given for f in sorted(path.rglob("*")) if f.is_file()]
    found = Counter(
        each.status
        for each in ingest_paths(database, list(map(str, profiles)), labels=RunLabels(), wait=_WAIT)
    )
    print(f"profiles: {dict(found)}", file=sys.stderr)
    list(add_database(str(lake), database, wait=_WAIT))
    compiled = load_knowledge(DEFAULTS).compiled
    facts = [each.name for each in compiled.vocabulary.facts.values() if each.level == "kernel"]
    compiled = replace(compiled, names=tuple(dict.fromkeys((*compiled.names, *facts))))
    scanned = scan(lake)
    master = os.environ.get("ADVISOR_STUDY_MASTER")
    with (
        opened_over(scanned, FETCHES_NOTHING) as (connection, columns),
        open_spark(scanned, columns, connection, master) as spark,
    ):
        spark.session.conf.set(*_COMPILED)
        engines = Engines(connection=connection, spark=spark, compiled=compiled)
        run_ids = sorted(scanned.runs())
        seen = Counter[str]()
        yield from differences(engines, run_ids, STORED, seen)
        print(f"as profiled: {dict(seen)}", file=sys.stderr, flush=True)
        seen = Counter[str]()
        for number, first in enumerate(range(0, kernels, AT_ONCE)):
            path = spark.folder / f"random-{number}.parquet"
            several = min(AT_ONCE, kernels - first)
            relations = scattered(engines, path, run_ids, several, number)
            yield from differences(engines, run_ids, relations, seen)
            _emptied(spark.folder)
            print(f"random: {dict(seen)}", file=sys.stderr, flush=True)


def _emptied(folder: Path) -> None:
    """Remove what was compared: of a million kernels it is 10 GB."""
    for each in folder.glob("random-*"):
        each.unlink()
    for name in (FACTS_TABLE, "rule_outcomes"):
        for each in folder.glob(f"{name}-*"):
            shutil.rmtree(each)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        unlike = 0
        for difference in compared(sys.argv[2:], int(sys.argv[1]), Path(scratch)):
            print(difference, flush=True)
            unlike += 1
    print(f"{unlike} differences")
    sys.exit(1 if unlike else 0)
