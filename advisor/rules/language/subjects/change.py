"""The subject ``change``: a series between two runs.

Its facts are ``before.x`` and ``after.x`` of every fact x of a kernel, ``ratio(x)`` of numbers and
``changed(x)``; what adds up over launches is of one launch. ``before.x``, ``after.x`` and
``changed(x)`` are of the run where x is one of its columns. Others are of the pair itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from advisor.errors import Location
from advisor.expression import Kind, Symbol, compile_expression
from advisor.facts.vocabulary import Vocabulary
from advisor.quoting import quoted
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects.kind import SubjectKind
from advisor.units import DIMENSIONLESS, parse_unit

PAIRS = "change_pairs"
"""The table of pairs: ids of both variants and runs, and the facts of ``pair_facts``."""

BEFORE, AFTER = "before", "after"
KEY = "pair_id"
_TIME = f"{AFTER}.duration"
_SECONDS = parse_unit("s")
_PURE = Symbol(Kind.NUMBER, DIMENSIONLESS)
_TRUTH, _TEXT = Symbol(Kind.BOOLEAN), Symbol(Kind.TEXT)
_LAUNCHES = "launch_count"

_OF_PAIR: Mapping[str, Symbol] = {
    "verdict": _TEXT,
    "effect": _PURE,  # natural logarithm of time in the run, after over before
    "relative": _PURE,
    "noise": _PURE,
    "p_value": _PURE,
    "samples": _PURE,  # launches in the run that has fewer
    "samples_needed": _PURE,
    "work_term": _PURE,
    "launches_term": _PURE,
    "clock_term": _PURE,
    "peaks_term": _PURE,
    "efficiency_term": _PURE,
    "cycles_term": _PURE,
    "shape_changed": _TRUTH,
    "same_code": _TRUTH,
    "environment_changed": _TRUTH,
    "environment_names": _TEXT,
    "machine_wide": _TRUTH,
    "machine_relative": _PURE,
    "machine_moved": _PURE,
    "machine_series": _PURE,
    "regressed_series": _PURE,
    "improved_series": _PURE,
    "judged_series": _PURE,
    "series_changed": _TRUTH,
    "two_levels": _TRUTH,
}


def pair_facts() -> dict[str, Symbol]:
    """Return the facts that the table of pairs must have: of the pair, and of its runs."""
    facts = dict(_OF_PAIR)
    from advisor.tracking.comparing import load_comparing  # and NumPy with its package

    comparing = load_comparing()
    for column in (*comparing.environment, *comparing.around):
        facts |= {f"{side}.{column}": _TEXT for side in (BEFORE, AFTER)}
        facts[f"changed({column})"] = _TRUTH
    return facts


def change_select(columns: Collection[str], kernels: str, vocabulary: Vocabulary) -> str:
    """Return the SELECT of some facts of pairs, from a table of the kernels of both runs."""
    own = pair_facts()
    parts = [f"{PAIRS}.{quoted(KEY)} AS {quoted(KEY)}", f"{PAIRS}.head_run AS run_id"]
    for name in columns:
        sql = f"{PAIRS}.{quoted(name)}" if name in own else _of_kernels(name, vocabulary)
        parts.append(f"{sql} AS {quoted(name)}")
    joins = (
        f"LEFT JOIN {kernels} AS {side} ON {side}.run_id = {PAIRS}.{run}"
        f" AND {side}.variant_id = {PAIRS}.{variant}"
        for side, run, variant in (
            (BEFORE, "base_run", "base_variant"),
            (AFTER, "head_run", "head_variant"),
        )
    )
    return f"SELECT {', '.join(parts)} FROM {PAIRS} {' '.join(joins)}"


def kernel_columns(columns: Collection[str]) -> frozenset[str]:
    """Return the facts of kernels that facts of pairs rest on."""
    own = pair_facts()
    names = {_fact(name)[1] for name in columns if name not in own}
    return frozenset({*names, _LAUNCHES, "run_id", "variant_id"})


def _fact(name: str) -> tuple[str, str]:
    """Return what is asked about a fact of kernels, and its name."""
    if name.endswith(")"):
        word, _, fact = name[:-1].partition("(")
        return word, fact
    side, _, fact = name.partition(".")
    return side, fact


def _of_kernels(name: str, vocabulary: Vocabulary) -> str:
    word, fact = _fact(name)
    before, after = (_of_side(side, fact, vocabulary) for side in (BEFORE, AFTER))
    if word == "ratio":
        return f"{after} / nullif({before}, 0)"
    if word == "changed":
        return f"{before} <> {after}"
    return before if word == BEFORE else after


def _of_side(side: str, fact: str, vocabulary: Vocabulary) -> str:
    column = f"{side}.{quoted(fact)}"
    if vocabulary.adds_up(fact):
        return f"{column} / nullif({side}.{_LAUNCHES}, 0)"
    return column


def _vocabulary(vocabulary: Vocabulary, _: EvaluationSettings) -> Mapping[str, Symbol]:
    return {**dict(_symbols(vocabulary)), **pair_facts()}


def _symbols(vocabulary: Vocabulary) -> Iterator[tuple[str, Symbol]]:
    for name, symbol in vocabulary.symbols.items():
        yield f"{BEFORE}.{name}", symbol
        yield f"{AFTER}.{name}", symbol
        yield f"changed({name})", _TRUTH
        if symbol.kind is Kind.NUMBER:
            yield f"ratio({name})", _PURE


def _counted(settings: EvaluationSettings) -> EvaluationSettings:
    """Return the time of a change, which is that of a launch afterwards; nothing limits a gain."""
    facts = {_TIME: Symbol(Kind.NUMBER, _SECONDS)}
    nothing = compile_expression(f"0 * {_TIME}", facts, at=Location(name=__name__), unit=_SECONDS)
    return replace(
        settings, time=_TIME, floor=nothing, floor_achievable=nothing, busy=None, factors=()
    )


KIND: SubjectKind = SubjectKind(
    name="change",
    about="a series between two runs",
    key=KEY,
    vocabulary=_vocabulary,
    counted=_counted,
    is_part_of_run=False,
)
