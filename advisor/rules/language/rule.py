"""The records of the rule engine: what a rule file says, and what evaluating it gives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from typing import ClassVar

from advisor.errors import Location
from advisor.expression import Dialect, Expression
from advisor.quoting import quoted
from advisor.records import Seldom, dataclass
from advisor.rules.language.sentences import Piece, begins_unchanged, spoken, told
from advisor.rules.language.verification import Verify
from advisor.units import parse_unit

SECONDS = parse_unit("s")
BOUNDS = ("low", "likely", "high")

Value = float | str | bool | None

_QUALITY = "quality"  # the family of rules about the profile itself


class Severity(Enum):
    """How loud a finding is; rank never depends on it."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Outcome(Enum):
    """What a rule says about one subject; the order of declaration is the order of evaluation.

    Not knowable is what would be unknown for ever: the profiler has no counter that decides it.
    """

    NOT_APPLICABLE = "not applicable"
    SILENT = "silent"
    UNKNOWN = "unknown"
    RULED_OUT = "ruled out"
    FIRES = "fires"
    NOT_KNOWABLE = "not knowable here"


JUDGED = tuple(each for each in Outcome if each is not Outcome.NOT_KNOWABLE)
"""What a rule says by its expressions alone, whatever profiler there was."""


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """A named number of a rule.

    ``value`` is in SI, ``shown`` and ``unit`` as written; ``origin`` names the place that set it.
    """

    name: str
    value: float
    shown: float
    unit: str
    source: str
    origin: str

    @property
    def is_uncalibrated(self) -> bool:
        """Return whether no source gives the number."""
        return self.source.startswith("uncalibrated")


@dataclass(frozen=True, kw_only=True)
class Template:
    """A sentence with words and numbers to fill in, and the facts it reads, in order."""

    text: str
    names: tuple[str, ...]
    pieces: tuple[Piece, ...] = field(repr=False)
    at: Location

    def fill(self, values: Mapping[str, Value]) -> str:
        """Return the sentences with the values in them; those with one that is NULL go."""
        return told(spoken(self.pieces, values).strip())

    def begins_unchanged(self, values: Mapping[str, Value]) -> bool:
        """Return whether it begins with a change too small for the digits it is written with."""
        return begins_unchanged(self.pieces, values)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A reason not to give the advice.

    An unknown guard lowers confidence; ``required`` makes the whole rule unknown instead. A
    ``shared`` guard protects many rules and takes nothing from one that could not check it.
    """

    when: Expression
    because: Template
    required: bool = False
    shared: bool = False


@dataclass(frozen=True, kw_only=True)
class FilledExpression:
    """An expression, and what stands for its parameters."""

    expression: Expression
    parameters: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """Return the facts and thresholds that it reads."""
        own = self.expression.names - self.parameters.keys()
        used = (self.parameters[name].names for name in self.expression.names - own)
        return own.union(*used)

    def sql(self, columns: Callable[[str], str] | None = None, dialect: Dialect = "duckdb") -> str:
        """Return SQL in which names are ``columns`` and parameters their expressions."""
        named = columns or quoted

        def column(name: str) -> str:
            parameter = self.parameters.get(name)
            return named(name) if parameter is None else f"({parameter.sql(named, dialect)})"

        return self.expression.sql(column, dialect)


@dataclass(frozen=True, kw_only=True)
class GainRange:
    """Time that could be saved, as three formulas in seconds of the subject."""

    low: FilledExpression
    likely: FilledExpression
    high: FilledExpression
    estimator: str | None = None


@dataclass(frozen=True, kw_only=True)
class RuleExample:
    """A test that a rule carries: facts in, outcome and perhaps gain and evidence out.

    ``gain`` maps low, likely, high to the seconds expected after the cap, ``share`` to the shares
    of a time that is unknown; ``assumed`` are values expected of what the rule assumes.
    """

    name: str
    facts: Mapping[str, Value]
    expect: Outcome
    gain: Mapping[str, float] = field(default_factory=dict)
    share: Mapping[str, float] = field(default_factory=dict)
    assumed: Mapping[str, float] = field(default_factory=dict)
    evidence: str | None = None
    because: str | None = None
    at: Location


@dataclass(frozen=True, kw_only=True)
class Rule(Seldom):
    """One rule file, checked and compiled.

    ``subject`` is the name of an entry of ``subjects.SUBJECTS``.
    ``is_state`` marks what describes a kernel without naming a cause, ``only_measures`` what finds
    a cause and saves nothing itself; ``is_unproven`` a shipped rule that was not yet seen to tell
    real kernels apart. ``explained_by`` are rules whose findings cause this one's where they
    promise a share ``explained_at`` of its gain, ``unexplained_at`` the share that must be left of
    it to be worth an action beside theirs; ``handicap`` divides the expected gain where advice is
    ordered, and ``voids`` marks a finding beside which the profile of its kernel tells nothing.
    ``instructions`` names what shows the symptom in single instructions. ``title`` says what to do,
    ``headline`` says it after "Start by"; both, ``why`` and ``caveats`` name terms and no facts.
    """

    SELDOM: ClassVar = ("examples", "why", "recommendation", "caveats", "verify", "references")

    id: str
    title: Template
    headline: Template
    severity: Severity
    subject: str
    mechanism: str
    thresholds: Mapping[str, Threshold]
    applies_to: Expression | None
    when: Expression
    unless: tuple[Guard, ...]
    gain: GainRange | None
    assumes: Mapping[str, Expression]
    evidence: Template
    why: Template
    recommendation: tuple[Template, ...]
    caveats: tuple[Template, ...]
    verify: Verify
    references: tuple[str, ...]
    examples: tuple[RuleExample, ...]
    instructions: str | None = None
    enabled: bool = True
    is_state: bool = False
    only_measures: bool = False
    is_unproven: bool = False
    explained_by: tuple[str, ...] = ()
    explained_at: float = 1.0
    unexplained_at: float = 1.0
    handicap: float = 1.0
    voids: bool = False
    text_hash: str
    at: Location

    @property
    def family(self) -> str:
        """Return the first part of the id, e.g. ``memory``."""
        return self.id.split("/")[0]

    @property
    def is_about_measurement(self) -> bool:
        """Return whether the rule doubts numbers instead of judging a kernel."""
        return self.family == _QUALITY

    @property
    def gain_is_uncalibrated(self) -> bool:
        """Return whether the gain rests on a threshold for which there is no source."""
        if self.gain is None:
            return False
        names = self.gain.low.names | self.gain.likely.names | self.gain.high.names
        return any(self.thresholds[n].is_uncalibrated for n in names & self.thresholds.keys())

    def with_guards(self, guards: tuple[Guard, ...]) -> Rule:
        """Return the rule with more guards after its own."""
        return replace(self, unless=(*self.unless, *guards))

    @property
    def decides_on(self) -> frozenset[str]:
        """Return the facts that the outcome and the gain rest on, guards left out."""
        names = set(self.when.names)
        if self.applies_to is not None:
            names |= self.applies_to.names
        if self.gain is not None:
            names |= self.gain.low.names | self.gain.likely.names | self.gain.high.names
        return frozenset(names - self.thresholds.keys())

    def shown(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return what the sentences are filled with: values of facts, and the thresholds."""
        return {**values, **{name: each.value for name, each in self.thresholds.items()}}

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Return every fact that deciding, estimating and wording read, sorted."""
        names = set(self.decides_on).union(*(guard.when.names for guard in self.unless))
        names |= {name for template in self.templates for name in template.names}
        names |= {name for formula in self.assumes.values() for name in formula.names}
        return tuple(sorted((names | self.assumes.keys()) - self.thresholds.keys()))

    @property
    def templates(self) -> tuple[Template, ...]:
        """Return every template of the rule."""
        guards = (guard.because for guard in self.unless)
        return (self.evidence, *self.recommendation, *guards)


def rules_hash(rules: Iterable[Rule]) -> str:
    """Return 12 hex digits over what all the rules say, whatever their order."""
    texts = "\n".join(sorted(f"{rule.id} {rule.text_hash}" for rule in rules))
    return hashlib.blake2b(texts.encode(), digest_size=6).hexdigest()
