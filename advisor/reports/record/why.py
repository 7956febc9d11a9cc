"""Why series moved between two runs: the rules about changes, and the facts that moved most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from advisor.database.comparisons import code_of, kernels_of_pairs, take_pairs
from advisor.database.facts_table import FactsTable
from advisor.expression import Kind
from advisor.facts.vocabulary import Vocabulary
from advisor.knowledge.knowledge import Knowledge
from advisor.records import dataclass
from advisor.reports.record.compared import (
    GONE,
    NEW,
    Cause,
    ComparedSeries,
    Differs,
    MovedFact,
    RunComparison,
)
from advisor.rules.engine.evaluate import run_program, run_words
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.program import Program
from advisor.rules.language.rule import Outcome, Severity
from advisor.rules.language.subjects import CHANGE
from advisor.rules.language.subjects.change import (
    KEY,
    PAIRS,
    change_select,
    kernel_columns,
    pair_facts,
)
from advisor.rules.language.words import VendorWords
from advisor.tracking.comparing import Comparing
from advisor.tracking.gates import Samples, has_two_levels
from advisor.tracking.records import Verdict

KERNELS = "compared_kernels"
"""The temporary table with the kernels of both runs."""

_FACTS = "change_facts"
_SHOWN = 5  # facts that moved, of each series
_SEVERITIES = tuple(Severity)

Value = float | str | bool | None


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A row to be explained, and what the gates saw of it.

    ``places`` are run and variant before and after where its row names others.
    """

    row: ComparedSeries
    samples: Samples | None
    series_changed: bool
    places: tuple[tuple[str, str], tuple[str, str]] | None = None


def facts_read(knowledge: Knowledge) -> frozenset[str]:
    """Return the facts of kernels that the table ``KERNELS`` must have."""
    facts = knowledge.vocabulary.facts
    tracked = (n for n, fact in facts.items() if fact.level == "kernel" and fact.stored)
    return kernel_columns(_program(knowledge).columns) | {*tracked}


def _program(knowledge: Knowledge) -> Program:
    return knowledge.compiled.parts[CHANGE].program


def explain_changes(
    connection: duckdb.DuckDBPyConnection,
    whole: RunComparison,
    asked: Sequence[Changed],
    knowledge: Knowledge,
    comparing: Comparing,
) -> RunComparison:
    """Return the comparison with causes and facts at the series that did not stay as they were."""
    compared = {
        number: each
        for number, each in enumerate(asked)
        if each.row.verdict not in (NEW, GONE, Verdict.UNCHANGED)
    }
    if not compared:
        return whole
    asked_of = {number: (whole, each) for number, each in compared.items()}
    words = run_words(connection, [whole.head.run_id], knowledge.settings)
    causes = find_causes(connection, asked_of, knowledge, comparing, words)
    kernels = kernels_of_pairs(connection, KERNELS, PAIRS)
    numbers = _numbers(kernels, knowledge.vocabulary)
    rows = list(whole.rows)
    for number, each in compared.items():
        rows[number] = replace(
            each.row,
            causes=causes[number],
            moved=_moved(each.row, whole, kernels, numbers, comparing, words[whole.head.run_id]),
        )
    return replace(whole, rows=rows)


def find_causes(
    connection: duckdb.DuckDBPyConnection,
    compared: Mapping[int, tuple[RunComparison, Changed]],
    knowledge: Knowledge,
    comparing: Comparing,
    words: Mapping[str, VendorWords],
) -> dict[int, tuple[Cause, ...]]:
    """Return the causes of changes, the likeliest first; each with the comparison it belongs to.

    The table ``KERNELS`` must hold both sides of each; ``words`` are by the run after it.
    """
    program = _program(knowledge)
    _take_pairs(connection, compared, comparing)
    select = change_select(program.columns, KERNELS, knowledge.vocabulary)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_FACTS} AS {select}")
    causes: dict[int, list[Evaluation]] = {}
    for found in run_program(
        FactsTable(engine=connection, name=_FACTS),
        program,
        key=KEY,
        outcomes=(Outcome.FIRES,),
        words=words,
    ):
        causes.setdefault(int(found.variant_id), []).append(found)
    return {
        number: ranked_causes(causes.get(number, []), each.row)
        for number, (_, each) in compared.items()
    }


def ranked_causes(found: Sequence[Evaluation], row: ComparedSeries) -> tuple[Cause, ...]:
    """Return causes: what is loud first; of these what names more than a term, then large terms.

    Of two that explain one term, that which rests on more facts says more. One whose change reads
    the same before and after, as it is written, says nothing.
    """
    terms = {} if row.terms is None else row.terms.parts

    def order(each: Evaluation) -> tuple[int, bool, float, int, str]:
        rule = each.rule
        size = abs(terms.get(rule.mechanism, 0.0))
        loudness = _SEVERITIES.index(rule.severity)
        facts = rule.when.names - rule.thresholds.keys()
        return loudness, rule.mechanism in terms, -size, -len(facts), rule.id

    return tuple(
        Cause(
            rule=each.rule.id,
            severity=each.rule.severity.value,
            mechanism=each.rule.mechanism,
            text=f"{each.words.fill(each.rule.title)}: {each.evidence}",
        )
        for each in sorted(found, key=order)
        if not each.rule.evidence.begins_unchanged(each.values)
    )


def _take_pairs(
    connection: duckdb.DuckDBPyConnection,
    compared: Mapping[int, tuple[RunComparison, Changed]],
    comparing: Comparing,
) -> None:
    """Make the table of pairs, a row for each that is to be explained."""
    places = {number: _places(whole, each) for number, (whole, each) in compared.items()}
    code = code_of(
        connection,
        sorted({run for pair in places.values() for run, _ in pair}),
        sorted({variant for pair in places.values() for _, variant in pair}),
    )
    wholes = {id(whole): whole for whole, _ in compared.values()}
    of_runs = {key: _of_runs(whole, comparing) for key, whole in wholes.items()}
    rows = [
        {
            KEY: str(number),
            **of_runs[id(whole)],
            **_of_pair(each, comparing),
            "same_code": _same_code(code, places[number]),
        }
        for number, (whole, each) in compared.items()
    ]
    kinds = {name: symbol.kind.column_type for name, symbol in pair_facts().items()}
    ids = (KEY, "base_run", "head_run", "base_variant", "head_variant")
    columns = {**dict.fromkeys(ids, "VARCHAR"), **kinds}
    take_pairs(
        connection, PAIRS, {name: [row.get(name) for row in rows] for name in columns}, columns
    )


def _of_runs(whole: RunComparison, comparing: Comparing) -> dict[str, Value]:
    """Return what is the same for all pairs."""
    rows = whole.rows
    verdicts = [row.verdict for row in rows]
    differ = {each.what: each for each in (*whole.environment, *whole.around)}
    found: dict[str, Value] = {
        "base_run": whole.base.run_id,
        "head_run": whole.head.run_id,
        "environment_changed": bool(whole.environment),
        "environment_names": _names(whole.environment),
        "machine_wide": whole.machine is not None,
        "regressed_series": float(verdicts.count(Verdict.REGRESSED)),
        "improved_series": float(verdicts.count(Verdict.IMPROVED)),
        "judged_series": float(sum(row.p_value is not None for row in rows)),
    }
    if whole.machine is not None:
        found["machine_relative"] = math.expm1(whole.machine.effect)
        found["machine_moved"] = float(whole.machine.moved)
        found["machine_series"] = float(whole.machine.series)
    for column in (*comparing.environment, *comparing.around):
        each = differ.get(column)
        found[f"changed({column})"] = each is not None
        found[f"before.{column}"] = None if each is None else each.before
        found[f"after.{column}"] = None if each is None else each.after
    same = whole.base.commit is not None and whole.base.commit == whole.head.commit
    if not same and "commit" not in differ:
        found["changed(commit)"] = None
    return found


def _names(differ: Sequence[Differs]) -> str | None:
    changes = [f"{each.called} from {each.before} to {each.after}" for each in differ]
    return ", ".join(changes) or None


def _places(whole: RunComparison, each: Changed) -> tuple[tuple[str, str], ...]:
    """Return run and variant of both sides of a pair."""
    assert each.row.base is not None
    assert each.row.head is not None
    if each.places is not None:
        return each.places
    sides = ((whole.base, each.row.base), (whole.head, each.row.head))
    return tuple((run.run_id, kernel.variant_id) for run, kernel in sides)


def _same_code(
    code: Mapping[tuple[str, str], str], places: Sequence[tuple[str, str]]
) -> bool | None:
    before, after = map(code.get, places)
    return None if before is None or after is None else before == after


def _of_pair(each: Changed, comparing: Comparing) -> dict[str, Value]:
    row = each.row
    assert row.base is not None
    assert row.head is not None
    parts = {} if row.terms is None else row.terms.parts
    limits = comparing.limits
    samples = each.samples
    found: dict[str, Value] = {
        "base_variant": row.base.variant_id,
        "head_variant": row.head.variant_id,
        "verdict": str(row.verdict),
        "relative": row.relative,
        "effect": None if row.relative is None else math.log1p(row.relative),
        "noise": row.noise,
        "p_value": row.p_value,
        "samples_needed": float(limits.least_launches),
        "shape_changed": row.shape_changed,
        "series_changed": each.series_changed,
        **{f"{name}_term": value for name, value in parts.items()},
    }
    if samples is not None:
        found["samples"] = float(samples.count)
        if samples.head:
            found["two_levels"] = has_two_levels(samples.head, limits)
    return found


def _numbers(
    kernels: Mapping[tuple[str, str], Mapping[str, Value]], vocabulary: Vocabulary
) -> dict[str, bool]:
    """Return the names of the numbers that kernels have, and which add up over launches."""
    columns: Mapping[str, Value] = next(iter(kernels.values()), {})
    return {
        name: vocabulary.adds_up(name)
        for name, symbol in vocabulary.symbols.items()
        if symbol.kind is Kind.NUMBER and name in columns
    }


def _moved(
    row: ComparedSeries,
    whole: RunComparison,
    kernels: Mapping[tuple[str, str], Mapping[str, Value]],
    numbers: Mapping[str, bool],
    comparing: Comparing,
    words: VendorWords,
) -> tuple[MovedFact, ...]:
    """Return the facts that moved most, by the size of the logarithm of their ratio."""
    if row.base is None or row.head is None:
        return ()
    before = kernels[whole.base.run_id, row.base.variant_id]
    after = kernels[whole.head.run_id, row.head.variant_id]
    found: list[tuple[float, MovedFact]] = []
    for name, adds_up in numbers.items():
        one, other = before[name], after[name]
        if not isinstance(one, float | int) or not isinstance(other, float | int):
            continue
        if adds_up:
            one, other = one / max(row.base.launches, 1), other / max(row.head.launches, 1)
        size = abs(math.log(other / one)) if one > 0 and other > 0 else 0.0
        if size > comparing.limits.same_value:
            label = words.name(name).text
            found.append((size, MovedFact(fact=name, label=label, before=one, after=other)))
    found.sort(key=lambda each: -each[0])
    return tuple(fact for _, fact in found[:_SHOWN])
