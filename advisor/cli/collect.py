"""``advisor collect``: what to profile next."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from advisor.cli.application import CommandSettings
from advisor.cli.output import plain, terminal_width
from advisor.stdout import has_unicode

if TYPE_CHECKING:
    from advisor.api.collecting import ToCollect
    from advisor.reports.write.paper import Paper
    from advisor.rules.engine.collect import Collection

_SHOWN = 10  # rules that are listed
_EPILOG = """\b
Examples:
  advisor collect
  advisor collect 3f2a --kernel matmul
  advisor collect --format json | jq -r .command
"""


@click.command(epilog=_EPILOG)
@click.argument("run", default="latest")
@click.option("--kernel", metavar="REGEX", help="Only kernels whose name matches.")
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option("--all", "every", is_flag=True, help="List every rule that the command settles.")
@click.pass_obj
def collect(
    settings: CommandSettings, run: str, kernel: str | None, style: str, every: bool
) -> None:
    """Print the profiler command that fills most of the gaps in RUN, and what it settles.

    RUN is an id or the beginning of one, a label, a branch, a commit, or "latest".
    """
    from advisor.api.collecting import to_collect

    found = to_collect(
        settings.database,
        run,
        kernel=kernel,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    text = _json(found) if style == "json" else _text(found, every=every)
    click.echo(text, nl=style == "json")


def _json(found: ToCollect) -> str:
    collection = {} if found.collection is None else asdict(found.collection)
    record = {
        "schema_version": 1,
        "run": found.run_id,
        "command": collection.get("command"),
        "sections": collection.get("sections", ()),
        "metrics": collection.get("metrics", ()),
        "kernels": found.kernels,
        "needs_version": collection.get("needs_version"),
        "printed_note": found.printed_note or None,
        "seconds_at_stake": collection.get("value"),
        "settles": [asdict(each) for each in found.settles],
        "profiler": found.profiler,
        "not_knowable": found.not_knowable,
    }
    from advisor.escaping import json_text

    return json_text(plain(record), indent=2)


def _text(found: ToCollect, *, every: bool) -> str:
    from advisor.reports.write.paper import Paper

    paper = Paper(width=terminal_width(), ascii_only=not has_unicode())
    if found.collection is None:
        paper.write(_nothing(found))
    else:
        _command(paper, found, found.collection)
        paper.blank()
        _settled(paper, found, found.collection, every=every)
        paper.blank()
        paper.write(f"Kernels: {', '.join(found.kernels)}")
    _not_knowable(paper, found)
    return paper.text()


def _nothing(found: ToCollect) -> str:
    if found.profiler is None:
        return f"Nothing is known about what the profiler of {found.run_id} can collect."
    return (
        f"Nothing to collect: no other counter of {found.profiler} could change the advice for "
        f"{found.run_id}."
    )


def _command(paper: Paper, found: ToCollect, collection: Collection) -> None:
    version = collection.needs_version
    needed = "" if version is None else f", with {found.profiler} {version} or later"
    if found.printed_note:
        paper.write(found.printed_note)
        paper.blank()
    paper.write(f"Run this{needed}, then pass the profile that it writes to advisor ingest:")
    paper.command(collection.command)
    if collection.unsplit is not None:
        paper.write(
            f"The stored command line is left out: no shell would take it ({collection.unsplit})."
        )
    if not collection.is_complete:
        paper.write(
            "The profile does not hold the whole command: fill in what is in angle brackets, and "
            "select launches as before."
        )


def _settled(paper: Paper, found: ToCollect, collection: Collection, *, every: bool) -> None:
    """Write what the command settles, what could save most first, unless all is asked for."""
    from advisor.wording import count, seconds

    value = collection.value
    stake = (
        "whose time is not in the profile"
        if value is None
        else f"which could still save up to {seconds(value)}"
    )
    rules = count(len(found.settles), "rule")
    kernels = count(len(collection.variant_ids), "kernel")
    paper.write(
        f"It settles {rules} on {kernels}, {stake}. These are no advice yet; the new profile shows "
        "which of them apply:"
    )
    shown = found.settles if every else found.settles[:_SHOWN]
    for each in shown:
        where = f"{count(each.kernels, 'kernel')}; needs {each.lacks_named}"
        paper.write(f"{each.title} ({each.rule_id}; {where})", indent=4, first="  -")
    if left := len(found.settles) - len(shown):
        paper.write(f"and {count(left, 'more rule')}; --all lists them", indent=4)


def _not_knowable(paper: Paper, found: ToCollect) -> None:
    if found.not_knowable:
        from advisor.wording import count

        paper.blank()
        rules = count(len(found.not_knowable), "rule")
        paper.write(f"Not knowable here: {rules} about what {found.profiler} cannot measure.")
