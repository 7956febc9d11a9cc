"""Facts about a whole run (``rules/run-facts.yaml``): aggregates over its kernels, and formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from advisor.database.relations import STORED, Relations
from advisor.documents import MappingNode, load
from advisor.errors import RuleError
from advisor.expression import Expression, Kind, Symbol, compile_expression
from advisor.facts.formulas import Formula, NamedNumber, compile_formula, read_numbers
from advisor.facts.layers import Column, layered
from advisor.facts.pairs import FOLLOWING, SIBLINGS, Kinds, Pairs, load_kinds, load_pairs
from advisor.quoting import quoted
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.units import parse_unit

KERNEL_TEXTS = ("kernel_id", "kernel_name", "short_name", "launch_shape", "device_id")

KERNELS, RUN = "kernels", "run"
TWO = {"pairs": FOLLOWING, "siblings": SIBLINGS}
"""What a fact is taken over: the kernels of the run, the run, or two kernels at a time."""

KIND = "kind"
"""The kind of work that the name of a kernel means; NULL where it has none."""

_KINDS = "kinds"  # of each name once: to match its patterns is what takes time
_NAMES = """
    WITH kinds AS MATERIALIZED (
        SELECT kernel_name, {kind} AS kind
        FROM (SELECT DISTINCT kernel_name FROM {kernels} WHERE kernel_name IS NOT NULL)
    )
"""
_WITH_KIND = """
    (SELECT of_kernel.*, kinds.kind FROM {kernels} AS of_kernel
    LEFT JOIN kinds USING (kernel_name))
"""
_OF_RUN = {"step_time": Symbol(Kind.NUMBER, parse_unit("s"))}
_SQL = {
    "sum": "sum({})",
    "max": "max({})",
    "min": "min({})",
    "count": "count({})::double",
    "count_distinct": "count(distinct {})::double",
    "of_largest": "arg_max({}, {})",
    "names_of_largest": "array_to_string(list({0} ORDER BY {1} DESC, {0})"
    " FILTER ({0} IS NOT NULL AND {1} > 0)[:3], ', ')",
}
_WITH_BY = ("of_largest", "names_of_largest")
_NONE = ("sum", "count", "count_distinct")
_KEYS = ("unit", "kind", "over", "aggregate", "by", "formula", "about", "source")


@dataclass(frozen=True, kw_only=True)
class RunFact:
    """One fact of a run; ``aggregate`` is None for a formula over other facts, or over the run."""

    name: str
    symbol: Symbol
    over: str
    aggregate: str | None
    formula: Formula
    by: str | None
    about: str
    source: str


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """All of them, and the least time of a run as expressions over them.

    ``pairs`` are the facts of two kernels, by what makes two of them a pair. ``time`` names the
    fact that is a run's time, which no advice can shorten below its floor.
    """

    facts: Mapping[str, RunFact]
    kinds: Kinds
    pairs: Mapping[str, Pairs]
    time: str
    floor: Expression
    floor_achievable: Expression

    @property
    def symbols(self) -> dict[str, Symbol]:
        """Return what rules about runs may name."""
        return {name: fact.symbol for name, fact in self.facts.items()}

    @property
    def kernel_columns(self) -> frozenset[str]:
        """Return the columns of kernels that the aggregates read."""
        two = (pairs.columns(self._columns(over)) for over, pairs in self.pairs.items())
        return (self._columns(KERNELS) - {KIND}).union(*two)

    def select(
        self,
        kernels: str,
        relations: Relations = STORED,
        holds: Callable[[str], bool] = lambda _: True,
    ) -> str:
        """Return the SELECT of one row per run from a table of kernels with its ``run_id``.

        What is of the run itself, and the order of its launches, come from ``relations``.
        ``holds`` tells whether the answer to a query is true.
        """
        two = {
            over
            for over, pairs in self.pairs.items()
            if holds(f"SELECT {pairs.two.possible} FROM {kernels}")
        }
        kind = self.kinds.sql("kernel_name")
        named = _WITH_KIND.format(kernels=kernels)
        joined = (
            "(",
            _NAMES.format(kernels=kernels, kind=kind),
            "SELECT of_kernels.*, of_run.* EXCLUDE (run_id)",
            *(
                f", of_{over}.* EXCLUDE (run_id) {self._nothing(over)}"
                if over in two
                else self._without(over)
                for over in self.pairs
            ),
            f"FROM ({self._grouped(KERNELS, named)}) AS of_kernels",
            f"LEFT JOIN ({self._of_run(relations)}) AS of_run USING (run_id)",
            *(self._of_two(over, kernels, relations) for over in self.pairs if over in two),
            ")",
        )
        derived = [
            Column(name=fact.name, sql=fact.formula.sql(), names=fact.formula.names)
            for fact in self.facts.values()
            if fact.over == KERNELS and fact.aggregate is None
        ]
        return layered(" ".join(joined), derived)

    def _of_two(self, over: str, kernels: str, relations: Relations) -> str:
        """Return the join of the aggregates over two kernels at a time."""
        pairs = self.pairs[over].select(kernels, self._columns(over), relations, _KINDS)
        return f"LEFT JOIN ({self._grouped(over, f'({pairs})')}) AS of_{over} USING (run_id)"

    def _nothing(self, over: str) -> str:
        """Return what puts 0 in place of sums and counts where a run has no two such kernels."""
        zeros = ", ".join(
            f"CASE WHEN of_{over}.run_id IS NULL THEN 0.0 ELSE of_{over}.{quoted(fact.name)} END"
            f" AS {quoted(fact.name)}"
            for fact in self.facts.values()
            if fact.over == over and fact.aggregate in _NONE
        )
        return f"REPLACE ({zeros})" if zeros else ""

    def _without(self, over: str) -> str:
        """Return the same facts where no run has two such kernels."""
        return "".join(
            f", {'0.0' if fact.aggregate in _NONE else 'NULL'}::{fact.symbol.kind.column_type}"
            f" AS {quoted(fact.name)}"
            for fact in self.facts.values()
            if fact.over == over
        )

    def _columns(self, over: str) -> frozenset[str]:
        """Return the columns that the aggregates over kernels, or two at a time, read."""
        facts = [f for f in self.facts.values() if f.over == over and f.aggregate is not None]
        by = {fact.by for fact in facts if fact.by is not None}
        return frozenset(by).union(*(fact.formula.names for fact in facts))

    def _grouped(self, over: str, source: str) -> str:
        parts = [
            f"{_SQL[fact.aggregate].format(fact.formula.sql(), quoted(fact.by or ''))}"
            f" AS {quoted(fact.name)}"
            for fact in self.facts.values()
            if fact.over == over and fact.aggregate is not None
        ]
        return f"SELECT {', '.join(('run_id', *parts))} FROM {source} GROUP BY run_id"

    def _of_run(self, relations: Relations) -> str:
        parts = [
            f"{fact.formula.sql()} AS {quoted(fact.name)}"
            for fact in self.facts.values()
            if fact.over == RUN
        ]
        return f"SELECT {', '.join(('run_id', *parts))} FROM {relations.item('run')}"


def load_run_facts(symbols: Mapping[str, Symbol], path: Path | None = None) -> RunFacts:
    """Return the facts of runs; ``symbols`` are those of kernels.

    Raises:
        RuleError: an entry is wrong; with its place.
    """
    document = load(path or data_dir("rules") / "run-facts.yaml")
    document.refuse_unknown(("thresholds", *TWO, "facts", "floor"))
    numbers = read_numbers(document.mapping("thresholds")) if "thresholds" in document else {}
    of_kernels = {**symbols, **{name: Symbol(Kind.TEXT, None) for name in KERNEL_TEXTS}}
    kinds = load_kinds(data_dir("rules") / "kernel-kinds.yaml")
    pairs = {
        over: load_pairs(
            document.mapping(over) if over in document else None, of_kernels, numbers, two
        )
        for over, two in TWO.items()
    }
    entries = {name: node.as_mapping() for name, node in document.mapping("facts").items()}
    own = {name: _symbol(node) for name, node in entries.items()}
    named = {**of_kernels, KIND: Symbol(Kind.TEXT, None)}
    of_two = {over: each.symbols for over, each in pairs.items()}
    scopes = {KERNELS: named, RUN: _OF_RUN, **of_two}
    facts = {name: _fact(name, node, own, scopes, numbers) for name, node in entries.items()}
    floor = document.mapping("floor")
    floor.refuse_unknown(("time", "profiled", "achievable"))
    time, profiled, achievable = (
        compile_expression(floor.text(key), own, at=floor[key].at, unit=parse_unit("s"))
        for key in ("time", "profiled", "achievable")
    )
    if time.text not in facts:
        raise RuleError("the time of a run is one of its facts", at=floor["time"].at)
    return RunFacts(
        facts=facts,
        kinds=kinds,
        pairs=pairs,
        time=time.text,
        floor=profiled,
        floor_achievable=achievable,
    )


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
    scopes: Mapping[str, Mapping[str, Symbol]],
    numbers: Mapping[str, NamedNumber],
) -> RunFact:
    symbol = own[name]
    over = node.text("over") if "over" in node else KERNELS
    if over not in scopes:
        raise RuleError(f"over is one of {', '.join(scopes)}", at=node["over"].at)
    aggregate = _aggregate(node, over, scopes[over])
    counts = aggregate in ("count", "count_distinct")
    is_derived = over == KERNELS and aggregate is None
    scope = own if is_derived else scopes[over]
    formula = (
        _counted(node, scope, numbers)
        if counts
        else compile_formula(node["formula"], scope, numbers, kind=symbol.kind, unit=symbol.unit)
    )
    return RunFact(
        name=name,
        symbol=symbol,
        over=over,
        aggregate=aggregate,
        formula=formula,
        by=node.text("by") if "by" in node else None,
        about=node.text("about"),
        source=node.text("source"),
    )


def _aggregate(node: MappingNode, over: str, scope: Mapping[str, Symbol]) -> str | None:
    """Return the name of the aggregate, None where there is none; check what goes with it."""
    aggregate = node.text("aggregate") if "aggregate" in node else None
    if aggregate is not None and aggregate not in _SQL:
        problem = f"aggregate is one of {', '.join(_SQL)}"
        raise RuleError(problem, at=node["aggregate"].at)
    if over == RUN and aggregate is not None:
        raise RuleError("a run is one row: nothing to aggregate", at=node["aggregate"].at)
    if over in TWO and aggregate is None:
        raise RuleError(f"a fact over {over} needs an aggregate", at=node.at)
    if ("by" in node) != (aggregate in _WITH_BY):
        raise RuleError(f"`by` goes with {' and '.join(_WITH_BY)}, and only with them", at=node.at)
    if "by" in node and node.text("by") not in scope:
        raise RuleError(f"unknown name {node.text('by')!r}", at=node["by"].at)
    return aggregate


def _counted(
    node: MappingNode, scope: Mapping[str, Symbol], numbers: Mapping[str, NamedNumber]
) -> Formula:
    """Return the formula whose values are counted; they may be of any kind."""
    text = node.text("formula")
    kind = scope[text].kind if text in scope else Kind.NUMBER
    return compile_formula(node["formula"], scope, numbers, kind=kind)
