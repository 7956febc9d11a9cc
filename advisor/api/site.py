"""A folder of pages over all runs: what moved, run by run, kernel by kernel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.api.reporting import report_of_run, template_files, ways_of_run
from advisor.cache import code_files, kept
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading
from advisor.database.lake.place import is_lake
from advisor.database.planning import plan_for
from advisor.database.questions import create_questions, looked_at
from advisor.errors import UsageError
from advisor.facts import create_views
from advisor.knowledge.load import load_knowledge
from advisor.reports.record.source import VIEWS, Request
from advisor.reports.site.build import SiteRequest, write_site
from advisor.reports.site.folder import SiteFolder, SiteWritten
from advisor.reports.site.glossary_page import load_glossary_words, word_addresses
from advisor.reports.site.pages import PageWriter
from advisor.resources import rule_dirs
from advisor.tracking.settings import load_settings

if TYPE_CHECKING:
    import duckdb

    from advisor.database.read import StoredRun
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.records import Report

_SCHEMES = ("https://", "http://")


def build_site(
    database: str,
    directory: str,
    *,
    url: str | None = None,
    force: bool = False,
    wait: float,
    configuration: Configuration = DEFAULTS,
    progress: Callable[[str], None] = lambda _: None,
) -> SiteWritten:
    """Write the pages of a database into a folder, as far as they are new or changed.

    Addresses in the feed begin with ``url``, where there is one; all others are relative.

    Raises:
        UsageError: the folder holds something else, or ``url`` is no address.
        DatabaseError: the database cannot be opened.
        OutputError: a file cannot be written.
    """
    if url is not None and not url.startswith(_SCHEMES):
        raise UsageError(f"{url!r} is no address", hint="such as https://ci.example/advisor")
    folder = SiteFolder(Path(directory), force=force)
    knowledge = load_knowledge(configuration)
    words = load_glossary_words()
    name, of_lake = Path(database).name, is_lake(database)
    with (
        open_for_reading(database, wait) as connection,
        kept("templates", template_files(), "") as code,
    ):
        create_views(connection, knowledge.vocabulary, None if of_lake else VIEWS)
        if of_lake:
            settings = load_settings()
            create_questions(connection, settings.fewest_hosts, settings.fleet_days)

        def report_of(run: StoredRun) -> Report:
            return _report(connection, run, knowledge, configuration, name)

        asked = SiteRequest(
            connection=connection,
            database=database,
            knowledge=knowledge,
            report_of=report_of,
            ways_of=lambda run: ways_of_run(connection, run.run_id),
            words=words,
            writer=PageWriter(code, has_fleet=of_lake, words=word_addresses(words)),
            shared=_shared(knowledge, configuration),
            url=url,
            footer=f"advisor {__version__}, {name}, {len(knowledge.rules)} rules, hash"
            f" {knowledge.compiled.digest}",
            progress=progress,
            looked=looked_at(connection) if of_lake else None,
        )
        return write_site(asked, folder)


def _report(
    connection: duckdb.DuckDBPyConnection,
    run: StoredRun,
    knowledge: Knowledge,
    configuration: Configuration,
    database: str,
) -> Report:
    """Return the report of a run, as if it was written on its night."""
    from advisor.api.nightly import with_history

    plan_for(connection, run.launches)
    request = Request(
        run_id=run.run_id,
        database=database,
        written_at=run.night.replace(tzinfo=UTC).timestamp(),
        suppressions=configuration.suppress,
    )
    report = report_of_run(connection, run, knowledge, request)
    return with_history(connection, report, run, knowledge, charts="moved")


def _shared(knowledge: Knowledge, configuration: Configuration) -> str:
    """Return a digest of what pages rest on beside runs: code, templates, rules, settings."""
    digest = hashlib.sha256(f"{__version__}\0{knowledge.compiled.digest}\0".encode())
    digest.update(repr((configuration.suppress, configuration.thresholds)).encode())
    rules = (path for folder in rule_dirs() for path in folder.rglob("*.yaml"))
    for path in sorted({*template_files(), *map(Path, code_files()), *rules}):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:24]
