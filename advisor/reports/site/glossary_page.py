"""The glossary of a site: the words of its pages, and where each number comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor.documents import load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.reports.record.glossary import NumberTerm, glossary
from advisor.reports.record.layout import layout
from advisor.resources import data_dir

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.facts import Vocabulary
    from advisor.reports.record.glossary import WrittenWays
    from advisor.rules.language.words import VendorWords


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word that pages use; ``id`` is its address, ``also`` how else they write it."""

    id: str
    word: str
    means: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GlossaryPage:
    """Everything on the page."""

    title: str
    footer: str
    words: tuple[Word, ...]
    numbers: tuple[NumberTerm, ...]


def glossary_file() -> Path:
    """Return the file of the words."""
    return data_dir("rules") / "labels" / "glossary.yaml"


def load_glossary_words() -> tuple[Word, ...]:
    """Return the words in the order of the file.

    Raises:
        RuleError: an entry is missing, or an id is there twice; with its place.
    """
    words: dict[str, Word] = {}
    for node in load(glossary_file()).sequence("words"):
        entry = node.as_mapping()
        entry.refuse_unknown(("id", "word", "also", "means"))
        also = entry.sequence("also").texts() if "also" in entry else ()
        word = Word(
            id=entry.text("id"), word=entry.text("word"), means=entry.text("means"), also=also
        )
        if word.id in words:
            raise RuleError(f"{word.id} is there twice", at=entry.at)
        words[word.id] = word
    return tuple(words.values())


def word_addresses(words: Sequence[Word]) -> Mapping[str, str]:
    """Return the place of each word on the page, by all ways to write it in small letters."""
    return {form.lower(): f"w-{each.id}" for each in words for form in (each.word, *each.also)}


def numbers_explained(
    vocabulary: Vocabulary, words: VendorWords, ways: WrittenWays
) -> tuple[NumberTerm, ...]:
    """Return where each number that a page can show comes from; no run adds or removes one."""
    lines = (entry.name for group in layout().groups for entry in group.entries)
    return glossary(lines, vocabulary, words, ways)
