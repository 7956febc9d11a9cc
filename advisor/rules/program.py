"""Rules compiled to SQL over a table of facts: one SELECT for outcomes, one for details."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from advisor.expression import quote
from advisor.facts.layers import Column, layered
from advisor.facts.vocabulary import Vocabulary
from advisor.rules.estimators import BOUNDS
from advisor.rules.gains import assume
from advisor.rules.rule import Outcome, Rule, Threshold
from advisor.rules.settings import Settings

OUTCOMES = tuple(Outcome)

Columns = Callable[[str], str]

_CODE = {outcome: f"{code}::UTINYINT" for code, outcome in enumerate(OUTCOMES)}


@dataclass(frozen=True, kw_only=True)
class Detail:
    """The columns that the second SELECT has for one rule; ``bounds`` is empty without a gain."""

    guards: tuple[str, ...]
    bounds: tuple[str, ...]
    floor: str
    floor_achievable: str


@dataclass(frozen=True, kw_only=True)
class Program:
    """The SQL of a set of rules about one subject.

    ``columns`` are the facts that a table must have to be the source of both SELECTs.
    """

    rules: tuple[Rule, ...]
    settings: Settings
    vocabulary: Vocabulary
    columns: tuple[str, ...]

    def outcomes(self, table: str, key: str) -> str:
        """Return a SELECT: ``key``, then one outcome code per rule (``OUTCOMES`` by position)."""
        codes = [f"{_outcome(rule)} AS o{index}" for index, rule in enumerate(self.rules)]
        return " ".join(("SELECT", ", ".join((quote(key), *codes)), "FROM", table))

    def details(self, table: str, key: str, indexes: Sequence[int]) -> str:
        """Return a SELECT: ``key``, confidence factors, and guards, gain and floors of some rules.

        Columns are named by ``factor_column`` and ``detail_columns``. Guards and floors that rules
        share are computed once: to plan the statement takes longer than to run it.
        """
        parts: list[tuple[str, str]] = []
        for number, factor in enumerate(self.settings.factors):
            held = factor.when.sql(_with(self.settings.thresholds, quote))
            parts.append((held, factor_column(number)))
        layers: list[Column] = []
        for index in indexes:
            written = _detail(self.rules[index], index, self.settings, self.vocabulary)
            parts += written.parts
            layers += written.layers
        once = {sql: f"x{number}" for number, sql in enumerate(dict.fromkeys(s for s, _ in parts))}
        inner = ", ".join((quote(key), *(f"{sql} AS {name}" for sql, name in once.items())))
        outer = ", ".join((quote(key), *(f"{once[sql]} AS {quote(name)}" for sql, name in parts)))
        source = " ".join(("SELECT", inner, f"FROM ({layered(table, layers)})"))
        return " ".join(("SELECT", outer, f"FROM ({source})"))

    def assumptions(self, table: str, key: str, index: int) -> str:
        """Return a SELECT: ``key``, then what a rule assumes, under the names of the quantities."""
        rule = self.rules[index]
        columns = _with(rule.thresholds, quote)
        parts = [f"{each.sql(columns)} AS {quote(name)}" for name, each in rule.assumes.items()]
        return " ".join(("SELECT", ", ".join((quote(key), *parts)), "FROM", table))


def factor_column(number: int) -> str:
    """Return the name of the column that says whether a confidence factor holds."""
    return f"c{number}"


def detail_columns(rule: Rule, index: int) -> Detail:
    """Return the names of the columns of a rule in the second SELECT."""
    bounds = tuple(f"{bound}{index}" for bound in BOUNDS) if rule.gain else ()
    return Detail(
        guards=tuple(f"g{index}_{number}" for number in range(len(rule.unless))),
        bounds=bounds,
        floor=f"floor{index}",
        floor_achievable=f"floora{index}",
    )


def compile_program(rules: Sequence[Rule], settings: Settings, vocabulary: Vocabulary) -> Program:
    """Return the program of the rules, with the facts it needs found by writing its SQL once."""
    needed = {settings.time}
    for rule in rules:
        needed.update(rule.reads)

    def noted(name: str) -> str:
        needed.add(name)
        return quote(name)

    for index, rule in enumerate(rules):
        _detail(rule, index, settings, vocabulary, noted)
    for factor in settings.factors:
        factor.when.sql(_with(settings.thresholds, noted))
    return Program(
        rules=tuple(rules),
        settings=settings,
        vocabulary=vocabulary,
        columns=tuple(sorted(needed)),
    )


def _outcome(rule: Rule) -> str:
    """Return the CASE that decides, in the order in which ``Outcome`` declares them.

    Most kernels leave it at its first branch, so guards are computed for few.
    """
    columns = _with(rule.thresholds, quote)
    when = rule.when.sql(columns)
    cases = [f"WHEN NOT ({when}) THEN {_CODE[Outcome.SILENT]}"]
    unknown = f"({when}) IS NULL"
    if rule.applies_to is not None:
        applies = rule.applies_to.sql(columns)
        cases.insert(0, f"WHEN NOT ({applies}) THEN {_CODE[Outcome.NOT_APPLICABLE]}")
        unknown = f"({applies}) IS NULL OR {unknown}"
    cases.append(f"WHEN {unknown} THEN {_CODE[Outcome.UNKNOWN]}")
    guards = [(guard.when.sql(columns), guard.required) for guard in rule.unless]
    if guards:
        held = " OR ".join(f"({holds})" for holds, _ in guards)
        cases.append(f"WHEN {held} THEN {_CODE[Outcome.RULED_OUT]}")
    required = [holds for holds, required in guards if required]
    cases += [f"WHEN ({holds}) IS NULL THEN {_CODE[Outcome.UNKNOWN]}" for holds in required]
    return f"CASE {' '.join(cases)} ELSE {_CODE[Outcome.FIRES]} END"


@dataclass(frozen=True, kw_only=True)
class _Written:
    """SQL and name of each column of one rule, and the columns that must be added below them."""

    parts: tuple[tuple[str, str], ...]
    layers: tuple[Column, ...]


def _detail(
    rule: Rule,
    index: int,
    settings: Settings,
    vocabulary: Vocabulary,
    facts: Columns = quote,
) -> _Written:
    names = detail_columns(rule, index)
    columns = _with(rule.thresholds, facts)
    written = [
        (guard.when.sql(columns), name)
        for guard, name in zip(rule.unless, names.guards, strict=True)
    ]
    if rule.gain is not None:
        bounds = (rule.gain.low, rule.gain.likely, rule.gain.high)
        written += zip((each.sql(columns) for each in bounds), names.bounds, strict=True)
    floors = (
        (settings.floor, names.floor),
        (settings.floor_achievable, names.floor_achievable),
    )
    wanted = settings.floor.names | settings.floor_achievable.names
    assumed = assume(rule.assumes, wanted, vocabulary, facts=columns, prefix=f"a{index}_")

    def changed(name: str) -> str:
        return quote(assumed.names[name]) if name in assumed.names else facts(name)

    floor_columns = _with(settings.thresholds, changed)
    written += [(floor.sql(floor_columns), name) for floor, name in floors]
    return _Written(parts=tuple(written), layers=assumed.columns)


def _with(thresholds: Mapping[str, Threshold], facts: Columns) -> Columns:
    """Return columns in which thresholds are their values."""

    def column(name: str) -> str:
        threshold = thresholds.get(name)
        return facts(name) if threshold is None else f"CAST({threshold.value!r} AS DOUBLE)"

    return column
