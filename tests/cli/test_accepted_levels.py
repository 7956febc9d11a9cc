"""A level accepted where every night has one launch: nights decide, and all verbs say the same.

Thirty nights of two kernels: from night 12 on ``copy`` takes a tenth longer, which is accepted at
night 13; from night 24 on it takes as much longer again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.model import Launch, Session
from seed.simulation.ncu_encoder import write_report

Run = Callable[..., Any]

NIGHTS, MORE_DATA, ACCEPTED, WORSE = 30, 12, 13, 24
FIRST = 1_767_236_400.0  # 2026-01-01T03:00 UTC
OF_NIGHT = (1.0, 1.002, 0.998, 1.001, 0.999)


def made_night(number: int) -> tuple[Session, list[Launch]]:
    level = 1.0 if number < MORE_DATA else 1.1 if number < WORSE else 1.21
    durations = {"copy": 1e6 * level, "steady": 2e6}
    session = Session(profiler="ncu", profiler_version="2024.3", started_at=FIRST + number * 86_400)
    return session, [
        Launch(
            index=index,
            kernel_name=kernel,
            grid=(100, 1, 1),
            block=(256, 1, 1),
            process=1,
            counters={"gpu__time_duration.sum": duration * OF_NIGHT[number % 5]},
        )
        for index, (kernel, duration) in enumerate(durations.items())
    ]


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("accepted")
    files = [folder / f"{number:02}.ncu-rep" for number in range(NIGHTS)]
    for number, file in enumerate(files):
        write_report(file, *made_night(number))
    path = folder / "accepted.duckdb"
    found = list(ingest_paths(str(path), list(map(str, files)), labels=RunLabels(), wait=10))
    assert [each.status for each in found] == ["new"] * NIGHTS
    return path


def at(number: int) -> str:
    return f"last~{NIGHTS - 1 - number}"


def asked(advisor: Run, nights: Path, *words: str, status: int = 0) -> Any:
    found = advisor("--db", str(nights), *words, "--format", "json")
    assert found.status == status, found.err
    return json.loads(found.out)


def of_copy(rows: Any) -> Any:
    return next(row for row in rows if row["kernel"] == "copy")


def test_an_accepted_level_of_single_launches_is_the_baseline_everywhere(
    advisor: Run, nights: Path
) -> None:
    first = at(5)
    between = asked(advisor, nights, "compare", first, at(20))["rows"]
    assert of_copy(between)["verdict"] == "regressed"
    asked(advisor, nights, "check", at(20), "--baseline", first, status=1)

    words = ("history", "accept", "copy", "--at", at(ACCEPTED), "--because", "more data")
    accepted = advisor("--db", str(nights), *words)
    assert accepted.status == 0
    assert re.search(r"level in run \w+ of copy \(\w+\)", accepted.out)

    # Up to night 23 nothing is worse than what was accepted; from night 24 on a tenth is.
    row = of_copy(asked(advisor, nights, "compare", first, at(20))["rows"])
    assert (row["verdict"], row["accepted"]["because"]) == ("unchanged", "more data")
    assert row["relative"] == pytest.approx(0.10, abs=0.005), "times stay those of both runs"
    assert asked(advisor, nights, "check", at(20), "--baseline", first)["failed"] == []
    row = of_copy(asked(advisor, nights, "compare", first, at(28))["rows"])
    assert row["verdict"] == "regressed"
    assert row["relative"] == pytest.approx(0.21, abs=0.005)
    (failed,) = asked(advisor, nights, "check", at(28), "--baseline", first, status=1)["failed"]
    assert failed["kernel"] == "copy"

    series = of_copy(asked(advisor, nights, "history")["series"])
    told = [(each["index"], each["verdict"], each["accepted"]) for each in series["changes"]]
    assert told == [(MORE_DATA, "regressed", "more data"), (WORSE, "regressed", None)]
    assert (series["newest"]["verdict"], series["newest"]["index"]) == ("regressed", WORSE)
    assert series["newest"]["relative"] == pytest.approx(0.10, abs=0.005)

    # The report of a night between tells it as accepted and lists nothing as open.
    moved = asked(advisor, nights, "report", at(20))["history"]["moved"]
    assert [(row["state"], row["verdict"]) for row in moved] == [("accepted", "regressed")]
    moved = asked(advisor, nights, "report", at(29))["history"]["moved"]
    assert [row["state"] for row in moved] == ["open", "accepted"]


def test_a_level_accepted_after_the_newest_regression_silences_it(
    advisor: Run, nights: Path
) -> None:
    words = ("history", "accept", "copy", "--at", at(26), "--because", "wider halo")
    assert advisor("--db", str(nights), *words).status == 0
    series = of_copy(asked(advisor, nights, "history")["series"])
    assert series["newest"]["verdict"] == "unchanged"
    assert series["changes"][-1]["accepted"] == "wider halo"
    assert (
        of_copy(asked(advisor, nights, "compare", at(5), at(28))["rows"])["verdict"] == "unchanged"
    )
    assert asked(advisor, nights, "check", at(28), "--baseline", at(5))["failed"] == []
