"""``advisor rules``: the knowledge, to list, to read and to test."""

from __future__ import annotations

import sys

import click

from advisor.cli.application import Settings
from advisor.cli.output import FORMATS, terminal_width, write_rows

_EXPLAIN = """\b
Examples:
  advisor rules explain memory/uncoalesced-loads gather
  advisor rules explain run/many-shapes --run 3f2a --format json
"""


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


@rules.command(epilog=_EXPLAIN)
@click.argument("rule")
@click.argument("kernel", required=False)
@click.option("--run", default="latest", show_default=True, help="Id, beginning of one, or label.")
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.pass_obj
def explain(settings: Settings, rule: str, kernel: str | None, run: str, style: str) -> None:
    """Say why RULE fires on KERNEL or does not: every clause with the values it read.

    KERNEL is a name, a part of one, a regular expression, or the id of a kernel or variant; a rule
    about runs needs none.
    """
    from advisor.api.explaining import explain_rule, explained_json, explained_text

    found = explain_rule(
        settings.database,
        rule,
        kernel,
        run=run,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    if style == "json":
        click.echo(explained_json(found))
        return
    ascii_only = not (sys.stdout.encoding or "ascii").lower().startswith("utf")
    click.echo(explained_text(found, width=terminal_width(), ascii_only=ascii_only), nl=False)


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
