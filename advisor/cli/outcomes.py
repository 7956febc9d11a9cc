"""The outcome of profiles: a line for each, and the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from advisor.cli.output import Progress
from advisor.wording import count, one_line

if TYPE_CHECKING:
    from advisor.ingest.batches import Ingested

_SUMS = {
    "new": "new",
    "known": "already known",
    "skipped": "skipped (no profiles)",
    "refused": "refused",
}


def tell_all(results: Iterable[Ingested], progress: Progress) -> Counter[str]:
    """Print the outcome of each profile as it comes, then how many there were of each kind.

    Profiles go to stdout; why one is refused, and what is left out or in doubt, to stderr.
    """
    totals: Counter[str] = Counter()
    doubted = []
    for result in results:
        totals[result.status] += 1
        progress.clear()
        tell(result)
        if result.status == "known" and result.notes:
            doubted.append(result)
    progress.clear()
    _tell_of_known(doubted)
    tell_sum(totals)
    return totals


def tell(result: Ingested) -> None:
    """Print the outcome of one profile; of what is no profile, nothing but its notes."""
    if result.status == "skipped":
        _tell_notes(result)
        return
    if result.error is not None:
        click.echo(one_line(f"refused  {result.error}"), err=True)
        if result.error.hint:
            click.echo(one_line(f"  hint: {result.error.hint}"), err=True)
        return
    launches = count(result.launches, "launch")
    click.echo(one_line(f"{result.status:<7}  {result.run_id}  {launches}  {result.name}"))
    for skipped in result.skipped:
        click.echo(one_line(f"  skipped {skipped.place}: {skipped.reason}"), err=True)
    if result.status != "known":
        _tell_notes(result)


def _tell_of_known(results: Sequence[Ingested]) -> None:
    """Print what known profiles have not been given: of each night's new label it is one line."""
    if len(results) == 1:
        _tell_notes(results[0])
    elif results:
        count = f"{len(results):,} known profiles"
        told = f"  note: {count} keep their labels, which are others than these"
        click.echo(f"{told}: `advisor runs label RUN…` changes them", err=True)


def _tell_notes(result: Ingested) -> None:
    for note in result.notes:
        click.echo(one_line(f"  note on {result.name}: {note}"), err=True)


def tell_sum(totals: Counter[str]) -> None:
    """Print how many there were of each kind, where there was more than one."""
    if totals.total() > 1:
        click.echo(
            ", ".join(f"{totals[kind]:,} {word}" for kind, word in _SUMS.items() if totals[kind])
        )


def status_of(totals: Counter[str]) -> int:
    """Return the exit status: 3 where one was refused."""
    return 3 if totals["refused"] else 0
