"""The simulated nights in the formats of other programs, and where sources are looked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from advisor.api.checking import check
from advisor.api.demonstration import ingest_examples
from advisor.api.publishing import published_run, written
from advisor.configuration import DEFAULTS, Suppression
from advisor.database.connect import open_for_reading
from advisor.errors import Location
from advisor.reports.formats.tables import tables
from advisor.reports.record.checkout import Checkout, checkout_of
from advisor.reports.record.format_settings import load_format_settings
from advisor.reports.record.published import Published, SourcePlace
from tests.support.shared import made_once

NORM, STENCIL = "layer_norm_kernel", "stencil_heat3d_kernel"


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


@pytest.fixture(scope="module")
def night(demo: str) -> Callable[[str], Published]:
    """Return a night as other programs read it."""
    found: dict[str, Published] = {}

    def of(run: str) -> Published:
        return found.setdefault(run, published_run(demo, run, wait=0))

    return of


def fingerprints(run: Published) -> dict[tuple[str, str | None], str]:
    """Return the fingerprint of each rule and series."""
    return {(each.rule_id, each.series_id): each.fingerprint for each in run.shown}


def test_fingerprints_are_unique_and_the_same_on_the_next_night(
    night: Callable[[str], Published],
) -> None:
    newest, before = night("latest"), night("latest~1")
    known, earlier = fingerprints(newest), fingerprints(before)
    assert len(set(known.values())) == len(newest.shown) == len(known)
    common = known.keys() & earlier.keys()
    assert len(common) > 30
    assert [pair for pair in common if known[pair] != earlier[pair]] == []


def test_the_regression_that_stands_fails_its_test_and_nothing_else_does(
    night: Callable[[str], Published],
) -> None:
    root = ET.fromstring(written(night("latest"), "junit", load_format_settings()))
    failed = [case.get("name") for case in root.iter("testcase") if list(case)]
    assert failed == [NORM]


def test_the_first_night_decides_nothing_and_says_why(demo: str) -> None:
    root = ET.fromstring(
        written(published_run(demo, "latest~29", wait=0), "junit", load_format_settings())
    )
    cases = list(root.iter("testcase"))
    assert [[child.tag for child in case] for case in cases] == [["skipped"]] * 14
    assert "Ingest a later profile" in str(cases[0][0].get("message"))


def test_a_gate_says_what_moved_between_its_runs(demo: str) -> None:
    gate = check(
        demo, "latest~17", baseline="latest~18", fail_on=["regression"], wait=0
    )  # nights 13 and 12
    run = published_run(demo, gate.run.run_id, gate=gate, wait=0)
    (move,) = run.moved
    assert (move.kernel, move.verdict) == (NORM, "regressed")
    assert move.relative == pytest.approx(0.5, abs=0.02)
    assert [kernel.kernel for kernel in run.kernels if kernel.failures] == [NORM]
    assert json.loads(written(run, "gitlab", load_format_settings()))[0]["severity"] == "critical"


def test_suppressed_findings_keep_their_fingerprint_and_give_the_reason(
    demo: str, night: Callable[[str], Published]
) -> None:
    rule = "memory/uncoalesced-loads"
    silence = Suppression(
        rule=rule,
        kernel="gather*",
        reason="indices are random",
        expires=None,
        owner=None,
        at=Location(name="advisor.yaml"),
    )
    configuration = type(DEFAULTS)(**{**vars(DEFAULTS), "suppress": (silence,)})
    run = published_run(demo, "latest", wait=0, configuration=configuration)
    log: Any = json.loads(written(run, "sarif", load_format_settings()))
    (result,) = (
        each
        for each in log["runs"][0]["results"]
        if each["ruleId"] == rule and "gather" in each["message"]["text"] + str(each["locations"])
    )
    assert result["suppressions"] == [{"kind": "external", "justification": "indices are random"}]
    series = next(k.series_id for k in run.kernels if k.kernel.startswith("gather"))
    before = fingerprints(night("latest"))[rule, series]
    assert list(result["partialFingerprints"].values()) == [before]


def test_tables_agree_with_the_database(demo: str, night: Callable[[str], Published]) -> None:
    kernels, findings, moved = tables(night("latest"))
    query = "SELECT count(*), sum(duration) FROM variant WHERE run_id = ?"
    run_id = night("latest").run_id
    with open_for_reading(demo) as connection:
        found = connection.execute(query, [run_id]).fetchone()
    assert found is not None
    names = list(kernels.kinds)
    durations = [row[names.index("duration")] for row in kernels.rows]
    assert (len(durations), sum(map(float, map(str, durations)))) == (
        found[0],
        pytest.approx(found[1]),
    )
    assert len({row[3] for row in findings.rows}) == len(findings.rows)
    assert [row[3] for row in moved.rows][:2] == [NORM, STENCIL]


@pytest.mark.parametrize(
    ("line", "path", "number"),
    [
        ("/build/7/checkout/src/kernel.cu:12", "src/kernel.cu", 12),
        ("C:\\build\\src\\kernel.cu:12", "src/kernel.cu", 12),
        ("src/other.cu:3", "src/other.cu", 3),
        ("./src/kernel.cu:3", "src/kernel.cu", 3),
        ("/elsewhere/not_here.cu:3", "advisor.yaml", None),
        ("../src/kernel.cu:3", "advisor.yaml", None),
        ("/../../etc/passwd:1", "advisor.yaml", None),
        (f"/{'x' * 5000}:3", "advisor.yaml", None),
        ("/a\0b:3", "advisor.yaml", None),
        ("kernel.cu:12", "src/kernel.cu", 12),
        ("twice.cu:12", "twice.cu", 12),
        ("hidden.cu:12", "hidden.cu", 12),
        ("src/kernel.cu:0", "src/kernel.cu", None),
        (None, "advisor.yaml", None),
    ],
)
def test_finds_sources_below_the_working_directory(
    line: str | None, path: str, number: int | None, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("src/kernel.cu", "src/twice.cu", "other/twice.cu", ".git/hidden.cu"):
        (tmp_path / name).write_text("")
    checkout = Checkout(root=tmp_path, fallback="advisor.yaml")
    assert checkout.place(line) == SourcePlace(path=path, line=number)


def test_without_a_source_the_configuration_stands_for_it_then_the_profile(tmp_path: Path) -> None:
    inside, outside = tmp_path / "ci" / "advisor.yaml", Path("/home/me/advisor.yaml")
    assert checkout_of(tmp_path, (outside, inside), "a.ncu-rep").fallback == "ci/advisor.yaml"
    assert checkout_of(tmp_path, (outside,), "a.ncu-rep").fallback == "a.ncu-rep"
