"""Archives, pipes and paths that are no files: given as plain sources, or refused."""

from __future__ import annotations

import gzip
import io
import os
import random
import sys
import zipfile
from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.readers import detect as archives
from advisor.readers.base import Source
from advisor.readers.detect import plain_sources
from tests.support.page_mutants import PAGES

RAW, DETAILS, TEXT = (page.encode() for page in PAGES)
PACKED = zipfile.ZIP_DEFLATED


def taken(path: Path | str, largest: int = archives.LARGEST) -> dict[str, bytes]:
    """Return name and content of every source in a file, each read while it is there."""
    found = {}
    with plain_sources(str(path), largest=largest) as sources:
        for source in sources:
            if isinstance(source, InputError):
                raise source
            with source.open() as file:
                found[source.name] = file.read()
    return found


def zipped(path: Path, members: dict[str, bytes], compression: int = PACKED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_gives_a_plain_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(RAW)
    assert taken(path) == {str(path): RAW}


def test_needs_no_room_for_a_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    path = tmp_path / "a.csv"
    path.write_bytes(RAW)
    assert taken(path) == {str(path): RAW}


def test_says_that_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(RAW))
    with pytest.raises(InputError, match="cannot be unpacked: No such file") as caught:
        taken(path)
    assert "TMPDIR" in str(caught.value.hint)


def test_unpacks_gzip_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(gzip.compress(RAW[:100]) + gzip.compress(RAW[100:]))
    assert taken(path) == {str(path): RAW}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_gives_the_profiles_in_a_zip(tmp_path: Path, compression: int) -> None:
    members = {
        "night/1/a.csv": RAW,
        "night/notes.txt": b"all is well",
        "night/empty": b"",
        "../outside.txt": TEXT,
    }
    path = zipped(tmp_path / "a.zip", members, compression)
    assert taken(path) == {
        f"{path}!night/1/a.csv": RAW,
        f"{path}!../outside.txt": TEXT,
    }
    assert not (tmp_path.parent / "outside.txt").exists()


def test_gives_the_only_member_of_a_zip_whatever_it_is(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"notes.txt": b"all is well"})
    assert taken(path) == {f"{path}!notes.txt": b"all is well"}


@pytest.mark.parametrize("members", [{}, {"a": b"1", "b": b"2"}])
def test_refuses_a_zip_without_a_profile(tmp_path: Path, members: dict[str, bytes]) -> None:
    path = zipped(tmp_path / "a.zip", members)
    with pytest.raises(InputError, match=f"none of the {len(members)} files in the archive"):
        taken(path)


def test_does_not_open_an_archive_inside_an_archive(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"a.csv": RAW}).read_bytes()
    path = zipped(tmp_path / "a.zip", {"inner.zip": inner})
    assert taken(path) == {f"{path}!inner.zip": inner}


def test_refuses_what_unpacks_to_more_than_is_allowed(tmp_path: Path) -> None:
    bomb = bytes(10_000_000)
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(bomb))
    assert packed.stat().st_size < 20_000
    with pytest.raises(InputError, match=r"holds more than 1\.00"):
        taken(packed, largest=1_000_000)
    with pytest.raises(InputError, match=r"holds more than 1\.00"):
        taken(zipped(tmp_path / "a.zip", {"a": bomb}), largest=1_000_000)


def test_a_member_that_is_too_large_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": RAW, "b.csv": bytes(10_000_000)})
    unpacked: list[str] = []
    monkeypatch.setattr(archives, "_copy", lambda _, __, name, ___: unpacked.append(name))
    monkeypatch.setattr(archives, "looks_like_profile", lambda _: True)
    with plain_sources(str(path), largest=1_000_000) as sources:
        first, second = sources
    assert isinstance(first, Source)
    assert unpacked == [f"{path}!a.csv"]
    assert str(second).startswith(f"{path}!b.csv: holds more than 1.00")


def test_counts_all_members_of_a_zip_together(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.csv": RAW, "b.csv": RAW})
    assert len(taken(path, largest=2 * len(RAW))) == 2
    with pytest.raises(InputError, match=r"b\.csv: holds more than"):
        taken(path, largest=2 * len(RAW) - 1)


def test_refuses_more_members_than_any_archive_of_profiles_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    path = zipped(tmp_path / "a.zip", dict.fromkeys("abc", b""))
    with pytest.raises(InputError, match="3 members, more than 2"):
        taken(path)


@pytest.mark.parametrize("kind", ["LZMA", "bzip2"])
def test_refuses_members_whose_memory_has_no_bound(tmp_path: Path, kind: str) -> None:
    """Of these, ``zipfile`` unpacks all that a piece holds: 1,678 bytes of bzip2 took 4.2 GB."""
    compression = {"LZMA": zipfile.ZIP_LZMA, "bzip2": zipfile.ZIP_BZIP2}[kind]
    path = zipped(tmp_path / "a.zip", {"a.csv": RAW}, compression)
    with pytest.raises(InputError, match=f"packed with {kind}, which is not unpacked here"):
        taken(path)


def test_goes_on_after_a_member_that_cannot_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("1.csv", RAW)
        archive.writestr("2.csv", RAW + b"to be damaged")
        archive.writestr("3.csv", RAW, zipfile.ZIP_LZMA)
        archive.writestr("4.txt", TEXT)
    path.write_bytes(path.read_bytes().replace(b"to be damaged", b"to be Damaged"))
    with plain_sources(str(path)) as sources:
        first, second, third, fourth = sources
    assert isinstance(first, Source)
    assert first.name == f"{path}!1.csv"
    assert isinstance(second, InputError)
    assert "2.csv: the archive is damaged" in str(second)
    assert isinstance(third, InputError)
    assert "LZMA" in str(third)
    assert isinstance(fourth, Source)
    assert fourth.name == f"{path}!4.txt"


def test_shows_control_characters_in_names_of_members(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a\nnew  x\x1b[2J.csv": RAW})
    assert list(taken(path)) == [f"{path}!a\\nnew  x\\x1b[2J.csv"]


def test_refuses_an_encrypted_member(tmp_path: Path) -> None:
    data = bytearray(zipped(tmp_path / "a.zip", {"a.csv": RAW}).read_bytes())
    # Bit 0 of the general purpose flag, at byte 6 of the local and byte 8 of the central header.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "encrypted.zip"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.csv: the archive is damaged, encrypted"):
        taken(path)


def test_refuses_an_archive_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (gzip.compress(RAW), zipped(tmp_path / "a.zip", {"a.csv": RAW}).read_bytes()):
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError, match="the archive is damaged"):
            taken(path)


def test_survives_damage_anywhere_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = zipped(tmp_path / "a.zip", {"a.csv": RAW, "b.csv": TEXT}).read_bytes()
    for seed in range(300):
        chance = random.Random(seed)
        data = bytearray(chance.choice([whole, gzip.compress(RAW, mtime=0)]))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            found = taken(path, largest=1_000_000)
        except InputError:
            continue
        # Only names and what no checksum covers can change without being noticed.
        assert all(content in {RAW, TEXT, bytes(data)} for content in found.values())


def test_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (RAW, gzip.compress(RAW)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert taken("-") == {"<stdin>": RAW}


def test_bounds_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(zeros))
        with pytest.raises(InputError, match=r"<stdin>: holds more than 5\.00"):
            taken("-", largest=5_000_000)


def test_says_that_there_is_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        taken("-")


def test_refuses_what_is_no_regular_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    link = tmp_path / "link"
    link.symlink_to("/dev/zero")
    for path in (fifo, link, tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError, match="not a regular file"):
            taken(path)


@pytest.mark.parametrize("path", ["absent", "a" * 5000, "a\0b", "absent/below"])
def test_refuses_a_path_that_names_nothing(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        taken(tmp_path / path)


def test_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    path = zipped(tmp_path / "a.zip", {"a.csv": RAW, "b.csv": TEXT})
    with plain_sources(str(path)) as sources:
        assert isinstance(next(sources), Source)
        assert list(room.iterdir())
    assert not list(room.iterdir())
