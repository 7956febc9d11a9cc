"""New nights renew the outcomes that they may change, and no others: as if all were recomputed."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from advisor.database.connect import open_for_writing
from advisor.database.outcomes import moved_series
from advisor.database.planning import plan_for
from advisor.database.write import transaction
from advisor.knowledge.load import load_knowledge
from advisor.rules.engine.outcome_nights import Continued, continued_histories
from advisor.rules.engine.outcomes import renew_outcomes
from advisor.rules.language.verification import Verify

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

RULE = "memory/local-memory"
SERIES = 10
NIGHTS = 24
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
STORED = "SELECT * FROM outcome ORDER BY ALL"


def store(connection: duckdb.DuckDBPyConnection, night: int, rng: random.Random) -> str:
    """Store a night on which a series may be missing, move, or fire otherwise than before.

    From half of the nights on, two of them are as much faster as the rule promised, and more.
    """
    run_id = f"{night:012x}"
    connection.execute(
        "INSERT INTO run (run_id, content_hash, part, format, status, ingested_at, started_at,"
        " simulated, launches, branch, device_names)"
        " VALUES (?, ?, 0, 'made', 'complete', ?, ?, false, 1, ?, 'device')",
        [run_id, run_id, FIRST, FIRST + timedelta(days=night), rng.choice(["main"] * 9 + [None])],
    )
    for number in range(SERIES):
        is_busy = number % 2  # the others stay as they are, but for the fifteenth part of nights
        if rng.random() < 0.07 * (1 + is_busy):
            continue
        moved = rng.choice([1.0, 1.2, 0.8]) if is_busy or rng.random() < 0.07 else 1.0
        is_mended = number in (2, 4) and night >= NIGHTS // 2
        if is_mended:
            moved *= 0.85
        variant = f"{run_id}-{number}"
        connection.execute(
            "INSERT INTO variant BY NAME SELECT ? AS run_id, ? AS variant_id, ? AS series_id,"
            " 'kernel' AS kernel_id, '1x1' AS launch_shape, ? AS duration, 2 AS launch_count,"
            " '' AS totals_hash, '' AS facts_hash",
            [run_id, variant, f"series{number}", 2e-3 * moved * (1 + 0.01 * rng.random())],
        )
        if not is_mended and rng.random() < (0.6 if is_busy else 0.95):
            connection.execute(
                "INSERT INTO finding (run_id, rule_id, rule_hash, subject, outcome, severity,"
                " variant_id, gain_low, gain_likely, gain_high, values)"
                " VALUES (?, ?, 'hash', 'kernel', 'fires', 'warning', ?, 1e-4, 2e-4, 3e-4, '{}')",
                [run_id, RULE, variant],
            )
    return run_id


def test_outcomes_night_by_night_are_those_of_all_nights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    continued: list[Continued] = []

    def going_on(*arguments: Any) -> Continued:
        continued.append(continued_histories(*arguments))
        return continued[-1]

    monkeypatch.setattr("advisor.rules.engine.outcomes.continued_histories", going_on)
    rng = random.Random(1)
    knowledge = load_knowledge()
    (rule,) = (each for each in knowledge.rules if each.id == RULE)
    unchecked = replace(rule, verify=Verify(checks=()))  # whose durations decide
    compiled = replace(knowledge.compiled, rules=(unchecked,))
    nights = list(range(NIGHTS))
    late = nights.pop(rng.randrange(4, 8))
    nights.insert(12, late)
    renewed = 0
    with open_for_writing(tmp_path / "test.duckdb") as connection, transaction(connection):
        plan_for(connection, 1)
        connection.execute(
            "INSERT INTO series BY NAME SELECT format('series{}', i) AS series_id,"
            f" 'kernel' AS kernel_id FROM range({SERIES}) AS made(i)"
        )
        while nights:
            number = rng.choice([1, 1, 1, 2])  # runs that come at once
            run_ids = [store(connection, nights.pop(0), rng) for _ in nights[:number]]
            moved = moved_series(connection, run_ids, knowledge.outcomes)
            renew_outcomes(connection, compiled, moved, knowledge.outcomes, run_ids)
            renewed += len(moved)
        found = connection.execute(STORED).fetchall()
        every = [f"series{number}" for number in range(SERIES)]
        renew_outcomes(connection, compiled, every, knowledge.outcomes)
        assert found == connection.execute(STORED).fetchall()
    assert {row[4] for row in found} >= {"open", "worked"}
    assert renewed < NIGHTS * SERIES * 0.9
    assert sum(len(each.whole) for each in continued) < renewed / 3  # first nights, and the late
    told = [len(history.evenings) for each in continued for history in each.histories]
    newest = 2 * knowledge.outcomes.settle_nights + 1  # and that of the level, and of the advice
    assert max(told) <= newest + 2
