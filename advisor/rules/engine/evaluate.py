"""Evaluate rules over all kernels of a run at once, in the database."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import duckdb

from advisor import wording
from advisor.database.facts_table import FactsTable
from advisor.database.parts import profilers_of
from advisor.database.read import get_vendors
from advisor.database.relations import STORED, Relations
from advisor.facts import current
from advisor.records import dataclass
from advisor.rules.engine.compiled import FACTS_TABLE, Compiled, facts_of_kernels
from advisor.rules.engine.details import raw_of, read_details, read_shares
from advisor.rules.engine.evaluation import Evaluation, settle
from advisor.rules.engine.gains import Share, cut, cut_share
from advisor.rules.engine.program import (
    OUTCOMES,
    DetailNames,
    Program,
    detail_columns,
    factor_column,
)
from advisor.rules.engine.reach import Reach
from advisor.rules.language.rule import Guard, Outcome, Rule, Value
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects import KERNEL
from advisor.rules.language.words import VendorWords

_SUBJECTS_TABLE = "rule_subject_facts"
_RUN_KEY = "run_id"
_KEPT = (Outcome.FIRES, Outcome.RULED_OUT, Outcome.UNKNOWN)

Row = Mapping[str, Value]


def evaluate_runs(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    relations: Relations = STORED,
    *,
    words: Mapping[str, VendorWords] | None = None,
    table: FactsTable | None = None,
) -> dict[str, list[Evaluation]]:
    """Return what the rules fire, rule out or cannot decide, for every subject in runs, by run.

    In no particular order of variants; rules in order. ``words`` are the vendor's
    words for each run. Several runs at once, because planning the statements takes longer than
    running them over a few kernels. ``table`` has the facts of their kernels, where it was made.
    """
    relations = current(connection, compiled.vocabulary, run_ids, relations)
    try:
        table = table or facts_of_kernels(connection, compiled, run_ids, relations)
        return evaluate_facts(connection, compiled, table, run_ids, relations, words=words)
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {FACTS_TABLE}")


def evaluate_facts(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    table: FactsTable,
    run_ids: Sequence[str],
    relations: Relations = STORED,
    *,
    words: Mapping[str, VendorWords] | None = None,
) -> dict[str, list[Evaluation]]:
    """Return the same where the facts of the kernels of the runs are in a table."""
    found = evaluate_table(connection, compiled, table, relations, words=words)
    by_run: dict[str, list[Evaluation]] = {run_id: [] for run_id in run_ids}
    for each in found:
        by_run[each.run_id].append(each)
    reaches = _reaches(connection, compiled, run_ids)
    return {run: within_reach(judged, reaches.get(run)) for run, judged in by_run.items()}


def within_reach(evaluations: Sequence[Evaluation], reach: Reach | None) -> list[Evaluation]:
    """Return evaluations, with those marked that the profiler of the run can never decide."""
    hopeless = frozenset() if reach is None else reach.hopeless
    return [
        replace(each, outcome=Outcome.NOT_KNOWABLE)
        if each.outcome is Outcome.UNKNOWN and each.rule.id in hopeless
        else each
        for each in evaluations
    ]


def _reaches(
    connection: duckdb.DuckDBPyConnection, compiled: Compiled, run_ids: Sequence[str]
) -> dict[str, Reach]:
    """Return what the profilers of some runs can tell, by run."""
    if not compiled.reaches:
        return {}
    rows = profilers_of(connection, run_ids)
    found = {run_id: compiled.reach(profiler) for run_id, profiler in rows}
    return {run_id: reach for run_id, reach in found.items() if reach is not None}


def evaluate_table(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    table: FactsTable,
    relations: Relations = STORED,
    *,
    words: Mapping[str, VendorWords] | None = None,
) -> list[Evaluation]:
    """Return what the rules fire, rule out or cannot decide, over a table of kernels' facts.

    ``table`` has the columns of ``compiled.kernels``; what is not part of a run is left out.
    """
    found: list[Evaluation] = []
    for part in compiled.parts.values():
        program, kind = part.program, part.kind
        if not kind.is_part_of_run or not program.rules:
            continue
        if kind.relation is None:
            judged = run_program(table, program, key=kind.key, words=words)
            found += settle(judged, program.settings.relations.exclusions)
            continue
        read = {_RUN_KEY, compiled.parts[KERNEL].kind.key, *kind.relation.reads(program.settings)}
        kernels = table.in_database(connection, read)
        holds = partial(_holds, connection)
        subjects = kind.relation.select(program.settings, kernels, relations, holds)
        made = ("CREATE OR REPLACE TEMP TABLE", _SUBJECTS_TABLE, "AS", subjects)
        connection.execute(" ".join(made))
        try:
            subject_table = FactsTable(engine=connection, name=_SUBJECTS_TABLE)
            found += run_program(subject_table, program, key=kind.key, words=words)
        finally:
            connection.execute(f"DROP TABLE IF EXISTS {_SUBJECTS_TABLE}")
    return found


def _holds(connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    return connection.execute(query).fetchall() == [(True,)]


def run_program(
    table: FactsTable,
    program: Program,
    *,
    key: str,
    run_id: str = "",
    outcomes: Collection[Outcome] = _KEPT,
    words: Mapping[str, VendorWords] | None = None,
) -> list[Evaluation]:
    """Return what the program's rules fire, rule out or cannot decide over a table of facts.

    ``table`` has one row per subject: ``key`` and the program's columns, and where it holds several
    runs (no ``run_id`` is given) the column ``run_id``. Only evaluations with one of the
    ``outcomes`` are returned. ``words`` are the vendor's words for each run, by default neutral.
    """
    if not program.rules:
        return []
    wanted = {OUTCOMES.index(outcome) for outcome in outcomes}
    decided = f"SELECT * FROM {table.decided}" if table.decided else None
    query = decided or program.outcomes(table.name, key)
    decided_pairs = [
        (row[0], index, OUTCOMES[code])
        for row in table.fetch(query)
        for index, code in enumerate(row[1:])
        if code in wanted
    ]
    if not decided_pairs:
        return []
    details = read_details(table, program, key, [pair[:2] for pair in decided_pairs])
    asked = {index: _asked(program, index) for index in {index for _, index, _ in decided_pairs}}
    read = {name for each in asked.values() for name in each.rule.reads}
    columns = {key, program.settings.time, *read, *(() if run_id else (_RUN_KEY,))}
    rows = {row[key]: row for row in table.rows(sorted(columns))}
    shares = read_shares(table, program, key, decided_pairs, rows)
    common = (run_id, program.settings, words or {})
    subjects = {
        subject: _subject(subject, facts, details[subject], shares.get(subject, {}), *common)
        for subject, facts in rows.items()
    }
    return [
        _evaluation(asked[index], outcome, subjects[subject])
        for subject, index, outcome in decided_pairs
    ]


def run_words(
    connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str], settings: EvaluationSettings
) -> dict[str, VendorWords]:
    """Return the words to write of each run in: those of the vendor of its device."""
    return {
        run_id: settings.vendors.words(vendor, profiler)
        for run_id, (vendor, profiler) in get_vendors(connection, run_ids).items()
    }


def _subject(
    subject: Value,
    facts: Row,
    details: Row,
    shares: Row,
    run_id: str,
    settings: EvaluationSettings,
    words: Mapping[str, VendorWords],
) -> _Subject:
    run_id = run_id or str(facts.get(_RUN_KEY, ""))
    return _Subject(
        id=str(subject),
        facts=facts,
        details=details,
        shares=shares,
        run_id=run_id,
        settings=settings,
        words=words.get(run_id, settings.vendors.default),
    )


@dataclass(frozen=True, kw_only=True)
class _Subject:
    """One row of both SELECTs, and what all rows share.

    ``shares`` are the details in the subject's own time, where that is unknown.
    """

    id: str
    facts: Row
    details: Row
    shares: Row
    run_id: str
    settings: EvaluationSettings
    words: VendorWords


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A rule with what is the same for every subject."""

    rule: Rule
    names: DetailNames
    shares: bool
    is_uncalibrated: bool


def _asked(program: Program, index: int) -> _Asked:
    rule = program.rules[index]
    return _Asked(
        rule=rule,
        names=detail_columns(rule, index),
        shares=index in program.sharing,
        is_uncalibrated=rule.gain_is_uncalibrated,
    )


def _evaluation(asked: _Asked, outcome: Outcome, subject: _Subject) -> Evaluation:
    rule, facts, details = asked.rule, subject.facts, subject.details
    values = {name: facts[name] for name in rule.reads}
    names = asked.names
    guards = [(guard, details[n]) for guard, n in zip(rule.unless, names.guards, strict=True)]
    settings = subject.settings
    raw = raw_of(names, details, facts[settings.time], settings)
    common = partial(
        Evaluation,
        rule=rule,
        run_id=subject.run_id,
        variant_id=subject.id,
        outcome=outcome,
        values=values,
        words=subject.words,
        cap=raw.cap,
        cap_likely=raw.cap_likely,
    )
    if outcome is Outcome.UNKNOWN:
        return common(missing=_missing(rule, values, guards))
    given = subject.words.given(rule.shown(values))
    evidence = rule.evidence.fill(given)
    if outcome is Outcome.RULED_OUT:
        because = next(guard.because.fill(given) for guard, holds in guards if holds)
        return common(evidence=evidence, because=because)
    unchecked = [guard.when for guard, holds in guards if holds is None and not guard.shared]
    texts = tuple(condition.text for condition in unchecked)
    gain = None if rule.gain is None else cut(raw)
    share = _share(asked, subject) if outcome is Outcome.FIRES else None
    is_estimated = (gain, share) != (None, None)
    confidence, reasons = _confidence(asked, subject, len(unchecked), is_estimated)
    return common(
        gain=gain,
        share=share,
        confidence=confidence,
        confidence_because=reasons,
        evidence=evidence,
        unchecked=texts,
        not_collected=not_collected(rule, texts, values) if texts else (),
    )


def _share(asked: _Asked, subject: _Subject) -> Share | None:
    if not asked.shares or not subject.shares:
        return None
    return cut_share(raw_of(asked.names, subject.shares, 1.0, subject.settings))


def _confidence(
    asked: _Asked, subject: _Subject, unchecked: int, is_estimated: bool
) -> tuple[float, tuple[str, ...]]:
    """Return the product of the factors that hold and of one per unchecked guard, with reasons.

    How a gain is estimated is no doubt where there ``is_estimated`` none.
    """
    settings, details = subject.settings, subject.details
    held = [f for number, f in enumerate(settings.factors) if details[factor_column(number)]]
    product = math.prod(factor.factor for factor in held)
    reasons = [factor.because for factor in held]
    if unchecked:
        reasons.append(f"{wording.few(unchecked, 'exclusion')} not checked")
    product *= settings.unchecked_factor**unchecked
    if asked.is_uncalibrated and is_estimated:
        product *= settings.uncalibrated_factor
        reasons.append(settings.uncalibrated_because)
    return product, tuple(reasons)


def _missing(
    rule: Rule, values: Mapping[str, Value], guards: Sequence[tuple[Guard, Value]]
) -> tuple[str, ...]:
    """Return the facts without a value among those that the decision could not do without."""
    names = set(rule.when.names)
    if rule.applies_to is not None:
        names |= rule.applies_to.names
    for guard, holds in guards:
        if guard.required and holds is None:
            names |= guard.when.names
    return tuple(sorted(n for n in names - rule.thresholds.keys() if values[n] is None))


def not_collected(rule: Rule, unchecked: Sequence[str], values: Row) -> tuple[tuple[str, ...], ...]:
    """Return the facts without a value, of each guard whose condition is ``unchecked``."""
    guards = {guard.when.text: guard.when.names for guard in rule.unless}
    lacking = (guards.get(text, frozenset()) - rule.thresholds.keys() for text in unchecked)
    return tuple(
        tuple(sorted(name for name in names if values.get(name) is None)) for names in lacking
    )
