"""``advisor rules``: the knowledge, to list, to read and to test."""

from __future__ import annotations

import click

from advisor.cli.application import Settings
from advisor.cli.output import FORMATS, write_rows


@click.group()
def rules() -> None:
    """List, show and test the rules."""


@rules.command("list")
@click.option("--family", help="Only this family: memory, occupancy, …")
@click.option("--subject", type=click.Choice(["kernel", "run"]), help="Only rules about this.")
@click.option("--proven/--unproven", default=None, help="Only those that are, or are not yet.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def list_(
    settings: Settings, family: str | None, subject: str | None, proven: bool | None, style: str
) -> None:
    """List the rules, what their thresholds rest on, and which are proven.

    A rule is proven when it fired on a real kernel and stayed silent on another; the counts are in
    the list. Unproven rules are kept off the first page of reports.
    """
    from advisor.api.knowledge import list_rules

    columns, rows = list_rules(family, settings.configuration, subject=subject, proven=proven)
    write_rows(columns, rows, style)


@rules.command()
@click.argument("rule")
@click.pass_obj
def show(settings: Settings, rule: str) -> None:
    """Show RULE: what it looks for, why, what it advises, and its sources."""
    from advisor.api.knowledge import show_rule

    click.echo(show_rule(rule, settings.configuration))


@rules.command()
@click.argument("rule", required=False)
@click.pass_obj
@click.pass_context
def test(context: click.Context, settings: Settings, rule: str | None) -> None:
    """Run the examples inside the rules, through the same SQL as production."""
    from advisor.api.knowledge import check_examples

    checked, failures = check_examples(rule, settings.configuration)
    for failure in failures:
        click.echo(failure, err=True)
    click.echo(f"{checked - len(failures):,} of {checked:,} examples as expected")
    context.exit(1 if failures else 0)
