"""Where the numbers of a page come from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.api.reporting import ReportForm, render_report
from advisor.counters.mapping import load_ways
from advisor.reports.record.glossary import NumberTerm, glossary, written_ways
from advisor.rules.language.words import VendorWords
from tests.support.facts import vocabulary_once


@pytest.fixture(scope="module")
def terms() -> dict[str, NumberTerm]:
    found = glossary(
        ["arithmetic_intensity", "no such number"],
        vocabulary_once(),
        VendorWords(),
        written_ways(load_ways("ncu")),
    )
    return {term.name: term for term in found}


def test_opens_a_fact_by_its_formula_and_all_that_it_reads(terms: dict[str, NumberTerm]) -> None:
    intensity = terms["arithmetic_intensity"]
    assert intensity.unit == "FLOP/B"
    assert "/" in intensity.formula
    assert {used.place for used in intensity.reads} <= {term.place for term in terms.values()}
    assert "no such number" not in terms


def test_opens_a_quantity_by_its_counters(terms: dict[str, NumberTerm]) -> None:
    traffic = terms["dram_bytes"]
    assert traffic.unit == "B"
    assert "dram__bytes.sum" in traffic.ways
    assert traffic.formula == ""


def test_every_number_of_a_kernel_leads_to_its_entry(one_night: Path) -> None:
    page = render_report(str(one_night), "latest", form=ReportForm(style="html"), wait=0)["-"]
    rows = re.findall(r'<tr(?: class=sep)?><th scope="row">(.*?)</th><td>', page)
    linked = [row for row in rows if row.startswith('<a href="#n')]
    targets = set(re.findall(r'href="#(n\d+)"', page))
    assert len(linked) > 0.9 * len(rows) > 0
    assert targets <= set(re.findall(r'<div id="(n\d+)">', page))
