"""Gains of kernels whose time nobody measured: shares of it, with that time as the unit.

A gain is in seconds. Where a formula reads no other time than the kernel's own, its units say that
it is proportional to it, so with 1 in the place of the kernel's time it gives a share. Every other
name with a time in its unit, such as a rate, is worked out from that 1 alone or left out, and a
rule whose own numbers have one promises no share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from advisor.facts.formulas import Formula
from advisor.facts.vocabulary import Vocabulary
from advisor.quoting import double, quoted
from advisor.rules.language.rule import Rule
from advisor.units import Unit, parse_unit

_UNKNOWN = "CAST(NULL AS DOUBLE)"

Columns = Callable[[str], str]


def promises_share(rule: Rule) -> bool:
    """Return whether the gain of a rule follows from the kernel's own time and from no other."""
    if rule.gain is None:
        return False
    bounds = (rule.gain.low, rule.gain.likely, rule.gain.high)
    read = frozenset[str]().union(*(each.names for each in bounds))
    read = read.union(*(each.names for each in rule.assumes.values()))
    numbers = (each for name, each in rule.thresholds.items() if name in read)
    return not any(has_time(parse_unit(each.unit)) for each in numbers)


def in_own_time(
    names: Iterable[str], time: str, vocabulary: Vocabulary, facts: Columns
) -> Mapping[str, str]:
    """Return the SQL of those names whose unit has a time, for kernels whose ``time`` is 1.

    ``facts`` gives the column of what has none.
    """

    def written(name: str) -> str:
        if name == time:
            return double(1.0)
        if not _has_time(name, vocabulary):
            return facts(name)
        fact = vocabulary.facts.get(name)
        if fact is None or fact.level == "launch" or fact.paired:
            return _UNKNOWN
        formula = fact.expression
        if not isinstance(formula, Formula) or any(map(has_time, _units(formula))):
            return _UNKNOWN
        return f"({formula.sql(written)})"

    return {name: written(name) for name in names if _has_time(name, vocabulary)}


def select_in_own_time(table: str, columns: Mapping[str, str], time: str) -> str:
    """Return a SELECT of the kernels of a table without a time, in their own."""
    listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())
    return f"(SELECT {listed} FROM {table} WHERE {quoted(time)} IS NULL) AS in_own_time"


def has_time(unit: Unit | None) -> bool:
    """Return whether a value in a unit is another one where time is counted otherwise."""
    return unit is not None and unit.dimension[0] != 0


def _has_time(name: str, vocabulary: Vocabulary) -> bool:
    return has_time(vocabulary.symbols[name].unit)


def _units(formula: Formula) -> Iterable[Unit | None]:
    return (number.symbol.unit for number in formula.numbers.values())
