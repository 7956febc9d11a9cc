"""A run for other programs: code scanning, test reports, metrics, tables, comments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.api.reporting import HistoryAsked, load_report
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.read import open_run
from advisor.database.series_of_run import series_of_run
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.checkout import checkout_of
from advisor.reports.record.format_settings import FormatSettings, load_format_settings
from advisor.reports.record.publish import PublishContext, publish
from advisor.reports.record.published import Published, RuleText, SeriesOfVariant

if TYPE_CHECKING:
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.gate import Gate
    from advisor.reports.record.records import Report
    from advisor.rules.language.words import VendorWords

Write = Callable[[Published, FormatSettings], str]


def published_run(
    database: str,
    run: str,
    *,
    kernel: str | None = None,
    since: str | None = None,
    gate: Gate | None = None,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> Published:
    """Return a run as other programs read it; sources are looked for in the working directory.

    Raises:
        UsageError: there is no such run, or no kernel of that name in it; or ``since`` is unknown.
        DatabaseError: the database cannot be opened.
    """
    from advisor.rules.engine.evaluate import run_words

    report = load_report(
        database,
        run,
        kernel=kernel,
        history=HistoryAsked(since=since),
        wait=wait,
        configuration=configuration,
    )
    knowledge = load_knowledge(configuration)
    with open_run(database, report.run.run_id, wait=wait) as (connection, found):
        series = series_of_run(connection, found.run_id)
        words = run_words(connection, [found.run_id], knowledge.compiled.of_kernels.settings)
    context = PublishContext(
        series={variant: _series(*each) for variant, each in series.items()},
        rules=_rules(report, knowledge, words[found.run_id]),
        checkout=checkout_of(Path.cwd(), configuration.files, report.run.file_name),
        settings=load_format_settings(),
    )
    return publish(report, context, gate)


def written(published: Published, style: str, settings: FormatSettings) -> str:
    """Return one of the formats that are a text: sarif, junit, gitlab, openmetrics or comment."""
    return _writer(style)(published, settings)


def _writer(style: str) -> Write:
    from advisor.reports.formats.comment import comment
    from advisor.reports.formats.gitlab import gitlab
    from advisor.reports.formats.junit import junit
    from advisor.reports.formats.openmetrics import openmetrics
    from advisor.reports.formats.sarif import sarif

    writers: Mapping[str, Write] = {
        "sarif": sarif,
        "junit": junit,
        "gitlab": gitlab,
        "openmetrics": openmetrics,
        "comment": comment,
    }
    return writers[style]


def _series(series_id: str, device: str | None, configuration: str | None) -> SeriesOfVariant:
    return SeriesOfVariant(
        series_id=series_id, device=device or "unknown", configuration=configuration or "default"
    )


def _rules(report: Report, knowledge: Knowledge, words: VendorWords) -> dict[str, RuleText]:
    """Return the texts of the rules that found something."""
    found = set(_found(report))
    return {
        rule.id: RuleText(
            rule_id=rule.id,
            title=words.fill(rule.title),
            severity=rule.severity.value,
            why=words.fill(rule.why),
            caveats=tuple(words.fill(caveat) for caveat in rule.caveats),
            references=rule.references,
        )
        for rule in knowledge.rules
        if rule.id in found
    }


def _found(report: Report) -> Iterable[str]:
    yield from (result.rule_id for kernel in report.kernels for result in kernel.results)
    yield from (finding.rule_id for finding in report.findings)
    if report.suppressed is not None:
        yield from (finding.rule_id for finding in report.suppressed.findings)
