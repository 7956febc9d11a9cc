"""``advisor.open``: the Python API, its page of documentation, and how it shows itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import advisor
from advisor.api.opened import Database
from advisor.api.shown import Table
from advisor.database.arrow import ArrowTable, arrow_table
from advisor.resources import data_dir
from tests.api.test_publishing import demo

__all__ = ["demo"]

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
NIGHTS = data_dir("seed") / "runs" / "nightly"
HEAVY = ("duckdb", "numpy", "sqlalchemy", "sqlglot", "click", "jinja2", "yaml")


@pytest.fixture
def db(demo: str) -> Database:
    """Return the simulated nights."""
    return advisor.open(demo, wait=0)


def test_the_page_runs(tmp_path: Path) -> None:
    for night in ("night-01.ncu-rep", "night-02.ncu-rep"):
        (tmp_path / night).symlink_to(NIGHTS / night)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "new"
    assert lines[1].startswith("This run is")
    assert "advisor runs list" in lines[-1]


def test_importing_it_imports_nothing_heavy() -> None:
    code = f"import sys, advisor; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_says_that_it_is_typed() -> None:
    assert (Path(advisor.__file__).parent / "py.typed").is_file()


def test_a_report_is_the_json_of_the_command(db: Database) -> None:
    document = db.report().to_dict()
    assert document["schema_version"] == "1.0"
    assert document["history"]["moved"][0]["kernel"] == "layer_norm_kernel"
    assert len(document["kernels"]) == 14


def test_history_has_a_row_for_each_night(db: Database) -> None:
    rows = db.history("layer_norm").to_dicts()
    assert len(rows) == 30
    (change,) = (row for row in rows if row["verdict"] == "regressed")
    assert rows.index(change) == 12  # night 13
    # 118 µs before it, half as long again after it.
    assert change["relative"] == pytest.approx(0.5, abs=0.02)
    assert rows[0]["duration"] == pytest.approx(1.18e-4, rel=0.03)


def test_runs_come_with_the_newest_first(db: Database) -> None:
    moments = [row["started_at"] for row in db.runs()]
    assert len(moments) == 30
    assert moments == sorted(moments, reverse=True)


def test_findings_are_those_that_fire(db: Database) -> None:
    found = db.findings()
    assert {row["outcome"] for row in found} == {"fires"}
    assert len({row["run_id"] for row in found}) == 30


@pytest.mark.parametrize(
    "sql",
    ["drop table run", "select 1; select 2", "select * from read_csv('/etc/passwd')", "selct 1",
     "explain select 1", "select cast('x' as int)"],
)  # fmt: skip
def test_sql_has_the_limits_of_query(db: Database, sql: str) -> None:
    with pytest.raises(advisor.AdvisorError) as caught:
        db.sql(sql)
    assert type(caught.value).__name__ == "UsageError"


def test_other_libraries_take_a_table_again_and_again(db: Database) -> None:
    table = db.sql("select short_name, duration, flags, counters from launches limit 3")
    for _ in range(2):
        with duckdb.connect() as connection:
            connection.register("taken", table)
            (found,) = connection.execute("select count(*), sum(duration) from taken").fetchall()
        assert found == (3, pytest.approx(sum(row["duration"] for row in table)))


def test_polars_takes_a_table(db: Database) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(db.history("layer_norm"))
    assert frame.shape == (30, 10)
    assert frame["duration"].max() == pytest.approx(1.77e-4, rel=0.03)


def test_an_empty_table_keeps_its_columns() -> None:
    table = Table(arrow_table({"a": str, "b": int, "c": float}, []))
    assert (table.columns, len(table), table.to_dicts()) == (("a", "b", "c"), 0, [])


def test_rows_are_copied_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read arrays of Python's waits for ever where a thread gives one back meanwhile."""
    plans: list[str] = []
    monkeypatch.setattr(ArrowTable, "__init__", lambda _, rows: plans.append(rows.explain()))
    arrow_table({"a": str}, [["x"]])
    assert ["ARROW_SCAN" in plan for plan in plans] == [False]


def test_nothing_shown_acts_or_leaks(db: Database) -> None:
    hostile = "<script>alert(1)</script>|`x`\n@all"
    table = Table(arrow_table({hostile: str}, [[hostile]]))
    report, compared = db.report(), db.compare("latest~18", "latest~17")
    roofline = report.roofline
    assert roofline is not None
    for each in (table, report, compared, roofline):
        html = each._repr_html_()
        assert not re.search(r"<(script|style|link|iframe|svg)\b", html, re.IGNORECASE)
        assert " on" not in re.sub(r'"[^"]*"|>[^<]*<', "", html)
    assert "layer_norm_kernel" in compared._repr_html_()
    assert "layer\\_norm\\_kernel" in report._repr_markdown_()
    assert "@all" not in table._repr_markdown_()
    assert "<script" not in table._repr_markdown_().replace("\\<", "")


def test_what_is_refused_is_an_error_where_nothing_else_was_stored(tmp_path: Path) -> None:
    (tmp_path / "bad.ncu-rep").write_bytes(b"no profile")
    with advisor.open(tmp_path / "new.duckdb") as db:
        with pytest.raises(advisor.AdvisorError, match=r"bad\.ncu-rep"):
            db.ingest(tmp_path / "bad.ncu-rep")
        stored = db.ingest([tmp_path / "bad.ncu-rep", NIGHTS / "night-01.ncu-rep"])
        assert sorted(row["status"] for row in stored) == ["new", "refused"]


def test_a_closed_database_and_a_missing_one_are_errors(tmp_path: Path) -> None:
    db = advisor.open(tmp_path / "missing.duckdb", wait=0)
    with pytest.raises(advisor.AdvisorError, match=r"missing\.duckdb"), db:
        db.runs()
    with pytest.raises(advisor.AdvisorError, match="closed"):
        db.runs()
