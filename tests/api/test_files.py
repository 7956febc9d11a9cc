"""Which files a path, a directory or a pattern stands for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import Location
from advisor.ingest.profiles import expand

REPORT = b"NVR\0"


def written(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(REPORT)


def below(folder: Path, names: dict[str, bool] | list[str]) -> list[str]:
    return [str(Path(name).relative_to(folder)) for name in names]


def test_takes_named_files_whatever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    gone = tmp_path / "gone"
    gone.symlink_to("nowhere")
    names = ["-", str(path), str(fifo), str(gone)]
    assert expand(names).files == dict.fromkeys(names, True)


def test_tells_profiles_below_a_directory_from_other_files(tmp_path: Path) -> None:
    written(tmp_path / "b" / "a.ncu-rep", tmp_path / "a.bin")
    (tmp_path / "b" / "notes.txt").write_text("nothing")
    (tmp_path / "gone.ncu-rep").symlink_to("nowhere")
    found = expand([str(tmp_path)])
    assert below(tmp_path, found.files) == ["a.bin", "b/a.ncu-rep"]
    assert not any(found.files.values())
    assert below(tmp_path, found.others) == ["b/notes.txt"]


@pytest.mark.parametrize("path", ["absent", "absent/below", "*.absent", "**/*.absent", "a\0b"])
def test_refuses_what_names_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "a.ncu-rep")
    found = expand([path, "a.ncu-rep"])
    assert found.files == {"a.ncu-rep": True}
    (error,) = found.refused.values()
    assert error.problem == "no such file"
    assert error.at == Location(name=path)
    assert error.hint == "quote patterns, and check the path"


def test_refuses_a_directory_without_a_profile(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    (error,) = expand([str(tmp_path)]).refused.values()
    assert str(error) == f"{tmp_path}: none of the 1 files below it is a profile"


def test_follows_no_link_to_a_directory_below_two_stars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    written(runs / "1" / "a.ncu-rep", runs / "[2]" / "b.ncu-rep", runs / ".git" / "c.ncu-rep")
    for name in ("latest", "previous"):
        (runs / name).symlink_to(".")
    every = ["runs/1/a.ncu-rep", "runs/[2]/b.ncu-rep"]
    monkeypatch.chdir(tmp_path)
    for pattern in ("runs/**/*.ncu-rep", "**/*.ncu-rep", "r*/**", "**/runs/**/?.ncu-rep", "**"):
        assert expand([pattern]).files == dict.fromkeys(every, True), pattern
    assert below(tmp_path, expand([f"{runs}/latest/**/a*"]).files) == ["runs/latest/1/a.ncu-rep"]


def test_keeps_which_directories_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "open" / "a.ncu-rep", tmp_path / "closed" / "b.ncu-rep")
    scandir = os.scandir

    def deny(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", deny)
    for path in (str(tmp_path), f"{tmp_path}/**/*.ncu-rep"):
        found = expand([path])
        assert below(tmp_path, found.files) == ["open/a.ncu-rep"]
        (error,) = found.refused.values()
        assert str(error) == f"{tmp_path / 'closed'}: cannot be read: Permission denied"


@pytest.mark.parametrize("look", ["lstat", "stat"])
def test_takes_a_file_that_cannot_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    written(tmp_path / "a.ncu-rep", tmp_path / "b.ncu-rep")
    original = getattr(Path, look)

    def deny(path: Path, **how: bool) -> os.stat_result:
        if path.name == "a.ncu-rep":
            raise PermissionError(13, "Permission denied", path)
        found: os.stat_result = original(path, **how)
        return found

    monkeypatch.setattr(Path, look, deny)
    assert below(tmp_path, expand([str(tmp_path)]).files) == ["a.ncu-rep", "b.ncu-rep"]
    assert below(tmp_path, expand([str(tmp_path / "a.ncu-rep")]).files) == ["a.ncu-rep"]


def test_follows_no_link_out_of_a_directory(tmp_path: Path) -> None:
    outside, folder = tmp_path / "other" / "secret.ncu-rep", tmp_path / "folder"
    written(outside, folder / "a.ncu-rep")
    (folder / "out.ncu-rep").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path / "other")
    (folder / "inside.ncu-rep").symlink_to("a.ncu-rep")
    found = expand([str(folder)])
    assert below(folder, found.files) == ["a.ncu-rep", "inside.ncu-rep"]
    assert below(folder, found.links) == ["out.ncu-rep"]
    assert found.others == []


def test_takes_a_link_that_is_named(tmp_path: Path) -> None:
    written(tmp_path / "a.ncu-rep")
    link = tmp_path / "folder" / "link.ncu-rep"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "a.ncu-rep")
    assert expand([str(link)]).files == {str(link): True}
    (error,) = expand([str(link.parent)]).refused.values()
    assert error.problem.startswith("none of the 0 files")
    assert "links that lead out of it are not followed" in str(error.hint)
