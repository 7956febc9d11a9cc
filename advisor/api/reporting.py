"""A run as a report: text, HTML, Markdown or JSON."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cache import collector_off, kept, remembered
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.read import open_run, run_details
from advisor.errors import UsageError
from advisor.facts import create_views
from advisor.facts.formulas import yaml_files
from advisor.knowledge.load import load_knowledge
from advisor.records import dataclass
from advisor.reports.record.judgement import judgement_file, load_judgement
from advisor.reports.record.records import Report
from advisor.reports.record.source import VIEWS, Request, read_source
from advisor.reports.record.view import build_report
from advisor.resources import counter_dirs, data_dir
from advisor.rules.engine.evaluate import run_words
from advisor.rules.engine.rank import rule_records
from advisor.stdout import has_unicode

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from advisor.database.read import StoredRun
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.glossary import NumberTerm, WrittenWays
    from advisor.reports.record.kernel_nights import Charted

STDOUT = "-"
_CHARTS: Mapping[str, Charted] = {"html": "wasteful", "markdown": "moved"}
"""Which kernels have charts over nights, by style."""


@dataclass(frozen=True, kw_only=True)
class ReportForm:
    """How a report is written, and where; ``width`` is in columns, 0 for the default of 80.

    ``style`` is text, html, markdown or json.
    """

    style: str = "text"
    width: int = 0
    color: bool = False
    output: str | None = None


@dataclass(frozen=True, kw_only=True)
class HistoryAsked:
    """The start of the history shown: a number of nights, a date, the name of a run; None for all.

    ``charts`` names the kernels that have some; ``with_glossary`` asks where numbers come from.
    """

    since: str | None = None
    charts: Charted = "none"
    with_glossary: bool = False


PLAIN = ReportForm()
"""Text on stdout."""


def render_report(
    database: str,
    run: str,
    *,
    kernel: str | None = None,
    form: ReportForm = PLAIN,
    since: str | None = None,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> dict[str, str]:
    """Return the pages of a report by file name (``-`` for stdout): one, or two with a picture.

    ``since`` is a number of nights, a date, or the name of a run: the start of the history shown.
    Markdown that is written to a file has its roofline beside it, as a file of the same name that
    ends in ``.svg``.

    Raises:
        UsageError: there is no such run, or no kernel of that name in it; or ``since`` is unknown.
        DatabaseError: the database cannot be opened.
    """
    place, style = form.output or STDOUT, form.style
    asked = HistoryAsked(
        since=since, charts=_CHARTS.get(style, "none"), with_glossary=style == "html"
    )
    with collector_off():
        report = load_report(
            database, run, kernel=kernel, history=asked, wait=wait, configuration=configuration
        )
        return _written(report, form, place)


def _written(report: Report, form: ReportForm, place: str) -> dict[str, str]:
    """Return the pages of a report by file name."""
    style = form.style
    if style == "html":
        return {place: _html(report)}
    if style == "markdown":
        return _markdown(report, place)
    if style == "json":
        from advisor.reports.write.machine import json_text

        return {place: json_text(report)}
    from advisor.reports.write.terminal import report_text

    ascii_only = place == STDOUT and not has_unicode()  # files are UTF-8
    text = report_text(report, width=form.width, colour=form.color, ascii_only=ascii_only)
    return {place: text}


def render_kernel(
    database: str,
    kernel: str,
    *,
    run: str,
    every: bool,
    form: ReportForm = PLAIN,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> str:
    """Return everything known about the kernels that a name, pattern or id means.

    Raises:
        UsageError: there is no such run or kernel.
        DatabaseError: the database cannot be opened.
    """
    from advisor.reports.write.terminal import kernel_text

    report = load_report(
        database,
        run,
        kernel=kernel,
        every_fact=every,
        wait=wait,
        configuration=configuration,
    )
    return kernel_text(
        report,
        report.kernels,
        width=form.width,
        colour=form.color,
        ascii_only=not has_unicode(),
    )


def load_report(
    database: str,
    run: str = "latest",
    *,
    kernel: str | None = None,
    every_fact: bool = False,
    history: HistoryAsked | None = None,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> Report:
    """Return a run as records: everything that the pages show.

    ``history`` adds that of the kernels up to the run; it may ask where numbers come from.

    Raises:
        UsageError: there is no such run, or no kernel of that name in it; or what
            history is told from is unknown.
        DatabaseError: the database cannot be opened.
    """
    knowledge = load_knowledge(configuration)
    with open_run(database, run, wait=wait) as (connection, found):
        create_views(connection, knowledge.vocabulary, VIEWS)
        request = Request(
            run_id=found.run_id,
            database=database,
            written_at=time.time(),
            kernel=kernel,
            every_fact=every_fact,
            suppressions=configuration.suppress,
        )
        report = report_of_run(connection, found, knowledge, request)
        if history is not None:
            from advisor.api.nightly import with_history

            report = with_history(
                connection, report, found, knowledge, history.since, charts=history.charts
            )
        if history is not None and history.with_glossary:
            report = replace(report, glossary=_glossary(connection, report, knowledge))
        return report


def _glossary(
    connection: duckdb.DuckDBPyConnection, report: Report, knowledge: Knowledge
) -> tuple[NumberTerm, ...]:
    """Return where the numbers of a report's kernels come from."""
    from advisor.reports.record.glossary import glossary

    run_id = report.run.run_id
    ways = ways_of_run(connection, run_id)
    words = run_words(connection, [run_id], knowledge.settings)[run_id]
    kernels = (group.facts for kernel in report.kernels for group in kernel.facts)
    names = dict.fromkeys(fact.name for facts in kernels for fact in facts)
    return glossary(names, knowledge.vocabulary, words, ways)


def ways_of_run(connection: duckdb.DuckDBPyConnection, run_id: str) -> WrittenWays:
    """Return from which counters of a run's profiler each quantity comes."""
    from advisor.counters.mapping import load_ways
    from advisor.readers import reader_of
    from advisor.reports.record.glossary import written_ways

    profiler = reader_of(str(run_details(connection, run_id)["format"])).COUNTERS
    return remembered(
        "written-ways",
        yaml_files(counter_dirs(), f"{profiler}/*.yaml"),
        profiler,
        lambda: written_ways(load_ways(profiler)),
    )


def report_of_run(
    connection: duckdb.DuckDBPyConnection, run: StoredRun, knowledge: Knowledge, request: Request
) -> Report:
    """Return a run as records, by a connection that has the views of the knowledge's facts.

    The records of rules are those until the run.
    """
    records = rule_records(
        connection, knowledge.load_outcomes, simulated=run.simulated, until=run.run_id
    )
    source = read_source(
        connection,
        replace(request, records=records),
        vocabulary=knowledge.vocabulary,
        compiled=knowledge.compiled,
        judgement=remembered("judgement", [judgement_file()], "", load_judgement),
    )
    return build_report(source)


def _html(report: Report) -> str:
    from advisor.reports.write.render import html

    with kept("templates", template_files(), "") as code:
        return html(report, code)


def template_files() -> list[Path]:
    """Return what compiled templates rest on."""
    return [*data_dir("templates").rglob("*")]


def _markdown(report: Report, place: str) -> dict[str, str]:
    from advisor.reports.write.render import markdown, svg

    with kept("templates", template_files(), "") as code:
        picture = None if place == STDOUT else svg(report, code)
        if picture is None:
            return {place: markdown(report, None, code)}
        beside = Path(place).with_suffix(".svg")
        if beside == Path(place):
            problem = f"{place} is where the roofline of the report goes"
            raise UsageError(problem, hint="name the report otherwise, such as report.md")
        return {place: markdown(report, beside.name, code), str(beside): picture}
