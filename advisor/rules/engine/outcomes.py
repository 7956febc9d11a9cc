"""Did the advice work: outcomes of findings, recomputed from all nights that are stored.

What is stored of runs decides and nothing else, so a late night, a merge or another order of
ingesting gives the same outcomes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from advisor.database import outcomes
from advisor.database.rows import OutcomeRow
from advisor.facts import Vocabulary, current, kernels_select
from advisor.records import dataclass
from advisor.rules.engine.outcome_nights import (
    Continued,
    Evening,
    Followed,
    continued_histories,
    stream,
    whole_histories,
)
from advisor.rules.language.rule import Rule
from advisor.rules.language.subjects import KERNEL
from advisor.rules.language.verification import Criterion, Movement, measure_sql, measured, moved
from advisor.tracking.outcomes import (
    Episode,
    Lines,
    OutcomeNight,
    Prediction,
    Start,
    episodes,
    looked_at,
)

if TYPE_CHECKING:
    import duckdb

    from advisor.rules.engine.compiled import Compiled
    from advisor.tracking.settings import OutcomeSettings

_TABLE = "outcome_facts"
_KEY = "variant_id"
_UNTOLD = OutcomeNight(duration=None, fires=False)
"""A night of which nothing need be known."""

Row = Mapping[str, Any]
Values = Mapping[tuple[str, str], Sequence[float | None]]
"""The values of a rule's checks, by rule and variant."""


def renew_outcomes(
    connection: duckdb.DuckDBPyConnection,
    compiled: Compiled,
    series: Sequence[str],
    settings: OutcomeSettings,
    incoming: Sequence[str] = (),
) -> None:
    """Recompute the outcome of the advice for some series, in place of what was stored.

    ``outcomes.affected_series`` names those that runs may have changed. Where all that has changed
    are the runs ``incoming``, which were stored since, outcomes go on from what was settled before.
    """
    if not series:
        return
    rules = {rule.id: rule for rule in compiled.rules if rule.subject == KERNEL}
    going_on = Continued(histories=(), replaced=(), whole=set(series))
    if incoming:
        going_on = continued_histories(connection, series, incoming, settings, rules)
    advised = _advised(connection, going_on.histories, rules)
    whole = sorted(going_on.whole)
    if whole:
        advised += _advised(connection, list(whole_histories(connection, whole)), rules, whole)
    values = _measure(connection, compiled.vocabulary, advised, settings)
    ends = _ends(connection, settings)
    found = [row for each in advised for row in each.rows(values, compiled, ends, settings)]
    outcomes.replace_outcomes(connection, whole, found, going_on.replaced)


@dataclass(frozen=True, kw_only=True)
class _Advised:
    """A rule over the nights of a series, oldest first; ``start`` is where it goes on."""

    history: Followed
    rule: Rule
    nights: Sequence[OutcomeNight]
    fired: Mapping[str, float]
    start: Start

    def decisive(self, settings: OutcomeSettings) -> list[Evening]:
        """Return the nights whose verify lines decide."""
        found = looked_at(self.nights, settings, self.start.at)
        if found and self.start.opened is not None:
            found += [self.start.opened, self.start.base]
        return [self.history.evenings[index] for index in found]

    def rows(
        self, values: Values, compiled: Compiled, ends: Ends, settings: OutcomeSettings
    ) -> Iterable[OutcomeRow]:
        time = compiled.of_kernels.settings.time  # is compared for itself

        def compare(before: int, after: int) -> Lines:
            lines = self.lines(values, before, after, compiled.vocabulary)
            return _counted([line for line in lines if line.check.fact != time])

        first = self.history.evenings[len(self.nights) - 1].variants[0]
        found = episodes(
            self.nights,
            compare,
            settings,
            missing=ends.after(stream(first), first["moment"], first["run_id"]),
            start=self.start,
            levels=self.history.levels,
        )
        for episode in found:
            yield self._row(episode, values, compiled.vocabulary)

    def _row(self, episode: Episode, values: Values, vocabulary: Vocabulary) -> OutcomeRow:
        decided, runs = episode.decided, self.history.runs
        lines = () if decided is None else self.lines(values, episode.base, decided, vocabulary)
        return OutcomeRow(
            series_id=self.history.series_id,
            rule_id=self.rule.id,
            opened_run=runs[episode.opened],
            decided_run=None if decided is None else runs[decided],
            level_run=None if episode.level is None else runs[episode.level],
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
        variants = self.history.evenings[after].variants
        now = next((each for each in variants if _shape(each) == _shape(was)), variants[0])
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
        variants = self.history.evenings[night].variants
        return max(variants, key=lambda each: self.fired.get(each[_KEY], 0.0))


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


def _ends(connection: duckdb.DuckDBPyConnection, settings: OutcomeSettings) -> Ends:
    """Return the newest runs: more than these need not be missing for a series to be gone."""
    runs: dict[tuple[object, ...], list[tuple[Any, str]]] = defaultdict(list)
    for row in outcomes.newest_runs(connection, settings.gone_nights):
        runs[stream(row)].append((row["moment"], row["run_id"]))
    return Ends(runs=runs)


def _advised(
    connection: duckdb.DuckDBPyConnection,
    histories: Sequence[Followed],
    rules: Mapping[str, Rule],
    series: Sequence[str] = (),
) -> list[_Advised]:
    """Return each rule that fired over each history; all nights of ``series`` are in theirs."""
    if not histories:
        return []
    chosen = series or sorted({history.series_id for history in histories})
    runs = {evening.run_id for each in histories for evening in each.evenings.values()}
    findings: dict[str, list[Row]] = defaultdict(list)
    for finding in outcomes.findings_of(connection, chosen, None if series else sorted(runs)):
        if finding["rule_id"] in rules:
            findings[finding[_KEY]].append(finding)
    return [each for history in histories for each in _of_history(history, findings, rules)]


def _of_history(
    history: Followed, findings: Mapping[str, Sequence[Row]], rules: Mapping[str, Rule]
) -> Iterable[_Advised]:
    by_rule: dict[str, dict[str, Row]] = defaultdict(dict)
    for evening in history.evenings.values():
        for finding in chain.from_iterable(findings.get(v[_KEY], ()) for v in evening.variants):
            by_rule[finding["rule_id"]][finding[_KEY]] = finding
    for rule_id, of_rule in sorted(by_rule.items()):
        fired = {
            key: each["gain_likely"] or 0.0
            for key, each in of_rule.items()
            if each["outcome"] == "fires"
        }
        if any(fired.values()):
            nights = [_UNTOLD] * len(history.runs)
            for index, evening in history.evenings.items():
                nights[index] = _night(evening, of_rule)
            yield _Advised(
                history=history,
                rule=rules[rule_id],
                nights=nights,
                fired=fired,
                start=history.start(rule_id),
            )


def _night(evening: Evening, of_rule: Mapping[str, Row]) -> OutcomeNight:
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
        decisive = each.decisive(settings)
        if decisive and each.rule.verify.checks:
            rules[each.rule.id] = each.rule
            variants |= {variant[_KEY] for evening in decisive for variant in evening.variants}
            runs |= {evening.run_id for evening in decisive}
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


def _shape(variant: Row) -> object:
    return variant["launch_shape"]
