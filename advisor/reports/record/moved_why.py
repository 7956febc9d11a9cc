"""Why series moved: terms, causes and facts between the nights before a change and those after.

Both sides are medians of the nights that are nearest to the change and ran on the same as its
nearest one, so that one odd night explains nothing. Terms, causes and differing environments come
from the functions that compare two runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from advisor.database.comparisons import firing_of_series
from advisor.database.night_kernels import (
    longest_variants,
    take_kernels_of_series,
    take_medians,
)
from advisor.database.read import details_of_runs, get_runs
from advisor.expression import Kind
from advisor.facts import current, kernels_select
from advisor.reports.record.compared import ComparedKernel, ComparedSeries, RunComparison
from advisor.reports.record.comparison import differing, terms_of
from advisor.reports.record.layout import layout
from advisor.reports.record.over_time import FactMove, MovedSeries, NamedRule
from advisor.reports.record.rows import Row, number, rows_of
from advisor.reports.record.why import KERNELS, Changed, facts_read, find_causes
from advisor.tracking.comparing import load_comparing
from advisor.tracking.records import Verdict
from advisor.wording import si

if TYPE_CHECKING:
    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.history_settings import HistorySettings
    from advisor.reports.record.moved import Move
    from advisor.rules.language.words import VendorWords
    from advisor.tracking.comparing import Comparing

_KEYS = ("run_id", "variant_id", "series_id", "launch_shape", "launch_count", "launches_excluded",
         "duration", "duration_median")  # fmt: skip
_NIGHTS = "moved_nights"
_SIDES = ("base", "head")


def explained(
    connection: duckdb.DuckDBPyConnection,
    found: Sequence[Move],
    knowledge: Knowledge,
    settings: HistorySettings,
    words: VendorWords,
) -> list[MovedSeries]:
    """Return the rows of moves with terms, cause and facts, as many as ``settings`` say."""
    chosen = found[: settings.limits.most_explained]
    if not chosen:
        return []
    comparing = load_comparing()
    _take_sides(connection, chosen, knowledge, settings, comparing)
    kernels = {row["run_id"]: row for row in rows_of(connection, KERNELS)}
    sides = {n: (kernels.get(f"{n}:base"), kernels.get(f"{n}:head")) for n in range(len(chosen))}
    rows = [
        _with_terms(move.row, sides[n], knowledge, settings, words, comparing)
        for n, move in enumerate(chosen)
    ]
    rows = _with_causes(connection, rows, sides, knowledge, comparing, words)
    titles = {rule.id: words.fill(rule.title) for rule in knowledge.rules}
    rows = _with_findings(connection, rows, titles)
    return [*rows, *(move.row for move in found[len(chosen) :])]


def _take_sides(
    connection: duckdb.DuckDBPyConnection,
    found: Sequence[Move],
    knowledge: Knowledge,
    settings: HistorySettings,
    comparing: Comparing,
) -> None:
    """Fill the table of kernels with the medians of both sides of each move."""
    vocabulary = knowledge.vocabulary
    most = settings.limits.segment_nights
    runs = {(n, side): _runs(move, side, most) for n, move in enumerate(found) for side in _SIDES}
    names = {*_KEYS, *comparing.amounts, *comparing.peaks, *comparing.clocks}
    names |= facts_read(knowledge) | (set(settings.facts) & set(vocabulary.symbols))
    every = sorted({run for each in runs.values() for run in each})
    series = sorted({move.row.series_id for move in found})
    select = kernels_select(vocabulary, sorted(names), current(connection, vocabulary, every))
    take_kernels_of_series(connection, _NIGHTS, select, every, series)
    groups = [
        (f"{n}:{side}", run, found[n].row.series_id, found[n].history.launch_shapes)
        for (n, side), chosen in runs.items()
        for run in chosen
    ]
    take_medians(connection, KERNELS, _NIGHTS, groups)


def _runs(move: Move, side: str, most: int) -> list[str]:
    """Return the runs of the nights nearest to a change that ran on the same as the nearest."""
    nights = move.history.nights
    places = list(reversed(move.base_nights)) if side == "base" else list(move.head_nights)
    nearest = nights[places[0]].environment
    return [nights[n].run_id for n in places[:most] if nights[n].environment == nearest]


def _with_terms(
    row: MovedSeries,
    sides: tuple[Row | None, Row | None],
    knowledge: Knowledge,
    settings: HistorySettings,
    words: VendorWords,
    comparing: Comparing,
) -> MovedSeries:
    before, after = sides
    if before is None or after is None:
        return row
    terms = terms_of(before, after, comparing)
    return replace(
        row,
        terms=None if terms is None else terms.parts,
        facts=_facts(before, after, knowledge, settings, words),
    )


def _facts(
    before: Row, after: Row, knowledge: Knowledge, settings: HistorySettings, words: VendorWords
) -> tuple[FactMove, ...]:
    """Return the facts that moved most by the logarithm of their ratio, those of one launch."""
    vocabulary = knowledge.vocabulary
    found = []
    for name in settings.facts:
        symbol = vocabulary.symbols.get(name)
        if symbol is None or symbol.kind is not Kind.NUMBER:
            continue
        one, other = (_per_launch(row, name, vocabulary.adds_up(name)) for row in (before, after))
        if one is None or other is None or one == other:
            continue
        unit = "share" if name in layout().shares else vocabulary.unit(name) or "1"
        label = words.name(name).text
        found.append(FactMove(name=name, label=label, unit=unit, base=one, head=other))
    moved = [
        each
        for place, each in enumerate(found)
        if _size(each) >= settings.limits.least_fact_change and not _is_shown(each, found[:place])
    ]
    moved.sort(key=lambda one: -round(_size(one), 2))
    return tuple(moved[: settings.limits.shown_facts])


def _is_shown(fact: FactMove, others: Sequence[FactMove]) -> bool:
    """Return whether another fact shows the same numbers."""
    return any(
        one.unit == fact.unit
        and si(one.base, "") == si(fact.base, "")
        and si(one.head, "") == si(fact.head, "")
        for one in others
    )


def _per_launch(row: Row, name: str, adds_up: bool) -> float | None:
    value = number(row, name)
    launches = (number(row, "launch_count") or 0) - (number(row, "launches_excluded") or 0)
    if value is None or not adds_up:
        return value
    return value / launches if launches else None


def _size(fact: FactMove) -> float:
    """Return how far a fact moved, as a logarithm; from or to 0 is furthest."""
    if fact.base <= 0 or fact.head <= 0:
        return math.inf
    return abs(math.log(fact.head / fact.base))


def _with_causes(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[MovedSeries],
    sides: Mapping[int, tuple[Row | None, Row | None]],
    knowledge: Knowledge,
    comparing: Comparing,
    words: VendorWords,
) -> list[MovedSeries]:
    """Return rows with their likeliest cause in words, by the rules about changes."""
    runs = get_runs(connection, {run for row in rows for run in (row.base_run, row.run_id)})
    details = details_of_runs(connection, runs)
    variants = longest_variants(connection, _NIGHTS)
    pairs: dict[int, tuple[RunComparison, Changed]] = {}
    for n, row in enumerate(rows):
        before, after = sides[n]
        if before is None or after is None:
            continue
        compared = _compared(n, row, before, after, comparing)
        around = [details[row.base_run], details[row.run_id]]
        whole = RunComparison(
            base=replace(runs[row.base_run], run_id=f"{n}:base"),
            head=replace(runs[row.run_id], run_id=f"{n}:head"),
            rows=[compared],
            total_base=row.base,
            total_head=row.head,
            environment=differing(comparing.environment, *around),
            around=differing(comparing.around, *around),
            machine=None,
        )
        places = [
            (run, variants.get((run, row.series_id), "")) for run in (row.base_run, row.run_id)
        ]
        changed = Changed(
            row=compared, samples=None, series_changed=False, places=(places[0], places[1])
        )
        pairs[n] = (whole, changed)
    words_of = {f"{n}:head": words for n in pairs}
    causes = find_causes(connection, pairs, knowledge, comparing, words_of) if pairs else {}
    return [
        replace(row, cause=causes[n][0].text) if causes.get(n) else row
        for n, row in enumerate(rows)
    ]


def _compared(
    n: int, row: MovedSeries, before: Row, after: Row, comparing: Comparing
) -> ComparedSeries:
    """Return a move as the functions that compare runs know it."""
    base, head = (
        ComparedKernel(
            variant_id=f"{n}:{side}",
            shape=each["launch_shape"],
            launches=int(each["launch_count"] or 0),
            total=each["duration"],
        )
        for side, each in zip(_SIDES, (before, after), strict=True)
    )
    return ComparedSeries(
        series=row.series_id,
        kernel=row.kernel,
        verdict=Verdict(row.verdict),
        base=base,
        head=head,
        relative=row.relative,
        p_value=row.p_value,
        noise=row.noise,
        attributed=partial(terms_of, before, after, comparing),
        shape_changed=before["launch_shape"] != after["launch_shape"],
    )


def _with_findings(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[MovedSeries],
    titles: Mapping[str, str],
) -> list[MovedSeries]:
    """Return rows with the rules that fire since the change, and those that fire no longer."""
    runs = sorted({run for row in rows for run in (row.base_run, row.run_id)})
    fire = firing_of_series(connection, runs)
    found = []
    for row in rows:
        before = fire.get((row.base_run, row.series_id), frozenset())
        after = fire.get((row.run_id, row.series_id), frozenset())
        came, gone = (
            tuple(NamedRule(id=rule, title=titles.get(rule, rule)) for rule in sorted(rules))
            for rules in (after - before, before - after)
        )
        found.append(replace(row, came=came, gone=gone))
    return found
