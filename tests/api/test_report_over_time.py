"""The report of the thirty simulated nights: what moved, why, and what advice brought."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import duckdb
import pytest

from advisor.api import reporting
from advisor.api.demonstration import ingest_examples
from advisor.api.reporting import HistoryAsked, ReportForm, load_report, render_report
from advisor.database.read import StoredRun
from advisor.errors import UsageError
from advisor.knowledge.knowledge import Knowledge
from advisor.reports.record.over_time import NamedRule, RunHistory
from advisor.reports.record.records import Report
from advisor.reports.record.source import Request
from advisor.reports.write.machine import json_text
from advisor.reports.write.render import html, markdown
from advisor.reports.write.terminal import report_text
from tests.support.shared import made_once

SPILLS = "stencil_heat3d_kernel"
NORM = "layer_norm_kernel"
KEYS = {
    "series_id", "kernel", "verdict", "state", "run_id", "time", "commit", "note", "base", "head",
    "relative", "p_value", "noise", "terms", "cause", "facts", "came", "gone",
}  # fmt: skip


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a database of the simulated nights; only to read."""
    return str(
        made_once(
            tmp_path_factory,
            "demo.duckdb",
            lambda path: print(ingest_examples(str(path), wait=0, progress=lambda _: None)),
        )
    )


@pytest.fixture(scope="module", autouse=True)
def kernels_once() -> Iterator[None]:
    """Report what a run says of its kernels once: nobody writes to the one database.

    Its history is told anew, from the beginning that each test asks for.
    """
    made: dict[str, Report] = {}
    report_of_run = reporting.report_of_run

    def once(
        connection: duckdb.DuckDBPyConnection, run: StoredRun, knowledge: Knowledge, asked: Request
    ) -> Report:
        if run.run_id not in made:
            assert (asked.kernel, asked.every_fact, asked.suppressions) == (None, False, ())
            made[run.run_id] = report_of_run(connection, run, knowledge, asked)
        return made[run.run_id]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reporting, "report_of_run", once)
        yield


@cache
def report_of(database: str, run: str = "latest", since: str | None = None) -> Report:
    """Return a report with its history, made once: nobody writes to the database."""
    asked = HistoryAsked(since=since, charts="wasteful")
    return load_report(database, run, history=asked, wait=0)


def history_of(database: str, run: str = "latest", since: str | None = None) -> RunHistory:
    """Return the history of a report, which must have one."""
    found = report_of(database, run, since).history
    assert found is not None
    return found


@pytest.fixture(scope="module")
def document(demo: str) -> dict[str, object]:
    """Return the history of the newest run's report as JSON."""
    pages = render_report(
        demo, "latest", form=ReportForm(style="json", output="report.json"), wait=0
    )
    found = json.loads(pages["report.json"])["history"]
    assert isinstance(found, dict)
    return found


def test_tells_the_three_nights_that_were_planted_and_nothing_else(demo: str) -> None:
    moved = history_of(demo).moved
    told = {(row.kernel, row.verdict, row.time.date().isoformat()) for row in moved}
    planted = {(NORM, "regressed", "2026-01-17"), (SPILLS, "improved", "2026-01-24")}
    assert planted <= told
    assert {(verdict, day) for _, verdict, day in told - planted} == {("environment", "2026-01-28")}
    assert {row.state for row in moved} == {"open"}
    assert [row.kernel for row in moved][:2] == [NORM, SPILLS]


def test_explains_the_regression_by_its_bytes_and_names_its_commit(demo: str) -> None:
    row = history_of(demo).moved[0]
    # seed/simulation/expected.yaml: 212.3 MB, and half as much again from night 13 on
    assert row.base == pytest.approx(118.3e-6, rel=0.01)
    assert row.head == pytest.approx(177e-6, rel=0.01)
    fact = next(each for each in row.facts if each.name == "dram_bytes")
    assert (fact.base, fact.head) == (
        pytest.approx(212.3e6, rel=1e-3),
        pytest.approx(318.5e6, rel=1e-3),
    )
    assert row.terms is not None
    assert row.terms["work"] == pytest.approx(0.405, abs=1e-3)  # ln 1.5
    assert sum(row.terms.values()) == pytest.approx(0.403, abs=0.01)  # ln(177 / 118.3)
    assert row.note == "layer norm: add the residual after normalising"
    assert (row.commit or "").startswith("7ead6a9")
    assert "DRAM traffic" in (row.cause or "")


def test_puts_predicted_beside_achieved(demo: str) -> None:
    history = history_of(demo)
    (advice,) = (each for each in history.outcomes if each.rule_id == "memory/local-memory")
    assert (advice.kernel, advice.outcome) == (SPILLS, "worked")
    assert advice.achieved == pytest.approx(172e-6, rel=0.01)  # 268 µs became 96 µs
    assert advice.likely is not None
    assert advice.likely < advice.achieved


@pytest.mark.parametrize("night", [21, 22, 29])
def test_tells_one_level_of_a_change_and_of_the_advice_behind_it(demo: str, night: int) -> None:
    run = history_of(demo).nights[night].run_id
    history = history_of(demo, run)
    (move,) = (each for each in history.moved if each.kernel == SPILLS)
    levels = {(each.before, each.after) for each in history.outcomes if each.kernel == SPILLS}
    assert levels == {(move.base, move.head)}


def test_advice_has_not_worked_before_its_change_is_sure(demo: str) -> None:
    nights = [night.run_id for night in history_of(demo).nights]
    found = {}
    for place in (19, 20, 21):  # the first nights at the new level
        history = history_of(demo, nights[place])
        (row,) = (row for row in history.moved if row.kernel == SPILLS)
        decided = {each.rule_id for each in history.outcomes if each.kernel == SPILLS}
        found[place] = (row.verdict, "memory/local-memory" in decided)
        assert history.open_advice > 0
    assert found == {
        19: ("inconclusive", False),
        20: ("improved", True),
        21: ("improved", True),
    }


def test_what_to_do_first_names_the_regression_that_is_open(demo: str) -> None:
    assert "look at 1 open regression" in html(report_of(demo))
    assert "open regression" not in html(replace(report_of(demo), history=None))


def test_keeps_the_driver_as_environment(demo: str) -> None:
    (driver,) = (step for step in history_of(demo).environment if step.what == "driver")
    assert (driver.base, driver.head) == ("550.54.15", "560.35.03")
    assert driver.time.date().isoformat() == "2026-01-28"


def test_an_old_night_tells_what_was_known_then(demo: str) -> None:
    newest = history_of(demo)
    nights = [night.run_id for night in newest.nights]
    before = history_of(demo, nights[11])
    assert before.sentence == "Nothing moved in 12 nights."
    alone = history_of(demo, nights[12]).moved
    assert [(row.kernel, row.verdict, row.state) for row in alone] == [
        (NORM, "inconclusive", "new")
    ]
    told = history_of(demo, nights[14])  # the third night at the new level
    assert [(row.kernel, row.verdict, row.state) for row in told.moved] == [
        (NORM, "regressed", "new")
    ]
    assert told.sentence.startswith("New tonight: layer_norm_kernel")
    assert told.outcomes == ()
    assert len(told.nights) == 15
    assert [row.state for row in history_of(demo, nights[15]).moved] == ["open"]


def test_the_first_night_has_no_history_and_says_from_when(demo: str) -> None:
    first = history_of(demo).nights[0].run_id
    report = report_of(demo, first)
    assert report.history is None
    assert report.first_night.startswith("Ingest a later profile")
    pages = render_report(demo, first, form=ReportForm(style="json", output="r.json"), wait=0)
    assert json.loads(pages["r.json"])["history"] is None
    page = render_report(demo, first, form=ReportForm(style="html", output="r.html"), wait=0)[
        "r.html"
    ]
    assert 'id="moved"' not in page
    assert 'class="spark"' not in page


@pytest.mark.parametrize(
    ("since", "nights"), [("7", 7), ("2026-01-25", 10), ("2026-01-25T02:30+00:00", 10)]
)
def test_since_bounds_what_is_told_and_not_what_is_known(
    demo: str, since: str, nights: int
) -> None:
    history = history_of(demo, since=since)
    assert len(history.nights) == nights
    assert {row.verdict for row in history.moved} <= {"environment"}
    assert "1 regression from before" in history.sentence


@pytest.mark.parametrize("since", ["5", "30"])
def test_the_count_of_what_moved_is_of_what_is_told(demo: str, since: str) -> None:
    report = report_of(demo, since=since)
    assert report.history is not None
    (figure,) = (f for f in report.verdict.figures if f.label.startswith("moved in"))
    told = {row.variant_id for row in report.history.moved if row.variant_id}
    assert figure.value == str(len(told))


def test_since_may_be_a_run(demo: str) -> None:
    tenth = history_of(demo).nights[9].run_id
    history = history_of(demo, since=tenth)
    assert (history.baseline, len(history.nights)) == (tenth, 21)


@pytest.mark.parametrize("since", ["0", "yesterday", "ffffffff"])
def test_refuses_an_unknown_since(demo: str, since: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        report_of(demo, since=since)


def test_refuses_a_since_after_the_run(demo: str) -> None:
    nights = [night.run_id for night in history_of(demo).nights]
    with pytest.raises(UsageError, match="later than"):
        report_of(demo, nights[5], since=nights[9])


def test_has_the_keys_that_programs_read(document: dict[str, object]) -> None:
    assert set(document) == {
        "since", "nights", "previous", "baseline", "sentence", "moved", "environment", "outcomes",
    }  # fmt: skip
    assert document["nights"] == 30
    assert datetime.fromisoformat(str(document["since"])).isoformat() == "2026-01-05T02:30:00+00:00"
    moved = document["moved"]
    assert isinstance(moved, list)
    assert all(set(row) == KEYS for row in moved)
    outcomes = document["outcomes"]
    assert isinstance(outcomes, list)
    assert set(outcomes[0]) == {
        "series_id", "kernel", "rule_id", "outcome", "opened", "decided", "predicted", "achieved",
        "shared_with",
    }  # fmt: skip
    assert set(outcomes[0]["predicted"]) == {"low", "likely", "high"}
    # One change decided all of them: each names the others, so nobody adds 172 µs several times.
    rules = {each["rule_id"] for each in outcomes}
    assert "memory/local-memory" in rules
    assert [{each["rule_id"], *each["shared_with"]} for each in outcomes] == [rules] * len(outcomes)


@pytest.mark.parametrize("style", ["text", "markdown", "html"])
def test_tells_it_in_every_form_and_in_one_order(demo: str, style: str, tmp_path: Path) -> None:
    place = str(tmp_path / "report.out")
    page = render_report(demo, "latest", form=ReportForm(style=style, output=place), wait=0)[place]
    plain = page.replace("\\_", "_").replace("<wbr>", "").replace("\N{NO-BREAK SPACE}", " ")
    shared = "One change saved 172 µs per launch; 2 pieces of advice had recommended it."
    for words in ("49 % slower", "118 µs → 177 µs", "7ead6a9", "172 µs", "560.35.03", shared):
        assert " ".join(words.split()) in " ".join(plain.split())
    credited = {"text": ("172 µs", 1), "markdown": ("172 µs", 2), "html": ("<b>172 µs</b>", 1)}
    words, times = credited[style]
    assert plain.count(words) == times  # one change: no piece of advice is credited with it again
    headings = {
        "text": ("What moved", "Do this first", "Did the advice work", "Conditions", "Kernels"),
        "markdown": (
            "## What moved", "## Do this first", "## Did the advice work", "## Conditions",
            "## Roofline", "## Kernels", "## Detail", "## Provenance",
        ),
        "html": (
            'id="moved"', 'id="do"', 'id="outcomes"', 'id="conditions"', 'id="roofline"',
            'id="kernels"', 'id="detail"', 'id="provenance"',
        ),
    }[style]  # fmt: skip
    places = [plain.index(heading) for heading in headings]
    assert places == sorted(places)


def test_lets_no_name_act_in_any_form(demo: str) -> None:
    report = report_of(demo)
    assert report.history is not None
    bad = "<img src=x onerror=alert(1)>\N{RIGHT-TO-LEFT OVERRIDE}|`=cmd()"
    named = NamedRule(id=bad, title=bad)
    moved = tuple(
        replace(row, kernel=bad, commit=bad, note=bad, cause=bad, around=(bad,), came=(named,))
        for row in report.history.moved
    )
    outcomes = tuple(replace(each, kernel=bad, title=bad) for each in report.history.outcomes)
    history = replace(report.history, moved=moved, outcomes=outcomes, sentence=bad)
    hostile = replace(report, history=history)
    assert "<img" not in html(hostile)
    assert not re.search(r"(?<!\\)<img", markdown(hostile, None))
    for page in (html(hostile), markdown(hostile, None), report_text(hostile)):
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    assert json.loads(json_text(hostile))["history"]["sentence"] == bad


def test_draws_the_path_of_what_moved_with_at_most_twelve_dots(demo: str) -> None:
    charts = report_of(demo).rooflines
    paths = {path.kernel_id: path for chart in charts for path in chart.paths}
    assert paths
    assert max(len(path.points) for path in paths.values()) == 12


def test_leads_from_a_slower_kernel_without_advice_to_what_moved(demo: str) -> None:
    report = report_of(demo)
    page, text = html(report), markdown(report, None)
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {escaped(NORM)},")]
    assert row.endswith("| see what moved |")
    assert page.count('<a href="#moved">why it got slower</a>') == 1
    assert 'id="moved"' in page


def escaped(name: str) -> str:
    """Return a name as Markdown has it."""
    return name.replace("_", "\\_")
