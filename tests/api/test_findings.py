"""Stored findings are the record: reports show them, and judge again only under other rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from advisor.api.reporting import ReportForm, load_report, render_report
from advisor.configuration import DEFAULTS, Configuration
from advisor.configuration.entries import ThresholdSetting
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.errors import Location
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.records import Report
from advisor.resources import data_dir
from tests.api.test_publishing import demo
from tests.support.shared import runs_of

__all__ = ["demo"]

Found = set[tuple[str, str, str, str, str]]
MOST_REAL = 6  # profiles
SMALL = 300_000  # bytes

EVIDENCE = "0.25 of nothing"
_STORED = """
    SELECT rule_id, coalesce(variant_id, run_id), outcome, gain_likely,
        CASE outcome WHEN 'fires' THEN evidence ELSE because END
    FROM main.finding WHERE run_id = ?
"""


SENTENCE = "saves 0 to 85 % of the kernel's time, likely 42 %"
TIMELESS = """\
  transpose(float *, const float *) (2048, 1, 1)x(1024, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
    Section: Command line profiler metrics
    ---------------------------------------------------- ---- --------
    Metric Name                                          Unit    Value
    ---------------------------------------------------- ---- --------
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum  16000000
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum   1000000
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum      18000000
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum       2000000
    ---------------------------------------------------- ---- --------
"""


def stored(database: str, run: str) -> Found:
    """Return the findings that a query gives."""
    with open_for_reading(database) as connection:
        rows = connection.execute(_STORED, [run]).fetchall()
    return {
        (rule, subject, outcome.replace("_", " "), _digits(gain), said)
        for rule, subject, outcome, gain, said in rows
    }


def shown(report: Report) -> Found:
    """Return the findings that a report shows, of its kernels and of the run."""
    of_kernels = {
        (each.rule_id, kernel.id, each.outcome, _digits(each.gain), each.text)
        for kernel in report.kernels
        for each in kernel.results
        if each.outcome != "unknown"
    }
    of_run = {
        (
            each.rule_id,
            report.run.run_id,
            "fires",
            _digits(each.gain),
            each.evidence,
        )
        for each in report.findings
    }
    return of_kernels | of_run


def _digits(gain: Gain | float | None) -> str:
    """Return likely seconds to nine digits: sums over launches are the same to no more."""
    likely = gain.likely if isinstance(gain, Gain) else gain
    return "none" if likely is None else f"{likely:.8e}"


def assert_same(report: Report, found: Found) -> None:
    """Compare findings: each text of a report may go on after what is stored, none is missing."""
    run = report.run.run_id
    of_report = {each[:4]: each[4] for each in shown(report)}
    of_table = {each[:4]: each[4] for each in found if each[1] != run or each[2] == "fires"}
    assert of_report.keys() == of_table.keys()
    for key, said in of_table.items():
        assert of_report[key].lower().startswith(said.rstrip(".").lower()), key


def runs(database: str) -> list[str]:
    with open_for_reading(database) as connection:
        return [run for (run,) in connection.execute("SELECT run_id FROM main.run").fetchall()]


def test_a_report_shows_what_a_query_gives(demo: str) -> None:
    total = 0
    for run in runs(demo)[-3:]:
        report = load_report(demo, run, wait=0)
        assert report.rejudged == ""
        assert_same(report, stored(demo, run))
        total += len(shown(report))
    assert total > 0


def test_a_report_shows_what_is_stored_whatever_the_rules_would_say(
    demo: str, tmp_path: Path
) -> None:
    changed = tmp_path / "changed.duckdb"
    changed.write_bytes(Path(demo).read_bytes())
    run = runs(demo)[-1]
    with open_for_writing(str(changed)) as connection:
        connection.execute("UPDATE finding SET evidence = ? WHERE outcome = 'fires'", [EVIDENCE])
    report = load_report(str(changed), run, wait=0)
    said = {each[4] for each in shown(report) if each[2] == "fires"}
    assert said
    assert all(text.startswith(EVIDENCE) for text in said)


def test_judges_again_under_another_threshold_as_a_fresh_ingest_would(tmp_path: Path) -> None:
    profile = next((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))
    before, after = str(tmp_path / "before.duckdb"), str(tmp_path / "after.duckdb")
    lenient = _overridden("roofline/dram-bound", "near", 0.01)
    (old,) = _ingested(before, [profile], DEFAULTS)
    (new,) = _ingested(after, [profile], lenient)
    again = load_report(before, old, wait=0, configuration=lenient)
    assert f"advisor --db {before} refresh {old}" in again.rejudged
    assert_same(again, stored(after, new))
    fresh = load_report(after, new, wait=0, configuration=lenient)
    assert fresh.rejudged == ""
    assert shown(again) == shown(fresh)
    assert stored(before, old) != stored(after, new)


def test_a_page_without_a_time_is_promised_a_share_of_it_in_every_form(tmp_path: Path) -> None:
    """85 % of the passes are conflicts; how busy L1 was is unknown, so half of that is likely."""
    page, database = tmp_path / "page.txt", str(tmp_path / "a.duckdb")
    page.write_text(TIMELESS)
    (run,) = _ingested(database, [page], DEFAULTS)
    report = load_report(database, run, wait=0)
    first = report.actions[0]
    assert report.rejudged == ""
    assert (first.rule_id, first.gain) == ("memory/bank-conflicts", None)
    assert first.share is not None
    bounds = (first.share.low, first.share.likely, first.share.high)
    assert bounds == pytest.approx((0, 0.425, 0.85))
    lenient = _overridden("roofline/dram-bound", "near", 0.01)
    again = load_report(database, run, wait=0, configuration=lenient)
    assert again.rejudged
    assert again.actions[0].share == first.share
    for style in ("text", "html", "markdown", "json"):
        (form,) = render_report(database, run, form=ReportForm(style=style), wait=0).values()
        plain = unescape(form).replace("\N{NO-BREAK SPACE}", " ")
        assert SENTENCE in " ".join(plain.split()), style


@pytest.mark.real
def test_real_reports_show_what_a_query_gives(real_data: Path, real_database: Path) -> None:
    database = str(real_database)
    paths = sorted((real_data / "ncu-rep").rglob("*.ncu-rep"))
    small = [path for path in paths if path.stat().st_size < SMALL]
    runs = runs_of(real_database)
    found = [runs[str(path)] for path in small if str(path) in runs][:MOST_REAL]
    assert len(found) == MOST_REAL
    for run in found:
        report = load_report(database, run, wait=0)
        assert report.rejudged == ""
        assert_same(report, stored(database, run))


def _ingested(database: str, paths: Iterable[Path], configuration: Configuration) -> list[str]:
    names = [str(path) for path in paths]
    results = ingest_paths(database, names, labels=RunLabels(), wait=0, configuration=configuration)
    return [each.run_id for each in results if each.run_id is not None]


def _overridden(rule_id: str, name: str, value: float) -> Configuration:
    """Return a configuration with another value of a threshold, in the rule's unit."""
    said = ThresholdSetting(value=value, unit=None, at=Location(name="advisor.yaml"))
    return replace(DEFAULTS, thresholds={rule_id: {name: said}})
