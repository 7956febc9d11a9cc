"""Did the advice work: outcomes of findings, recomputed from all nights that are stored.

What is stored of runs decides and nothing else, so a late night, a merge or another order of
ingesting gives the same outcomes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from advisor.database import outcomes as door
from advisor.database.rows import OutcomeRow
from advisor.facts import Vocabulary, current, kernels_select
from advisor.records import dataclass
from advisor.rules.language.rule import Rule
from advisor.rules.language.subjects import KERNEL
from advisor.rules.language.verification import Criterion, Movement, measure_sql, measured, moved
from advisor.tracking.outcomes import Episode, Lines, OutcomeNight, Prediction, episodes, looked_at

if TYPE_CHECKING:
    import duckdb

    from advisor.rules.engine.compiled import Compiled
    from advisor.tracking.settings import OutcomeSettings

_TABLE = "outcome_facts"
_KEY = "variant_id"
_FEWEST = 2  # nights, of which one can decide on the other's advice
_STREAM = ("branch", "simulated", "device_names", "configuration")
_ENVIRONMENT = (
    "driver_version",
    "runtime_version",
    "profiler_version",
    "clock_control",
    "host",
    "partition",
    "compiler",
)

Row = Mapping[str, Any]
Values = Mapping[tuple[str, str], Sequence[float | None]]
"""The values of a rule's checks, by rule and variant."""


def renew_outcomes(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    series: Sequence[str],
    settings: OutcomeSettings,
) -> None:
    """Recompute the outcome of the advice for some series, in place of what was stored.

    ``door.affected_series`` names those that runs may have changed.
    """
    if not series:
        return
    rules = {rule.id: rule for rule in compiled.rules if rule.subject == KERNEL}
    advised = _advised(connection, series, rules)
    values = _measure(connection, compiled.vocabulary, advised, settings)
    ends = _ends(connection)
    found = [row for each in advised for row in each.rows(values, compiled, ends, settings)]
    door.replace_outcomes(connection, series, found)


@dataclass(frozen=True, kw_only=True)
class _Evening:
    """A series on one night: its variants, the one that takes longest first.

    ``duration`` is seconds per launch.
    """

    run_id: str
    variants: Sequence[Row]
    launches: int
    duration: float
    environment: tuple[str | None, ...]


def _evening(run_id: str, variants: Sequence[Row]) -> _Evening:
    launches = sum(each["launches"] for each in variants)
    return _Evening(
        run_id=run_id,
        variants=variants,
        launches=launches,
        duration=float(sum(each["duration"] for each in variants)) / launches,
        environment=tuple(variants[0][name] for name in _ENVIRONMENT),
    )


@dataclass(frozen=True, kw_only=True)
class _Advised:
    """A rule over the nights of a series, oldest first."""

    series_id: str
    rule: Rule
    evenings: Sequence[_Evening]
    nights: Sequence[OutcomeNight]
    fired: Mapping[str, float]

    def variants(self, settings: OutcomeSettings) -> Iterable[str]:
        """Return the variants whose verify lines decide."""
        for index in looked_at(self.nights, settings):
            yield from (each[_KEY] for each in self.evenings[index].variants)

    def rows(
        self, values: Values, compiled: Compiled, ends: Ends, settings: OutcomeSettings
    ) -> Iterable[OutcomeRow]:
        time = compiled.of_kernels.settings.time  # is compared for itself

        def compare(before: int, after: int) -> Lines:
            lines = self.lines(values, before, after, compiled.vocabulary)
            return _counted([line for line in lines if line.check.fact != time])

        first = self.evenings[-1].variants[0]
        missing = ends.after(_stream(first), first["moment"], first["run_id"])
        for episode in episodes(self.nights, compare, settings, missing=missing):
            yield self._row(episode, values, compiled.vocabulary)

    def _row(self, episode: Episode, values: Values, vocabulary: Vocabulary) -> OutcomeRow:
        decided = episode.decided
        lines = () if decided is None else self.lines(values, episode.opened, decided, vocabulary)
        return OutcomeRow(
            series_id=self.series_id,
            rule_id=self.rule.id,
            opened_run=self.evenings[episode.opened].run_id,
            decided_run=None if decided is None else self.evenings[decided].run_id,
            state=episode.state.value,
            duration_before=episode.before,
            duration_after=episode.after,
            predicted_low=episode.prediction.low,
            predicted_likely=episode.prediction.likely,
            predicted_high=episode.prediction.high,
            achieved=episode.achieved,
            lines=json.dumps([line.record() for line in lines], allow_nan=False),
        )

    def lines(
        self, values: Values, before: int, after: int, vocabulary: Vocabulary
    ) -> tuple[_Line, ...]:
        """Return what the verify lines did between two nights."""
        was = self._variant(before)
        same = (each for each in self.evenings[after].variants if _shape(each) == _shape(was))
        now = next(same, self.evenings[after].variants[0])
        first, then = (values.get((self.rule.id, each[_KEY])) for each in (was, now))
        count = len(self.rule.verify.checks)
        triples = zip(
            self.rule.verify.checks,
            first or (None,) * count,
            then or (None,) * count,
            strict=True,
        )
        return tuple(
            _Line(
                check=check,
                before=_per_launch(check, value, was, vocabulary),
                after=_per_launch(check, later, now, vocabulary),
            )
            for check, value, later in triples
        )

    def _variant(self, night: int) -> Row:
        """Return the variant for which the rule promised most, else the one that takes longest."""
        return max(self.evenings[night].variants, key=lambda each: self.fired.get(each[_KEY], 0.0))


@dataclass(frozen=True, kw_only=True)
class _Line:
    """One value before and after, in SI units."""

    check: Criterion
    before: float | None
    after: float | None

    @property
    def moved(self) -> Movement:
        return moved(self.check, self.before, self.after)

    def record(self) -> dict[str, object]:
        name = self.check.called or self.check.expression.text
        return {
            "name": name,
            "unit": str(self.check.expression.unit or "1"),
            "before": self.before,
            "after": self.after,
            "moved": self.moved.value,
        }


@dataclass(frozen=True, kw_only=True)
class Ends:
    """When runs were, by what makes them nights of one history."""

    runs: Mapping[tuple[object, ...], Sequence[tuple[Any, str]]]

    def after(self, stream: tuple[object, ...], moment: object, run_id: str) -> int:
        """Return how many nights came after one."""
        return sum(each > (moment, run_id) for each in self.runs.get(stream, ()))


def _ends(connection: duckdb.DuckDBPyConnection) -> Ends:
    runs: dict[tuple[object, ...], list[tuple[Any, str]]] = defaultdict(list)
    for row in door.runs_in_time(connection):
        runs[_stream(row)].append((row["moment"], row["run_id"]))
    return Ends(runs=runs)


def _advised(
    connection: duckdb.DuckDBPyConnection, series: Sequence[str], rules: Mapping[str, Rule]
) -> list[_Advised]:
    """Return each rule that ever fired for a series, over each history of the series."""
    findings: dict[str, list[Row]] = defaultdict(list)
    for finding in door.findings_of(connection, series):
        if finding["rule_id"] in rules:
            findings[finding[_KEY]].append(finding)
    found: list[_Advised] = []
    for series_id, rows in groupby(door.nights_of(connection, series), lambda r: r["series_id"]):
        streams: dict[tuple[object, ...], list[Row]] = defaultdict(list)
        for row in rows:
            streams[_stream(row)].append(row)
        if len({row["run_id"] for row in chain(*streams.values())}) < _FEWEST:
            continue
        for history in streams.values():
            found += _of_history(series_id, history, findings, rules)
    return found


def _of_history(
    series_id: str,
    history: Sequence[Row],
    findings: Mapping[str, Sequence[Row]],
    rules: Mapping[str, Rule],
) -> Iterable[_Advised]:
    evenings = [
        _evening(run_id, list(variants))
        for run_id, variants in groupby(history, lambda row: row["run_id"])
    ]
    by_rule: dict[str, dict[str, Row]] = defaultdict(dict)
    for finding in chain.from_iterable(findings.get(row[_KEY], ()) for row in history):
        by_rule[finding["rule_id"]][finding[_KEY]] = finding
    for rule_id, of_rule in sorted(by_rule.items()):
        fired = {
            key: each["gain_likely"] or 0.0
            for key, each in of_rule.items()
            if each["outcome"] == "fires"
        }
        if any(fired.values()):
            nights = [_night(evening, of_rule) for evening in evenings]
            yield _Advised(
                series_id=series_id,
                rule=rules[rule_id],
                evenings=evenings,
                nights=nights,
                fired=fired,
            )


def _night(evening: _Evening, of_rule: Mapping[str, Row]) -> OutcomeNight:
    """Return a night as one rule sees it, from its findings on the variants."""
    found = [of_rule[each[_KEY]] for each in evening.variants if each[_KEY] in of_rule]
    fires = [each for each in found if each["outcome"] == "fires"]
    gains = [each for each in fires if each["gain_likely"] is not None]
    return OutcomeNight(
        duration=evening.duration,
        fires=bool(fires),
        is_ruled_out=bool(found) and not fires,
        prediction=_prediction(gains, evening.launches) if gains else None,
        environment=evening.environment,
    )


def _prediction(gains: Sequence[Row], launches: int) -> Prediction:
    """Return what one of so many launches could save, all variants together."""
    low, likely, high = (
        sum(each[bound] or 0.0 for each in gains) / launches
        for bound in ("gain_low", "gain_likely", "gain_high")
    )
    return Prediction(low=low, likely=likely, high=high)


def _measure(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    advised: Sequence[_Advised],
    settings: OutcomeSettings,
) -> Values:
    """Return the values of verify lines on the nights that decide."""
    rules: dict[str, Rule] = {}
    variants: set[str] = set()
    runs: set[str] = set()
    for each in advised:
        wanted = set(each.variants(settings))
        if wanted and each.rule.verify.checks:
            rules[each.rule.id] = each.rule
            variants |= wanted
            runs |= {e.run_id for e in each.evenings if any(v[_KEY] in wanted for v in e.variants)}
    if not rules:
        return {}
    names = {name for r in rules.values() for name in r.verify.names - r.thresholds.keys()}
    relations = current(connection, vocabulary, sorted(runs))
    select = kernels_select(vocabulary, sorted({_KEY, *names}), relations)
    ids = ", ".join(f"'{each}'" for each in sorted(variants))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS SELECT * FROM ({select}) WHERE {_KEY} IN ({ids})"
    )
    try:
        found: dict[tuple[str, str], Sequence[float | None]] = {}
        for rule in rules.values():
            thresholds = {name: each.value for name, each in rule.thresholds.items()}
            query = measure_sql(rule.verify, thresholds, _TABLE, _KEY)
            for key, *row in connection.execute(query).fetchall():
                found[rule.id, key] = tuple(each.value for each in measured(row))
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {_TABLE}")
    return found


def _counted(lines: Sequence[_Line]) -> Lines:
    demanding = [line for line in lines if not line.check.moves.forbids]
    return Lines(
        moved=sum(line.moved is Movement.AS_EXPECTED for line in demanding),
        wrong=sum(line.moved is Movement.WRONG_WAY for line in lines),
        known=sum(line.moved is not Movement.UNKNOWN for line in demanding),
        count=len(demanding),
    )


def _per_launch(
    check: Criterion, value: float | None, variant: Row, vocabulary: Vocabulary
) -> float | None:
    """Return a sum over launches as one of a launch: nights may have profiled more of them."""
    is_sum = check.fact is not None and vocabulary.adds_up(check.fact)
    return value / variant["launches"] if is_sum and value is not None else value


def _stream(row: Row) -> tuple[object, ...]:
    """Return what nights of one history have in common."""
    return tuple(row[name] for name in _STREAM)


def _shape(variant: Row) -> object:
    return variant["launch_shape"]
