"""The page: whole without a script, without a network, and deaf to hostile names."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from jinja2.sandbox import SecurityError

from advisor.reports.record.records import Report
from advisor.reports.write import render
from advisor.reports.write.environment import environment
from advisor.resources import data_dir

HOSTILE = "<img src=x onerror=alert(1)>|=cmd()"
VOID = {"meta", "link", "input", "br", "wbr", "img", "hr"}
# SVG elements that the page writes without content.
SELF_CLOSED = {"path", "rect", "circle", "line", "use"}


class Page(HTMLParser):
    """Collects elements and checks that they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def renamed(report: Report, name: str) -> Report:
    """Return the example with a name in every place that takes one from outside."""
    names = {"short_name": name, "told_apart": name}
    kernels = tuple(replace(kernel, name=name, **names) for kernel in report.kernels)
    actions = tuple(
        replace(action, kernels=tuple(replace(k, **names) for k in action.kernels))
        for action in report.actions
    )
    run = replace(report.run, title=name, file_name=name, command_line=name)
    return replace(report, kernels=kernels, actions=actions, run=run, device=name)


@pytest.fixture
def page(report: Report) -> Page:
    return Page(render.html(report))


def test_closes_every_element_it_opens(page: Page) -> None:
    assert page.problems == []
    assert page.open == []


def test_asks_nothing_of_any_network(report: Report) -> None:
    text = render.html(report)
    page = Page(text)
    links = [a.get("href") or a.get("src") or "" for _, a in page.elements]
    assert all(link.startswith(("#", "data:,")) for link in links if link)
    assert not re.search(r"url\((?!#)", text)
    assert "@import" not in text
    without_namespaces = text.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in without_namespaces.replace("http-equiv", "")


def test_lets_only_its_own_script_run(report: Report) -> None:
    text = render.html(report)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [a["content"] for a in Page(text).all("meta") if a.get("http-equiv")]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_writes_a_hostile_name_as_text_only(report: Report) -> None:
    text = render.html(renamed(report, HOSTILE))
    page = Page(text)
    assert page.problems == []
    assert page.all("img") == []
    assert not any(key.startswith("on") for _, attributes in page.elements for key in attributes)
    assert "&lt;img src=x onerror=alert(1)&gt;|=cmd()" in text


def test_shows_control_characters_instead_of_obeying_them(report: Report) -> None:
    text = render.html(renamed(report, "a\x1b[31m\u202eb"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_gives_ids_once(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))


def test_points_links_and_labels_at_something(page: Page) -> None:
    ids = {attributes.get("id") for _, attributes in page.elements}
    for _, attributes in page.elements:
        for key in ("href", "aria-labelledby", "for"):
            for target in (attributes.get(key) or "").split():
                if key != "href" or target.startswith("#"):
                    assert target.lstrip("#") in ids


def test_has_one_main_heading_and_a_language(page: Page) -> None:
    assert len(page.all("h1")) == 1
    assert page.all("html")[0]["lang"] == "en"


def test_gives_each_kernel_a_heading_and_its_parts_lower_ones(report: Report) -> None:
    detail = render.html(report).split('id="detail"')[1].split("</section>")[0]
    headings = re.findall(r"<(h\d)[^>]*>(.*?)(?: <small.*?)?</h\d>", detail)
    names = [re.sub("<wbr>", "", text) for level, text in headings if level == "h3"]
    assert names == [kernel.full_name for kernel in report.kernels]
    parts = [text for level, text in headings if level == "h4"]
    assert parts.count("Facts") == parts.count("Findings") == len(report.kernels)
    assert {level for level, _ in headings} <= {"h2", "h3", "h4"}


def test_names_each_region_once(page: Page) -> None:
    regions = [a["aria-label"] for _, a in page.elements if a.get("role") == "region"]
    assert len(regions) == len(set(regions))


def test_orders_its_sections_as_a_reader_asks(report: Report) -> None:
    text = render.html(report)
    order = ["Do this first", "Conditions", "Roofline", "Kernels", "Detail", "Provenance"]
    places = [text.index(f'id="{name}"') for name in ("do", "conditions", "roofline", "kernels")]
    assert places == sorted(places)
    assert all(word in text for word in order[:5])


def test_marks_simulated_numbers_in_every_section(report: Report) -> None:
    simulated = render.html(report).count('class="sim"')
    real = render.html(replace(report, run=replace(report.run, simulated=False)))
    assert simulated >= 6
    assert real.count('class="sim"') == 0


def test_says_low_confidence_where_a_ceiling_has_it(report: Report) -> None:
    assert render.html(report).count("low confidence") == 1


def test_writes_unknown_and_never_none_or_nan(report: Report) -> None:
    first = report.kernels[0]
    bare = replace(
        first, duration=None, t_sol=None, wasted_time=None, roof_fraction=None, limiter=None,
        time_share=None, arithmetic_intensity=None, performance=None, has_flops=None,
    )  # fmt: skip
    empty = replace(report, kernels=(bare,), rooflines=(), plane=None, actions=(), collect=None)
    text = " ".join(Page(render.html(empty)).texts)
    assert "unknown" in text
    assert not re.search(r"\b(None|nan|inf)\b", text.split("(() =>")[0])


def test_draws_the_same_chart_at_four_sizes(page: Page) -> None:
    sizes = {svg.get("class") for svg in page.all("svg")}
    assert {"w1", "w2", "w3", "w4"} <= sizes


def test_keeps_a_thousand_rows_and_fifty_details(report: Report) -> None:
    many = tuple(replace(report.kernels[1], id=f"k{i}") for i in range(1200))
    text = render.html(replace(report, kernels=many, rooflines=(), actions=()))
    assert text.count("<tr data-k=") == 1000
    assert text.count('<details class="kernel"') == 50
    assert "200 more kernels" in text


def test_gives_each_time_of_the_table_its_own_unit(report: Report) -> None:
    # Beside 10 s, 12.3 µs would be 0.000 s; what is sorted by stays in seconds.
    long = replace(report.kernels[0], duration=10.0, wasted_time=4.0)
    short = replace(report.kernels[1], duration=1.234e-5, wasted_time=5.6e-7)
    text = render.html(replace(report, kernels=(long, short), rooflines=(), actions=()))
    cells = re.findall(r'<td class="n[^>]* data-v="([^"]*)">([^<]*)', text)
    times = [(value, words.replace("\N{NO-BREAK SPACE}", " ")) for value, words in cells]
    assert {
        ("4", "4.00 s"),
        ("10", "10.0 s"),
        ("5.6e-07", "560 ns"),
        ("1.234e-05", "12.3 µs"),
    } <= set(times)


def test_reads_out_where_the_mark_stands(report: Report) -> None:
    # The mark of matrix_product is at 2.50 TFLOP/s; with other work the kernel makes 2.75.
    first = replace(report.kernels[0], performance=2.75e12, arithmetic_intensity=27.5)
    text = render.html(replace(report, kernels=(first, *report.kernels[1:])))
    panel = Page(text.split(f'data-k="{first.id}"><h3>')[1].split("</dl>")[0])
    words = " ".join(" ".join(panel.texts).replace("\N{NO-BREAK SPACE}", " ").split())
    assert "performance, FP32 2.50 TFLOP/s" in words
    assert "intensity at DRAM, FP32 25 FLOP/B" in words
    assert "performance, all work 2.75 TFLOP/s intensity at DRAM, all work 27.5 FLOP/B" in words
    assert text.count("performance, all work") == 1


def test_writes_the_picture_in_the_light_palette_with_title(report: Report) -> None:
    picture = render.svg(report)
    assert picture is not None
    page = Page(picture)
    assert page.problems == []
    assert page.all("title")
    assert page.all("script") == []
    assert "simulated" in picture


@pytest.mark.parametrize("reads", ["value.__class__", "value.append(1)"])
def test_a_template_reads_no_attribute_that_the_sandbox_refuses(reads: str) -> None:
    template = environment(None, autoescape=True).from_string(f"{{{{ {reads} }}}}")
    for _ in range(2):  # what is judged once per type is refused every time
        with pytest.raises(SecurityError):
            template.render(value=[1])


def test_only_the_header_of_a_page_sticks_to_the_top_and_is_not_printed() -> None:
    templates = [path.read_text() for path in data_dir("templates").rglob("*.j2")]
    barred = [found for text in templates for found in re.findall(r'<(\w+) class="bar"', text)]
    assert set(barred) == {"header"}
