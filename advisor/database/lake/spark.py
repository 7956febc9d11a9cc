"""The tables of a lake as views of Spark, and what it computes as Parquet beside the lake.

Spark is the extra ``advisor[spark]`` and needs Java 17 or newer. A session is local, or that of a
cluster which reaches the folder of the lake under the same path.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.database.dialects import spelled
from advisor.database.histories import KEY, LINKS, NIGHTS, RUNS, durations_select
from advisor.database.lake.place import TEMPORARY
from advisor.database.lake.scan import Lake
from advisor.database.lake.tables import DETAILS, FOLLOWED, MARKS, SHARED, Columns
from advisor.errors import DatabaseError
from advisor.hidden import DATA_FRAMES, unhide
from advisor.quoting import literal
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

    from advisor.database.histories import Columns as Rows

    Function = Callable[[Rows, Rows], Mapping[str, Sequence[Any]]]

LOCAL = "local[*]"
"""The master where none is named: all cores of this machine."""

TABLES = ("run", "variant", "launch", "finding", *SHARED)
"""The tables of which facts of kernels are computed."""

_VERSION = "4"
_PREFIX = "lake_"
_KINDS = {"VARCHAR": "STRING", "TIMESTAMP": "TIMESTAMP_NTZ"}
_LIST = re.compile(r"(?P<of>\w+)\[\]")
_MAP = re.compile(r"MAP\((?P<key>\w+), (?P<value>\w+)\)")
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.codegen.wholeStage": "false",  # hundreds of columns are compiled for minutes
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.subexpressionElimination.enabled": "false",  # a cache is made for each row
}
_OF_THIS_MACHINE = {
    "spark.driver.memory": "4g",  # by default 1g, which tasks of 400 columns fill with garbage
}
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""What spark-submit tells a program by, whose master is that of the submission."""
_WRITTEN = {
    "parquet.block.size": 16 * 1024**2,  # bytes that a task holds before it writes
    "parquet.enable.dictionary": "false",  # numbers that hardly repeat, read once
}
_HINT = 'pip install "advisor[spark]" installs it; it needs Java 17 or newer'


@dataclass(frozen=True, kw_only=True)
class SparkLake:
    """A session of Spark that has the tables of a lake as views."""

    session: Any
    folder: Path

    def name(self, table: str) -> str:
        """Return what the view of a table is called."""
        return _PREFIX + table

    def write(self, query: str, name: str) -> Path:
        """Write what a SELECT gives as Parquet; return its folder, which is a view of that name.

        Raises:
            DatabaseError: Spark fails.
        """
        path = self.folder / f"{name}-{secrets.token_hex(4)}"
        with failures_reported():
            self.session.sql(query).write.options(**_WRITTEN).parquet(str(path))
            self.session.read.parquet(str(path)).createOrReplaceTempView(name)
        return path


def write_moved(
    spark: SparkLake, connection: duckdb.DuckDBPyConnection, function: Function
) -> Path:
    """Write what a function of the runs of a history, and of durations, returns for each.

    It gets and returns columns; Spark hands them over as Arrow tables, where the durations are.

    Raises:
        DatabaseError: Spark fails, or its workers have no pyarrow or no advisor.
    """
    for table in (RUNS, LINKS):
        copied = str(spark.folder / f"{table}.parquet")
        connection.execute(f"COPY (FROM temp.{table}) TO {literal(copied)} (FORMAT parquet)")
        spark.session.read.parquet(copied).createOrReplaceTempView(spark.name(table))
    query = durations_select(*(spark.name(table) for table in ("variant", RUNS, LINKS)))
    kinds = {name: kind for name, kind in FOLLOWED["moved"].items() if name != "state_id"}
    spark.write(spelled(query, "spark"), NIGHTS)
    path = spark.folder / "moved"
    with failures_reported():
        runs = spark.session.table(spark.name(RUNS)).groupBy(KEY)
        durations = spark.session.table(NIGHTS).groupBy(KEY)
        found = runs.cogroup(durations).applyInArrow(_over_tables(function, kinds), _schema(kinds))
        found.write.parquet(str(path))
    return path


def _over_tables(function: Function, kinds: Mapping[str, str]) -> Callable[[Any, Any], Any]:
    """Return a function of two Arrow tables."""

    def over(runs: Any, durations: Any) -> Any:
        import pyarrow as pa

        of = {"VARCHAR": pa.string(), "DOUBLE": pa.float64()}
        schema = pa.schema([(name, of[kind]) for name, kind in kinds.items()])
        if not len(runs) or not len(durations):
            return schema.empty_table()
        return pa.table(function(runs.to_pydict(), durations.to_pydict()), schema=schema)

    return over


@contextlib.contextmanager
def open_spark(
    lake: Lake, columns: Columns, connection: duckdb.DuckDBPyConnection, master: str | None
) -> Iterator[SparkLake]:
    """Yield a session over a lake that is open on ``connection``.

    Raises:
        DatabaseError: there is no Spark, or it cannot be started.
    """
    folder = lake.root / TEMPORARY / f"spark-{secrets.token_hex(8)}"
    with failures_reported():
        session = _session(master)
    try:
        folder.mkdir(parents=True)
        spark = SparkLake(session=session, folder=folder)
        with failures_reported():
            for table in TABLES:
                view = _view(spark, lake, table, columns, connection)
                view.createOrReplaceTempView(spark.name(table))
        yield spark
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def failures_reported() -> Iterator[None]:
    """Report a failure of Spark in a sentence.

    Raises:
        DatabaseError: there was one.
    """
    unhide(DATA_FRAMES)
    try:
        import pyspark
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError as error:
        raise DatabaseError("there is no Spark on this machine", hint=_HINT) from error
    if pyspark.__version__.partition(".")[0] != _VERSION:
        problem = f"Spark {pyspark.__version__} is installed, and version {_VERSION} is needed"
        raise DatabaseError(problem, hint=_HINT)
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        problem = f"Spark failed: {_reason(error)}"
        hint = "nothing was written; --engine duckdb needs no Spark"
        if "JAVA_GATEWAY" in problem or "java" in problem.lower():
            hint = "nothing was written; are Java 17 or newer, JAVA_HOME and --master right?"
        raise DatabaseError(problem, hint=hint) from error


def _reason(error: Exception) -> str:
    """Return what an error says first; of one of Java its own words, not the call it came from."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    of_java = [line.removeprefix(":").strip() for line in lines if line.startswith(":")]
    return next(iter(of_java + lines), type(error).__name__)


def _session(master: str | None) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("advisor")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    has_master = _SUBMITTED in os.environ or SparkSession.getActiveSession() is not None
    if master is not None or not has_master:
        builder = builder.master(master or LOCAL)
    if (master or LOCAL).startswith("local") and not has_master:
        for name, value in _OF_THIS_MACHINE.items():
            builder = builder.config(name, value)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # it has this program
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _view(
    spark: SparkLake,
    lake: Lake,
    table: str,
    columns: Columns,
    connection: duckdb.DuckDBPyConnection,
) -> Any:
    """Return the rows of a table; a column that files lack is NULL."""
    schema = _schema(columns.of[table])
    read = spark.session.read.schema(schema)
    if table in SHARED or table in MARKS or table in DETAILS or table == "finding":
        copied = str(spark.folder / f"{table}.parquet")
        connection.execute(f"COPY (FROM main.{table}) TO {literal(copied)} (FORMAT parquet)")
        return read.parquet(copied)
    whole, others = _files(lake, table)
    rows = read.parquet(*whole) if whole else spark.session.createDataFrame([], schema)
    for path, unused in others.items():
        rows = rows.unionByName(read.parquet(path).where(f"run_id NOT IN ({unused})"))
    return rows


def _files(lake: Lake, table: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return files of which all runs are read, and others with the runs that are not."""
    whole, others = [], {}
    for part in lake.parts:
        file = part.manifest.tables.get(table)
        if file is None:
            continue
        if part.unused:
            others[str(lake.root / file.path)] = ", ".join(map(literal, sorted(part.unused)))
        else:
            whole.append(str(lake.root / file.path))
    return whole, others


def _schema(columns: Mapping[str, str]) -> str:
    """Return columns of DuckDB as Spark declares them."""
    return ", ".join(f"`{name}` {_kind(kind)}" for name, kind in columns.items())


def _kind(kind: str) -> str:
    if found := _LIST.fullmatch(kind):
        return f"ARRAY<{_kind(found['of'])}>"
    if found := _MAP.fullmatch(kind):
        return f"MAP<{_kind(found['key'])}, {_kind(found['value'])}>"
    return _KINDS.get(kind, kind)
