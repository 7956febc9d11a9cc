"""The example runs: profiles that the project makes itself, simulated and marked so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import yaml

from advisor.api.profiles import Labels, ingest_paths
from advisor.resources import data_dir


def ingest_examples(database: str, *, wait: float, progress: Callable[[str], None]) -> int:
    """Store the nightly example runs and return how many of them the database holds.

    Raises:
        DatabaseError: the database cannot be opened or written.
    """
    folder = data_dir("seed") / "runs" / "nightly"
    with (folder / "runs.yaml").open("rb") as file:
        nights = yaml.load(file, Loader=yaml.CSafeLoader)["runs"]
    stored = 0
    for night in nights:
        labels = Labels(
            label=night.get("label"),
            commit=night.get("commit"),
            branch=night.get("branch"),
            tags=("demo",),
            at=_moment(night["at"]),
        )
        paths = [str(folder / night["file"])]
        for result in ingest_paths(database, paths, labels=labels, wait=wait, progress=progress):
            if result.error is not None:
                raise result.error
            stored += 1
    return stored


def _moment(value: str | datetime) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.replace(tzinfo=None)
