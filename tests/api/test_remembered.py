"""What is cached between commands: found, renewed after a change, trusted only if private."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from advisor.cache import cache_folder, kept, remembered
from advisor.database import names
from advisor.tracking import comparing, settings


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ADVISOR_CACHE", raising=False)
    path = tmp_path / "rule.yaml"
    path.write_text("one")
    return path


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "advisor").glob("*.pickle"))


def test_makes_it_once(source: Path) -> None:
    made: list[str] = []
    for _ in range(2):
        value = remembered("x", [source], "", lambda: made.append("again") or {"a": 1})
        assert value == {"a": 1}
    assert made == ["again"]


def test_remembers_nothing_as_well(source: Path) -> None:
    assert remembered("x", [source], "", lambda: None) is None
    assert remembered("x", [source], "", lambda: 1) is None


def test_makes_it_anew_when_a_file_or_the_question_changes(source: Path) -> None:
    assert remembered("x", [source], "", lambda: 1) == 1
    assert remembered("x", [source], "other", lambda: 2) == 2
    source.write_text("longer")
    assert remembered("x", [source], "", lambda: 3) == 3


@pytest.mark.parametrize(
    "damage", [b"", b"no pickle", b"\x80\x05K\x01.", b"\x80\x05cposix\nnothing_of_that_name\n."]
)
def test_takes_no_notice_of_a_damaged_file(source: Path, tmp_path: Path, damage: bytes) -> None:
    remembered("x", [source], "", lambda: 1)
    files(tmp_path)[0].write_bytes(damage)
    assert remembered("x", [source], "", lambda: 2) == 2


@pytest.mark.parametrize("place", [0, 31, 32, 40, -1])
def test_notices_a_single_bit(source: Path, tmp_path: Path, place: int) -> None:
    remembered("x", [source], "", lambda: "a text that would load")
    [file] = files(tmp_path)
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    assert remembered("x", [source], "", lambda: 2) == 2


class Former:
    """Something that the next version of a library lacks."""


def test_takes_no_notice_of_what_cannot_be_loaded(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered("x", [source], "", Former)
    monkeypatch.delattr(f"{__name__}.Former")
    assert remembered("x", [source], "", lambda: 2) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_does_not_trust_what_others_may_have_written(source: Path, tmp_path: Path) -> None:
    remembered("x", [source], "", lambda: 1)
    files(tmp_path)[0].chmod(0o666)
    assert remembered("x", [source], "", lambda: 2) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_does_not_trust_a_folder_that_others_may_write(source: Path, tmp_path: Path) -> None:
    remembered("x", [source], "", lambda: 1)
    files(tmp_path)[0].parent.chmod(0o777)
    assert remembered("x", [source], "", lambda: 2) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_follows_no_link(source: Path, tmp_path: Path, linked: str) -> None:
    remembered("x", [source], "", lambda: 1)
    [file] = files(tmp_path)
    place = file if linked == "file" else file.parent
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    assert remembered("x", [source], "", lambda: 2) == 2


def test_an_empty_name_of_the_cache_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "advisor"


def test_works_where_nothing_can_be_kept(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(source))  # a file, not a folder
    assert remembered("x", [source], "", lambda: 1) == 1


class Unkept:
    """Something for which there is no room on the disk."""

    def __reduce__(self) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_leaves_nothing_behind_where_there_is_no_room(source: Path, tmp_path: Path) -> None:
    value = Unkept()
    assert remembered("x", [source], "", lambda: value) is value
    assert list((tmp_path / "cache" / "advisor").iterdir()) == []


def test_keeps_only_the_last_few(source: Path, tmp_path: Path) -> None:
    for number in range(9):
        remembered("x", [source], str(number), lambda: 1)
    assert len(files(tmp_path)) == 4


def test_keeps_what_is_used(source: Path, tmp_path: Path) -> None:
    remembered("x", [source], "used", lambda: 1)
    for number in range(9):
        for file in files(tmp_path):
            os.utime(file, (number + 1, number + 1))  # long ago, whatever the clock's steps are
        assert remembered("x", [source], "used", lambda: 2) == 1
        remembered("x", [source], str(number), lambda: 3)
    assert len(files(tmp_path)) == 4


def test_adds_to_what_it_keeps(source: Path) -> None:
    for number in range(3):
        with kept("x", [source], "") as values:
            assert len(values) == number
            values[str(number)] = number
    with kept("x", [source], "") as values:
        assert values == {"0": 0, "1": 1, "2": 2}


def test_keeps_nothing_of_what_failed(source: Path) -> None:
    def fail() -> None:
        with kept("x", [source], "") as values:
            values["half"] = 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with kept("x", [source], "") as values:
        assert values == {}


def test_can_be_switched_off(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_CACHE", "off")
    assert remembered("x", [source], "", lambda: 1) == 1
    assert files(tmp_path) == []


def test_a_process_loads_it_once(source: Path) -> None:
    remembered("x", [source], "", lambda: ["a"])
    first, second = (remembered("x", [source], "", lambda: ["b"]) for _ in range(2))
    assert first == ["a"]
    assert first is second


def test_settings_that_every_report_asks_for_come_from_the_cache(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (
        (settings, settings.load_settings, settings._shipped),
        (settings, settings.load_outcome_settings, settings._shipped),
        (comparing, comparing.load_comparing, comparing._shipped),
        (names, names.load_names, names.load_names),
    )
    for module, ask, in_memory in asked:
        in_memory.cache_clear()
        read = ask()
        in_memory.cache_clear()
        with monkeypatch.context() as without:
            without.setattr(module, "load", None)  # and PyYAML with it
            assert ask() == read
