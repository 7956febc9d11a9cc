"""Rules compiled to SQL over a table of facts: outcomes first, then what those that spoke rest on.

All SQL is written when a program is compiled, so that a kept program needs no expression again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace

from advisor.database.dialects import spelled
from advisor.database.facts_table import PAIRS, Spelling
from advisor.errors import Location, RuleError
from advisor.expression import Dialect
from advisor.facts.layers import layered
from advisor.facts.vocabulary import Vocabulary
from advisor.quoting import double, quoted
from advisor.records import dataclass
from advisor.rules.engine.gains import ASSUMED_BY, assume, assumed, given
from advisor.rules.engine.own_time import in_own_time, promises_share, select_in_own_time
from advisor.rules.language.rule import BOUNDS, Outcome, Rule, Threshold
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects import KERNEL

OUTCOMES = tuple(Outcome)

Columns = Callable[[str], str]

_CODE = {outcome: str(code) for code, outcome in enumerate(OUTCOMES)}
_PAIRS = "pairs"


@dataclass(frozen=True, kw_only=True)
class DetailNames:
    """The names of what one rule rests on; ``bounds`` is empty without a gain."""

    guards: tuple[str, ...]
    bounds: tuple[str, ...]
    floor: str
    floor_achievable: str
    busy: str
    busy_after: str


@dataclass(frozen=True, kw_only=True)
class Written:
    """The SQL of one rule: its conditions, its outcome by these, and its details, beside names.

    ``guarded`` are the facts that the outcome reads beside the conditions.
    """

    conditions: tuple[tuple[str, str], ...]
    outcome: str
    guarded: tuple[str, ...]
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Program:
    """The SQL of a set of rules about one subject.

    ``columns`` are the facts that a table must have to be the source of its SELECTs. ``written``
    has one entry per rule, ``factors`` the conditions of the factors of confidence, ``assumes``
    what rules assume, by rule and quantity; ``relieving`` are the rules that assume something of
    units. ``vocabulary`` has the facts that follow from what is assumed. ``sharing`` are the rules
    that promise a share of a kernel's time where that is unknown, and ``own_time`` the columns to
    work it out from.
    """

    rules: tuple[Rule, ...]
    settings: EvaluationSettings
    columns: tuple[str, ...]
    written: tuple[Written, ...]
    factors: tuple[str, ...]
    assumes: Mapping[int, Mapping[str, str]]
    relieving: frozenset[int]
    vocabulary: Vocabulary
    sharing: frozenset[int] = frozenset()
    own_time: Mapping[str, str] = field(default_factory=dict)

    def outcomes(self, table: str, key: str) -> str:
        """Return a SELECT: ``key``, then one outcome code per rule (``OUTCOMES`` by position)."""
        conditions = [f"{sql} AS {name}" for each in self.written for sql, name in each.conditions]
        guarded = dict.fromkeys(quoted(name) for each in self.written for name in each.guarded)
        inner = _select((quoted(key), *guarded, *conditions), table)
        codes = [f"{each.outcome} AS o{index}" for index, each in enumerate(self.written)]
        return _select((quoted(key), *codes), f"({inner})")

    def details(
        self, table: str, key: str, indexes: Sequence[int]
    ) -> tuple[str, list[tuple[str, ...]]]:
        """Return a SELECT: ``key``, then what some rules rest on, and the names of each column.

        These are confidence factors, guards, gain and floors, named by ``factor_column`` and
        ``detail_columns``; rules that assume something have no floors here. What rules share is one
        column with many names: to plan the statement takes longer than to run it.
        """
        named: dict[str, list[str]] = {}
        for number, sql in enumerate(self.factors):
            named.setdefault(sql, []).append(factor_column(number))
        for index in indexes:
            for sql, name in self.written[index].details:
                named.setdefault(sql, []).append(name)
        columns = (f"{sql} AS x{number}" for number, sql in enumerate(named))
        return _select((quoted(key), *columns), table), [*map(tuple, named.values())]

    def floors(
        self, table: str, key: str, indexes: Collection[int], dialect: Spelling = "duckdb"
    ) -> str:
        """Return a SELECT: ``key``, the index of a rule, and what holds if it is followed.

        These are both least times, the time of the busiest unit, and that time now; for rules
        among ``indexes`` alone, because every rule makes the statement longer to plan.

        Its parameters ``subjects`` and ``rules`` are two lists with spaces between their items,
        which pair subjects with rules that assume something: the driver takes 0.1 ms for each value
        that it is handed. One row per pair: columns for each rule would be planned for longer than
        everything else. ``dialect`` is that of the engine.
        """
        wanted = PAIRS[dialect].format(subject=quoted(key), rule=quoted(ASSUMED_BY))
        rest, read = self.floors_rest(indexes, key, in_steps=dialect == "sqlite")
        columns = (quoted(key), quoted(ASSUMED_BY), *map(quoted, read))
        asked = _select(columns, f"{table} JOIN ({wanted}) AS wanted USING ({quoted(key)})")
        return f"WITH {_PAIRS} AS ({asked}) {rest}"

    def floors_rest(
        self,
        indexes: Collection[int] | None = None,
        key: str | None = None,
        *,
        in_steps: bool = False,
    ) -> tuple[str, list[str]]:
        """Return the rest of that SELECT, for all rules by default, and the facts it reads."""
        chosen = self.assumes.keys() if indexes is None else indexes
        assumes = {index: self.assumes[index] for index in chosen}
        reads = {index: _read_by_assumptions(self.rules[index]) for index in chosen}
        keys = (ASSUMED_BY,) if key is None else (key, ASSUMED_BY)
        return _floors(assumes, reads, self.settings, self.vocabulary, keys, in_steps)

    def in_own_time(self, table: str, key: str) -> str:
        """Return a SELECT of the kernels of a table without a time, with that time as the unit."""
        columns = {name: quoted(name) for name in (key, *self.columns)} | {**self.own_time}
        return select_in_own_time(table, columns, self.settings.time)

    def assumptions(self, table: str, key: str, index: int) -> str:
        """Return a SELECT: ``key``, then what a rule assumes, under the names of the quantities."""
        parts = [f"{sql} AS {quoted(name)}" for name, sql in self.assumes.get(index, {}).items()]
        return _select((quoted(key), *parts), table)


def factor_column(number: int) -> str:
    """Return the name of the column that says whether a confidence factor holds."""
    return f"c{number}"


def detail_columns(rule: Rule, index: int) -> DetailNames:
    """Return the names of the columns of a rule in the second SELECT."""
    bounds = tuple(f"{bound}{index}" for bound in BOUNDS) if rule.gain else ()
    return DetailNames(
        guards=tuple(f"g{index}_{number}" for number in range(len(rule.unless))),
        bounds=bounds,
        floor=f"floor{index}",
        floor_achievable=f"floora{index}",
        busy=f"busy{index}",
        busy_after=f"busya{index}",
    )


def compile_program(
    rules: Sequence[Rule], settings: EvaluationSettings, vocabulary: Vocabulary
) -> Program:
    """Return the program of the rules, with the facts it needs found by writing its SQL."""
    needed = {settings.time}
    for rule in rules:
        needed.update(rule.reads)
    facts = _noting(needed)
    columns = _with(settings.thresholds, facts)
    assumes = {n: _assumed(rule) for n, rule in enumerate(rules) if rule.assumes}
    program = Program(
        rules=tuple(rules),
        settings=settings,
        written=tuple(_written(rule, n, settings, facts) for n, rule in enumerate(rules)),
        factors=tuple(factor.when.sql(columns) for factor in settings.factors),
        assumes=assumes,
        relieving=_relieving(assumes, settings, vocabulary),
        vocabulary=vocabulary,
        columns=(),
    )
    needed.update(program.floors_rest()[1])
    sharing = {n for n, rule in enumerate(rules) if rule.subject == KERNEL and promises_share(rule)}
    own_time: Mapping[str, str] = {}
    if sharing:
        own_time = in_own_time(sorted(needed), settings.time, vocabulary, facts)
    return replace(
        program,
        columns=tuple(sorted(needed)),
        sharing=frozenset(sharing),
        own_time=own_time,
    )


def _assumed(rule: Rule) -> dict[str, str]:
    """Return what a rule assumes, as SQL by quantity."""
    columns = _with(rule.thresholds, quoted)
    return {name: each.sql(columns) for name, each in rule.assumes.items()}


def _read_by_assumptions(rule: Rule) -> frozenset[str]:
    read = frozenset[str]().union(*(each.names for each in rule.assumes.values()))
    return read - rule.thresholds.keys()


def _noting(read: set[str]) -> Columns:
    """Return a function that gives the column of a fact, and adds its name to ``read``."""

    def column(name: str) -> str:
        read.add(name)
        return quoted(name)

    return column


def _written(rule: Rule, index: int, settings: EvaluationSettings, facts: Columns) -> Written:
    names = detail_columns(rule, index)
    columns = _with(rule.thresholds, facts)
    details = [
        (guard.when.sql(columns), name)
        for guard, name in zip(rule.unless, names.guards, strict=True)
    ]
    if rule.gain is not None:
        bounds = (rule.gain.low, rule.gain.likely, rule.gain.high)
        details += zip((each.sql(columns) for each in bounds), names.bounds, strict=True)
    if not rule.assumes:
        floors = (settings.floor, settings.floor_achievable)
        columns = _with(settings.thresholds, facts)
        named = (names.floor, names.floor_achievable)
        details += zip((floor.sql(columns) for floor in floors), named, strict=True)
    return Written(
        conditions=tuple(zip(_conditions(rule), _names(rule, index), strict=True)),
        outcome=_outcome(rule, _names(rule, index)),
        guarded=tuple(
            sorted({n for guard in rule.unless for n in guard.when.names} - rule.thresholds.keys())
        ),
        details=tuple(details),
    )


def outcomes_in(program: Program, table: str, key: str, dialect: str) -> str:
    """Return the SELECT of ``Program.outcomes`` as another engine spells it.

    Raises:
        RuleError: that engine has nothing that means what a rule says; names the rule.
    """
    from sqlglot.errors import SqlglotError  # the open file needs none

    codes = []
    for index, rule in enumerate(program.rules):
        try:
            code = spelled(f"SELECT {_portable(rule)} AS o{index}", dialect)
        except SqlglotError as error:
            problem = f"{dialect} has nothing that means what the rule says: {error}"
            raise RuleError(problem, at=Location(name=rule.id)) from error
        codes.append(code.removeprefix("SELECT "))
    return _select((spelled(quoted(key), dialect), *codes), table)


def _portable(rule: Rule) -> str:
    """Return the outcome of a rule, its conditions and all."""
    return _outcome(rule, _conditions(rule, "portable"), "portable")


def _conditions(rule: Rule, dialect: Dialect = "duckdb") -> list[str]:
    """Return what must hold for a rule to fire: its own condition last."""
    columns = _with(rule.thresholds, quoted)
    conditions = (rule.applies_to, rule.when)
    return [each.sql(columns, dialect) for each in conditions if each is not None]


def _names(rule: Rule, index: int) -> list[str]:
    """Return the names of its conditions as columns: they are read twice, and computed once."""
    return [f"w{index}"] if rule.applies_to is None else [f"a{index}", f"w{index}"]


def _outcome(rule: Rule, conditions: Sequence[str], dialect: Dialect = "duckdb") -> str:
    """Return the CASE that decides, in the order in which ``Outcome`` declares them.

    Most kernels leave it at its first branch, so guards are computed for few.
    """
    columns = _with(rule.thresholds, quoted)
    codes = (_CODE[Outcome.NOT_APPLICABLE], _CODE[Outcome.SILENT])[-len(conditions) :]
    cases = [f"WHEN NOT ({sql}) THEN {code}" for sql, code in zip(conditions, codes, strict=True)]
    unknown = " OR ".join(f"({sql}) IS NULL" for sql in conditions)
    cases.append(f"WHEN {unknown} THEN {_CODE[Outcome.UNKNOWN]}")
    guards = [(guard.when.sql(columns, dialect), guard.required) for guard in rule.unless]
    if guards:
        held = " OR ".join(f"({holds})" for holds, _ in guards)
        cases.append(f"WHEN {held} THEN {_CODE[Outcome.RULED_OUT]}")
    required = [holds for holds, required in guards if required]
    cases += [f"WHEN ({holds}) IS NULL THEN {_CODE[Outcome.UNKNOWN]}" for holds in required]
    return f"CASE {' '.join(cases)} ELSE {_CODE[Outcome.FIRES]} END"


def _floors(
    assumes: Mapping[int, Mapping[str, str]],
    reads: Mapping[int, frozenset[str]],
    settings: EvaluationSettings,
    vocabulary: Vocabulary,
    keys: Sequence[str],
    in_steps: bool,
) -> tuple[str, list[str]]:
    """Return the SELECT of ``keys`` and floors over pairs, and the facts that pairs need."""
    relieving = _relieving(assumes, settings, vocabulary)
    wanted = settings.floor.names | settings.floor_achievable.names
    if relieving:
        wanted |= settings.busy_names
    columns = assume(assumes, reads, sorted(wanted), vocabulary)
    added = {column.name for column in columns}
    read = set(keys)
    now = _noting(read)

    def after(name: str) -> str:
        return now(assumed(name) if assumed(name) in added else name)

    floors = (settings.floor, settings.floor_achievable)
    parts = [floor.sql(_with(settings.thresholds, after)) for floor in floors]
    if settings.busy is None or not relieving:
        parts += ["NULL", "NULL"]
    else:
        busy = settings.busy.sql(_with(settings.thresholds, after))
        parts.append(_where_known(busy, assumes, settings, vocabulary, now))
        parts.append(settings.busy.sql(_with(settings.thresholds, now)))
    below = read.union(*(column.names for column in columns)) - added - {*keys}
    after_all = layered(_PAIRS, columns, sorted(read), in_steps=in_steps)
    select = _select((*map(quoted, keys), *parts), f"({after_all})")
    return select, sorted(below)


def _where_known(
    busy_after: str,
    assumes: Mapping[int, Mapping[str, str]],
    settings: EvaluationSettings,
    vocabulary: Vocabulary,
    column: Columns,
) -> str:
    """Return that time, NULL where all that a rule assumes of units is unknown."""
    relieving = ", ".join(map(str, sorted(_relieving(assumes, settings, vocabulary))))
    reached = vocabulary.rests_on(settings.busy_names)
    of_units = dict.fromkeys(
        name for names in assumes.values() for name in names if name in reached
    )
    unknown = " AND ".join(f"{column(given(name))} IS NULL" for name in of_units)
    return (
        f"CASE WHEN {quoted(ASSUMED_BY)} IN ({relieving}) AND {unknown} THEN NULL"
        f" ELSE {busy_after} END"
    )


def _relieving(
    assumes: Mapping[int, Mapping[str, str]], settings: EvaluationSettings, vocabulary: Vocabulary
) -> frozenset[int]:
    """Return the rules whose assumptions reach the time of the busiest unit."""
    reached = vocabulary.rests_on(settings.busy_names)
    return frozenset(index for index, names in assumes.items() if reached & names.keys())


def _with(thresholds: Mapping[str, Threshold], facts: Columns) -> Columns:
    """Return columns in which thresholds are their values."""

    def column(name: str) -> str:
        threshold = thresholds.get(name)
        return facts(name) if threshold is None else double(threshold.value)

    return column


def _select(columns: Sequence[str], source: str) -> str:
    return f"SELECT {', '.join(columns)} FROM {source}"
