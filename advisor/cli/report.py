"""``advisor report``: the answer, as text, HTML, Markdown or JSON."""

from __future__ import annotations

import sys

import click

from advisor.cli.application import CommandSettings
from advisor.cli.options import by_suffix, format_of
from advisor.cli.output import terminal_width, write_text
from advisor.cli.published import PUBLISHED, TEXTS, FormatChoice, checked_output, write_published

_PAGES = ("text", "html", "markdown", "json")
_EPILOG = """\b
Examples:
  advisor report                        the last run, on the terminal
  advisor report -o report.html         one page that opens offline
  advisor report 3f2a -o report.md
  advisor report --since 2026-01-17     what moved since then
  advisor report --format json | jq .history.moved
  advisor report --format sarif -o advisor.sarif
  advisor report --format parquet -o tables
"""


@click.command(epilog=_EPILOG)
@click.argument("run", default="latest")
@click.option("--html", "style", flag_value="html", help="One HTML file, readable offline.")
@click.option(
    "--markdown", "style", flag_value="markdown", help="Markdown; with -o, an SVG beside."
)
@click.option(
    "--format",
    "style",
    type=FormatChoice([*_PAGES, *PUBLISHED]),
    show_default=by_suffix("text"),
)
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    help="A file; for csv and parquet a directory.",
)
@click.option("--kernel", metavar="REGEX", help="Only kernels whose name matches.")
@click.option(
    "--since",
    metavar="REF|DATE|N",
    help="Report changes since a run, a date, or over the last N nights.  [default: 30]",
)
@click.pass_obj
def report(
    settings: CommandSettings,
    run: str,
    style: str | None,
    output: str | None,
    kernel: str | None,
    since: str | None,
) -> None:
    """Show what limits a run, what to do first, what it saves, and what moved until then.

    RUN is an id or the beginning of one, a label, a branch (its newest run), a commit, or
    "latest"; "last~7" is seven runs before the latest one in its history.
    """
    style = style or format_of(output, (*_PAGES, *TEXTS))
    style = style or settings.configuration.report_format.value
    checked_output(style, output)
    if style in PUBLISHED:
        _publish(settings, run, kernel, since, style, output)
        return
    from advisor.api.reporting import ReportForm, render_report

    if output is None and style == "html" and sys.stdout.isatty():
        output = "advisor-report.html"
    pages = render_report(
        settings.database,
        run,
        kernel=kernel,
        form=ReportForm(style=style, width=terminal_width(), color=wants_color(), output=output),
        since=since,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    for name, text in pages.items():
        write_text(text, name)
        if name not in (None, "-"):
            click.echo(f"wrote {name}", err=True)


def _publish(
    settings: CommandSettings,
    run: str,
    kernel: str | None,
    since: str | None,
    style: str,
    output: str | None,
) -> None:
    from advisor.api.publishing import published_run

    published = published_run(
        settings.database,
        run,
        kernel=kernel,
        since=since,
        wait=settings.wait,
        configuration=settings.configuration,
    )
    write_published(published, style, output)


def wants_color() -> bool:
    """Return whether to colour stdout: as the user asked, else where it is a terminal."""
    chosen = click.get_current_context().color
    return sys.stdout.isatty() if chosen is None else chosen
