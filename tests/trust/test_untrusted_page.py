"""The page about untrusted input: its recipe runs, and its limits are those of the program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from advisor.api.querying import TIMEOUT
from advisor.database.connect import DEFAULT_MEMORY
from advisor.readers.detect import LARGEST, MOST_MEMBERS
from advisor.resources import data_dir

PAGE = (Path(__file__).parents[2] / "docs" / "untrusted.md").read_text(encoding="utf-8")


def test_its_limits_are_those_of_the_program() -> None:
    assert f"at most {MOST_MEMBERS:,} members and {LARGEST // 2**30} GiB" in PAGE
    assert f"{TIMEOUT:g} seconds and {DEFAULT_MEMORY.replace('GB', ' GB')} by default" in PAGE


def test_its_recipe_runs(tmp_path: Path) -> None:
    found = re.search(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    profiles = data_dir("seed") / "runs" / "nightly"
    (tmp_path / "night-01.ncu-rep").symlink_to(profiles / "night-01.ncu-rep")
    done = subprocess.run(
        ["bash", "-euc", found[1] + "cat report.md"],
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TMPDIR": str(tmp_path),
            "PROFILES": str(tmp_path),
            "SHA": "1a2b3c4",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "## Kernels" in done.stdout
