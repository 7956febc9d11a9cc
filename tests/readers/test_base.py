"""Sources, and telling formats apart by content."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from advisor.errors import InputError, UsageError
from advisor.readers import Source, readers
from advisor.readers.detect import detect
from advisor.readers.ncu import report as ncu_report
from tests.support.page_mutants import PAGES


def test_reads_head_and_size_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"0123456789")
    source = Source.from_path(path)
    assert (source.name, source.size, source.head(4)) == (str(path), 10, b"0123")


def test_makes_a_pipe_seekable() -> None:
    source = Source.from_stream(io.BytesIO(b"abc"))
    with source.open() as file:
        file.seek(1)
        assert file.read() == b"bc"
    assert (source.name, source.size, source.head()) == ("<stdin>", 3, b"abc")


@pytest.mark.parametrize("ask", [Source.open, Source.head, lambda source: source.size])
def test_says_that_a_file_is_missing(tmp_path: Path, ask: object) -> None:
    assert callable(ask)
    with pytest.raises(InputError, match=r"gone\.csv: cannot be read: No such file"):
        ask(Source.from_path(tmp_path / "gone.csv"))


def test_refuses_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        Source.from_path(tmp_path).open()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that fails to be read")
@pytest.mark.parametrize("most", [-1, 1])
def test_says_which_file_fails_while_it_is_read(most: int) -> None:
    with (
        Source.from_path(Path("/proc/self/mem")).open() as file,
        pytest.raises(InputError, match="/proc/self/mem: cannot be read: Input/output error"),
    ):
        file.read(most)


def test_tells_a_file_that_was_written_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"0123")
    source = Source.from_path(path)
    before = source.state()
    assert source.state() == before
    os.utime(path, ns=(0, 0))
    written = source.state()
    other = tmp_path / "b.bin"
    other.write_bytes(b"0123")
    os.utime(other, ns=(0, 0))
    other.replace(path)
    assert len({before, written, source.state()}) == 3


def test_tells_a_report_by_its_content() -> None:
    assert detect(Source(name="renamed.csv", content=b"NVR\0....")) is ncu_report


def test_lets_the_user_name_the_format() -> None:
    assert detect(Source(name="x", content=b"?"), as_format="ncu-rep") is ncu_report


def test_refuses_a_format_nobody_knows() -> None:
    with pytest.raises(UsageError, match="no format is called 'nsys'") as caught:
        detect(Source(name="x", content=b""), as_format="nsys")
    assert all(reader.FORMAT in str(caught.value.hint) for reader in readers())


def test_says_that_a_tar_archive_is_not_opened(tmp_path: Path) -> None:
    page = tmp_path / "a.csv"
    page.write_bytes(PAGES[0].encode())
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(page)
    with pytest.raises(InputError, match="a tar archive, which is not opened") as caught:
        detect(Source.from_path(path))
    assert "unpack it" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "content", "problem", "hint"),
    [
        ("a.txt", b"", "the file is empty", "known formats: "),
        ("a.txt", b"hello there", "not a profile", "--as FORMAT overrides"),
        ("a.bin", b"\x97\0\0\0\xff", "not a profile", "known formats: "),
        ("a.ncu-rep", b"\x97\0\0\0", "not a profile", "begins with 4e 56 52 00"),
        (
            "a.ncu-rep",
            b"version https://git-lfs.github.com/spec/v1",
            "not a profile",
            "git lfs pull",
        ),
    ],
)
def test_says_what_can_be_done_with_an_unknown_file(
    name: str, content: bytes, problem: str, hint: str
) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        detect(Source(name=name, content=content))
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("name", ["a.txt", "a.ncu-rep", "a.csv"])
def test_never_prints_what_an_unknown_file_holds(name: str) -> None:
    with pytest.raises(InputError) as caught:
        detect(Source(name=name, content=b"root:$6$secret:19000:0:99999\nsecret"))
    told = f"{caught.value} {caught.value.hint}"
    assert "secret" not in told
    assert b"root".hex(" ") not in told
