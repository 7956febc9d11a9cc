"""By keyboard, without script, read aloud: what ``studies.access`` finds, and what it notices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.reports.record.records import Report
from advisor.reports.write import render
from studies import access, browser

pytestmark = pytest.mark.skipif(browser.find() is None, reason="no Chromium on this computer")


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    with browser.Browser() as running:
        yield running


def opened(
    chromium: browser.Browser, folder: Path, page: str, *, width: int = 1400, script: bool = True
) -> None:
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    chromium.open(path.as_uri(), width=width, script=script)


@pytest.fixture
def axe() -> Path:
    found = access.find_axe()
    if found is None:
        pytest.skip("no axe-core on this computer: install the development group")
    return found


@pytest.mark.parametrize("width", [1400, 400])
def test_breaks_no_rule_of_access(
    chromium: browser.Browser, report: Report, tmp_path: Path, axe: Path, width: int
) -> None:
    opened(chromium, tmp_path, render.html(report), width=width)
    assert access.judged(chromium, axe) == []


def test_notices_a_field_without_a_name(
    chromium: browser.Browser, report: Report, tmp_path: Path, axe: Path
) -> None:
    opened(chromium, tmp_path, render.html(report).replace("<main>", "<main><input>"))
    (said,) = access.judged(chromium, axe)
    assert said.startswith("axe: label (critical)")


def test_is_reached_by_tab_everywhere(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    opened(chromium, tmp_path, render.html(report))
    assert access.stops(chromium) == []


def test_notices_a_stop_that_nobody_sees(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    planted = '<main><a href="#do" style="outline:none">here</a>'
    opened(chromium, tmp_path, render.html(report).replace("<main>", planted))
    assert access.stops(chromium) == ["focus is not visible: a  here"]


def test_goes_to_the_search_by_a_slash(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    opened(chromium, tmp_path, render.html(report))
    access.press(chromium, "/", "/")
    assert chromium.evaluate("document.activeElement.id + document.activeElement.value") == "q"


def test_shows_what_every_mark_stands_for_without_script(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    opened(chromium, tmp_path, render.html(report), script=False)
    shown = "[...document.querySelectorAll('.read')].filter(e => e.getClientRects().length).length"
    assert chromium.evaluate(shown) == len(report.kernels)
