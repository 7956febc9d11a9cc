"""How much of a profile is read in detail: ``rules/detail.yaml`` says what a sample is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from advisor.cache import remembered
from advisor.resources import data_dir

Detail = Literal["all", "sample", "none"]
DETAILS: tuple[Detail, ...] = ("all", "sample", "none")
USUAL_DETAIL: Detail = "sample"
FILE = "detail.yaml"


def launches_in_detail(detail: Detail) -> int | None:
    """Return how many launches of a variant are read in detail; None for all.

    Raises:
        RuleError: the file that says what a sample is has another form.
    """
    if detail == "sample":
        path = data_dir("rules") / FILE
        return remembered("detail", [path], "", lambda: _sampled(path))
    return 0 if detail == "none" else None


def _sampled(path: Path) -> int:
    from advisor.documents import load  # what is remembered needs no parser

    document = load(path)
    document.refuse_unknown(("launches",))
    launches = document.mapping("launches")
    launches.refuse_unknown(("value", "source"))
    return int(launches.number("value"))


def more_detail(detail: Detail, launches: int, detailed: int) -> bool:
    """Return whether more is asked for than was read: of ``launches`` that many in detail."""
    if detail == "all":
        return detailed < launches
    return detail == "sample" and not detailed and launches > 0
