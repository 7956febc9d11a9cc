"""What ``rules/evaluation.yaml`` says for all rules: floors, confidence, guards, collecting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from advisor.counters.instructions import InstructionView, load_instruction_views
from advisor.documents import MappingNode, load
from advisor.expression import Expression, Kind, Symbol, compile_expression
from advisor.facts.runs import RunFacts, load_run_facts
from advisor.records import dataclass
from advisor.resources import counter_dirs, data_dir
from advisor.rules.language.relations import FactRelations, load_relations
from advisor.rules.language.rule import SECONDS, Guard, Rule, Threshold
from advisor.rules.language.thresholds import in_scope, read_thresholds
from advisor.rules.language.words import Vendors, load_words

_PROTECTED = ("rests_on", "mechanisms")
_KEYS = ("threshold", "floor", "confidence", "verify", "guards", "measures", "states", "collect")


@dataclass(frozen=True, kw_only=True)
class Factor:
    """A number that confidence is multiplied by where ``when`` holds."""

    because: str
    when: Expression
    factor: float
    source: str


@dataclass(frozen=True, kw_only=True)
class SharedGuard:
    """A guard of many rules.

    It protects rules that decide on one of the facts ``rests_on``, those with one of the
    ``mechanisms``; with ``same_work``, those that promise a gain without changing the kernel's work
    and traffic; with ``any_gain``, all that promise one.
    """

    guard: Guard
    rests_on: frozenset[str] = frozenset()
    mechanisms: frozenset[str] = frozenset()
    same_work: bool = False
    any_gain: bool = False

    def protects(self, rule: Rule) -> bool:
        """Return whether the rule is one of them and has no such guard of its own."""
        if self.guard.when.names & {name for g in rule.unless for name in g.when.names}:
            return False
        if self.same_work or self.any_gain:
            return rule.gain is not None and (self.any_gain or not rule.assumes)
        return rule.mechanism in self.mechanisms or bool(self.rests_on & rule.decides_on)


@dataclass(frozen=True, kw_only=True)
class CollectSettings:
    """How much of what is missing is worth asking a profiler for.

    ``share_of_value`` is the part of the value of all unknown rules that a command should settle;
    ``launches_per_kernel`` bounds how often one kernel is profiled.
    """

    share_of_value: float
    launches_per_kernel: int


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """The whole file; ``floor`` and ``floor_achievable`` are the least times in seconds.

    ``busy`` is the time for which the busiest unit works, None where the subject has no units;
    ``goes_along`` how much of the other units' time goes with relieved work (``gains.Raw``).

    ``time`` names the fact that is the time of the subject. ``states`` are patterns of the ids of
    rules that name no cause, ``measures`` of those that advise to measure; ``run`` are the facts of
    runs, from a file of their own, and ``instruction_views`` what instructions are ranked by.
    ``relations`` say which findings exclude or explain each other. ``verify_tolerance`` is the
    relative change that is none when advice is verified. ``vendors`` are the words of a reader.
    """

    thresholds: Mapping[str, Threshold]
    time: str
    floor: Expression
    floor_achievable: Expression
    busy: Expression | None
    goes_along: float
    factors: tuple[Factor, ...]
    unchecked_factor: float
    uncalibrated_factor: float
    uncalibrated_because: str
    verify_tolerance: float
    guards: tuple[SharedGuard, ...]
    measures: tuple[str, ...]
    states: tuple[str, ...]
    collect: CollectSettings
    relations: FactRelations
    run: RunFacts
    instruction_views: tuple[InstructionView, ...]
    vendors: Vendors

    @property
    def busy_names(self) -> frozenset[str]:
        """Return what the time of the busiest unit follows from."""
        return frozenset() if self.busy is None else self.busy.names

    def names_no_cause(self, rule_id: str) -> bool:
        """Return whether a rule only describes what is."""
        return any(fnmatchcase(rule_id, pattern) for pattern in self.states)

    def only_measures(self, rule_id: str) -> bool:
        """Return whether the advice of a rule finds a cause, and saves nothing itself."""
        return any(fnmatchcase(rule_id, pattern) for pattern in self.measures)


def load_settings(
    symbols: Mapping[str, Symbol], path: Path | None = None, *, packs: Sequence[Path] = ()
) -> EvaluationSettings:
    """Return the settings; ``packs`` may name their own facts for a reader.

    Raises:
        RuleError: something in the file is wrong; with its place.
    """
    document = load(path or data_dir("rules") / "evaluation.yaml")
    document.refuse_unknown(_KEYS)
    thresholds = read_thresholds(document.get("threshold"), symbols, {})
    scope = in_scope(symbols, thresholds)
    vendors = load_words(packs)
    floor = document.mapping("floor")
    floor.refuse_unknown(("time", "profiled", "achievable", "busiest", "goes_along"))
    confidence = document.mapping("confidence")
    confidence.refuse_unknown(("factors", "unchecked_guard", "uncalibrated_gain"))
    return EvaluationSettings(
        thresholds=thresholds,
        time=_seconds(floor, "time", scope).text,
        floor=_seconds(floor, "profiled", scope),
        floor_achievable=_seconds(floor, "achievable", scope),
        busy=_seconds(floor, "busiest", scope) if "busiest" in floor else None,
        goes_along=_sourced(floor, "goes_along") if "goes_along" in floor else 0.0,
        factors=tuple(_factor(n.as_mapping(), scope) for n in confidence.sequence("factors")),
        unchecked_factor=confidence.mapping("unchecked_guard").number("factor"),
        uncalibrated_factor=confidence.mapping("uncalibrated_gain").number("factor"),
        uncalibrated_because=confidence.mapping("uncalibrated_gain").text("because"),
        verify_tolerance=_tolerance(document.mapping("verify")),
        guards=tuple(_guard(n.as_mapping(), symbols, vendors) for n in document.sequence("guards")),
        measures=tuple(document.sequence("measures").texts()),
        states=tuple(document.sequence("states").texts()),
        collect=_collect(document.mapping("collect")),
        relations=load_relations(),
        run=load_run_facts(symbols),
        instruction_views=load_instruction_views(counter_dirs()),
        vendors=vendors,
    )


def _seconds(node: MappingNode, key: str, scope: Mapping[str, Symbol]) -> Expression:
    text, at = node.text(key), node[key].at
    return compile_expression(text, scope, at=at, kind=Kind.NUMBER, unit=SECONDS)


def _factor(node: MappingNode, scope: Mapping[str, Symbol]) -> Factor:
    node.refuse_unknown(("because", "when", "factor", "source"))
    when = compile_expression(node.text("when"), scope, at=node["when"].at, kind=Kind.BOOLEAN)
    return Factor(
        because=node.text("because"),
        when=when,
        factor=node.number("factor"),
        source=node.text("source"),
    )


def _tolerance(node: MappingNode) -> float:
    node.refuse_unknown(("tolerance",))
    return _sourced(node, "tolerance")


def _sourced(node: MappingNode, key: str) -> float:
    """Return a number that says where it comes from."""
    number = node.mapping(key)
    number.refuse_unknown(("value", "source"))
    number.text("source")
    return number.number("value")


def _guard(node: MappingNode, symbols: Mapping[str, Symbol], vendors: Vendors) -> SharedGuard:
    node.refuse_unknown(("when", "because", *_PROTECTED, "same_work", "any_gain"))
    from advisor.rules.language.templates import read_template  # and Jinja with it

    when = compile_expression(node.text("when"), symbols, at=node["when"].at, kind=Kind.BOOLEAN)
    at = node["because"].at
    because = read_template(node.text("because"), symbols, at, terms=vendors.terms)
    rests_on, mechanisms = (
        frozenset(node.sequence(key).texts()) if key in node else frozenset() for key in _PROTECTED
    )
    same_work, any_gain = (key in node and node.boolean(key) for key in ("same_work", "any_gain"))
    return SharedGuard(
        guard=Guard(when=when, because=because, shared=True),
        rests_on=rests_on,
        mechanisms=mechanisms,
        same_work=same_work,
        any_gain=any_gain,
    )


def _collect(node: MappingNode) -> CollectSettings:
    node.refuse_unknown(("share_of_value", "launches_per_kernel"))
    return CollectSettings(
        share_of_value=node.number("share_of_value"),
        launches_per_kernel=round(node.number("launches_per_kernel")),
    )
