"""Facts about a whole run: aggregates over its kernels (``rules/run-facts.yaml``), and formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from advisor.documents import MappingNode, load
from advisor.errors import RuleError
from advisor.expression import Expression, Kind, Symbol, compile_expression, quote
from advisor.facts.formulas import Formula, NamedNumber, compile_formula, read_numbers
from advisor.facts.layers import Column, layered
from advisor.resources import data_dir
from advisor.units import parse_unit

KERNEL_TEXTS = ("kernel_id", "kernel_name", "short_name", "launch_shape")

_SQL = {
    "sum": "sum({})",
    "max": "max({})",
    "min": "min({})",
    "count": "count({})::double",
    "count_distinct": "count(distinct {})::double",
    "of_largest": "arg_max({}, {})",
}
_KEYS = ("unit", "kind", "aggregate", "by", "formula", "about", "source")


@dataclass(frozen=True, kw_only=True)
class RunFact:
    """One fact of a run; ``aggregate`` is None for a formula over other facts of the run."""

    name: str
    symbol: Symbol
    aggregate: str | None
    formula: Formula
    by: str | None
    about: str
    source: str


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """All of them, and the least time of a run as expressions over them."""

    facts: Mapping[str, RunFact]
    floor: Expression
    floor_achievable: Expression

    @property
    def symbols(self) -> dict[str, Symbol]:
        """Return what rules about runs may name."""
        return {name: fact.symbol for name, fact in self.facts.items()}

    @property
    def kernel_columns(self) -> frozenset[str]:
        """Return the columns of kernels that the aggregates read."""
        found = [f.formula.names for f in self.facts.values() if f.aggregate is not None]
        by = {fact.by for fact in self.facts.values() if fact.by is not None}
        return frozenset(by).union(*found)

    def select(self, kernels: str, run_id_parameter: str) -> str:
        """Return the SELECT of the one row of a run from a table of its kernels."""
        parts = [f"{run_id_parameter} AS run_id"]
        derived = []
        for name, fact in self.facts.items():
            if fact.aggregate is None:
                derived.append(Column(name=name, sql=fact.formula.sql(), names=fact.formula.names))
                continue
            by = "" if fact.by is None else quote(fact.by)
            parts.append(f"{_SQL[fact.aggregate].format(fact.formula.sql(), by)} AS {quote(name)}")
        rows = " ".join(("(SELECT", ", ".join(parts), "FROM", kernels + ")"))
        return layered(rows, derived)


def load_run_facts(symbols: Mapping[str, Symbol], path: Path | None = None) -> RunFacts:
    """Return the facts of runs; ``symbols`` are those of kernels.

    Raises:
        RuleError: an entry is wrong; with its place.
    """
    document = load(path or data_dir("rules") / "run-facts.yaml")
    document.refuse_unknown(("thresholds", "facts", "floor"))
    numbers = read_numbers(document.mapping("thresholds")) if "thresholds" in document else {}
    texts = {name: Symbol(Kind.TEXT, None) for name in KERNEL_TEXTS}
    entries = {name: node.as_mapping() for name, node in document.mapping("facts").items()}
    own = {name: _symbol(node) for name, node in entries.items()}
    facts = {
        name: _fact(name, node, own, {**symbols, **texts}, numbers)
        for name, node in entries.items()
    }
    floor = document.mapping("floor")
    profiled, achievable = (
        compile_expression(floor.text(key), own, at=floor[key].at, unit=parse_unit("s"))
        for key in ("profiled", "achievable")
    )
    return RunFacts(facts=facts, floor=profiled, floor_achievable=achievable)


def _symbol(node: MappingNode) -> Symbol:
    node.refuse_unknown(_KEYS)
    if "unit" in node:
        return Symbol(Kind.NUMBER, parse_unit(node.text("unit"), at=node["unit"].at))
    if node.text("kind") != "text":
        raise RuleError("a fact of a run is a number with a unit or a text", at=node["kind"].at)
    return Symbol(Kind.TEXT, None)


def _fact(
    name: str,
    node: MappingNode,
    own: Mapping[str, Symbol],
    of_kernels: Mapping[str, Symbol],
    numbers: Mapping[str, NamedNumber],
) -> RunFact:
    symbol = own[name]
    aggregate = node.text("aggregate") if "aggregate" in node else None
    if aggregate is not None and aggregate not in _SQL:
        problem = f"aggregate is one of {', '.join(_SQL)}"
        raise RuleError(problem, at=node["aggregate"].at)
    if ("by" in node) != (aggregate == "of_largest"):
        raise RuleError("`by` goes with of_largest, and only with it", at=node.at)
    if "by" in node and node.text("by") not in of_kernels:
        raise RuleError(f"unknown name {node.text('by')!r}", at=node["by"].at)
    counts = aggregate in ("count", "count_distinct")
    scope = own if aggregate is None else of_kernels
    formula = (
        _counted(node, scope, numbers)
        if counts
        else compile_formula(node["formula"], scope, numbers, kind=symbol.kind, unit=symbol.unit)
    )
    return RunFact(
        name=name,
        symbol=symbol,
        aggregate=aggregate,
        formula=formula,
        by=node.text("by") if "by" in node else None,
        about=node.text("about"),
        source=node.text("source"),
    )


def _counted(
    node: MappingNode, scope: Mapping[str, Symbol], numbers: Mapping[str, NamedNumber]
) -> Formula:
    """Return the formula whose values are counted; they may be of any kind."""
    text = node.text("formula")
    kind = scope[text].kind if text in scope else Kind.NUMBER
    return compile_formula(node["formula"], scope, numbers, kind=kind)
