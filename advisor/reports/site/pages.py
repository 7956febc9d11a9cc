"""Write the pages of a site: records in, HTML, Atom and one stylesheet out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.reports.site.addresses import FLEET, GLOSSARY, INDEX, way_up
from advisor.reports.site.frame import GonePage, SitePlace
from advisor.reports.write.environment import environment
from advisor.reports.write.links import Links
from advisor.reports.write.render import page

if TYPE_CHECKING:
    from advisor.reports.record.records import Report
    from advisor.reports.site.feed import Feed
    from advisor.reports.site.fleet_page import FleetPage
    from advisor.reports.site.glossary_page import GlossaryPage
    from advisor.reports.site.index_page import IndexPage
    from advisor.reports.site.lists import ListPage
    from advisor.reports.site.rule_page import RulePage
    from advisor.reports.site.series_page import SeriesPage
    from advisor.reports.site.short_page import ShortPage

MOST_ROWS = 50
"""Kernels that the page of a run shows, those that waste most: 365 such pages stay below 200 MB."""


_SIZES = ("w1", "w2", "w3")


class PageWriter:
    """Writes pages; ``code`` holds compiled templates, those that were not there are added.

    ``words`` are places in the glossary, as ``frame.SitePlace`` has them.
    """

    def __init__(
        self,
        code: dict[str, bytes] | None = None,
        *,
        has_fleet: bool = False,
        words: Mapping[str, str],
    ) -> None:
        self._templates = environment(code, autoescape=True)
        self._has_fleet = has_fleet
        self._words = words

    def run(self, path: str, report: Report, links: Links) -> str:
        """Return a report without the details of kernels, which are on pages of their own."""
        drawn = page(report, details=0, most_rows=MOST_ROWS, links=links, sizes=_SIZES)
        template = self._templates.get_template("report.html.j2")
        return template.render(report=report, page=drawn, script_digest="", site=self._place(path))

    def index(self, shown: IndexPage) -> str:
        """Return the first page."""
        return self._page("index", INDEX, shown)

    def short(self, path: str, shown: ShortPage) -> str:
        """Return the page of a run that is not judged."""
        return self._page("short", path, shown)

    def series(self, path: str, shown: SeriesPage) -> str:
        """Return the page of a series."""
        return self._page("series", path, shown)

    def rule(self, path: str, shown: RulePage) -> str:
        """Return the page of a rule."""
        return self._page("rule", path, shown)

    def list(self, path: str, shown: ListPage) -> str:
        """Return a list of pages."""
        return self._page("list", path, shown)

    def fleet(self, shown: FleetPage) -> str:
        """Return the page about a whole lake."""
        return self._page("fleet", FLEET, shown)

    def glossary(self, shown: GlossaryPage) -> str:
        """Return the page that all others lead to for their words and numbers."""
        return self._page("glossary", GLOSSARY, shown)

    def gone(self, path: str, shown: GonePage) -> str:
        """Return what is left of a page whose subject is gone."""
        return self._page("gone", path, shown)

    def feed(self, shown: Feed) -> str:
        """Return the feed."""
        return self._templates.get_template("site/feed.xml.j2").render(feed=shown)

    def style(self) -> str:
        """Return the stylesheet of all pages."""
        return self._templates.get_template("site/site.css").render()

    def script(self) -> str:
        """Return the script of all pages."""
        return self._templates.get_template("site/site.js").render()

    def _page(self, name: str, path: str, shown: object) -> str:
        template = self._templates.get_template(f"site/{name}.html.j2")
        return template.render(page=shown, site=self._place(path))

    def _place(self, path: str) -> SitePlace:
        return SitePlace(root=way_up(path), has_fleet=self._has_fleet, words=self._words)
