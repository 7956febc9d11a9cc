"""Write a site: the pages of runs that are new, then everything that goes on with every night."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.database.night_kernels import variants_of_run
from advisor.database.outcomes import stored_outcomes
from advisor.database.planning import plan_for
from advisor.database.published import (
    RunTotal,
    longest_kernels,
    run_fingerprints,
    run_totals,
    shared_fingerprint,
)
from advisor.database.read import StoredRun
from advisor.records import dataclass
from advisor.reports.record.history_settings import load_history_settings
from advisor.reports.site import addresses as at
from advisor.reports.site.feed import make_feed
from advisor.reports.site.fleet_page import FleetAsked, FleetPage, fleet_shown
from advisor.reports.site.folder import SiteFolder, SiteState, SiteWritten
from advisor.reports.site.frame import GonePage, run_night
from advisor.reports.site.glossary_page import (
    GlossaryPage,
    Word,
    numbers_explained,
    word_addresses,
)
from advisor.reports.site.index_page import index_shown
from advisor.reports.site.lists import kernels_listed, rules_listed, search_script
from advisor.reports.site.pages import MOST_ROWS, PageWriter
from advisor.reports.site.rule_page import (
    FoundNow,
    RecordShown,
    Row,
    found_now,
    records_of,
    rule_shown,
)
from advisor.reports.site.series_page import series_shown
from advisor.reports.site.short_page import judged_at_first, short_shown
from advisor.reports.site.whole import ReportOf, Track, Whole, histories, whole_history
from advisor.reports.write.links import Links
from advisor.tracking.record import given_once

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.glossary import WrittenWays

_FIXED = (
    at.GLOSSARY,
    at.STYLE,
    at.SCRIPT,
    at.SEARCH,
    at.FEED,
    at.KERNELS,
    at.RULES,
    at.STATE,
    at.INDEX,
)
_MANY = 1_000_000  # launches: statements over all nights are planned with care
_GONE = {
    "runs": "This run is no longer in the database.",
    "series": "This kernel is no longer in the database.",
    "rules": "This rule is no longer known.",
}


@dataclass(frozen=True, kw_only=True)
class SiteRequest:
    """What a site is made of. ``shared`` is a digest of what all pages rest on beside runs.

    ``report_of`` returns the report of a run as it was on its night, ``ways_of`` from which
    counters its quantities come; ``words`` are explained in the glossary. ``url`` is where the
    site will be, None where it is not given; ``footer`` stands on each page. ``looked`` is a digest
    of what only a lake has, whose views of questions are there; None where the database is a file.
    """

    connection: duckdb.DuckDBPyConnection
    database: str
    knowledge: Knowledge
    report_of: ReportOf
    ways_of: Callable[[StoredRun], WrittenWays]
    words: tuple[Word, ...]
    writer: PageWriter
    shared: str
    url: str | None
    footer: str
    progress: Callable[[str], None]
    looked: str | None = None


def write_site(asked: SiteRequest, folder: SiteFolder) -> SiteWritten:
    """Write the pages of a site that are new or changed, the first page last.

    Raises:
        UsageError: somebody else's file is in the place of one.
        OutputError: a file cannot be written.
    """
    connection, knowledge = asked.connection, asked.knowledge
    marks = _Marks(
        runs=run_fingerprints(connection),
        shared=f"{asked.shared}-{shared_fingerprint(connection)}",
        totals=run_totals(connection),
    )
    made_of = _made_of(marks, asked)
    if folder.before.made_of == made_of and folder.is_whole():
        return folder.unchanged()
    found = histories(connection)
    wholes = [_whole(asked, runs) for runs in found]
    explained = _glossary(asked, wholes)
    addresses = at.Addresses(
        runs=frozenset(run.run_id for runs in found for run in runs),
        series=frozenset(t.series.series_id for whole in wholes for t in whole.tracks),
        rules=frozenset(rule.id for rule in knowledge.rules),
        numbers=frozenset(term.name for term in explained.numbers),
        words=word_addresses(asked.words),
    )
    pages = _pages_of(addresses)
    gone = _gone(folder, {path for each in pages.values() for path in each.values()})
    fixed = _FIXED if asked.looked is None else (*_FIXED, at.FLEET)
    folder.plan((*fixed, *gone, *(path for each in pages.values() for path in each.values())))
    for path, page in gone.items():
        folder.write(path, asked.writer.gone(path, page))
    for whole in wholes:
        _write_runs(asked, folder, whole, addresses, marks)
    _write_series(asked, folder, wholes, addresses)
    _write_rules(asked, folder, wholes, addresses)
    if asked.looked is not None:
        folder.write(at.FLEET, asked.writer.fleet(_fleet(asked, addresses)))
    folder.write(at.GLOSSARY, asked.writer.glossary(explained))
    _write_shared(asked, folder, wholes)
    index = index_shown(wholes, marks.totals, addresses.links(at.INDEX), asked.footer)
    return folder.finish(
        SiteState(made_of=made_of, shared=marks.shared, runs=marks.runs, pages=pages),
        (at.INDEX, asked.writer.index(index)),
    )


def _write_shared(asked: SiteRequest, folder: SiteFolder, wholes: Sequence[Whole]) -> None:
    """Write what pages share, and the feed."""
    folder.write(at.STYLE, asked.writer.style())
    folder.write(at.SCRIPT, asked.writer.script())
    folder.write(at.SEARCH, search_script(wholes))
    folder.write(at.FEED, asked.writer.feed(make_feed(wholes, asked.url)))


def _glossary(asked: SiteRequest, wholes: Sequence[Whole]) -> GlossaryPage:
    """Return the words and numbers, in the words of the vendor of the newest run."""
    ways: dict[str, tuple[str, ...]] = {}
    for whole in reversed(wholes):
        ways |= asked.ways_of(whole.newest)
    words = wholes[0].words if wholes else asked.knowledge.settings.vendors.default
    return GlossaryPage(
        title="Glossary",
        footer=asked.footer,
        words=asked.words,
        numbers=numbers_explained(asked.knowledge.vocabulary, words, ways),
    )


def _fleet(asked: SiteRequest, addresses: at.Addresses) -> FleetPage:
    words = asked.knowledge.settings.vendors.default
    return fleet_shown(
        FleetAsked(
            connection=asked.connection,
            titles={rule.id: words.fill(rule.title) for rule in asked.knowledge.rules},
            links=addresses.links(at.FLEET),
            footer=asked.footer,
        )
    )


@dataclass(frozen=True, kw_only=True)
class _Marks:
    """Digests of what pages rest on: of each run, and of what they share; and what runs took."""

    runs: Mapping[str, str]
    shared: str
    totals: Mapping[str, RunTotal]


def _made_of(marks: _Marks, asked: SiteRequest) -> str:
    """Return a digest of everything that a site rests on."""
    known = (sorted(marks.runs.items()), marks.shared, asked.url, asked.footer, asked.looked)
    return hashlib.sha256(repr(known).encode()).hexdigest()


def _whole(asked: SiteRequest, runs: Sequence[StoredRun]) -> Whole:
    report = asked.report_of(runs[-1])
    plan_for(asked.connection, _MANY)
    return whole_history(asked.connection, runs, report, asked.knowledge)


def _pages_of(addresses: at.Addresses) -> dict[str, dict[str, str]]:
    return {
        "runs": {each: at.run_page(each) for each in addresses.runs},
        "series": {each: at.series_page(each) for each in addresses.series},
        "rules": {each: at.rule_page(each) for each in addresses.rules},
    }


def _gone(folder: SiteFolder, present: set[str]) -> dict[str, GonePage]:
    """Return the pages of what the site once held, and the database no longer holds."""
    found = {}
    for path in folder.before.files:
        kind = path.partition("/")[0]
        if path not in present and path not in _FIXED and kind in _GONE:
            found[path] = GonePage(title="Removed", footer="", sentence=_GONE[kind])
    return found


def _write_runs(
    asked: SiteRequest,
    folder: SiteFolder,
    whole: Whole,
    addresses: at.Addresses,
    marks: _Marks,
) -> None:
    """Write the pages of runs that are new, or that rest on something that is.

    A night that is old keeps the page that it has, as long as its run is the same.
    """
    before = folder.before
    judged = judged_at_first(whole.runs, marks.totals, load_history_settings().limits)
    is_changed = before.shared != marks.shared
    short: list[StoredRun] = []
    for run in whole.runs:
        path, is_judged = at.run_page(run.run_id), run.run_id in judged
        is_own = before.runs.get(run.run_id) != marks.runs[run.run_id]
        is_changed = is_changed or is_own
        if folder.has(path) and not (is_changed if is_judged else is_own):
            folder.keep(path)
        elif is_judged:
            asked.progress(f"run of {run_night(run)}")
            report = whole.report if run is whole.newest else asked.report_of(run)
            folder.write(path, asked.writer.run(path, report, _links(asked, run, addresses)))
        else:
            short.append(run)
    _write_short(asked, folder, short, addresses, marks)


def _write_short(
    asked: SiteRequest,
    folder: SiteFolder,
    runs: Sequence[StoredRun],
    addresses: at.Addresses,
    marks: _Marks,
) -> None:
    links = addresses.links("runs/page.html")
    plan_for(asked.connection, _MANY)
    kernels = longest_kernels(asked.connection, [run.run_id for run in runs], MOST_ROWS)
    for run in runs:
        path = at.run_page(run.run_id)
        total = marks.totals.get(run.run_id, RunTotal(duration=None, kernels=0))
        longest = kernels.get(run.run_id, ())
        shown = short_shown(run, longest, total, links, asked.footer, asked.database)
        folder.write(path, asked.writer.short(path, shown))


def _links(asked: SiteRequest, run: StoredRun, addresses: at.Addresses) -> Links:
    """Return the links of a run's page, its kernels among them."""
    links = addresses.links(at.run_page(run.run_id))
    kernels = {
        variant: links.series[series]
        for series, _, variant, _ in variants_of_run(asked.connection, run.run_id)
        if series in links.series
    }
    return replace(links, kernels=kernels)


def _write_series(
    asked: SiteRequest, folder: SiteFolder, wholes: Sequence[Whole], addresses: at.Addresses
) -> None:
    found: dict[str, list[tuple[Whole, Track]]] = defaultdict(list)
    for whole in wholes:
        for track in whole.tracks:
            found[track.series.series_id].append((whole, track))
    words = asked.knowledge.settings.vendors.default
    titles = {rule.id: words.fill(rule.title) for rule in asked.knowledge.rules}
    links = addresses.links("series/page.html")
    for number, (series, tracks) in enumerate(found.items(), start=1):
        asked.progress(f"kernel {number:,} of {len(found):,}")
        path = at.series_page(series)
        page = series_shown(tracks, titles, links, asked.footer)
        folder.write(path, asked.writer.series(path, page))
    root_links = addresses.links(at.KERNELS)
    listed = kernels_listed(wholes, root_links, asked.footer)
    folder.write(at.KERNELS, asked.writer.list(at.KERNELS, listed))


def _write_rules(
    asked: SiteRequest, folder: SiteFolder, wholes: Sequence[Whole], addresses: at.Addresses
) -> None:
    knowledge = asked.knowledge
    words = knowledge.settings.vendors.default
    outcomes = given_once(stored_outcomes(asked.connection))
    shown: dict[str, _OfRules] = {}
    for rule in knowledge.rules:
        path = at.rule_page(rule.id)
        up = at.way_up(path)
        if up not in shown:
            shown[up] = _of_rules(asked, wholes, outcomes, addresses, path)
        of_rules = shown[up]
        page = rule_shown(
            rule,
            words,
            of_rules.found.get(rule.id, ()),
            of_rules.records.get(rule.id, ()),
            asked.footer,
        )
        folder.write(path, asked.writer.rule(path, page))
    of_rules = _of_rules(asked, wholes, outcomes, addresses, at.RULES)
    listed = rules_listed(
        knowledge.rules,
        words,
        of_rules.found,
        of_rules.records,
        addresses.links(at.RULES),
        asked.footer,
    )
    folder.write(at.RULES, asked.writer.list(at.RULES, listed))


@dataclass(frozen=True, kw_only=True)
class _OfRules:
    """Where rules fire now, and their records, by rule; with links from one depth of folders."""

    found: Mapping[str, Sequence[FoundNow]]
    records: Mapping[str, Sequence[RecordShown]]


def _of_rules(
    asked: SiteRequest,
    wholes: Sequence[Whole],
    outcomes: Sequence[Row],
    addresses: at.Addresses,
    path: str,
) -> _OfRules:
    links = addresses.links(path)
    return _OfRules(
        found=found_now(wholes, links),
        records=records_of(outcomes, links, asked.knowledge.outcomes),
    )
