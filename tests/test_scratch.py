"""Folders that are gone when they are not needed, also those of processes that were killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from advisor.scratch import scratch_folder, sweep

HOLD = """
import sys
from advisor.scratch import scratch_folder
with scratch_folder(sys.argv[1], ".a") as folder:
    (folder / "large").write_text("x")
    print(folder, flush=True)
    sys.stdin.readline()
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked")


def test_a_folder_is_there_until_the_block_ends(tmp_path: Path) -> None:
    with scratch_folder(tmp_path, ".a") as folder:
        (folder / "file").write_text("x")
        assert [path.name.startswith(".a.advisor-scratch-") for path in tmp_path.iterdir()] == [
            True
        ]
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_the_next_one_removes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        made = Path(process.stdout.readline().strip())
        sweep(tmp_path, ".a")
        assert (made / "large").exists()  # its process lives
        process.kill()
        process.communicate()
    sweep(tmp_path, ".b")
    assert made.exists()
    with scratch_folder(tmp_path, ".a"):
        assert not made.exists()
    assert list(tmp_path.iterdir()) == []


def test_leaves_alone_what_is_not_its_own(tmp_path: Path) -> None:
    others = [
        "a.advisor-scratch-abcdefgh.txt",
        ".advisor-scratch-mine",
        ".b.advisor-scratch-a1b2c3d4",
    ]
    for name in others:
        (tmp_path / name).mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    (tmp_path / ".advisor-scratch-abcdefgh").symlink_to(elsewhere)
    (tmp_path / ".advisor-scratch-abcdefgi").write_text("a file")
    before = sorted(tmp_path.iterdir())
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert (elsewhere / "kept").exists()
