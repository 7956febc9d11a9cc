"""The site of a database of hostile names: nothing in it acts, and no file lies outside."""

from __future__ import annotations

import json
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from advisor.api.site import build_site
from advisor.database.connect import open_for_writing
from advisor.wording import printable
from tests.trust.test_forging import ACTED_ON, HOSTILE

CODE = {"script", "style"}
LONG = "k" * 4096


@pytest.fixture(scope="module")
def site(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of runs, kernels and labels with hostile names."""
    folder = tmp_path_factory.mktemp("hostile")
    database = folder / "hostile.duckdb"
    database.write_bytes(stored.read_bytes())
    names = [name for name in HOSTILE if "\ud800" not in name and "\x00" not in name]
    asked = {"bad": "".join(names)}
    with open_for_writing(database) as connection:
        kernels = connection.execute("SELECT kernel_id FROM kernel ORDER BY 1").fetchall()
        for place, (kernel,) in enumerate(kernels):
            name = " ".join(names) if place == 0 else names[place % len(names)]
            connection.execute(
                "UPDATE kernel SET name = $name, short_name = $name, normalised_name = $name"
                " WHERE kernel_id = $kernel",
                {"name": name + LONG * (place == 1), "kernel": kernel},
            )
        for statement in (
            'UPDATE run SET label = $bad, branch = $bad, note = $bad, "commit" = $bad',
            "UPDATE series SET series_id = '../../out' || series_id, problem_key = $bad",
        ):
            connection.execute(statement, asked)
        connection.execute("UPDATE variant SET series_id = '../../out' || series_id")
    build_site(str(database), str(folder / "site"), wait=0)
    assert sorted(path.name for path in folder.iterdir()) == ["hostile.duckdb", "site"]
    return folder / "site"


class Page(HTMLParser):
    """Collects what a browser would act on, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_has_pages_of_every_kind(site: Path) -> None:
    for folder in ("runs", "series", "rules"):
        assert len(list((site / folder).iterdir())) > 1
    assert all(re.fullmatch(r"x-[0-9a-f]{20}\.html|index\.html", each.name)
               for each in (site / "series").iterdir())  # fmt: skip


def test_no_page_acts_on_a_name(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = Page(path.read_text(encoding="utf-8"))
        assert not page.tags & {"img", "iframe", "object", "form", "base"}, path
        assert page.handlers == [], path
        assert not [link for link in page.links if ":" in link and link != "data:,"], path


def test_no_file_holds_a_character_that_is_acted_on(site: Path) -> None:
    for path in site.rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        acted = {c for c in text if unicodedata.category(c) in ACTED_ON} - {"\n"}
        assert acted == set(), path


def test_the_names_are_there_to_be_read(site: Path) -> None:
    page = Page((site / "series" / "index.html").read_text(encoding="utf-8"))
    text = "".join(page.texts)
    for name in ("<img src=x onerror=1>", "</script><script>", "::error::x"):
        assert printable(name) in text


def test_the_feed_and_the_search_are_what_they_say(site: Path) -> None:
    assert ET.parse(site / "feed.xml").getroot().tag.endswith("feed")
    text = (site / "search.js").read_text(encoding="utf-8")
    assert "</script" not in text
    entries = json.loads(text.removeprefix("const advisorKernels = ").removesuffix(";\n"))
    assert all((site / path).is_file() for _, path, _ in entries)
