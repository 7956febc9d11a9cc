"""Did the advice work: the records of rules, and the outcome of each piece of advice."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.connect import open_for_reading
from advisor.database.outcomes import stored_outcomes
from advisor.database.parts import rows_of
from advisor.escaping import json_text, utc_text
from advisor.facts import current, kernels_select
from advisor.knowledge.load import find_rule, load_knowledge
from advisor.records import dataclass
from advisor.reports.record.opened import value_in_words
from advisor.rules.engine.evaluate import run_words
from advisor.rules.language.verification import Movement
from advisor.tracking.record import Advice, Record, given_once, record_of
from advisor.wording import seconds, si, significant

if TYPE_CHECKING:
    import duckdb

    from advisor.facts import Vocabulary
    from advisor.rules.language.words import VendorWords

SCHEMA_VERSION = 1
STATES = ("open", "worked", "partly", "no effect", "backfired", "by other means", "gone")
_SIDES = ("before", "after")
_WRONG_WAY = Movement.WRONG_WAY.value
_MOVED = {
    Movement.AS_EXPECTED.value: "as expected",
    Movement.NOT_MOVED.value: "did not move",
    _WRONG_WAY: "moved the wrong way",
    Movement.UNKNOWN.value: "unknown",
}
_DOT = ("arithmetic_intensity", "performance", "roofline_bound")
_COLUMNS = ("rule", "given", "taken", *STATES[1:], "achieved ÷ predicted", "quartiles", "belief")

Row = Mapping[str, Any]
Rows = list[tuple[object, ...]]


@dataclass(frozen=True, kw_only=True)
class RuleRecord:
    """A rule's record over measured runs, or over simulated ones, and the outcomes it counts.

    ``dots`` are facts of the kernel before and after, by the number of the outcome; ``words`` are
    those of the device that an outcome was opened on, by its run.
    """

    rule_id: str
    simulated: bool
    record: Record
    outcomes: Sequence[Row]
    dots: Mapping[int, tuple[Row, Row]]
    words: Mapping[str, VendorWords]


def rule_records(
    database: str,
    rule: str | None = None,
    *,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> list[RuleRecord]:
    """Return the records of all rules that ever promised time, or of one rule.

    Of one rule, the position in the roofline before and after is looked up, too.

    Raises:
        UsageError: there is no such rule.
        DatabaseError: the database cannot be opened.
    """
    knowledge = load_knowledge(configuration)
    wanted = None if rule is None else find_rule(knowledge.rules, rule).id
    with open_for_reading(database, wait) as connection:
        rows = given_once(stored_outcomes(connection, rule=wanted))
        facts = {} if wanted is None else _facts(connection, knowledge.vocabulary, rows)
        runs = sorted({row["opened_run"] for row in rows if wanted is not None})
        words = run_words(connection, runs, knowledge.settings)
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["rule_id"], row["simulated"]].append(row)
    return [
        RuleRecord(
            rule_id=rule_id,
            simulated=simulated,
            record=record_of(map(_advice, outcomes), knowledge.outcomes),
            outcomes=outcomes,
            dots={n: dot for n, row in enumerate(outcomes) if (dot := _dot(row, facts))},
            words=words,
        )
        for (rule_id, simulated), outcomes in sorted(groups.items(), key=lambda group: group[0])
    ]


def record_table(records: Sequence[RuleRecord]) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per rule."""
    return _COLUMNS, [_row(each) for each in records]


def record_text(records: Sequence[RuleRecord]) -> str:
    """Return the outcome of each piece of advice, in words."""
    return "\n".join(
        line for each in records for line in (_headline(each), *_outcome_lines(each), "")
    )


def record_json(records: Sequence[RuleRecord]) -> str:
    """Return the records as a JSON document, in SI units."""
    rules = [
        {
            "rule": each.rule_id,
            "simulated": each.simulated,
            "given": each.record.given,
            "taken": each.record.taken,
            **{state.replace(" ", "_"): each.record.states[state] for state in STATES},
            "achieved_to_predicted": {
                "median": each.record.ratio,
                "low": each.record.low,
                "high": each.record.high,
            },
            "belief": each.record.belief,
            "outcomes": [
                _said(row, each.dots.get(number)) for number, row in enumerate(each.outcomes)
            ],
        }
        for each in records
    ]
    document = {"schema_version": SCHEMA_VERSION, "rules": rules}
    return json_text(document, indent=2)


def _advice(row: Row) -> Advice:
    return Advice(state=row["state"], predicted=row["predicted_likely"], achieved=row["achieved"])


def _row(each: RuleRecord) -> tuple[object, ...]:
    record = each.record
    name = f"{each.rule_id} (simulated)" if each.simulated else each.rule_id
    counts = [record.states[state] for state in STATES[1:]]
    ratio = None if record.ratio is None else significant(record.ratio)
    return (
        name,
        record.given,
        record.taken,
        *counts,
        ratio,
        _spread(record) or None,
        significant(record.belief),
    )


def _spread(record: Record) -> str:
    if record.low is None or record.high is None:
        return ""
    return f"{significant(record.low)} to {significant(record.high)}"


def _headline(each: RuleRecord) -> str:
    record = each.record
    decided = [f"{record.states[state]} {state}" for state in STATES if record.states[state]]
    of = " over simulated runs" if each.simulated else ""
    parts = [f"given {record.given}", f"taken {record.taken}", *decided]
    if record.ratio is not None:
        spread = f" ({_spread(record)})" if _spread(record) else ""
        parts.append(f"achieved ÷ predicted {significant(record.ratio)}{spread}")
    parts.append(f"estimates count × {significant(record.belief)}")
    return f"{each.rule_id}{of}: {', '.join(parts)}"


def _outcome_lines(each: RuleRecord) -> list[str]:
    lines = []
    for number, row in enumerate(each.outcomes):
        until = f", decided {_day(row['decided_at'])}" if row["decided_run"] else ""
        since = f"since {_day(row['opened_at'])} (run {row['opened_run']}){until}"
        lines.append(f"  {row['short_name']}: {row['state']}, {since}")
        lines.append(f"    {_times(row)}")
        words = each.words[row["opened_run"]]
        lines += [f"    {line}" for line in verified_lines(row, each.dots.get(number), words)]
    return lines


def _times(row: Row) -> str:
    predicted = f"predicted to save {seconds(row['predicted_likely'])}"
    if row["achieved"] is None:
        return f"{seconds(row['duration_before'])} per launch, {predicted}"
    change = f"{seconds(row['duration_before'])} → {seconds(row['duration_after'])}"
    what = "saved" if row["achieved"] >= 0 else "lost"
    return f"{change} per launch, {predicted}, {what} {seconds(abs(row['achieved']))}"


def verified_lines(row: Row, dot: tuple[Row, Row] | None, words: VendorWords) -> list[str]:
    """Return in words whether the dot of the roofline moved as it should, and the verify lines.

    The sixth of six steps: profile again, and see whether intensity and performance grew, whether
    the class changed, and which side effect there was.
    """
    lines = [] if dot is None else [_dot_words(*dot)]
    checks = json.loads(row["lines"])
    for line in checks:
        was, now = (value_in_words(line["name"], line[at], line["unit"]) for at in _SIDES)
        change = f"{was} → {now}"
        lines.append(f"{_called(line, words)}: {change}, {_MOVED[line['moved']]}")
    wrong = [_called(line, words) for line in checks if line["moved"] == _WRONG_WAY]
    if wrong:
        lines.append(f"side effect: {', '.join(wrong)}")
    return lines


def _called(line: Row, words: VendorWords) -> str:
    """Return the name of a fact; what is no fact has its name from the rule."""
    found = words.names.get(line["name"])
    return line["name"] if found is None else found.text


def _dot_words(before: Row, after: Row) -> str:
    words = [
        f"{called} {si(before[name], unit)} → {si(after[name], unit)} ({_way(before, after, name)})"
        for name, called, unit in (
            ("arithmetic_intensity", "arithmetic intensity", "FLOP/B"),
            ("performance", "performance", "FLOP/s"),
        )
    ]
    was, now = (row["roofline_bound"] or "unknown" for row in (before, after))
    changed = f"bound by {was} as before" if was == now else f"bound by {now}, before by {was}"
    return f"on the roofline: {', '.join(words)}; {changed}"


def _way(before: Row, after: Row, name: str) -> str:
    was, now = before[name], after[name]
    if was is None or now is None:
        return "unknown"
    if abs(now - was) <= _SAME * abs(was):
        return "unchanged"
    return "grew" if now > was else "fell"


_SAME = 0.005  # what three digits do not show


def _said(row: Row, dot: tuple[Row, Row] | None) -> dict[str, Any]:
    names = (
        "series_id", "short_name", "state", "opened_run", "opened_at", "decided_run",
        "decided_at", "duration_before", "duration_after", "predicted_low", "predicted_likely",
        "predicted_high", "achieved",
    )  # fmt: skip
    values = {name: _plain(row[name]) for name in names}
    dots = None if dot is None else [{name: each[name] for name in _DOT} for each in dot]
    return {**values, "verify": json.loads(row["lines"]), "dots": dots}


def _plain(value: object) -> object:
    return utc_text(value) if isinstance(value, datetime) else value


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _facts(
    connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary, outcomes: Sequence[Row]
) -> dict[tuple[str, str], Row]:
    """Return where kernels stand in the roofline, by series and run; the longest variant's."""
    decided = [row for row in outcomes if row["decided_run"]]
    runs = sorted({row[name] for row in decided for name in ("opened_run", "decided_run")})
    if not runs:
        return {}
    relations = current(connection, vocabulary, runs)
    columns = ("series_id", "run_id", "variant_id", "duration", *_DOT)
    select = kernels_select(vocabulary, columns, relations)
    shortest_first = reversed(rows_of(connection, select, runs))
    return {(row["series_id"], row["run_id"]): row for row in shortest_first}


def _dot(row: Row, facts: Mapping[tuple[str, str], Row]) -> tuple[Row, Row] | None:
    before = facts.get((row["series_id"], row["opened_run"]))
    after = facts.get((row["series_id"], row["decided_run"]))
    return None if before is None or after is None else (before, after)
