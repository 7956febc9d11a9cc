"""``advisor series``: what is compared from night to night."""

from __future__ import annotations

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import FORMATS, Narrow, write_rows

_LIST = Narrow(whole=("series", "nights"), spare=("configuration", "continued by", "problem"))


@click.group()
def series() -> None:
    """List series, and join those that go on under another name."""


@series.command("list")
@click.option("--branch", show_default="that of the newest run", help="Count nights of this one.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def list_(settings: CommandSettings, branch: str | None, style: str) -> None:
    """List every series: kernel, problem, device and configuration, and its nights."""
    from advisor.api.marking import list_series

    columns = ("series", "nights", "kernel", "problem", "device", "configuration", "continued by")
    rows = [
        (
            each.series_id,
            each.nights,
            each.kernel,
            each.problem or "",
            each.device,
            each.configuration or "",
            each.continued_by or "",
        )
        for each in list_series(settings.database, branch=branch, wait=settings.wait)
    ]
    write_rows(columns, rows, style, _LIST)


@series.command()
@click.argument("old")
@click.argument("new")
@click.option("--overlapping", is_flag=True, help="Join them even where a run holds both.")
@click.pass_obj
def link(settings: CommandSettings, old: str, new: str, overlapping: bool) -> None:
    """Count the nights of OLD to NEW, which continues it, as after a kernel was renamed.

    Both are ids of series, beginnings of ids, or names of kernels. Nothing is joined unasked, and
    two series that ran side by side are refused: with --overlapping, a run that holds both counts
    the mean of their times.
    """
    from advisor.api.marking import link as join

    ended, continued = join(
        settings.database, old, new, overlapping=overlapping, wait=settings.wait
    )
    click.echo(f"{ended} goes on as {continued}")


@series.command()
@click.argument("old")
@click.pass_obj
def unlink(settings: CommandSettings, old: str) -> None:
    """Let OLD stand for itself again."""
    from advisor.api.marking import unlink as part

    click.echo(f"{part(settings.database, old, wait=settings.wait)} stands for itself")
