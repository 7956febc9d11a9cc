"""The reader's words: what the vendor of a device calls its parts, and what facts are called.

Rules and facts keep neutral names; this is the one place that turns them into what a reader sees.
Read from ``rules/labels/terms.yaml`` and ``rules/labels/names.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from advisor.documents import DocumentNode, MappingNode, SequenceNode, load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.rules.language.rule import Template, Value
from advisor.rules.language.verify_words import DisplayName, display_name

LABELS = "labels"
_TERM = re.compile(r"\{\{ *([A-Z]\w*) *\}\}")


@dataclass(frozen=True, kw_only=True)
class VendorWords:
    """The words of one vendor.

    ``terms`` are the names in capitals that templates use, ``names`` those of facts, ``values`` the
    words for the values of some text facts.
    """

    terms: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, DisplayName] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def fill(self, template: Template, values: Mapping[str, Value] | None = None) -> str:
        """Return the sentence in these words, with the values in it."""
        return template.fill(self.given(values or {}))

    def given(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return what templates are filled with: these words, and the values as they are shown."""
        named = {
            fact: self.value(fact, value)
            for fact in self.values
            if isinstance(value := values.get(fact), str)
        }
        return {**self.terms, **values, **named}

    def quote(self, template: Template) -> str:
        """Return the template's text in these words, its facts as they are written."""
        return _TERM.sub(lambda found: self.terms.get(found[1], found[0]), template.text)

    def name(self, fact: str) -> DisplayName:
        """Return what a fact is called; one without a name by its key, in words."""
        return self.names.get(fact) or display_name(fact)

    def list_names(self, facts: Iterable[str]) -> str:
        """Return the names of facts as a list in a sentence.

        >>> VendorWords().list_names(["load_efficiency", "duration", "grid_size"])
        'load efficiency, duration and grid size'
        >>> VendorWords().list_names(["load_efficiency", "store_efficiency"])
        'load and store efficiency'
        """
        found = list(dict.fromkeys(self.name(fact).text for fact in facts))
        if len(found) < 2:
            return "".join(found)
        *first, last = found
        kinds = {name.partition(" ")[2] for name in found}
        if len(kinds) == 1 and "" not in kinds:
            first = [name.partition(" ")[0] for name in first]
        return f"{', '.join(first)} and {last}"

    def value(self, fact: str, value: str) -> str:
        """Return the word for a value of a text fact."""
        return self.values.get(fact, {}).get(value, value)


@dataclass(frozen=True, kw_only=True)
class Vendors:
    """The words of all vendors; ``default`` holds where neither device nor profiler is known."""

    default: VendorWords
    by_vendor: Mapping[str, VendorWords]
    profilers: Mapping[str, str]

    @property
    def terms(self) -> frozenset[str]:
        """Return the terms that templates may use."""
        return frozenset(self.default.terms)

    def words(self, vendor: str | None, profiler: str | None = None) -> VendorWords:
        """Return the words for a run: of its device's vendor, else of its profiler's."""
        known = vendor or self.profilers.get(profiler or "", "")
        return self.by_vendor.get(known.casefold(), self.default)


def capital(text: str) -> str:
    """Return a text that begins with a capital.

    >>> capital("warps stall"), capital("µs")
    ('Warps stall', 'µs')
    """
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def load_words(packs: Sequence[Path] = ()) -> Vendors:
    """Return the words that come with the project; packs add names of their own facts.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    folder = data_dir("rules") / LABELS
    document = load(folder / "terms.yaml")
    document.refuse_unknown(("vendors", "profilers", "terms"))
    vendors = document.sequence("vendors").texts()
    terms: dict[str, dict[str, str]] = {vendor: {} for vendor in vendors}
    for node in document.sequence("terms"):
        _add_term(node.as_mapping(), terms)
    paths = [folder / "names.yaml", *(pack / LABELS / "names.yaml" for pack in packs)]
    documents = [load(path) for path in paths if path.is_file()]
    by_vendor = {vendor: _words(terms[vendor], documents) for vendor in vendors}
    profilers = document.mapping("profilers")
    return Vendors(
        default=by_vendor[vendors[0]],
        by_vendor=by_vendor,
        profilers={name: profilers.text(name) for name in profilers},
    )


def _add_term(node: MappingNode, terms: Mapping[str, dict[str, str]]) -> None:
    """Add one term with its forms to the words of every vendor."""
    vendors = list(terms)
    node.refuse_unknown(("terms", *vendors))
    names = node.sequence("terms").texts()
    for vendor in vendors:
        chosen = vendor if vendor in node else vendors[0]
        forms = node.sequence(chosen).texts()
        if len(forms) != len(names):
            problem = f"{chosen} has {len(forms)} forms of {', '.join(names)}"
            raise RuleError(problem, at=node[chosen].at, hint="give one word for each name")
        for name, form in zip(names, forms, strict=True):
            terms[vendor][name] = form
            terms[vendor][name.capitalize()] = capital(form)


def _words(terms: Mapping[str, str], documents: Sequence[MappingNode]) -> VendorWords:
    names: dict[str, DisplayName] = {}
    values: dict[str, dict[str, str]] = {}
    for document in documents:
        document.refuse_unknown(("names", "values"))
        for fact, node in document.mapping("names").items():
            names[fact] = _name(node, terms)
        for fact, node in document.mapping("values").items() if "values" in document else ():
            display = node.as_mapping()
            values[fact] = {key: _filled(display[key], terms) for key in display}
    return VendorWords(terms=terms, names=names, values=values)


def _name(node: DocumentNode, terms: Mapping[str, str]) -> DisplayName:
    """Return a name: of one form where it cannot be counted, else its plural."""
    if isinstance(node, SequenceNode):
        forms = [_filled(each, terms) for each in node]
        if len(forms) != 2:
            raise RuleError("a name that can be counted has two forms", at=node.at)
        return DisplayName(text=forms[1], is_plural=True)
    return DisplayName(text=_filled(node, terms))


def _filled(node: DocumentNode, terms: Mapping[str, str]) -> str:
    from advisor.rules.language.templates import read_template  # and Jinja with it

    text = node.as_text()
    if "{{" not in text:
        return text
    return read_template(text, {}, node.at, terms=terms).fill(terms)
