"""The formats of other programs, written where the command says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.output import write_text
from advisor.errors import OutputError, UsageError
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.reports.formats.tables import PublishedTable
    from advisor.reports.record.format_settings import FormatSettings
    from advisor.reports.record.published import Published

TEXTS = ("sarif", "junit", "github", "gitlab", "openmetrics", "comment")
TABLES = ("csv", "parquet")
PUBLISHED = (*TEXTS, *TABLES)
_SUMMARY = "GITHUB_STEP_SUMMARY"


class FormatChoice(click.Choice[str]):
    """The name of a format; a mistyped one is answered with what was probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the format that ``value`` names."""
        known = [str(choice) for choice in self.choices]
        if value not in known:
            hint = did_you_mean(str(value), known, f"known: {', '.join(known)}")
            self.fail(f"there is no format {value!r}; {hint}", param, ctx)
        return str(value)


def checked_output(style: str, output: str | None) -> None:
    """Refuse a directory where a file is meant, and a file where three tables are written.

    Raises:
        UsageError: the place does not fit the format.
    """
    if style in TABLES and output in (None, "-"):
        raise UsageError(f"{style} is three files", hint="name a directory: -o DIR")
    if style not in TABLES and output not in (None, "-") and Path(str(output)).is_dir():
        raise UsageError(f"{output} is a directory", hint="name a file with -o")


def write_published(published: Published, style: str, output: str | None) -> None:
    """Write a run in one of ``PUBLISHED``: to a file, to stdout, or tables into a directory.

    Raises:
        OutputError: something cannot be written.
    """
    from advisor.reports.record.format_settings import load_format_settings

    settings = load_format_settings()
    if style in TABLES:
        from advisor.reports.formats.tables import tables

        _write_tables(tables(published), style, Path(str(output)))
    elif style == "github":
        from advisor.reports.formats.github import workflow_commands

        write_text(workflow_commands(published, settings), output)
        _append_summary(published, settings)
    else:
        from advisor.api.publishing import written

        write_text(written(published, style, settings), output)


def _write_tables(tables: tuple[PublishedTable, ...], style: str, folder: Path) -> None:
    from advisor.database.parquet import write_parquet

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot make the directory {folder}: {error.strerror}"
        raise OutputError(problem, hint="choose another place with -o") from error
    for table in tables:
        path = folder / f"{table.name}.{style}"
        if style == "csv":
            write_text(table.csv, str(path))
        else:
            write_parquet(path, table.kinds, table.rows)
        click.echo(f"wrote {path}", err=True)


def _append_summary(published: Published, settings: FormatSettings) -> None:
    """Add to the summary of the job, where there is one."""
    from advisor.reports.formats.github import job_summary

    place = os.environ.get(_SUMMARY)
    if not place:
        return
    path = Path(place)
    try:
        held = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write(job_summary(published, settings, held))
    except OSError as error:
        raise OutputError(f"cannot write {place}: {error.strerror}") from error
