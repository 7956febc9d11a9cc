"""The outcome of profiles: a line for each, and the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from advisor.cli.output import Progress
from advisor.commands import program
from advisor.wording import count, one_line

if TYPE_CHECKING:
    from advisor.ingest.batches import Ingested

_SUMS = {
    "new": "new",
    "known": "already known",
    "skipped": "skipped (no profiles)",
    "refused": "refused",
}


def print_all(results: Iterable[Ingested], progress: Progress, database: str) -> Counter[str]:
    """Print the outcome of each profile as it comes, then how many there were of each kind.

    Commands that change what is stored name the ``database``.
    Profiles go to stdout; why one is refused, and what is left out or in doubt, to stderr.
    """
    totals: Counter[str] = Counter()
    doubted = []
    for result in results:
        totals[result.status] += 1
        progress.clear()
        print_result(result)
        if result.status == "known" and result.notes:
            doubted.append(result)
    progress.clear()
    _print_known(doubted, database)
    print_totals(totals)
    return totals


def print_result(result: Ingested) -> None:
    """Print the outcome of one profile; of what is no profile, nothing but its notes."""
    if result.status == "skipped":
        _print_notes(result)
        return
    if result.error is not None:
        click.echo(one_line(f"refused  {result.error}"), err=True)
        if result.error.hint:
            click.echo(one_line(f"  hint: {result.error.hint}"), err=True)
        return
    launches = count(result.launches, "launch")
    click.echo(one_line(f"{result.status:<7}  {result.run_id}  {launches}  {result.name}"))
    for skipped in result.skipped:
        place = "" if skipped.place == result.name else f"{skipped.place}: "
        click.echo(one_line(f"  left out of it: {place}{skipped.reason}"), err=True)
    if result.status != "known":
        _print_notes(result)


def _print_known(results: Sequence[Ingested], database: str) -> None:
    """Print what known profiles have not been given: of each night's new label it is one line."""
    if len(results) == 1:
        _print_notes(results[0])
    elif results:
        count = f"{len(results):,} known profiles"
        note = f"  note: {count} keep their labels, which are others than these"
        change = f"`{program(database)} runs label RUN…` changes them"
        click.echo(one_line(f"{note}: {change}"), err=True)


def _print_notes(result: Ingested) -> None:
    for note in result.notes:
        click.echo(one_line(f"  note on {result.name}: {note}"), err=True)


def print_totals(totals: Counter[str]) -> None:
    """Print how many there were of each kind, where there was more than one."""
    if totals.total() > 1:
        click.echo(
            ", ".join(f"{totals[kind]:,} {word}" for kind, word in _SUMS.items() if totals[kind])
        )


def status_of(totals: Counter[str]) -> int:
    """Return the exit status: 3 where one was refused."""
    return 3 if totals["refused"] else 0
