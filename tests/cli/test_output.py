"""Tables on terminals that are too narrow for them."""

from __future__ import annotations

import io

import pytest
from click.testing import CliRunner

from advisor.cli.application import application
from advisor.cli.output import Narrow, pasted, table, terminal_width

COLUMNS = ("device", "name", "memory", "file")
ROWS = [
    ("nvidia-rtx-6000-ada", "NVIDIA RTX 6000 Ada Generation", 48.0, "/data/some/folder/first.csv"),
    ("nvidia-l4", "NVIDIA L4", None, "/data/some/folder/second.csv"),
]
NARROW = Narrow(whole=("device",), ends=("file",), spare=("name", "memory"))


def test_cuts_nothing_where_there_is_room() -> None:
    for width in (0, 100):
        text = table(COLUMNS, ROWS, width=width, narrow=NARROW)
        assert "…" not in text
        assert "left out" not in text


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80])
def test_never_cuts_what_identifies_and_keeps_the_end_of_a_path(width: int) -> None:
    lines = table(COLUMNS, ROWS, width=width, narrow=NARROW).splitlines()
    assert max(len(line) for line in lines) <= width
    assert lines[2].startswith("nvidia-rtx-6000-ada ")
    assert lines[2].endswith("first.csv")


def test_leaves_out_what_one_can_spare_and_says_so() -> None:
    # 19 for the id, 12 each for name and file, 7 for the memory, 2 between: 56.
    assert "name" in table(COLUMNS, ROWS, width=56, narrow=NARROW).splitlines()[0]
    at_55 = table(COLUMNS, ROWS, width=55, narrow=NARROW).splitlines()
    assert at_55[0].split() == ["device", "memory", "file"]
    assert at_55[-1] == "left out, for want of room: name"


def test_cuts_at_the_right_where_nothing_else_is_said() -> None:
    (*_, last) = table(COLUMNS, ROWS, width=70).splitlines()
    assert "/data/some" in last


def test_names_that_differ_at_their_ends_stay_apart() -> None:
    rows = [("compute_tendencies_x_279_gpu", 1.5), ("compute_tendencies_x_309_gpu", 1.5)]
    lines = table(("kernel", "n"), rows, width=17, narrow=Narrow(names=("kernel",))).splitlines()
    assert lines[2:] == ["compu…79_gpu  1.5", "compu…09_gpu  1.5"]


def test_aligns_numbers_to_the_right_also_where_one_is_unknown() -> None:
    lines = table(("n", "of"), [(1.5, "a"), (None, "b")]).splitlines()
    assert lines == ["      n  of", "-------  --", "    1.5  a", "unknown  b"]


def test_a_pipe_has_the_columns_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    for columns, width in (("120", 120), ("", 0), ("wide", 0)):
        monkeypatch.setenv("COLUMNS", columns)
        assert terminal_width() == width


def test_h_is_help_of_every_command() -> None:
    for words in ([], ["runs"], ["runs", "list"]):
        short, long = (CliRunner().invoke(application, [*words, each]) for each in ("-h", "--help"))
        assert short.output == long.output
        assert short.exit_code == 0


@pytest.mark.parametrize(
    ("called", "found", "command"),
    [
        ("my tools/advisor", None, "'my tools/advisor' --db x report"),
        ("bin/advisor", "/usr/bin/advisor", "advisor --db x report"),
        ("advisor/__main__.py", None, "advisor --db x report"),
    ],
)
def test_a_command_to_paste_begins_as_the_shell_finds_it(
    called: str, found: str | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: found)
    assert pasted("advisor --db x report") == command


def test_never_cuts_a_number() -> None:
    (*_, last) = table(("name", "number"), [("a" * 40, 12345678901234)], width=30).splitlines()
    assert last == "aaaaaaaaaaaaa…  12345678901234"
