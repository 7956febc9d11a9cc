"""Two kernels of one run: what a run fact over ``pairs`` or ``siblings`` reads.

One row per two variants; facts of the two begin with ``first_`` and ``next_``. Of a pair, the
second was launched right after the first, in the same stream of the same context, as far as the
profile tells. Of siblings, the second is the fastest that could stand for the first: one function
on one device, whose threads cover the same range along every axis in other blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from advisor.database.relations import Relations
from advisor.documents import MappingNode, load
from advisor.errors import RuleError
from advisor.expression import Kind, Symbol
from advisor.facts.formulas import Formula, NamedNumber, compile_formula
from advisor.facts.layers import Column, layered
from advisor.facts.patterns import read_patterns
from advisor.quoting import literal, quoted
from advisor.records import dataclass
from advisor.units import parse_unit

SIDES = ("first", "next")
OTHER = "other"

_OWN = {
    "times": Symbol(Kind.NUMBER, parse_unit("1")),
    "pair": Symbol(Kind.TEXT, None),
    "cache_control": Symbol(Kind.TEXT, None),
    "first_kind": Symbol(Kind.TEXT, None),
    "next_kind": Symbol(Kind.TEXT, None),
}
_KEYS = ("unit", "kind", "formula", "about", "source")
_NAMED = ("short_name", "kernel_name", "variant_id")
_FOLLOWING = """
    SELECT run_id, before, variant_id, count(*)::DOUBLE AS times FROM (
        SELECT run_id, variant_id, lag(variant_id) OVER (
            PARTITION BY run_id, process, device_ordinal, context, stream ORDER BY launch_index
        ) AS before
        FROM {launch} WHERE run_id IN (SELECT run_id FROM {kernels})
    ) WHERE before IS NOT NULL GROUP BY ALL
"""
# Template arguments that are the length of the block are the only ones that may differ. Along one
# axis alone, as many threads may belong to another problem: fewer rows, each a wider block.
_SIBLINGS = r"""
    SELECT f.run_id, f.variant_id AS before, n.variant_id, f.launch_count::DOUBLE AS times
    FROM {kernels} AS f
    JOIN {kernels} AS n ON n.run_id = f.run_id AND n.device_id = f.device_id
        AND n.short_name = f.short_name AND n.duration_mean < f.duration_mean
        AND n.grid_x * n.block_x = f.grid_x * f.block_x
        AND n.grid_y * n.block_y = f.grid_y * f.block_y
        AND n.grid_z * n.block_z = f.grid_z * f.block_z
        AND (n.block_x <> f.block_x OR n.block_y <> f.block_y OR n.block_z <> f.block_z)
        AND (n.kernel_id = f.kernel_id OR
            regexp_replace(n.kernel_name, '\b' || n.block_x::BIGINT || '\b', 'block', 'g') =
            regexp_replace(f.kernel_name, '\b' || f.block_x::BIGINT || '\b', 'block', 'g'))
    WHERE (f.grid_x * f.block_x > 1)::INT + (f.grid_y * f.block_y > 1)::INT
        + (f.grid_z * f.block_z > 1)::INT > 1
    QUALIFY row_number() OVER (
        PARTITION BY f.variant_id ORDER BY n.duration_mean, n.variant_id
    ) = 1
"""
_PAIRS = """
    SELECT pairs.run_id, pairs.times, run.cache_control,
        printf('%s → %s (%dx)', f.short_name, n.short_name, pairs.times::BIGINT) AS pair,
        {columns}
    FROM ({two}) AS pairs
    JOIN {kernels} AS f ON f.variant_id = pairs.before
    JOIN {kernels} AS n ON n.variant_id = pairs.variant_id
    JOIN {run} ON run.run_id = pairs.run_id
    LEFT JOIN {kinds} AS first_named ON first_named.kernel_name = f.kernel_name
    LEFT JOIN {kinds} AS next_named ON next_named.kernel_name = n.kernel_name
"""


@dataclass(frozen=True, kw_only=True)
class Two:
    """Which two kernels a row is about: a SELECT, and the columns of kernels that it reads.

    ``possible`` is a condition over all kernels without which there are no two: most runs have no
    siblings, and to plan the statement for them takes longer than to ask.
    """

    query: str
    possible: str
    reads: frozenset[str] = frozenset()


FOLLOWING = Two(
    query=_FOLLOWING, possible="sum(coalesce(launch_count, 2)) > count(DISTINCT run_id)"
)
SIBLINGS = Two(
    query=_SIBLINGS,
    possible="count(*) > count(DISTINCT (run_id, short_name))",
    reads=frozenset(f"{of}_{axis}" for of in ("grid", "block") for axis in "xyz")
    | {"device_id", "kernel_id", "launch_count", "duration_mean"},
)


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """What names of kernels mean for their work: the first pattern that is found decides."""

    patterns: Mapping[str, str]

    def sql(self, name: str) -> str:
        """Return the SQL of the kind of the kernel whose name is the SQL ``name``."""
        cases = " ".join(
            f"WHEN regexp_matches(lower({name}), {literal(pattern)}) THEN {literal(kind)}"
            for kind, pattern in self.patterns.items()
        )
        return f"CASE {cases} ELSE {literal(OTHER)} END"


@dataclass(frozen=True, kw_only=True)
class PairFact:
    """A fact of two kernels."""

    name: str
    symbol: Symbol
    formula: Formula


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The facts of two kernels, and the symbols that formulas over them may name."""

    two: Two
    facts: Mapping[str, PairFact]
    symbols: Mapping[str, Symbol]

    def columns(self, wanted: frozenset[str]) -> frozenset[str]:
        """Return the columns of kernels that the pairs and ``wanted`` columns of them rest on."""
        return frozenset(name for _, name in self._sides(wanted)).union(_NAMED, self.two.reads)

    def select(self, kernels: str, wanted: frozenset[str], relations: Relations, kinds: str) -> str:
        """Return the SELECT of the pairs, with ``wanted`` columns, from a table of kernels.

        ``kinds`` is a table of names of kernels and their kinds.
        """
        sides = [
            f"{side[0]}.{quoted(name)} AS {quoted(f'{side}_{name}')}"
            for side, name in sorted(self._sides(wanted))
        ]
        sides += [f"coalesce({side}_named.kind, '{OTHER}') AS {side}_kind" for side in SIDES]
        two = self.two.query.format(kernels=kernels, launch=relations.item("launch"))
        pairs = _PAIRS.format(
            columns=", ".join(sides),
            two=two,
            kernels=kernels,
            run=relations.item("run"),
            kinds=kinds,
        )
        added = [
            Column(name=each.name, sql=each.formula.sql(), names=each.formula.names)
            for each in self.facts.values()
        ]
        return layered(f"({pairs})", added)

    def _sides(self, wanted: frozenset[str]) -> set[tuple[str, str]]:
        """Return side and column of a kernel for every column that is read."""
        names = wanted.union(*(each.formula.names for each in self.facts.values()))
        parts = (name.partition("_") for name in names - self.facts.keys() - _OWN.keys())
        return {(side, column) for side, _, column in parts}


def load_pairs(
    node: MappingNode | None,
    of_kernels: Mapping[str, Symbol],
    numbers: Mapping[str, NamedNumber],
    two: Two,
) -> Pairs:
    """Return the facts of two kernels that ``node`` defines; ``of_kernels`` are what each has.

    Raises:
        RuleError: an entry is wrong; with its place.
    """
    symbols = {f"{side}_{name}": each for name, each in of_kernels.items() for side in SIDES} | _OWN
    facts: dict[str, PairFact] = {}
    for name, entry in node.items() if node else ():
        facts[name] = _fact(name, entry.as_mapping(), symbols, numbers)
        symbols[name] = facts[name].symbol
    return Pairs(two=two, facts=facts, symbols=symbols)


def _fact(
    name: str,
    node: MappingNode,
    symbols: Mapping[str, Symbol],
    numbers: Mapping[str, NamedNumber],
) -> PairFact:
    node.refuse_unknown(_KEYS)
    for key in ("about", "source"):
        node.text(key)
    if "unit" in node:
        symbol = Symbol(Kind.NUMBER, parse_unit(node.text("unit"), at=node["unit"].at))
    elif node.text("kind") == "boolean":
        symbol = Symbol(Kind.BOOLEAN, None)
    else:
        raise RuleError("a fact of a pair is a number with a unit or a boolean", at=node.at)
    formula = compile_formula(node["formula"], symbols, numbers, kind=symbol.kind, unit=symbol.unit)
    return PairFact(name=name, symbol=symbol, formula=formula)


def load_kinds(path: Path) -> Kinds:
    """Return what names tell, from a file of kinds and their patterns.

    Raises:
        RuleError: it has another form, or a pattern is empty or none; with its place.
    """
    document = load(path)
    document.refuse_unknown(("kinds",))
    lists = {}
    for kind, entry in document.mapping("kinds").items():
        node = entry.as_mapping()
        node.refuse_unknown(("names", "about", "source"))
        for key in ("about", "source"):
            node.text(key)
        lists[kind] = node["names"]
    return Kinds(patterns=read_patterns(lists))
