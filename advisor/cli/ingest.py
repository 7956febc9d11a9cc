"""``advisor ingest``: profiles into the database, or into a spool."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import a_number, moment
from advisor.cli.outcomes import print_all, print_result, print_totals, status_of
from advisor.cli.output import Progress, write_next
from advisor.commands import program
from advisor.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.ingest.batches import Ingested
    from advisor.ingest.profiles import RunLabels
    from advisor.ingest.records import HowToRead
    from advisor.ingest.trial import Tried

_EPILOG = """\b
Examples:
  advisor ingest profile.ncu-rep
  advisor ingest nightly/ --git --label weekly
  advisor ingest 'runs/**/*.ncu-rep' --branch main --commit 1a2b3c4
  ncu --csv --page raw ./program | advisor ingest -
  advisor ingest nightly/ --dry-run
  advisor ingest profile.ncu-rep --spool /shared/spool
  advisor db merge /shared/spool
"""
_SAID = (
    *("label", "configuration", "commit", "branch", "note", "compiler", "group", "rank"),
    *("tags", "step_time", "at"),
)
_HOW = ("as_format", "allow_truncated", "detail", "jobs")
_NAMED = 6  # unknown quantities that a trial names


@click.command(epilog=_EPILOG)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--dry-run", is_flag=True, help="Only show what would be read and what is unknown.")
@click.option(
    "--spool",
    metavar="DIR",
    help="Write bundles into DIR for `advisor db merge`; the database is not touched.",
)
@click.option(
    "--as", "as_format", metavar="FORMAT", help="Read as this format, whatever is inside."
)
@click.option("--allow-truncated", is_flag=True, help="Take the whole launches of a cut-off file.")
@click.option(
    "--detail",
    type=click.Choice(["all", "sample", "none"]),
    default="sample",
    show_default=True,
    help="Launches of which instructions, curves and the vendor's findings are read: all, at most"
    " 16 of a kernel with one launch shape, or none.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Files that are read ahead at a time; more help where files come over a network.",
)
@click.option("--label", help="Name the problem: part of what identifies a series.")
@click.option("--config", "configuration", help="Name the build or configuration, likewise.")
@click.option("--commit", help="Commit of the profiled program.")
@click.option("--branch", help="Branch of the profiled program.")
@click.option("--note", metavar="TEXT", help="What is new in it, such as the commit's subject.")
@click.option("--git", is_flag=True, help="Take these three from the working directory.")
@click.option("--compiler", metavar="TEXT", help="Compiler of the profiled program, and version.")
@click.option("--group", metavar="NAME", help="Runs of one execution, such as its ranks, share it.")
@click.option(
    "--rank",
    type=click.IntRange(0, 2**31 - 1),
    help="Which process of the group these profiles are from, from 0.",
)
@click.option("--tag", "tags", multiple=True, help="Free word to find the run by; repeatable.")
@click.option(
    "--at",
    callback=moment,
    metavar="TIME",
    help="When the program ran, as ISO 8601; without a zone it is UTC.",
)
@click.option(
    "--step-time",
    type=click.FloatRange(min=0, min_open=True, max=1e9),
    callback=a_number,
    metavar="SECONDS",
    help="Time of the whole step that the profiled kernels are part of, measured outside.",
)
@click.pass_obj
def ingest(settings: CommandSettings, /, paths: tuple[str, ...], **options: Any) -> int:
    """Read profiles (files, directories, globs, - for stdin) into the database.

    A file that is already there is not read again. Each file is one run, stored whole or not at
    all. Files may be packed as .gz or .zip. Exit status 3 says that at least one path or file was
    refused; the others are stored.
    """
    from advisor.ingest.records import HowToRead

    how = HowToRead(**{name: options[name] for name in _HOW})
    if options["dry_run"]:
        return _try(settings, paths, how)
    labels = labels_of(options)
    runs: list[str] = []
    with Progress("reading", clock=time.monotonic) as progress:
        if options["spool"] is not None:
            from advisor.ingest.spool import spool_paths

            spooled = spool_paths(
                options["spool"], paths, labels=labels, how=how, progress=progress
            )
            totals = print_all(spooled, progress, settings.database)
        else:
            from advisor.ingest.profiles import ingest_paths

            stored = ingest_paths(
                settings.database,
                paths,
                labels=labels,
                how=how,
                wait=settings.wait,
                progress=progress,
                configuration=settings.configuration,
            )
            totals = print_all(_noted(stored, runs), progress, settings.database)
    if totals["new"] or totals["known"]:
        spool = options["spool"]
        follows = _report_of(runs) if spool is None else f"db merge {shlex.quote(spool)}"
        write_next(f"{program(settings.database)} {follows}")
    return status_of(totals)


def _noted(results: Iterable[Ingested], runs: list[str]) -> Iterator[Ingested]:
    """Yield the outcome of profiles, and note their runs."""
    for result in results:
        if result.run_id:
            runs.append(result.run_id)
        yield result


def _report_of(runs: Sequence[str]) -> str:
    """Return the command that reports on what was ingested: one run, or the newest of several.

    A page tells no time, so the run of a single profile need not be the newest.
    """
    return f"report {runs[0]}" if len(set(runs)) == 1 else "report"


def labels_of(options: dict[str, Any]) -> RunLabels:
    """Return what the options say about the runs."""
    from advisor.ingest.profiles import RunLabels

    labels = {name: options[name] for name in _SAID}
    from_git = ("branch",) if labels["commit"] else ("commit", "branch", "note")
    missing = [name for name in from_git if not labels[name]]
    if options["git"] and missing:
        from advisor.api.revision import git_revision

        found = git_revision()
        labels |= {name: getattr(found, name) for name in missing}
    return RunLabels(**labels)


def _try(settings: CommandSettings, paths: tuple[str, ...], how: HowToRead) -> int:
    from advisor.ingest.trial import try_paths

    totals: Counter[str] = Counter()
    with Progress("trying", clock=time.monotonic) as progress:
        tried = try_paths(settings.database, paths, how=how, wait=settings.wait, progress=progress)
    for each in tried:
        totals[each.result.status] += 1
        print_result(each.result)
        if each.format is not None:
            click.echo(printable(f"  {each.format} of {each.profiler}; {_unknown(each)}"))
    print_totals(totals)
    click.echo("nothing was stored", err=True)
    return status_of(totals)


def _unknown(tried: Tried) -> str:
    missing = tried.unknown
    known = f"{tried.quantities - len(missing)} of {tried.quantities} quantities known"
    if not missing:
        return known
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return f"{known}; unknown: {', '.join(missing[:_NAMED])}{more}"
