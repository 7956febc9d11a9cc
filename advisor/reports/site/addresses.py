"""Where the pages of a site are: names that no id of a stranger's database can lead elsewhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import field

from advisor.records import dataclass
from advisor.reports.write.links import Links

INDEX, FEED, STATE = "index.html", "feed.xml", "site.json"
FLEET, GLOSSARY = "fleet.html", "glossary.html"
STYLE, SCRIPT, SEARCH = "style.css", "script.js", "search.js"
KERNELS, RULES = "series/index.html", "rules/index.html"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_RESERVED = "index"
_HASHED = 10  # bytes


def run_page(run_id: str) -> str:
    """Return the address of a run's page below the first page."""
    return f"runs/{_name(run_id)}.html"


def series_page(series_id: str) -> str:
    """Return the address of a series' page below the first page."""
    return f"series/{_name(series_id)}.html"


def rule_page(rule_id: str) -> str:
    """Return the address of a rule's page below the first page.

    >>> rule_page("memory/local-memory"), rule_page("../../etc")
    ('rules/memory/local-memory.html', 'rules/x-624a97b5f92960f92afb.html')
    """
    parts = rule_id.split("/")
    if all(_is_plain(part) for part in parts):
        return f"rules/{'/'.join(parts)}.html"
    return f"rules/{_name(rule_id)}.html"


def way_up(path: str) -> str:
    """Return the way from a page to the folder of the first page.

    >>> way_up("index.html"), way_up("rules/memory/local-memory.html")
    ('', '../../')
    """
    return "../" * path.count("/")


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """The pages that a site has, by the ids of what they are about.

    ``numbers`` and ``words`` stand in the glossary, words by their places there.
    """

    runs: frozenset[str]
    series: frozenset[str]
    rules: frozenset[str]
    numbers: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=dict)

    def links(self, path: str) -> Links:
        """Return how the page at ``path`` names the others."""
        root = way_up(path)
        return Links(
            series={each: root + series_page(each) for each in self.series},
            runs={each: root + run_page(each) for each in self.runs},
            rules={each: root + rule_page(each) for each in self.rules},
            numbers={each: f"{root}{GLOSSARY}#n-{each}" for each in self.numbers},
            words={form: f"{root}{GLOSSARY}#{place}" for form, place in self.words.items()},
        )


def _name(identity: str) -> str:
    """Return a file's name for an id: itself where it is plain."""
    if _is_plain(identity):
        return identity
    digest = hashlib.blake2b(identity.encode(errors="surrogatepass"), digest_size=_HASHED)
    return f"x-{digest.hexdigest()}"


def _is_plain(part: str) -> bool:
    return _PLAIN.fullmatch(part) is not None and part != _RESERVED
