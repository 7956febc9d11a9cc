"""What only a browser can tell; and that the check of ``make shots`` can fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.api.demonstration import ingest_examples
from advisor.api.reporting import HistoryAsked, load_report
from advisor.reports.record.records import Report
from advisor.reports.write import render
from studies import browser, shots
from tests.support.shared import made_once

pytestmark = pytest.mark.skipif(browser.find() is None, reason="no Chromium on this computer")
HOSTILE = "<img src=x onerror=alert(1)>|=cmd()"


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    with browser.Browser() as running:
        yield running


def problems(chromium: browser.Browser, folder: Path, page: str, width: int = 1400) -> str:
    """Return what the check says about a page, in one text."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    found = shots.check(chromium, path, folder, width=width, dark=False)
    return "\n".join(found)


@pytest.mark.parametrize("width", [1400, 700, 400])
def test_shows_the_example_without_a_problem(
    chromium: browser.Browser, report: Report, tmp_path: Path, width: int
) -> None:
    assert problems(chromium, tmp_path, render.html(report), width) == ""


@pytest.mark.parametrize("width", [400, 700])
def test_breaks_a_long_name_in_a_card_rather_than_widen_the_page(
    chromium: browser.Browser, report: Report, tmp_path: Path, width: int
) -> None:
    long = "native" + "elementwise" * 12
    (first, *_) = report.actions
    first = replace(first, kernels=tuple(replace(k, short_name=long) for k in first.kernels))
    page = render.html(replace(report, actions=(first,)))
    assert problems(chromium, tmp_path, page, width) == ""


def test_leads_to_what_to_do_first_from_the_top_of_a_phone(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(path.as_uri(), width=400)
    link = "document.querySelector('.bar nav a[href=\"#do\"]').getBoundingClientRect()"
    assert chromium.evaluate(f"{link}.width > 0 && {link}.right < 400 && {link}.bottom < 100")


@pytest.mark.parametrize(("width", "media"), [(1400, "screen"), (400, "screen"), (703, "print")])
def test_lists_below_the_roofline_what_is_not_on_it(
    chromium: browser.Browser, report: Report, tmp_path: Path, width: int, media: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(path.as_uri(), width=width)
    chromium.send("Emulation.setEmulatedMedia", {"media": media})
    listed = "document.querySelector('#roofline .outside')"
    assert "transpose" in chromium.evaluate(f"{listed}.innerText")
    assert chromium.evaluate(f"{listed}.getBoundingClientRect().height > 0")


def test_lets_a_hostile_name_do_nothing(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    kernels = tuple(replace(k, name=HOSTILE, short_name=HOSTILE) for k in report.kernels)
    page = render.html(replace(report, kernels=kernels))
    assert problems(chromium, tmp_path, page) == ""
    assert chromium.evaluate("document.images.length") == 0


def test_runs_no_script_but_its_own(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    planted = "<img src='data:,' onerror='document.title=1'><script>document.title=2</script>"
    page = render.html(report).replace("</main>", planted + "</main>")
    assert "Content Security Policy" in problems(chromium, tmp_path, page)
    assert (
        chromium.evaluate("document.title") == "example.ncu-rep, 14\xa0Nov\xa02023: advisor report"
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("<main>", '<main><p style="width:3000px">wide</p>', "scrolls sideways"),
        ('class="rl" ', 'class="rl" style="transform:translate(900px,100px)" ', "words overlap"),
        ("<main>", '<main><img src="http://127.0.0.1:9/x.png">', "request: http://127.0.0.1:9"),
    ],
)
def test_notices_what_is_wrong(
    chromium: browser.Browser, report: Report, tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    page = render.html(report)
    assert old in page
    said = problems(chromium, tmp_path, page.replace(old, new))
    assert complaint in said


def test_notices_a_mark_outside_its_frame(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    page = render.html(report)
    frame = 'class="fr" x="96"'
    assert frame in page
    moved = page.replace(frame, 'class="fr" x="700"')
    assert "mark outside the frame" in problems(chromium, tmp_path, moved)


def test_keeps_its_state_in_the_address(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(f"{path.as_uri()}#q=stream&sort=name&theme=dark", width=1400)
    rows = chromium.evaluate(
        "[...document.querySelectorAll('.kt tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.querySelector('th a').textContent)"
    )
    assert rows == ["stream"]
    assert chromium.evaluate("document.documentElement.dataset.theme") == "dark"


def test_sorts_with_unknown_last(chromium: browser.Browser, report: Report, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(f"{path.as_uri()}#sort=ai", width=1400)
    rows = chromium.evaluate(
        "[...document.querySelectorAll('.kt tbody tr')]"
        ".map(r => r.querySelector('th a').textContent)"
    )
    # 0.25, 2, 9 and 25 FLOP/B; a transpose does no operation.
    assert rows == ["stream", "stencil_step", "reduction", "matrix_product", "transpose"]


def test_shows_every_kernel_that_is_found_and_sorted_however_many(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    first = report.kernels[0]
    many = [
        replace(first, id=f"k{n}", name=f"many{n:03}", short_name=f"many{n:03}") for n in range(120)
    ]
    path = tmp_path / "page.html"
    page = render.html(replace(report, kernels=(*report.kernels, *many)))
    path.write_text(page, encoding="utf-8")
    chromium.open(path.as_uri(), width=1400)
    rows = chromium.evaluate(
        "(async () => { const find = document.getElementById('q'); find.value = 'many';"
        " find.oninput(); const sort = document.querySelector('th[data-c=name] .sort');"
        " sort.click(); sort.click(); await new Promise(r => setTimeout(r, 100));"
        " return [...document.querySelectorAll('.kt tbody tr')]"
        ".filter(r => r.getClientRects().length).map(r => r.dataset.n) })()"
    )
    assert rows == [f"many{n:03}" for n in range(120)]


def test_projects_again_when_zoomed(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(path.as_uri(), width=1400)
    place = "document.querySelector('.w3 .pt').getAttribute('transform')"
    before = chromium.evaluate(place)
    zoomed = chromium.evaluate(f"document.querySelector('[data-z=\".8\"]').click() || {place}")
    size = "getComputedStyle(document.querySelector('.w3 text')).fontSize"
    assert zoomed != before
    assert chromium.evaluate(size) == "12px"


def test_prints_verdict_to_conditions_on_the_first_page(
    chromium: browser.Browser, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """A4 with the margins of the stylesheet leaves 186 mm × 277 mm: 703 × 1,046 pixels."""
    nights = made_once(
        tmp_path_factory,
        "demo.duckdb",
        lambda path: print(ingest_examples(str(path), wait=0, progress=lambda _: None)),
    )
    path = tmp_path / "page.html"
    report = load_report(str(nights), history=HistoryAsked(charts="wasteful"), wait=0)
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(path.as_uri(), width=703, height=1046)
    chromium.send("Emulation.setEmulatedMedia", {"media": "print"})
    bottom = "document.querySelector('#conditions').getBoundingClientRect().bottom"
    assert 300 < chromium.evaluate(bottom) <= 1046


def test_prints_details_of_kernels_that_take_time_or_have_an_action(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    quiet = replace(report.kernels[0], actions=())
    shares = {"much": 0.01, "little": 0.0099, "advised": 0.0001, "unknown": None}
    kernels = [replace(quiet, id=name, time_share=share) for name, share in shares.items()]
    kernels[2] = replace(kernels[2], actions=(1,))
    path = tmp_path / "page.html"
    found = replace(report, kernels=tuple(kernels), rooflines=(), actions=())
    path.write_text(render.html(found), encoding="utf-8")
    chromium.open(path.as_uri(), width=703)
    shown = (
        "[...document.querySelectorAll('details.kernel')]"
        ".filter(e => e.getClientRects().length).map(e => e.id)"
    )
    said = "document.querySelector('#detail .head').innerText"
    assert len(chromium.evaluate(shown)) == 4
    assert "left out" not in chromium.evaluate(said)
    chromium.send("Emulation.setEmulatedMedia", {"media": "print"})
    assert chromium.evaluate(shown) == ["kernel-much", "kernel-advised", "kernel-unknown"]
    assert "1 kernel below 1 % of the time and without an action is left out" in chromium.evaluate(
        said
    )


def test_prints_headings_of_columns_as_text_and_captions_in_one_line(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(path.as_uri(), width=703)
    chromium.send("Emulation.setEmulatedMedia", {"media": "print"})
    # A browser repeats the text of a table's head on each page, and no button.
    assert chromium.evaluate("getComputedStyle(document.querySelector('.sort')).display") == (
        "contents"
    )
    widths = (
        "[...document.querySelectorAll('details[open] .facts')]"
        ".map(e => e.caption.clientWidth / e.clientWidth)"
    )
    assert all(share > 0.9 for share in chromium.evaluate(widths))


def test_prints_a_page_a_kernel_at_most(
    chromium: browser.Browser, report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render.html(report), encoding="utf-8")
    chromium.open(path.as_uri(), width=1400)
    chromium.pdf(tmp_path / "page.pdf")
    pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes()))
    assert 1 < pages <= 3 + len(report.kernels)
