"""A small crowd at one lake: two add every run, one compacts, one reads, some are killed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.lake_crowd import Crowd, crowded


def test_every_run_is_there_once_and_whole(tmp_path: Path) -> None:
    seen = crowded(tmp_path, Crowd(adding=3, runs=12, reading=1, kills=2))
    assert (seen.runs, seen.wrong, seen.damaged) == (12, (), ())
    assert seen.looks > 0
