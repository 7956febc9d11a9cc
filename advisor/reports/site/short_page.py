"""The page of a night that was old when the site was first written: measured, and not judged.

To judge a night takes seconds, and there may be years of them. Decision 0028 says which get what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor import wording
from advisor.commands import program
from advisor.database.published import LongestKernel
from advisor.database.read import StoredRun
from advisor.records import dataclass
from advisor.reports.site.frame import run_night
from advisor.reports.write.links import Links

if TYPE_CHECKING:
    from advisor.database.published import RunTotal
    from advisor.reports.record.history_settings import HistoryLimits


@dataclass(frozen=True, kw_only=True)
class ShortPage:
    """Everything on such a page; ``more`` counts the kernels that are not on it."""

    title: str
    footer: str
    links: Links
    is_simulated: bool
    about: str
    heading: str
    sentence: str
    command: str
    kernels: tuple[LongestKernel, ...]
    more: int


def short_shown(
    run: StoredRun,
    kernels: Sequence[LongestKernel],
    total: RunTotal,
    links: Links,
    footer: str,
    database: str,
) -> ShortPage:
    """Return the page of a run: its longest kernels as they were stored."""
    night = run_night(run)
    counted = wording.count(total.kernels, "kernel")
    parts = (night, run.branch, run.label, run.configuration, run.device_names, run.note)
    return ShortPage(
        title=night,
        footer=footer,
        links=links,
        is_simulated=run.simulated,
        about=", ".join(filter(None, parts)),
        heading=f"{wording.seconds(total.duration)} of profiled kernel time in {counted}.",
        sentence="This night was old when the site was first written, so its report was not kept."
        " This command writes it:",
        command=f"{program(database)} report {run.run_id} --html",
        kernels=tuple(kernels),
        more=max(0, total.kernels - len(kernels)),
    )


def judged_at_first(
    runs: Sequence[StoredRun], totals: Mapping[str, RunTotal], limits: HistoryLimits
) -> set[str]:
    """Return the newest runs, those that are judged where nothing was written of them before.

    ``runs`` are the oldest first; the newest one is always among them.
    """
    chosen: set[str] = set()
    kernels = 0
    for run in reversed(runs[-limits.site_nights :]):
        kernels += totals[run.run_id].kernels if run.run_id in totals else 0
        if chosen and kernels > limits.site_kernels:
            break
        chosen.add(run.run_id)
    return chosen
