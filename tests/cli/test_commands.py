"""The commands as a user meets them: what they print, where, and how they exit."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from advisor.database.few import VERSION

if TYPE_CHECKING:
    from conftest import Run


def test_lists_every_command_without_importing_one() -> None:
    code = (
        "import sys; sys.argv = ['advisor', '--help']\n"
        "from advisor.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print({'duckdb', 'sqlglot', 'numpy', 'jinja2', 'yaml'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "ingest" in answer.stdout
    assert "doctor" in answer.stdout
    assert answer.stdout.strip().endswith("set()")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("advisor rep", ["plain,report"]),
        ("advisor report --mark", ["plain,--markdown"]),
        ("advisor report --format gi", ["plain,github", "plain,gitlab"]),
        ("advisor runs rem", ["plain,remove"]),
    ],
)
def test_completes_what_is_typed_in_a_shell(typed: str, offered: list[str]) -> None:
    environment = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    answer = subprocess.run(
        [Path(sys.executable).with_name("advisor")],
        env={**os.environ, **environment, "_ADVISOR_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.splitlines() == offered


def imported_by(
    database: Path, *words: str, names: set[str], cache: str = "on"
) -> tuple[list[str], str]:
    """Return what a command prints in a process of its own, and which modules it imported."""
    code = (
        "import sys; sys.argv = ['advisor', '--db', *sys.argv[1:]]\n"
        "from advisor.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print(sorted({names!r} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(database), *words],
        env={**os.environ, "XDG_CACHE_HOME": str(database.parent), "ADVISOR_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    *printed, imported = answer.stdout.splitlines()
    return printed, imported


def test_tells_a_slip_by_names_alone(one_night: Path) -> None:
    names = {"duckdb", "sqlglot", "yaml", "advisor.hardware.machines", "advisor.modelling.estimate"}
    imported_by(one_night, "whatif", "--device", "H1000", names=names)  # remembers the names
    for words in (
        ("whatif", "--device", "H1000"),
        ("hardware", "compare", "H1000", "A100"),
        ("model", "matrix-product", "mm=1", "--device", "H100"),
    ):
        assert imported_by(one_night, *words, names=names) == ([], "[]")


def test_ingests_and_reports_by_what_is_remembered_without_a_parser(
    one_night: Path, night: str, tmp_path: Path
) -> None:
    names = {"sqlglot", "sqlalchemy", "alembic", "jinja2", "pygments"}
    of_report = {"sqlglot", "sqlalchemy", "numpy", "jinja2", "yaml"}
    database = Path(shutil.copy(one_night, tmp_path))
    second, third = (night.replace("01", number) for number in ("02", "03"))
    assert "sqlglot" in imported_by(database, "ingest", second, names=names)[1]
    assert imported_by(database, "ingest", third, names=names)[1] == "[]"
    one = Path(shutil.copy(one_night, tmp_path / "one.duckdb"))  # whose report has no history
    report, first = imported_by(one, "report", names=of_report)
    assert "yaml" in first  # which words a report has was not remembered yet
    assert imported_by(one, "report", names=of_report) == (report, "[]")
    assert "sqlglot" in imported_by(one, "report", names=of_report, cache="off")[1]


def test_asks_whether_another_command_was_meant(advisor: Run) -> None:
    outcome = advisor("ingset")
    assert outcome.status == 2
    assert "Did you mean 'ingest'?" in outcome.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "--db", "x.duckdb"], "advisor --db … report"),
        (["fleet", "judge", "--rules", "mine"], "advisor --rules … fleet judge"),
        (["report", "--bd", "x.duckdb"], "No such option '--bd'"),
    ],
)
def test_says_where_an_option_stands(advisor: Run, words: list[str], said: str) -> None:
    outcome = advisor(*words)
    assert outcome.status == 2
    assert said in outcome.err


def test_tells_the_run_and_what_to_do_next(advisor: Run, night: str) -> None:
    outcome = advisor("ingest", night)
    assert outcome.status == 0
    assert outcome.out.startswith("new")
    said = re.search(r"^next: advisor --db (\S+) report (\w+)$", outcome.err, re.MULTILINE)
    assert said is not None
    assert said[1].endswith("test.duckdb")
    assert said[2] == outcome.out.split()[1]


def test_takes_the_same_file_twice_as_one_run(advisor: Run, night: str) -> None:
    first = advisor("ingest", night).out.split()[1]
    second = advisor("ingest", night).out.split()
    assert second[:2] == ["known", first]
    assert advisor("query", "select count(*) as n from runs", "--format", "csv").out == "n\n1\n"


def test_refuses_what_is_no_profile_and_says_what_is(advisor: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello world")
    outcome = advisor("ingest", str(path))
    assert outcome.status == 3
    assert "not a profile of a known format" in outcome.err
    assert "hello" not in outcome.err
    assert "known formats: ncu-rep" in outcome.err


def test_answers_a_query_as_a_list_of_rows(filled: Run) -> None:
    sql = "select short_name, duration, limiter, null as nothing from kernels order by 1"
    rows = json.loads(filled("query", sql, "--format", "json").out)
    assert isinstance(rows, list)
    assert all(row["duration"] > 0 and row["nothing"] is None for row in rows)


def test_keeps_a_spreadsheet_from_taking_a_name_for_a_formula(filled: Run) -> None:
    sql = "select '=cmd()' as a, '-x' as b, -1.5 as c, 'a,b' as d"
    printed = filled("query", sql, "--format", "csv").out
    assert list(csv.reader(io.StringIO(printed))) == [
        ["a", "b", "c", "d"],
        ["'=cmd()", "'-x", "-1.5", "a,b"],
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "delete from run",
        "select 1; select 2",
        "copy run to '/tmp/x.csv'",
        "attach '/tmp/y.duckdb'",
        "set memory_limit = '1GB'",
    ],
)
def test_refuses_a_query_that_is_more_than_a_question(filled: Run, sql: str) -> None:
    outcome = filled("query", sql)
    assert outcome.status == 2
    assert outcome.out == ""


def test_lets_no_query_read_another_file(filled: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    outcome = filled("query", f"select * from read_csv('{secret}')")
    assert outcome.status == 2
    assert "disabled" in outcome.err


def test_names_the_views_when_a_query_is_wrong(filled: Run) -> None:
    outcome = filled("query", "select durration from kernels")
    assert outcome.status == 2
    assert "duration" in outcome.err
    assert "kernels" in outcome.err


def test_says_that_there_is_no_database_yet(advisor: Run) -> None:
    outcome = advisor("report")
    assert outcome.status == 4
    assert "advisor ingest" in outcome.err


def test_shows_and_removes_a_run(filled: Run) -> None:
    run = filled("runs", "list", "--format", "csv").out.splitlines()[1].split(",")[0]
    shown = filled("runs", "show", run[:6]).out
    assert "weekly" in shown
    assert filled("runs", "remove", run[:6], "--yes").out == f"removed {run}\n"
    assert filled("query", "select count(*) from launches", "--format", "csv").out.endswith("\n0\n")


def test_names_the_nearest_device(advisor: Run) -> None:
    outcome = advisor("hardware", "show", "nvidia-h100-sxm5-80g")
    assert outcome.status == 2
    assert "nvidia-h100-sxm5-80gb" in outcome.err


def test_shows_where_the_figures_of_a_device_come_from(advisor: Run) -> None:
    shown = advisor("hardware", "show", "nvidia-h100-sxm5-80gb").out
    assert "ridge point" in shown
    assert "FLOP/B" in shown


def test_shows_a_rule_with_its_sources(advisor: Run) -> None:
    shown = advisor("rules", "show", "memory/uncoalesced-loads").out
    for heading in ("When", "Why", "What to do", "Verify", "Sources"):
        assert f"\n{heading}\n" in shown


def test_finds_all_examples_of_a_rule_as_expected(advisor: Run) -> None:
    outcome = advisor("rules", "test", "memory/uncoalesced-loads")
    assert outcome.status == 0
    number = outcome.out.split()[0]
    assert outcome.out == f"{number} of {number} examples as expected\n"


def test_examines_installation_and_database(filled: Run) -> None:
    outcome = filled("doctor")
    assert outcome.status == 0
    assert "1 runs" in outcome.out
    assert "BAD" not in outcome.out
    assert f"SQLite {VERSION} where kernels are few, else DuckDB" in outcome.out


def test_the_doctor_tells_what_computes_where_sqlite_cannot(
    filled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        return None

    monkeypatch.setattr("advisor.rules.engine.compiled._few", refuses)
    monkeypatch.setenv("ADVISOR_CACHE", "off")
    told = "refuses a statement, so runs of few kernels take longer"
    assert f"DuckDB; SQLite {VERSION} {told}" in filled("doctor").out


def test_a_finding_beside_an_action_says_what_it_is_counted_with(filled: Run) -> None:
    text = " ".join(filled("show", ".").out.split())
    found = re.findall(r"The same time as (\w+/[\w-]+): do not add the two\.", text)
    assert found
    for rule in found:
        assert text.index(f" {rule} ") < text.index(f"The same time as {rule}:")


def test_shows_the_worst_instructions_of_a_kernel(filled: Run) -> None:
    # Of 32 threads that read 4 bytes each from random places, each fetches a sector; 4 are enough.
    lines = filled("show", "gather_rows", "--source").out.splitlines()
    (row,) = [line for line in lines if line.endswith("8.0×")]
    assert row.startswith("+0x0000")
    assert "100 %" in row


def test_names_the_worst_instructions_in_findings(filled: Run) -> None:
    # The only loads of random places are those of the first instruction that accesses memory.
    said = "Worst instructions: 100 % at +0x0000"
    assert said in " ".join(
        filled("show", "gather_rows").out.replace("\N{NO-BREAK SPACE}", " ").split()
    )
    out = filled("rules", "explain", "memory/uncoalesced-loads", "gather_rows").out
    assert said in " ".join(out.replace("\N{NO-BREAK SPACE}", " ").split())
    words = ("rules", "explain", "memory/uncoalesced-loads", "gather_rows", "--format", "json")
    (told,) = json.loads(filled(*words).out)["explanations"]
    assert told["instructions"]["worst"][0]["offset"] == 0


def test_asks_which_kernel_has_instructions(filled: Run) -> None:
    outcome = filled("show", "nowhere", "--source")
    assert outcome.status == 2
    assert "no kernel of run" in outcome.err


def test_says_of_unproven_rules_that_nobody_has_seen_them(
    filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven = json.loads(filled("report", "--format", "json").out)["actions"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where none is remembered as proven
    monkeypatch.setattr("advisor.rules.language.load.load_proven", dict)
    unproven = json.loads(filled("report", "--format", "json").out)["actions"]
    assert proven
    # Where none is proven, causes come first all the same; each says what it lacks.
    assert unproven
    assert all("no published profile" in each["confidence_reason"] for each in unproven)
    assert "Unproven: not yet found" in " ".join(filled("show", "gather_rows").out.split())


@pytest.mark.real
def test_names_opcode_and_line_of_the_worst_instruction(advisor: Run, real_data: Path) -> None:
    # Line 69 of the source in the report: out[trans_idx] = tile[blk_trans_inner][blk_trans_outer];
    (report,) = (real_data / "ncu-rep").rglob("smemTranspose.ncu-rep")
    assert advisor("ingest", str(report)).status == 0
    lines = advisor("show", r"transposeSmem\b", "--source").out.splitlines()
    (row,) = [line for line in lines if "16×" in line]
    assert row.split()[:2] == ["+0x02c0", "LDS"]
    assert row.endswith("smemTranspose.cu:69")


@pytest.mark.parametrize(
    "words",
    [
        ("model", "nobody.yaml"),
        ("model", "matrix-prodcut"),
        ("model", "matrix-product", "m=1", "--phase", "decode"),
        ("whatif",),
    ],
)
def test_refuses_words_before_anything_is_read(tmp_path: Path, words: tuple[str, ...]) -> None:
    heavy = {"advisor.expression", "advisor.modelling.declare", "duckdb", "sqlglot", "yaml"}
    assert imported_by(tmp_path / "none.duckdb", *words, names=heavy) == ([], "[]")


CHOSEN = """\
device: NVIDIA L4, 58 SMs
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"""
LAUNCH = (
    '"0","7","app","127.0.0.1","copy_rows(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.9",'
    '"Command line profiler metrics",'
)


def test_holds_chosen_counters_against_the_rated_bandwidth(advisor: Run, tmp_path: Path) -> None:
    # 270 MB in 1 ms are 270 GB/s, nine tenths of the 300 GB/s that the device is rated at.
    values = ("gpu__time_duration.sum", "us", 1000), ("dram__bytes.sum", "Mbyte", 270)
    rows = [f'{LAUNCH}"{name}","{unit}","{value}"' for name, unit, value in values]
    page = tmp_path / "chosen.csv"
    page.write_text(CHOSEN + "\n".join(rows) + "\n")
    assert advisor("ingest", str(page)).status == 0
    report = " ".join(advisor("report").out.replace("\N{NO-BREAK SPACE}", " ").split())
    assert "100 % of the profiled kernel time is memory-bound." in report
    assert "moved its bytes at 90 % of its rated bandwidth" in report
    assert "no profiled roof to compare with" in report
    shown = " ".join(advisor("show", "copy_rows").out.replace("\N{NO-BREAK SPACE}", " ").split())
    assert "busy for 90 % of the time by its rated bandwidth." in shown
