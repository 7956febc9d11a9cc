"""Suppressions over findings: what is set apart, what comes back, what is left alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from advisor.configuration import Suppression
from advisor.errors import Location
from advisor.reports.record.run_advice import suppressed
from advisor.rules import Evaluation, Outcome
from advisor.rules.engine.findings import Screened, screen
from tests.support.sample_rule import Load

TODAY = date(2026, 11, 20)
NAMES = {"v1": ("void gather_rows<float>(float*)", "gather_rows"), "v2": ("scan", "scan")}
ROWS = {variant: {"short_name": names[1]} for variant, names in NAMES.items()}


def entry(rule: str = "sample/slow", kernel: str = "*", expires: date | None = None) -> Suppression:
    at = Location(name="advisor.yaml", line=4, column=5)
    return Suppression(rule=rule, kernel=kernel, reason="known", expires=expires, owner=None, at=at)


@pytest.fixture
def finding(load_rule: Load) -> Evaluation:
    """Return a finding of the rule sample/slow for the variant v1."""
    return Evaluation(
        rule=load_rule(), run_id="r1", variant_id="v1", outcome=Outcome.FIRES, values={}
    )


def screened(findings: list[Evaluation], *suppressions: Suppression) -> Screened:
    return screen(findings, suppressions, kernel_names=NAMES, today=TODAY)


def test_shows_everything_without_suppressions(finding: Evaluation) -> None:
    found = screened([finding])
    assert found == Screened(shown=(finding,), suppressed=(), returned=())
    assert suppressed(found, ROWS) is None


def test_sets_apart_the_finding_of_the_kernel_only(finding: Evaluation) -> None:
    other = replace(finding, variant_id="v2")
    silent = entry(kernel="gather_*", expires=TODAY)
    found = screened([finding, other], silent)
    assert found == Screened(shown=(other,), suppressed=((finding, silent),), returned=())


def test_leaves_out_what_need_not_be_collected_and_keeps_what_was_ruled_out(
    finding: Evaluation,
) -> None:
    unknown = replace(finding, outcome=Outcome.UNKNOWN)
    ruled_out = replace(finding, outcome=Outcome.RULED_OUT)
    found = screened([unknown, ruled_out], entry())
    assert found == Screened(shown=(ruled_out,), suppressed=(), returned=())


def test_shows_a_finding_again_once_its_suppression_has_expired(finding: Evaluation) -> None:
    old = entry(expires=date(2026, 11, 19))
    found = screened([finding], old)
    assert found == Screened(shown=(finding,), suppressed=(), returned=((finding, old),))
    said = suppressed(found, ROWS)
    assert said is not None
    assert (said.sentence, said.findings) == ("", ())
    assert said.expired == (
        "The suppression of sample/slow for * expired on 2026-11-19 (known; advisor.yaml:4:5).",
    )


def test_heeds_a_suppression_in_force_beside_an_expired_one(finding: Evaluation) -> None:
    old, new = entry(expires=date(2026, 1, 1)), entry(rule="sample/*")
    found = screened([finding], old, new)
    assert found == Screened(shown=(), suppressed=((finding, new),), returned=())


def test_says_nothing_of_an_expired_suppression_that_covers_no_finding(
    finding: Evaluation,
) -> None:
    assert suppressed(screened([finding], entry("other/*", expires=date(2026, 1, 1))), ROWS) is None


def test_counts_what_is_not_shown_and_until_when(finding: Evaluation) -> None:
    other = replace(finding, variant_id="v2")
    forever, until = entry(kernel="scan"), entry(kernel="gather_rows", expires=date(2026, 12, 1))
    said = suppressed(screened([finding, other], forever, until), ROWS)
    assert said is not None
    assert said.sentence == "2 findings suppressed (1 expires 2026-12-01)."
    assert [(each.kernel, each.reason, each.expires) for each in said.findings] == [
        ("gather_rows", "known", "2026-12-01"),
        ("scan", "known", None),
    ]


def test_says_only_the_count_where_nothing_expires(finding: Evaluation) -> None:
    said = suppressed(screened([finding], entry()), ROWS)
    assert said is not None
    assert said.sentence == "1 finding suppressed."
