"""What following rules would change: the quantities of each kernel, with nothing counted twice.

A rule says which quantities its advice changes (``assumes``). Of rules with one mechanism, which
are symptoms of one cause, the largest change of a quantity counts; changes of unlike mechanisms
each take their share of what the others leave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from advisor.database.facts_table import FactsTable
from advisor.facts.layers import select
from advisor.quoting import double, literal, quoted
from advisor.records import dataclass
from advisor.rules.engine.compiled import facts_of_kernels
from advisor.rules.engine.evaluate import evaluate_table
from advisor.rules.language.rule import Outcome
from advisor.rules.language.subjects import KERNEL

if TYPE_CHECKING:
    import duckdb

    from advisor.database.relations import Relations
    from advisor.facts.vocabulary import Vocabulary
    from advisor.rules import Rule
    from advisor.rules.engine.compiled import Compiled

_TABLE = "whatif_facts"
_KEY = "variant_id"


@dataclass(frozen=True, kw_only=True)
class QuantityChange:
    """What becomes of a quantity: ``share`` of it is left, and ``more`` is added over the run."""

    share: float = 1.0
    more: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """What one rule that was found for a kernel changes there, by quantity."""

    rule: Rule
    variant_id: str
    changes: Mapping[str, QuantityChange] = field(default_factory=dict)


def changeable(rule: Rule, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return what a rule about kernels assumes of quantities, which launches have.

    Facts that follow from them, such as the start of a launch, are no columns to write to.
    """
    if rule.subject != KERNEL:
        return ()
    quantities = vocabulary.quantities
    return tuple(n for n in rule.assumes if n in quantities.quantities or n in quantities.launch)


def found_and_assumed(
    connection: duckdb.DuckDBPyConnection, compiled: Compiled, run_id: str, relations: Relations
) -> tuple[Assumed, ...]:
    """Return what each rule changes that can be changed, for the kernels where it fires."""
    try:
        table = facts_of_kernels(connection, compiled, [run_id], relations, name=_TABLE)
        evaluations = evaluate_table(connection, compiled, table, relations)
        fires = [
            (each.rule.id, each.variant_id)
            for each in evaluations
            if each.outcome is Outcome.FIRES and changeable(each.rule, compiled.vocabulary)
        ]
        return tuple(_assumed(table, compiled, fires))
    finally:
        connection.execute(f"drop table if exists {_TABLE}")


def _assumed(
    table: FactsTable, compiled: Compiled, fires: Sequence[tuple[str, str]]
) -> Iterable[Assumed]:
    program = compiled.of_kernels
    by_rule = defaultdict(set)
    for rule_id, variant_id in fires:
        by_rule[rule_id].add(variant_id)
    for index, rule in enumerate(program.rules):
        if rule.id not in by_rule:
            continue
        names = changeable(rule, compiled.vocabulary)
        columns = ", ".join(map(quoted, (_KEY, *names)))
        assumed = f"({program.assumptions(_TABLE, _KEY, index)})"
        after = _values(table, select(columns, assumed))
        before = _values(table, select(columns, _TABLE))
        for variant_id in sorted(by_rule[rule.id]):
            pairs = zip(names, before[variant_id], after[variant_id], strict=True)
            changes = {
                name: _change(old, new)
                for name, old, new in pairs
                if old is not None and new is not None and old != new
            }
            yield Assumed(rule=rule, variant_id=variant_id, changes=changes)


def _values(table: FactsTable, query: str) -> dict[str, tuple[float | None, ...]]:
    return {row[0]: row[1:] for row in table.fetch(query)}


def _change(old: float, new: float) -> QuantityChange:
    if new < old:
        return QuantityChange(share=max(new, 0.0) / old)
    return QuantityChange(more=new - old)


def together(assumed: Iterable[Assumed]) -> dict[str, dict[str, QuantityChange]]:
    """Return what rules change together, by kernel and quantity."""
    largest: dict[tuple[str, str, str], QuantityChange] = {}
    for each in assumed:
        for name, change in each.changes.items():
            key = (each.variant_id, name, each.rule.mechanism)
            known = largest.get(key, QuantityChange())
            largest[key] = QuantityChange(
                share=min(known.share, change.share), more=max(known.more, change.more)
            )
    found: dict[str, dict[str, QuantityChange]] = defaultdict(dict)
    for (variant_id, name, _), change in largest.items():
        known = found[variant_id].get(name, QuantityChange())
        found[variant_id][name] = QuantityChange(
            share=known.share * change.share, more=known.more + change.more
        )
    return dict(found)


def launch_changes(
    changes: Mapping[str, Mapping[str, QuantityChange]], durations: Mapping[str, float]
) -> dict[str, str]:
    """Return SQL over a launch for each quantity that changes; ``durations`` [s] by kernel.

    What is added to a kernel is spread over its launches by their time.
    """
    names = dict.fromkeys(name for by_name in changes.values() for name in by_name)
    return {name: _of_launch(name, changes, durations) for name in names}


def _of_launch(
    name: str, changes: Mapping[str, Mapping[str, QuantityChange]], durations: Mapping[str, float]
) -> str:
    shares, more = [], []
    for variant_id, by_name in changes.items():
        change = by_name.get(name)
        if change is None:
            continue
        when = f"when {literal(variant_id)} then"
        shares.append(f"{when} {double(change.share)}")
        if change.more and durations.get(variant_id):
            more.append(f"{when} {double(change.more / durations[variant_id])}")
    left = f"{quoted(name)} * (case variant_id {' '.join(shares)} else 1 end)"
    if not more:
        return left
    return f"{left} + duration * (case variant_id {' '.join(more)} else 0 end)"
