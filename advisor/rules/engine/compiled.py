"""Rules compiled: one program per kind of subject, the facts that they read, and a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field

import duckdb

from advisor.database.facts_table import FactsTable
from advisor.database.few import REFUSED, VERSION
from advisor.database.parts import keep_rows
from advisor.database.relations import STORED, USUAL, Relations, over_variants_of
from advisor.facts import kernels_select
from advisor.facts.bindings import OfOperation
from advisor.facts.few import INCOMING_ROWS, FewFacts, few_facts, take_few, take_incoming
from advisor.facts.vocabulary import Vocabulary
from advisor.records import dataclass
from advisor.rules.engine.program import (
    Program,
    compile_program,
)
from advisor.rules.engine.reach import Reach
from advisor.rules.language.rule import Rule, rules_hash
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects import KERNEL, SUBJECTS, SubjectKind, Subjects

FACTS_TABLE = "rule_facts"
"""The table of kernels' facts that programs run over."""

_RUN_KEY = "run_id"


@dataclass(frozen=True, kw_only=True)
class CompiledSubject:
    """The rules about one kind of subject, compiled."""

    kind: SubjectKind
    program: Program


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """Rules that are ready to be evaluated over any number of runs.

    ``rules`` are all of them, by subject; ``parts`` have the programs by its name, which leave out
    rules that can apply to nothing. ``kernels`` is the SELECT of the facts ``names`` of every
    kernel, which they read, and ``every`` that of all facts, both from the relations ``USUAL``;
    ``few`` are those of a few kernels, ``few_incoming`` those of some that are to be stored, None
    where SQLite cannot do it.
    ``digest`` is 12 hex digits over all that findings rest on: rules,
    thresholds, guards, factors of confidence and facts. ``reaches`` say what profilers can tell,
    by their names.
    """

    rules: tuple[Rule, ...]
    parts: Mapping[str, CompiledSubject]
    vocabulary: Vocabulary
    names: tuple[str, ...]
    kernels: str
    every: str
    few: FewFacts | None
    few_incoming: FewFacts | None
    digest: str
    reaches: Mapping[str, Reach] = field(default_factory=dict)

    @property
    def of_kernels(self) -> Program:
        """Return the program of the rules about kernels."""
        return self.parts[KERNEL].program

    def kernels_from(self, relations: Relations) -> str:
        """Return the SELECT of those facts from relations."""
        usual = over_variants_of(self.kernels, relations)
        return usual or kernels_select(self.vocabulary, self.names, relations)

    def every_from(self, relations: Relations) -> str:
        """Return the SELECT of all facts of kernels from relations."""
        usual = over_variants_of(self.every, relations)
        return usual or kernels_select(self.vocabulary, relations=relations)

    def reach(self, profiler: str | None) -> Reach | None:
        """Return what the profiler of a run can tell; None where nobody described it."""
        return None if profiler is None else self.reaches.get(profiler)


def compile_rules(
    rules: Sequence[Rule],
    *,
    vocabulary: Vocabulary,
    settings: EvaluationSettings,
    subjects: Subjects = SUBJECTS,
    reaches: Mapping[str, Reach] | None = None,
) -> Compiled:
    """Return the rules about every kind of subject, compiled."""
    idle = _without_subject(rules, vocabulary)
    groups = {name: [r for r in rules if r.subject == name] for name in subjects}
    parts = {
        name: _part(kind, [r for r in groups[name] if r.id not in idle], vocabulary, settings)
        for name, kind in subjects.items()
    }
    in_runs = [part for part in parts.values() if part.kind.is_part_of_run]
    names = {_RUN_KEY, *(part.kind.key for part in in_runs if part.kind.relation is None)}
    for part in in_runs:
        relation = part.kind.relation
        names |= set(part.program.columns) if relation is None else relation.reads(settings)
    everything = tuple(rule for group in groups.values() for rule in group)
    few, few_incoming = _few(vocabulary, parts[KERNEL]) or (None, None)
    return Compiled(
        rules=everything,
        parts=parts,
        vocabulary=vocabulary,
        names=tuple(sorted(names)),
        kernels=kernels_select(vocabulary, sorted(names), USUAL),
        every=kernels_select(vocabulary, relations=USUAL),
        few=few,
        few_incoming=few_incoming,
        digest=_digest(everything, parts, kernels_select(vocabulary, sorted(names))),
        reaches=reaches or {},
    )


def facts_of_kernels(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    run_ids: Sequence[str],
    relations: Relations,
    *,
    name: str = FACTS_TABLE,
    every: bool = False,
    in_database: bool = False,
) -> FactsTable:
    """Make a table of the facts that rules read of the kernels of runs, or of every fact.

    ``relations`` have the rows of these runs alone. The engine is the one that takes less time,
    unless the table is to be ``in_database``, with the other tables of the connection.
    """
    if compiled.few is not None and not in_database:
        few = take_few(connection, compiled.few, relations, name)
        if few is not None:
            return few
    select = compiled.every_from(relations) if every else compiled.kernels_from(relations)
    keep_rows(connection, name, select, run_ids)
    return FactsTable(engine=connection, name=name)


def facts_of_incoming(
    connection: duckdb.DuckDBPyConnection, compiled: Compiled
) -> FactsTable | None:
    """Return every fact of kernels that are to be stored, where they are few."""
    if compiled.few_incoming is None:
        return None
    return take_incoming(connection, compiled.few_incoming, FACTS_TABLE)


def _few(vocabulary: Vocabulary, kernels: CompiledSubject) -> tuple[FewFacts, FewFacts] | None:
    """Return how SQLite gives facts of kernels, stored and to be stored; None where it refuses.

    So it may refuse them, or what rules say about them: all is tried.
    """
    if VERSION is None:
        return None
    program, key = kernels.program, kernels.kind.key
    stored, incoming = (few_facts(vocabulary, each) for each in (USUAL, INCOMING_ROWS))
    try:
        incoming.over_nothing(FACTS_TABLE)
        table = stored.over_nothing(FACTS_TABLE)
        table.fetch(program.outcomes(table.name, key))
        deepest = program.in_own_time(table.name, key)
        table.fetch(program.details(deepest, key, range(len(program.rules)))[0])
        floors = program.floors(deepest, key, program.assumes, table.dialect)
        table.fetch(floors, {"subjects": "", "rules": ""})
    except REFUSED:
        return None
    return stored, incoming


def _part(
    kind: SubjectKind, rules: Sequence[Rule], vocabulary: Vocabulary, settings: EvaluationSettings
) -> CompiledSubject:
    return CompiledSubject(
        kind=kind, program=compile_program(rules, kind.counted(settings), vocabulary)
    )


def _digest(rules: Sequence[Rule], parts: Mapping[str, CompiledSubject], kernels: str) -> str:
    """Return a digest of what findings rest on; two that differ may give other findings."""
    hashed: list[object] = [rules_hash(rules), kernels]
    for rule in rules:
        guards = [(guard.because.text, guard.shared) for guard in rule.unless]
        hashed += [rule.id, rule.severity.value, rule.is_state, rule.is_unproven, guards]
    for name, part in parts.items():
        program, relation = part.program, part.kind.relation
        settings = program.settings
        hashed += [
            name,
            program.written,
            program.factors,
            program.floors_rest()[0],
            program.assumes,
        ]
        hashed += [(factor.because, factor.factor) for factor in settings.factors]
        hashed += [settings.unchecked_factor, settings.uncalibrated_factor, settings.relations]
        hashed.append(settings.uncalibrated_because)
        hashed.append(
            relation.select(settings, FACTS_TABLE, STORED, lambda _: True) if relation else None
        )
    return hashlib.blake2b(repr(hashed).encode(), digest_size=6).hexdigest()


def _without_subject(rules: Sequence[Rule], vocabulary: Vocabulary) -> set[str]:
    """Return the ids of rules about what operations need, where no kernel is bound to one.

    To plan for them takes longer than to find this out once.
    """
    unbound = {
        name: fact.expression.sql()
        for name, fact in vocabulary.facts.items()
        if isinstance(fact.expression, OfOperation) and not fact.expression.bound
    }
    conditions = {
        rule.id: rule.applies_to.sql(unbound)
        for rule in rules
        if rule.applies_to is not None
        and rule.applies_to.names
        and rule.applies_to.names <= unbound.keys()
    }
    if not conditions:
        return set()
    with duckdb.connect(":memory:") as connection:
        (row,) = connection.execute(f"SELECT {', '.join(conditions.values())}").fetchall()
    return {rule_id for rule_id, applies in zip(conditions, row, strict=True) if applies is False}
