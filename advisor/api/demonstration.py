"""The example runs: profiles that the project makes itself, simulated and marked so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import yaml

from advisor.ingest.batches import ProfileWriter
from advisor.ingest.profiles import RunLabels, read_profiles
from advisor.knowledge.load import load_knowledge
from advisor.resources import data_dir


def ingest_examples(database: str, *, wait: float, progress: Callable[[str], None]) -> int:
    """Store the nightly example runs and return how many of them the database holds.

    Raises:
        DatabaseError: the database cannot be opened or written.
    """
    folder = data_dir("seed") / "runs" / "nightly"
    with (folder / "runs.yaml").open("rb") as file:
        nights = yaml.load(file, Loader=yaml.CSafeLoader)["runs"]
    profiles = (
        profile
        for night in nights
        for profile in read_profiles([str(folder / night["file"])], labels=_labels(night))
    )
    stored = 0
    for result in ProfileWriter(database, load_knowledge(), wait=wait, progress=progress).store(
        profiles
    ):
        if result.error is not None:
            raise result.error
        stored += 1
    return stored


def _labels(night: dict[str, Any]) -> RunLabels:
    return RunLabels(
        label=night.get("label"),
        commit=night.get("commit"),
        branch=night.get("branch"),
        note=night.get("subject"),
        tags=("demo",),
        at=_moment(night["at"]),
    )


def _moment(value: str | datetime) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.replace(tzinfo=None)
