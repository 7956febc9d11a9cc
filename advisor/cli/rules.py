"""``advisor rules``: the knowledge, to list, to read and to test."""

from __future__ import annotations

import shlex

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import (
    FORMATS,
    Narrow,
    terminal_width,
    write_next,
    write_rows,
    write_text,
)
from advisor.stdout import has_unicode
from advisor.wording import count, printable

_LIST = Narrow(
    whole=("rule",),
    spare=("mechanism", "subject", "fired", "silent", "thresholds", "severity"),
)
_LINT = """\b
Examples:
  advisor rules lint
  advisor rules lint our-rules
"""
_TEST = """\b
Examples:
  advisor rules test memory/uncoalesced-loads
  advisor rules test our-rules --junit out/rules.xml
"""
_NEW = """\b
Examples:
  advisor rules new memory/padded-rows --dir our-rules
  advisor --rules our-rules report
"""
_RECORDS = Narrow(
    whole=("rule", "given", "taken"),
    spare=("gone", "by other means", "backfired", "no effect", "quartiles"),
)
_RECORD = """\b
Examples:
  advisor rules record
  advisor rules record memory/register-spills --format json
"""
_EXPLAIN = """\b
Examples:
  advisor rules explain memory/uncoalesced-loads gather
  advisor rules explain run/many-shapes --run 3f2a --format json
"""


@click.group()
def rules() -> None:
    """List, read, explain, test and write rules."""


@rules.command("list")
@click.option("--family", help="Only this family: memory, occupancy, …")
@click.option("--subject", type=click.Choice(["kernel", "run"]), help="Only rules about this.")
@click.option("--proven/--unproven", default=None, help="Only those that are, or are not yet.")
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def list_(
    settings: CommandSettings,
    family: str | None,
    subject: str | None,
    proven: bool | None,
    style: str,
) -> None:
    """List the rules, what their thresholds rest on, and which are proven.

    A rule is proven when it fired on a real kernel and stayed silent on another; the counts are in
    the list. Unproven rules are kept off the first page of reports.
    """
    from advisor.api.rule_listing import list_rules

    columns, rows = list_rules(family, settings.configuration, subject=subject, proven=proven)
    write_rows(columns, rows, style, _LIST)


@rules.command()
@click.option("--format", "style", type=FORMATS, default="table", show_default=True)
@click.pass_obj
def operations(settings: CommandSettings, style: str) -> None:
    """List the operations that kernels can be bound to in the configuration, with their sizes.

    Sizes in brackets have a default. `advisor rules show OPERATION` says what they mean and what
    the operation needs.
    """
    from advisor.api.operation_listing import list_operations

    columns, rows = list_operations(settings.configuration)
    write_rows(columns, rows, style)


@rules.command()
@click.argument("rule", metavar="RULE|OPERATION")
@click.pass_obj
def show(settings: CommandSettings, rule: str) -> None:
    """Show RULE: what it looks for, why, what it advises, and its sources.

    Or OPERATION: what it needs at least, its sizes and sources.
    """
    from advisor.api.operation_listing import show_operation
    from advisor.api.rule_listing import show_rule

    named = show_operation if "/" not in rule else show_rule
    click.echo(printable(named(rule, settings.configuration)))


@rules.command(epilog=_EXPLAIN)
@click.argument("rule")
@click.argument("kernel", required=False)
@click.option("--run", default="latest", show_default=True, help="As `report` takes it.")
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.pass_obj
def explain(settings: CommandSettings, rule: str, kernel: str | None, run: str, style: str) -> None:
    """Show why RULE fires on KERNEL or does not: every clause with the values it read.

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
    click.echo(
        explained_text(found, width=terminal_width(), ascii_only=not has_unicode()), nl=False
    )


@rules.command(epilog=_RECORD)
@click.argument("rule", required=False)
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.pass_obj
def record(settings: CommandSettings, rule: str | None, style: str) -> None:
    """Show whether advice worked: how often it was given and taken, and what it brought.

    Of all rules a table; of RULE also the outcome of each kernel that it spoke of. An estimate of
    a rule counts as much as its own record says: times `belief`, which is 1 without a record.
    """
    from advisor.api.advised import record_json, record_table, record_text, rule_records

    found = rule_records(
        settings.database, rule, wait=settings.wait, configuration=settings.configuration
    )
    if style == "json":
        click.echo(record_json(found))
    elif not found:
        click.echo("no advice that promises time was given yet", err=True)
    elif rule is None:
        write_rows(*record_table(found), "table", _RECORDS)
    else:
        click.echo(printable(record_text(found)), nl=False)


@rules.command(epilog=_LINT)
@click.argument("path", required=False, type=click.Path(exists=True))
@click.pass_context
def lint(context: click.Context, path: str | None) -> None:
    """Print every problem of the rules below PATH, one per line with its place, and exit with 1.

    PATH is a directory FAMILY/*.yaml with its facts and operations, one FAMILY or one file in it;
    the shipped ones where left out. Warnings say what could be better and change nothing.
    """
    from advisor.api.rule_files import lint_rules

    remarks = lint_rules(path)
    for each in remarks:
        hint = f" ({each.hint})" if each.hint else ""
        click.echo(printable(f"{each.at or path}: {each.kind}: {each.problem}{hint}"))
    errors = sum(each.kind == "error" for each in remarks)
    click.echo(f"{count(errors, 'error')}, {count(len(remarks) - errors, 'warning')}", err=True)
    context.exit(1 if errors else 0)


@rules.command(epilog=_TEST)
@click.argument("what", required=False, metavar="[RULE|DIR]")
@click.option(
    "--junit", "report", type=click.Path(dir_okay=False), help="Write JUnit XML to this file, too."
)
@click.pass_obj
@click.pass_context
def test(
    context: click.Context, settings: CommandSettings, what: str | None, report: str | None
) -> None:
    """Run the examples inside rules and operations, through the same SQL as production.

    Of one RULE or operation, of those below DIR, or of all.
    """
    from advisor.api.rule_files import junit, run_rule_tests

    results = run_rule_tests(what, settings.configuration)
    for result in results:
        for problem in result.problems:
            place = f"{result.at}: {result.id}: {result.name}"
            click.echo(printable(f"{place}: {problem}"), err=True)
    if report is not None:
        write_text(junit(results), report)
    passed = sum(result.passed for result in results)
    click.echo(f"{passed:,} of {len(results):,} examples as expected")
    context.exit(0 if passed == len(results) else 1)


@rules.command()
@click.option(
    "-o", "--output", default="rule-pages", show_default=True, type=click.Path(file_okay=False)
)
@click.pass_obj
def docs(settings: CommandSettings, output: str) -> None:
    """Write a page per rule, and an index by family and by symptom."""
    from advisor.api.rule_files import write_pages

    pages = list(write_pages(output, settings.configuration))
    click.echo(f"wrote {count(len(pages), 'page')}; begin with {pages[0]}", err=True)


@rules.command(epilog=_NEW)
@click.argument("rule", metavar="FAMILY/SLUG")
@click.option(
    "--dir", "directory", default=".", show_default=True, type=click.Path(file_okay=False)
)
def new(rule: str, directory: str) -> None:
    """Write a new rule to fill in: valid as it stands, with tests that pass."""
    from advisor.api.rule_files import new_rule, what_tests

    path = new_rule(rule, directory)
    click.echo(str(path))
    for words in (("lint", str(path)), ("test", what_tests(rule, directory))):
        write_next(f"advisor rules {shlex.join(words)}")
