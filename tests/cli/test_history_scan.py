"""``advisor history scan``: a CSV in, what moved out; bad input leaves a line and a problem."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PATTERN = (0.4, -1.1, 0.9, -0.2, 1.3, -0.8, 0.1, -1.4, 0.7, 1.0, -0.6, -0.3)
HEADER = "series,time,value"


def night(number: int) -> str:
    return str(date(2026, 1, 1) + timedelta(days=number))


def rows(name: str, *levels: tuple[float, int]) -> list[str]:
    """Return rows of so many nights at each level in turn, with noise of 1 %."""
    flat = [level for level, count in levels for _ in range(count)]
    return [
        f"{name},{night(i)},{level * (1 + 0.01 * PATTERN[i % 12])!r}"
        for i, level in enumerate(flat)
    ]


def write(path: Path, lines: list[str], header: str = HEADER) -> str:
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)


@pytest.fixture
def regressed(tmp_path: Path) -> str:
    lines = [*rows("gemm", (0.001, 84), (0.00105, 6)), *rows("quiet", (0.002, 90))]
    return write(tmp_path / "results.csv", lines)


def test_json_has_the_documented_layout(advisor: Run, regressed: str) -> None:
    done = advisor("history", "scan", regressed, "--format", "json")
    assert (done.status, done.err) == (0, "")
    record = json.loads(done.out)
    assert list(record) == ["schema_version", "series"]
    assert record["schema_version"] == 1
    gemm, quiet = record["series"]
    assert list(gemm) == [
        "series", "better", "nights", "first", "last", "noise", "changes", "newest",
    ]  # fmt: skip
    assert (gemm["series"], gemm["better"], gemm["nights"]) == ("gemm", "lower", 90)
    assert (gemm["first"], gemm["last"]) == ("2026-01-01", "2026-03-31")
    (change,) = gemm["changes"]
    assert list(change) == [
        "kind", "index", "end_index", "time", "end_time",
        "before", "after", "relative", "p_value", "verdict",
    ]  # fmt: skip
    assert (change["kind"], change["index"], change["end_index"]) == ("step", 84, 84)
    assert (change["time"], change["end_time"]) == ("2026-03-26", "2026-03-26")
    assert change["before"] == pytest.approx(0.001, rel=0.005)
    assert change["relative"] == pytest.approx(0.05, abs=0.01)
    assert gemm["newest"]["verdict"] == "regressed"
    assert gemm["newest"]["time"] == "2026-03-26"
    assert (quiet["changes"], quiet["newest"]["verdict"]) == ([], "unchanged")
    assert quiet["newest"]["index"] is None


def test_text_names_what_regressed_and_what_to_do(advisor: Run, regressed: str) -> None:
    done = advisor("history", "scan", regressed)
    assert done.status == 0
    assert "Newest nights of 2 series: 1 regressed, 1 unchanged." in done.out
    assert "2026-03-26" in done.out
    assert "regressed: Profile a night before" in done.out


def test_the_gate_trips_on_a_regression_alone(advisor: Run, regressed: str, tmp_path: Path) -> None:
    assert advisor("history", "scan", regressed, "--fail-on", "regression").status == 1
    better = write(tmp_path / "better.csv", rows("gemm", (0.001, 84), (0.0009, 6)))
    assert advisor("history", "scan", better, "--fail-on", "regression").status == 0
    old = write(tmp_path / "old.csv", rows("gemm", (0.001, 40), (0.0011, 50)))
    assert advisor("history", "scan", old, "--fail-on", "regression").status == 0


def test_the_gate_does_not_change_what_is_written(
    advisor: Run, regressed: str, tmp_path: Path
) -> None:
    path = tmp_path / "changes.json"
    plain = advisor("history", "scan", regressed, "--format", "json").out
    gated = advisor(
        "history", "scan", regressed, "--format", "json", "--fail-on", "regression", "-o", str(path)
    )
    assert (gated.status, gated.out) == (1, "")
    assert path.read_text().strip() == plain.strip()


def test_the_order_of_rows_and_columns_changes_nothing(
    advisor: Run, regressed: str, tmp_path: Path
) -> None:
    _, *lines = Path(regressed).read_text().splitlines()
    random.Random(3).shuffle(lines)
    turned = [",".join(reversed(line.split(","))) for line in lines]
    shuffled = write(tmp_path / "shuffled.csv", turned, "value,time,series")
    first = advisor("history", "scan", regressed, "--format", "json").out
    assert advisor("history", "scan", shuffled, "--format", "json").out == first


def test_reads_standard_input(
    advisor: Run, regressed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path(regressed).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    piped = advisor("history", "scan", "-", "--format", "json")
    assert piped.out == advisor("history", "scan", regressed, "--format", "json").out


def test_samples_of_one_night_count_with_their_median(advisor: Run, tmp_path: Path) -> None:
    lines = rows("a", (10.0, 20))
    lines[5:6] = [f"a,{night(5)},{value}" for value in (11.0, 500.0, 12.0)]
    single = rows("a", (10.0, 20))
    single[5] = f"a,{night(5)},12.0"
    many = advisor("history", "scan", write(tmp_path / "many.csv", lines), "--format", "json")
    one = advisor("history", "scan", write(tmp_path / "one.csv", single), "--format", "json")
    assert many.out == one.out
    assert json.loads(one.out)["series"][0]["nights"] == 20


def test_an_empty_value_is_a_night_without_one(advisor: Run, tmp_path: Path) -> None:
    lines = rows("a", (10.0, 20))
    lines[0], lines[7] = f"a,{night(0)},", f"a,{night(7)},  "
    done = advisor("history", "scan", write(tmp_path / "gaps.csv", lines), "--format", "json")
    (series,) = json.loads(done.out)["series"]
    assert (series["nights"], series["first"]) == (18, night(1))


def test_numbers_order_nights_as_numbers(advisor: Run, tmp_path: Path) -> None:
    # As texts, "100" would come before "20".
    lines = [f"a,{i},{10 if i < 90 else 11}" for i in range(20, 120)]
    done = advisor("history", "scan", write(tmp_path / "n.csv", lines), "--format", "json")
    (series,) = json.loads(done.out)["series"]
    assert (series["first"], series["last"]) == (20, 119)
    assert [(c["index"], c["time"]) for c in series["changes"]] == [(70, 90)]


def test_one_moment_in_two_time_zones_is_one_night(advisor: Run, tmp_path: Path) -> None:
    lines = ["a,2026-01-01T02:00:00+02:00,10", "a,2026-01-01T00:00:00Z,10", "a,2026-01-01,10"]
    done = advisor("history", "scan", write(tmp_path / "z.csv", lines), "--format", "json")
    (series,) = json.loads(done.out)["series"]
    assert (series["nights"], series["newest"]["verdict"]) == (1, "insufficient")


def test_better_and_environment_are_read(advisor: Run, tmp_path: Path) -> None:
    lines = [f"{row},higher,driver 1" for row in rows("a", (10.0, 60))]
    lines += [
        f"a,{night(60 + i)},{11 * (1 + 0.01 * PATTERN[i % 12])},higher,driver {2 + (i > 39)}"
        for i in range(40)
    ]
    lines += [f"b,{row.split(',', 1)[1]},higher," for row in rows("b", (10.0, 60), (9.0, 9))]
    path = write(tmp_path / "b.csv", lines, "series,time,value,better,environment")
    a, b = json.loads(advisor("history", "scan", path, "--format", "json").out)["series"]
    assert [(c["index"], c["verdict"]) for c in a["changes"]] == [(60, "environment")]
    assert (b["better"], b["newest"]["verdict"]) == ("higher", "regressed")


def test_other_columns_blank_lines_and_a_byte_order_mark_do_no_harm(
    advisor: Run, tmp_path: Path
) -> None:
    path = tmp_path / "bom.csv"
    lines = [f"{row},note" for row in rows("a", (10.0, 20))]
    path.write_text("\ufeff series , time,value,note\n\n" + "\n".join(lines) + "\n\n")
    assert advisor("history", "scan", str(path)).status == 0


GOOD = "series,time,value\na,2026-01-01,1\n"
BAD = {
    "a missing column": ("series,time\na,1\n", 1, "missing column 'value'"),
    "a column twice": ("series,time,value,value\na,1,1,1\n", 1, "'value' is there twice"),
    "a short row": (GOOD + "a,2026-01-02\n", 3, "this row has 2 fields, the header has 3"),
    "a long row": (GOOD + "a,2026-01-02,1,2\n", 3, "this row has 4 fields"),
    "text for a number": (GOOD + "a,2026-01-02,fast\n", 3, "expected a number, found 'fast'"),
    "a comma for a point": (GOOD + 'a,2026-01-02,"1,5"\n', 3, "found '1,5'"),
    "NaN": (GOOD + "a,2026-01-02,nan\n", 3, "expected a number, found 'nan'"),
    "an underscore": (GOOD + "a,2026-01-02,1_000\n", 3, "found '1_000'"),
    "infinity": (GOOD + "a,2026-01-02,-inf\n", 3, "'-inf' is not finite"),
    "a number too large": (GOOD + "a,2026-01-02,1e999\n", 3, "'1e999' is not finite"),
    "an impossible date": (GOOD + "a,2026-02-30,1\n", 3, "expected a date"),
    "an infinite time": ("series,time,value\na,inf,1\n", 2, "time: 'inf' is not finite"),
    "an empty time": (GOOD + "a,,1\n", 3, "the time is empty"),
    "numbers among dates": (GOOD + "a,7,1\n", 3, "numbers and dates are mixed"),
    "dates among numbers": ("series,time,value\na,7,1\nb,2026-01-01,1\n", 3, "are mixed"),
    "no name": (GOOD + ",2026-01-02,1\n", 3, "the series has no name"),
    "an unknown better": ("series,time,value,better\na,1,1,faster\n", 2, "not 'faster'"),
    "a differing better": (
        "series,time,value,better\na,1,1,lower\na,2,1,higher\n", 3, "had better 'lower' before",
    ),
    "an empty file": ("", 1, "the file is empty"),
    "a header alone": ("series,time,value\n", 1, "no row below the header"),
    "an open quote": (GOOD + 'a,"2026-01-02,1\n', 3, "this is no CSV"),
    "a line number after a quoted line break": (
        'series,time,value\n"a\nb",2026-01-01,1\nc,2026-01-01,x\n', 4, "found 'x'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_line_and_problem_and_no_output(
    advisor: Run, tmp_path: Path, case: str
) -> None:
    text, line, problem = BAD[case]
    path, output = tmp_path / "bad.csv", tmp_path / "out.json"
    path.write_text(text)
    for words in ((), ("--format", "json"), ("-o", str(output))):
        done = advisor("history", "scan", str(path), *words)
        assert (done.status, done.out) == (3, "")
        assert done.err.startswith(f"advisor: {path}:{line}: ")
        assert problem in done.err
        assert not output.exists()


@pytest.mark.parametrize(
    "data", [b"series,time,value\na,1,\xff\xfe\n", b"series,time,value\na\0,1,1\n"]
)
def test_binary_input_is_refused_with_its_line(advisor: Run, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "binary.csv"
    path.write_bytes(data)
    done = advisor("history", "scan", str(path))
    assert (done.status, done.out) == (3, "")
    assert f"{path}:2: this is no text in UTF-8" in done.err


def test_a_file_that_is_not_there_and_a_folder_are_refused(advisor: Run, tmp_path: Path) -> None:
    done = advisor("history", "scan", str(tmp_path / "none.csv"))
    assert (done.status, done.out) == (3, "")
    assert "none.csv: cannot be read" in done.err
    assert advisor("history", "scan", str(tmp_path)).status == 3


def test_bad_standard_input_is_named(advisor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    done = advisor("history", "scan", "-")
    assert (done.status, done.out) == (3, "")
    assert "advisor: standard input:1: the file is empty" in done.err


def test_a_hostile_name_forges_no_line(advisor: Run, tmp_path: Path) -> None:
    lines = [f'"a\nb\x1b[31m",{row.split(",", 1)[1]}' for row in rows("a", (10.0, 50), (12.0, 5))]
    done = advisor("history", "scan", write(tmp_path / "evil.csv", lines))
    assert done.status == 0
    assert "\x1b" not in done.out
    assert "a\\nb" in done.out
