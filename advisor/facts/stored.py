"""What of a variant is stored, the hashes of what it came from, and which rows still hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.database.ids import key_id
from advisor.database.relations import STORED, Relations, only_runs
from advisor.database.variants import INCOMING, UNEVEN, VariantStatements, stored_state
from advisor.facts.aggregation import RAN, aggregated_columns, paired_sums
from advisor.facts.formulas import Formula
from advisor.facts.kernels import kernels_select
from advisor.facts.layers import select
from advisor.facts.variants import KEYS, single_variants_select, tracked_facts, variants_select
from advisor.facts.vocabulary import Fact, Vocabulary
from advisor.quoting import literal, quoted

if TYPE_CHECKING:
    import duckdb


def current(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    run_ids: Sequence[str] | None = None,
    relations: Relations = STORED,
) -> Relations:
    """Return the relations, with the runs whose stored variants lack what the vocabulary has.

    Their variants are aggregated from launches: other facts of a launch were in force when they
    were stored, or facts of the user are computed per launch. What was stored of a run whose
    launches are gone is all there is, and holds. Tracked facts are read where those of all runs
    come from the same definitions. With ``run_ids``, the relations have rows of these runs alone.
    """
    if run_ids is not None:
        relations = only_runs(relations, run_ids)
    if relations.variant is None:
        return relations
    found = stored_state(
        connection,
        relations,
        totals_hash=None if _has_others(vocabulary) else totals_hash(vocabulary),
        facts_hash=facts_hash(vocabulary, tracked_facts(vocabulary)),
        sums=[each.name for each in paired_sums(vocabulary)],
    )
    is_whole = not found.from_launches
    return replace(
        relations,
        from_launches=found.from_launches,
        tracked=found.tracked and is_whole,
        even=found.even and is_whole,
    )


def _has_others(vocabulary: Vocabulary) -> bool:
    """Return whether facts are computed per launch that the table has no column for."""
    return any(fact.level == "launch" and not fact.stored for fact in vocabulary.facts.values())


def variant_statements(vocabulary: Vocabulary) -> VariantStatements:
    """Return the SQL that makes rows of the table ``variant``."""
    incoming = replace(STORED, variant=INCOMING)
    tracked = tracked_facts(vocabulary)
    columns = [*KEYS, *tracked]
    storable = _storable(vocabulary)
    return VariantStatements(
        single_totals=_single_totals(storable, storable),
        even_totals=_even_totals(storable, storable),
        totals=_totals(storable),
        even_tracked=kernels_select(vocabulary, columns, replace(incoming, even=True)),
        tracked=kernels_select(vocabulary, columns, incoming),
        names=tuple(tracked),
        facts_hash=facts_hash(vocabulary, tracked),
    )


def statements_for(
    statements: VariantStatements, vocabulary: Vocabulary, known: Collection[str]
) -> VariantStatements:
    """Return the same statements for launches of which only ``known`` quantities have a value.

    They take less time to plan, and to run: a profile knows a third of all quantities.
    """
    storable = _storable(vocabulary)
    possible = _possible(storable, known)
    return replace(
        statements,
        single_totals=_single_totals(storable, possible),
        even_totals=_even_totals(storable, possible),
    )


def _storable(vocabulary: Vocabulary) -> Vocabulary:
    facts = vocabulary.facts.items()
    storable = {name: fact for name, fact in facts if _is_storable(fact, vocabulary)}
    return replace(vocabulary, facts=storable)


def _possible(storable: Vocabulary, known: Collection[str]) -> Vocabulary:
    """Return what can have a value where ``known`` quantities of launches have one."""
    names = {*known, *storable.quantities.launch}
    having = names | storable.quantities.device.keys()
    for fact in storable.facts.values():  # each stands after those that it reads
        formula = fact.expression
        required = formula.required() if isinstance(formula, Formula) else frozenset[str]()
        if required is not None and required <= having:
            names.add(fact.name)
            having.add(fact.name)
    return storable.narrowed(names)


def _even_totals(storable: Vocabulary, possible: Vocabulary) -> str:
    """Return the SELECT of variants from launches, if each launch has what the others have.

    ``UNEVEN`` is true of those for which that is not so: in some of their launches, other values
    are known that paired facts read.
    """
    relations = replace(STORED, variant=None, even=True)
    read = sorted({each.of for each in paired_sums(possible)})
    known = f"case when {RAN} then [{', '.join(f'{quoted(n)} is null' for n in read)}] end"
    added = {UNEVEN: f"min({known}) <> max({known})"}
    variants = variants_select(possible, relations, added=added)
    return _whole_sums(storable, possible, variants)


def _single_totals(storable: Vocabulary, possible: Vocabulary) -> str:
    """Return the same if each variant is one launch; ``UNEVEN`` are those that are not valid."""
    relations = replace(STORED, variant=None)
    added = {UNEVEN: "launch_valid is distinct from true"}
    variants = single_variants_select(possible, relations, added)
    return _whole_sums(storable, possible, variants)


def _whole_sums(storable: Vocabulary, possible: Vocabulary, variants: str) -> str:
    """Return variants with what all sums come from, and none that is not the whole sum.

    What is not ``possible`` is NULL.
    """
    has = {name for name, _ in aggregated_columns(possible)}
    lacking = (name for name, _ in aggregated_columns(storable) if name not in has)
    types = {name: symbol.kind.column_type for name, symbol in storable.symbols.items()}
    columns = (
        "*",
        *(f"cast(null as {types.get(name, 'double')}) as {quoted(name)}" for name in lacking),
        "cast(null as map(varchar, double)) as paired_sums",
        f"{literal(totals_hash(storable))} as totals_hash",
    )
    return select(", ".join(columns), f"({variants}) as variant")


def _totals(storable: Vocabulary) -> str:
    """Return the SELECT of variants from launches, with the sums that are not the whole sums."""
    sums = paired_sums(storable)
    hidden = ", ".join(quoted(each.name) for each in sums)
    differ = " or ".join(f"{quoted(each.name)} is distinct from {each.whole}" for each in sums)
    names = ", ".join(literal(each.name) for each in sums)
    values = ", ".join(quoted(each.name) for each in sums)
    columns = (
        f"* exclude ({hidden})",
        f"case when {differ} then map([{names}], [{values}]) end as paired_sums",
        f"{literal(totals_hash(storable))} as totals_hash",
    )
    variants = variants_select(storable, replace(STORED, variant=None))
    return select(", ".join(columns), f"({variants}) as variant")


def _is_storable(fact: Fact, vocabulary: Vocabulary) -> bool:
    """Return whether a fact is one of a launch with a column, or reads sums of such."""
    if fact.level == "launch":
        return fact.stored
    facts = (vocabulary.facts.get(name) for name in fact.expression.names)
    return fact.paired and all(each is None or each.stored for each in facts)


def totals_hash(vocabulary: Vocabulary) -> str:
    """Return the hash of what stored totals come from: aggregates, and facts of a launch."""
    aggregates = [
        f"{quantity.name} {quantity.aggregate} {quantity.weight}"
        for quantity in vocabulary.quantities.quantities.values()
    ]
    facts = [f for f in vocabulary.facts.values() if f.level == "launch" and f.stored]
    return key_id("totals", *sorted(aggregates), *sorted(map(_definition, facts)))


def facts_hash(vocabulary: Vocabulary, names: Iterable[str]) -> str:
    """Return the hash of the definitions of facts, and of all that these rest on."""
    needed = vocabulary.rests_on(names)
    facts = [fact for name, fact in vocabulary.facts.items() if name in needed]
    return key_id("facts", totals_hash(vocabulary), *sorted(map(_definition, facts)))


def _definition(fact: Fact) -> str:
    return f"{fact.name} {fact.aggregate} {fact.paired} {fact.expression.sql()}"
