"""The site of the thirty simulated nights: whole, linked, the same every day, and never forged."""

from __future__ import annotations

import json
import re
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree as ET

import duckdb
import pytest

from advisor.api import site as site_api
from advisor.api.demonstration import ingest_examples
from advisor.api.runs import remove_run
from advisor.api.site import build_site
from advisor.database.connect import open_for_reading, open_for_writing
from advisor.database.read import StoredRun
from advisor.errors import OutputError, UsageError
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.knowledge.knowledge import Knowledge
from advisor.reports.record.history_settings import load_history_settings
from advisor.reports.record.records import Report
from advisor.reports.record.source import Request
from advisor.reports.site.folder import SiteWritten
from advisor.reports.site.glossary_page import load_glossary_words
from advisor.resources import data_dir
from tests.support.shared import made_once

ATOM = {"a": "http://www.w3.org/2005/Atom"}
NORM, SPILLS = "layer_norm_kernel", "stencil_heat3d_kernel"
FEW = 2


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of the simulated nights; only to read."""
    return made_once(
        tmp_path_factory,
        "demo.duckdb",
        lambda path: print(ingest_examples(str(path), wait=0, progress=lambda _: None)),
    )


def judged_at_most(patch: pytest.MonkeyPatch, kernels: int) -> None:
    """Judge so many kernels of the newest nights for a first site, of 14 each."""
    settings = load_history_settings()
    limits = replace(settings.limits, site_kernels=kernels)
    load = "advisor.reports.site.build.load_history_settings"
    patch.setattr(load, lambda: replace(settings, limits=limits))


@pytest.fixture(scope="module", autouse=True)
def twelve_nights_are_judged() -> Iterator[None]:
    """Make no page for each of thirty nights, which takes most of the time of a site."""
    with pytest.MonkeyPatch.context() as patch:
        judged_at_most(patch, 12 * 14)
        yield


@pytest.fixture(scope="module")
def site(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of all nights; only to read."""
    folder = tmp_path_factory.mktemp("site") / "made" / "here"
    build(demo, folder)
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database of the first nights, to copy."""
    path = tmp_path_factory.mktemp("few") / "few.duckdb"
    nights = sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))
    ingest(path, nights[:FEW])
    return path


@pytest.fixture(scope="module")
def few_site(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of the first nights, to copy."""
    folder = tmp_path_factory.mktemp("few") / "site"
    build(few, folder)
    return folder


@pytest.fixture(scope="module")
def reports() -> dict[tuple[str, str], Report]:
    """Hold the reports of the first nights, by database and run."""
    return {}


@pytest.fixture
def few_reported(
    few: Path, reports: dict[tuple[str, str], Report], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the database of the first nights, whose runs are reported once for such tests.

    They are of folders and files; nobody writes to the database.
    """
    report_of_run = site_api.report_of_run

    def once(
        connection: duckdb.DuckDBPyConnection, run: StoredRun, knowledge: Knowledge, asked: Request
    ) -> Report:
        key = (asked.database, run.run_id)
        if key not in reports:
            reports[key] = report_of_run(connection, run, knowledge, asked)
        return reports[key]

    monkeypatch.setattr(site_api, "report_of_run", once)
    return few


def ingest(path: Path, profiles: list[Path]) -> None:
    labels = RunLabels(label="nightly", branch="main")
    for stored in ingest_paths(str(path), list(map(str, profiles)), labels=labels, wait=0):
        assert stored.error is None


def build(
    database: Path, folder: Path, *, url: str | None = None, force: bool = False
) -> SiteWritten:
    return build_site(str(database), str(folder), url=url, force=force, wait=0)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def run_ids(database: Path) -> list[str]:
    with open_for_reading(database) as connection:
        rows = connection.execute("SELECT run_id FROM run ORDER BY started_at").fetchall()
    return [run_id for (run_id,) in rows]


def plain(text: str) -> str:
    return text.replace("<wbr>", "").replace("\N{NO-BREAK SPACE}", " ")


class Links(HTMLParser):
    """Collects addresses and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and tag != "use" and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.append(value)


def test_has_a_page_for_every_run_series_and_rule(demo: Path, site: Path) -> None:
    found = set(contents(site))
    assert {
        "index.html", "glossary.html", "feed.xml", "style.css", "script.js", "search.js",
        "site.json", "series/index.html", "rules/index.html", "rules/memory/local-memory.html",
    } <= found  # fmt: skip
    assert {f"runs/{run}.html" for run in run_ids(demo)} == {
        path for path in found if path.startswith("runs/")
    }
    with open_for_reading(demo) as connection:
        series = connection.execute("SELECT DISTINCT series_id FROM variant").fetchall()
    assert {f"series/{name}.html" for (name,) in series} < found


def test_every_link_leads_to_a_file_and_to_a_place_in_it(site: Path) -> None:
    pages = {path: Links(text.decode()) for path, text in contents(site).items() if "html" in path}
    for path, page in pages.items():
        assert len(set(page.ids)) == len(page.ids), path
        for link in page.links:
            if link == "data:,":
                continue
            place, fragment = urldefrag(link)
            assert "//" not in place, "links are relative"
            target = (site / path).parent / unquote(place) if place else site / path
            assert target.resolve().is_file(), f"{path} → {link}"
            if fragment:
                name = target.resolve().relative_to(site.resolve()).as_posix()
                assert fragment in pages[name].ids, f"{path} → {link}"


def test_the_first_page_tells_what_moved_and_since_which_night(demo: Path, site: Path) -> None:
    text = plain((site / "index.html").read_text())
    for words in ("Nothing new tonight. Still open: layer_norm_kernel", "49 % slower", "7ead6a9"):
        assert words in text
    assert text.count('<th scope="row"><a href="runs/') == len(run_ids(demo)) == 30
    night = re.search(r"<tr><th[^>]*><a[^>]*>17 Jan 2026</a>.*?</tr>", text)  # the 13th night
    assert night is not None
    assert f">{NORM}</a>" in night[0]
    assert "regressed" in night[0]
    driver = re.search(r"<tr><th[^>]*><a[^>]*>28 Jan 2026</a>.*?</tr>", text)
    assert driver is not None
    assert "driver 550.54.15 → 560.35.03" in driver[0]


def test_a_run_has_its_report_without_the_details_of_kernels(demo: Path, site: Path) -> None:
    text = (site / "runs" / f"{run_ids(demo)[-1]}.html").read_text()
    for section in ("moved", "do", "outcomes", "conditions", "roofline", "kernels", "provenance"):
        assert f'id="{section}"' in text
    assert 'id="detail"' not in text
    assert "<script>" not in text
    assert re.search(r'<a href="\.\./series/[0-9a-f]{12}\.html">layer_<wbr>norm_<wbr>kernel', text)


def test_the_page_of_an_old_night_tells_what_was_known_then(demo: Path, site: Path) -> None:
    text = plain((site / "runs" / f"{run_ids(demo)[18]}.html").read_text())
    assert "7ead6a9" in text  # of the 13th night
    assert "a9e98ef" not in text  # of the 20th
    assert "a9e98ef" in plain((site / "runs" / f"{run_ids(demo)[-1]}.html").read_text())


def test_a_series_has_its_history_cause_findings_outcomes_and_detail(site: Path) -> None:
    listed = (site / "series" / "index.html").read_text()
    names = dict(re.findall(r'<a class=mono href="([^"]+)">(.*?)</a>', listed))
    page = next(path for path, name in names.items() if plain(name) == SPILLS)
    text = plain((site / "series" / page).read_text())
    assert text.count('<svg class="history"') == 3  # time, share of the roof, what moved most
    assert "26,542,080 → 6,635,520" in text  # sectors that a launch stores to local memory
    assert "172 µs" in text  # 268 µs became 96 µs
    assert re.search(r"Request fewer bytes from L2 .*?>19</td><td>5 Jan 2026</td><td>23 Jan", text)
    assert "<h3>Facts</h3>" in text


def test_a_rule_says_what_where_and_with_which_success(site: Path) -> None:
    text = plain((site / "rules" / "memory" / "local-memory.html").read_text())
    assert "Keep private data out of local memory" in text
    assert "1 worked" in text
    assert "come from spills" in text
    assert f">{SPILLS}</a>" in text


def test_the_feed_is_atom_with_the_news_and_stable_ids(
    demo: Path, site: Path, tmp_path: Path
) -> None:
    feed = ET.parse(site / "feed.xml").getroot()
    assert feed.tag == "{http://www.w3.org/2005/Atom}feed"
    for name in ("id", "title", "updated", "author/a:name"):
        assert feed.find(f"a:{name}", ATOM) is not None
    entries = feed.findall("a:entry", ATOM)
    told = [
        (entry.findtext("a:title", "", ATOM), entry.findtext("a:updated", "", ATOM))
        for entry in entries
    ]
    moved = {(title.split()[0], title.split()[1], day[:10]) for title, day in told}
    assert {(NORM, "regressed", "2026-01-17"), (SPILLS, "improved", "2026-01-24")} <= moved
    assert [day for _, day in told] == sorted((day for _, day in told), reverse=True)
    ids = [entry.findtext("a:id", "", ATOM) for entry in entries]
    assert len(set(ids)) == len(ids)
    assert all(uuid.UUID(each.removeprefix("urn:uuid:")).version == 5 for each in ids)
    copy = tmp_path / "copy"
    shutil.copytree(site, copy)
    assert build(demo, copy, url="https://ci.example/gpu").written == 2  # the feed, and site.json
    other = ET.parse(copy / "feed.xml").getroot()
    assert [entry.findtext("a:id", "", ATOM) for entry in other.findall("a:entry", ATOM)] == ids
    links = [link.get("href", "") for link in other.iter("{http://www.w3.org/2005/Atom}link")]
    assert all(link.startswith("https://ci.example/gpu/") for link in links)


def test_a_second_call_writes_nothing(demo: Path, site: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    done = build(demo, site)
    assert done.written == 0
    assert done.unchanged == len(contents(site))
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


def test_one_database_gives_the_same_bytes_in_another_folder_on_another_day(
    few: Path, few_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 4e9)
    build(few, tmp_path / "other")
    assert contents(few_site) == contents(tmp_path / "other")


def test_another_night_leaves_the_pages_of_older_runs_alone(
    few: Path, few_site: Path, tmp_path: Path
) -> None:
    database, folder = tmp_path / few.name, tmp_path / "site"
    shutil.copy(few, database)
    shutil.copytree(few_site, folder)
    before = contents(folder)
    nights = sorted((data_dir("seed") / "runs" / "nightly").glob("*.ncu-rep"))
    ingest(database, nights[FEW : FEW + 1])
    build(database, folder)
    after = contents(folder)
    old, new = ({path for path in each if path.startswith("runs/")} for each in (before, after))
    assert len(new - old) == 1
    assert all(after[path] == before[path] for path in old)
    assert after["index.html"] != before["index.html"]
    build(database, tmp_path / "fresh")
    assert contents(tmp_path / "fresh") == after


def test_the_page_of_a_removed_run_becomes_one_sentence(
    few: Path, few_site: Path, tmp_path: Path
) -> None:
    database, folder = tmp_path / few.name, tmp_path / "site"
    shutil.copy(few, database)
    shutil.copytree(few_site, folder)
    first, *others = run_ids(database)
    kept = {run: (folder / "runs" / f"{run}.html").read_bytes() for run in others}
    remove_run(str(database), first, wait=0)
    build(database, folder)
    text = (folder / "runs" / f"{first}.html").read_text()
    assert "<h1>This run is no longer in the database.</h1>" in text
    assert "<table" not in text
    assert {run: (folder / "runs" / f"{run}.html").read_bytes() for run in others} == kept
    assert first not in (folder / "index.html").read_text()
    assert build(database, folder).written == 0


def test_old_nights_are_not_judged_for_a_first_site(
    few_reported: Path, few_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_at_most(monkeypatch, 20)
    folder = tmp_path / "site"
    build(few_reported, folder)
    *old, newest = (
        plain((folder / "runs" / f"{run}.html").read_text()) for run in run_ids(few_reported)
    )
    assert 'id="roofline"' in newest
    assert len(old) == FEW - 1
    for run, text in zip(run_ids(few_reported), old, strict=False):
        assert f"advisor --db {few_reported} report {run} --html" in text
        assert "of profiled kernel time in 14 kernels." in text
        assert text.count("<tr><th") == 1 + 14
    shutil.copytree(few_site, tmp_path / "whole")
    assert (
        build(few_reported, tmp_path / "whole").written == 0
    )  # what was judged on its night stays
    assert contents(tmp_path / "whole") == contents(few_site)


def test_says_that_the_database_is_empty(tmp_path: Path) -> None:
    database = tmp_path / "empty.duckdb"
    with open_for_writing(database):
        pass
    build(database, tmp_path / "site")
    assert "The database holds no run yet." in (tmp_path / "site" / "index.html").read_text()
    assert ET.parse(tmp_path / "site" / "feed.xml").getroot().findall("a:entry", ATOM) == []
    assert build(database, tmp_path / "site").written == 0


def test_leaves_a_folder_with_something_else_alone(few_reported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=r"letter\.txt"):
        build(few_reported, folder)
    assert list(folder.iterdir()) == [folder / "letter.txt"]
    build(few_reported, folder, force=True)
    assert (folder / "letter.txt").read_text() == "dear"
    assert (folder / "index.html").is_file()


def test_writes_over_no_file_of_somebody_else(few_reported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "home"
    (folder / "series").mkdir(parents=True)
    (folder / "series" / "index.html").write_text("mine")
    with pytest.raises(UsageError, match=r"series/index.html is no file of this site"):
        build(few_reported, folder, force=True)
    assert list(contents(folder)) == ["series/index.html"]


def test_goes_on_where_it_was_interrupted(
    few_reported: Path, few_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, written = tmp_path / "site", []

    def replaced(part: Path, target: Path, real: Callable[..., Path] = Path.replace) -> Path:
        if len(written) == 5:
            raise KeyboardInterrupt
        written.append(target)
        return real(part, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replaced)
        with pytest.raises(KeyboardInterrupt):
            build(few_reported, folder)
    assert not (folder / "index.html").exists()
    build(few_reported, folder)
    left = {path: text for path, text in contents(folder).items() if not path.endswith(".part")}
    assert left == contents(few_site)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights")
def test_says_where_it_cannot_write(few_reported: Path, tmp_path: Path) -> None:
    (tmp_path / "runs-are-here").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        build(few_reported, tmp_path / "runs-are-here" / "site")


@pytest.mark.parametrize("url", ["ci.example", "javascript:alert(1)", ""])
def test_refuses_what_is_no_address(few: Path, tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        build(few, tmp_path / "site", url=url)


def test_the_search_is_a_script_that_holds_names_alone(site: Path) -> None:
    text = (site / "search.js").read_text()
    found = re.fullmatch(r"const advisorKernels = (\[.*\]);\n", text, re.DOTALL)
    assert found is not None
    entries = json.loads(found[1])
    assert [name for name, _, _ in entries if name.startswith("layer")] == [NORM]
    assert all((site / path).is_file() for _, path, _ in entries)


def test_every_page_leads_to_the_glossary_and_its_terms_to_their_places(
    demo: Path, site: Path
) -> None:
    explained = Links((site / "glossary.html").read_text()).ids
    assert {"w-wasted-time", "w-verdict", "n-dram_bytes", "n-roof_fraction"} <= set(explained)
    for path, text in contents(site).items():
        if path.endswith(".html") and path != "glossary.html":
            assert any(link.endswith("glossary.html") for link in Links(text.decode()).links), path
    run = (site / "runs" / f"{run_ids(demo)[-1]}.html").read_text()
    assert '<a class="term" href="../glossary.html#w-wasted-time">Wasted time</a>' in run
    (series,) = (each for each in (site / "series").glob("*.html") if SPILLS in plain_title(each))
    text = series.read_text()
    assert 'href="../glossary.html#n-dram_bytes">DRAM traffic</a>' in text
    assert 'href="../glossary.html#w-verdict">improved</a>' in text


def plain_title(page: Path) -> str:
    found = re.search("<title>(.*?)</title>", page.read_text())
    return found[1] if found else ""


def test_the_glossary_opens_a_number_down_to_its_counters(site: Path) -> None:
    text = (site / "glossary.html").read_text()
    entry = text.split('<div id="n-dram_bytes">')[1].split("</div>")[0]
    assert "<code>dram__bytes.sum</code>" in entry


def test_words_are_those_of_the_style_guide() -> None:
    page = (Path(__file__).parents[2] / "docs" / "style.md").read_text()
    listed = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page.split("## Glossary")[1], re.MULTILINE)
    explained = " ".join(f"{each.word} {each.means}" for each in load_glossary_words()).lower()
    for word in listed[2:]:
        if word not in ("quantity, fact", "eligible warp", "exclusion"):  # of engine pages
            for part in word.removesuffix(" peak").split(", "):
                assert part.split("-")[0] in explained, part
