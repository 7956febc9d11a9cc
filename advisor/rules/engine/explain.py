"""Why a rule says what it says about one kernel: every clause with the values it read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import duckdb

from advisor.database.facts_table import FactsTable
from advisor.database.fetching import rows_of_cursor
from advisor.database.parts import keep_rows
from advisor.database.relations import STORED
from advisor.facts.vocabulary import Vocabulary
from advisor.records import dataclass
from advisor.rules.engine.clauses import Clause, Clauses, GainExplained, Guarded, Row, RuleParts
from advisor.rules.engine.details import read_details
from advisor.rules.engine.evaluate import run_program
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.gains import Share
from advisor.rules.engine.program import OUTCOMES, Program, compile_program
from advisor.rules.language.rule import Outcome, Rule
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects import SUBJECTS, SubjectKind
from advisor.rules.language.thresholds import in_scope
from advisor.rules.language.words import VendorWords

_FACTS = "explained_facts"
_KERNELS = "explained_kernels"

KernelsSelect = Callable[[Sequence[str]], str]
"""Gives the SELECT of some facts of kernels."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """What gives a rule its meaning: facts, what holds for all rules, and a vendor's words."""

    vocabulary: Vocabulary
    settings: EvaluationSettings
    words: VendorWords


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a rule says about one subject (a variant, or the run), and why.

    ``evidence`` is what it found, in words, where it fires, and ``share`` what it promises of the
    kernel's time where that is unknown.
    """

    rule: Rule
    subject: str
    outcome: Outcome
    because: str
    applies_to: Clause | None
    when: Clause
    unless: tuple[Guarded, ...]
    gain: GainExplained | None
    confidence: float | None
    confidence_because: tuple[str, ...]
    missing: tuple[str, ...]
    evidence: str
    words: VendorWords
    share: Share | None = None


def explain(
    connection: duckdb.DuckDBPyConnection,
    rules: Sequence[Rule],
    run_id: str,
    variant_ids: Sequence[str],
    *,
    kernels: KernelsSelect,
    language: Language,
) -> list[Explanation]:
    """Return one explanation per rule and variant, in order; just one for a rule about runs.

    The rules are of one subject. ``kernels`` gives a SELECT of the named facts of kernels.
    """
    kind, settings = SUBJECTS[rules[0].subject], language.settings
    programs = [
        compile_program([rule], kind.counted(settings), language.vocabulary) for rule in rules
    ]
    columns = {name for program in programs for name in program.columns}
    if kind.relation is not None:
        columns = {*kind.relation.reads(settings)}
    _take(connection, kernels(sorted({*columns, "variant_id", "run_id"})), run_id, settings, kind)
    return [
        each
        for rule, program in zip(rules, programs, strict=True)
        for each in _explained(connection, rule, program, run_id, variant_ids, language)
    ]


def _explained(
    connection: duckdb.DuckDBPyConnection,
    rule: Rule,
    program: Program,
    run_id: str,
    variant_ids: Sequence[str],
    language: Language,
) -> list[Explanation]:
    """Return what one rule says about each subject, whose facts were taken."""
    kind, words = SUBJECTS[rule.subject], language.words
    key = kind.key
    scope = in_scope(kind.vocabulary(language.vocabulary, language.settings), rule.thresholds)
    parts = RuleParts(rule, scope, program.settings, words)
    values = _rows(connection, parts.select(key, _FACTS), key)
    facts = _rows(connection, f"FROM {_FACTS}", key)
    table = FactsTable(engine=connection, name=_FACTS)
    details = read_details(table, program, key, [(subject, 0) for subject in facts])
    outcomes = dict(table.fetch(program.outcomes(_FACTS, key)))
    found = run_program(table, program, key=key, run_id=run_id, words={run_id: words})
    evaluated = {each.variant_id: each for each in found}
    return [
        _explanation(
            subject,
            OUTCOMES[outcomes[subject]],
            evaluated.get(subject),
            parts.clauses(values[subject], facts[subject]),
            parts.gain(values[subject], facts[subject], details[subject]),
            rule,
            words,
        )
        for subject in (variant_ids if kind.relation is None else facts)
    ]


def _explanation(
    subject: str,
    outcome: Outcome,
    evaluation: Evaluation | None,
    clauses: Clauses,
    gain: GainExplained | None,
    rule: Rule,
    words: VendorWords,
) -> Explanation:
    fires = evaluation is not None and outcome is Outcome.FIRES
    return Explanation(
        rule=rule,
        subject=subject,
        outcome=outcome,
        because=_because(outcome, clauses, evaluation.missing if evaluation else ()),
        applies_to=clauses.applies_to,
        when=clauses.when,
        unless=clauses.unless,
        gain=gain,
        confidence=evaluation.confidence if evaluation and fires else None,
        confidence_because=evaluation.confidence_because if evaluation else (),
        missing=evaluation.missing if evaluation else (),
        evidence=evaluation.evidence if evaluation and fires else "",
        words=words,
        share=evaluation.share if evaluation and fires else None,
    )


def _take(
    connection: duckdb.DuckDBPyConnection,
    kernels: str,
    run_id: str,
    settings: EvaluationSettings,
    kind: SubjectKind,
) -> None:
    """Put the facts of the subjects of a run into a temporary table."""
    target = _FACTS if kind.relation is None else _KERNELS
    keep_rows(connection, target, kernels, [run_id])
    if kind.relation is not None:
        subjects = kind.relation.select(settings, _KERNELS, STORED, lambda _: True)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {_FACTS} AS {subjects}")


def _rows(connection: duckdb.DuckDBPyConnection, query: str, key: str) -> dict[str, Row]:
    return {str(row[key]): row for row in rows_of_cursor(connection.execute(query))}


def _because(outcome: Outcome, clauses: Clauses, missing: Sequence[str]) -> str:
    if outcome is Outcome.NOT_APPLICABLE:
        return "it does not apply here"
    if outcome is Outcome.SILENT:
        return "its condition is false"
    if outcome is Outcome.UNKNOWN:
        return f"no value for {', '.join(missing)}"
    held = next((guard for guard in clauses.unless if guard.clause.holds), None)
    return held.because if held else "its condition is true and no guard holds"
