"""``advisor fleet``: questions over all runs of a lake."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, cast

import click

from advisor.cli.application import CommandSettings
from advisor.cli.lake import LAKE, lake_folder, tell_left_out
from advisor.cli.options import moment
from advisor.cli.output import Progress
from advisor.wording import count

if TYPE_CHECKING:
    from advisor.api.fleet_engines import EngineName

_JUDGE = """\b
Examples:
  advisor fleet judge --lake /shared/lake
  advisor fleet judge --lake /shared/lake --since 2026-11-01
  advisor fleet judge --lake /shared/lake --engine spark
  advisor fleet judge --lake /shared/lake --engine spark --master spark://head:7077
"""


@click.group()
def fleet() -> None:
    """Judge all runs of a lake at once."""


@fleet.command(epilog=_JUDGE)
@LAKE
@click.option(
    "--engine",
    type=click.Choice(["duckdb", "spark"]),
    default="duckdb",
    show_default=True,
    help="What computes facts and rules: DuckDB here, or Spark (the extra advisor[spark]).",
)
@click.option("--master", metavar="URL", help="Spark's master; without it, this machine.")
@click.option(
    "--since",
    callback=moment,
    metavar="TIME",
    help="Leave older nights out; ISO 8601, UTC without a zone.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes of this machine that judge; by default one for each core.",
)
@click.pass_obj
def judge(
    settings: CommandSettings,
    lake: str | None,
    engine: str,
    master: str | None,
    since: datetime | None,
    jobs: int | None,
) -> None:
    """Work out facts, findings and outcomes of runs that today's rules have not judged.

    The detector says what moved in every history that has other runs since.
    They are written beside the runs, all of them or nothing, and every command reads them.
    """
    from advisor.api.fleet import judge_lake
    from advisor.database.turns import cores

    with Progress("judging", clock=time.monotonic) as progress:
        done = judge_lake(
            lake_folder(settings, lake),
            engine=cast("EngineName", engine),
            master=master,
            since=since,
            jobs=jobs or cores(),
            progress=progress,
            configuration=settings.configuration,
        )
    if not done.runs and not done.histories:
        click.echo("nothing to do: today's rules have judged every run")
    if done.runs:
        findings, outcomes = count(done.findings, "finding"), count(done.outcomes, "outcome")
        click.echo(f"judged {count(done.runs, 'run')}: {findings}, {outcomes} of advice")
    if done.histories:
        histories = count(done.histories, "history")
        click.echo(f"looked at {histories}: {count(done.moved, 'change')} of series")
    tell_left_out(done.left_out)
