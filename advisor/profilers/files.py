"""``rules/profilers/<profiler>.yaml`` as records."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from advisor.documents import MappingNode, load
from advisor.errors import RuleError
from advisor.records import dataclass
from advisor.resources import rule_dirs

KEYS = (
    "profiler",
    "name",
    "suffixes",
    "printed",
    "command",
    "options",
    "sections",
    "always",
    "by_name",
    "launch",
    "never",
    "retired",
)
OFFER_KEYS = ("first", "last", "counters")
SECTION_KEYS = ("name", *OFFER_KEYS, "reserve")
OPTION_KEYS = ("programs", "flags", "chooses", "keeps")
NEVER_KEYS = ("names", "because")
RETIRED_KEYS = ("devices", "last", "source")
PLACES = ("section", "sections", "metrics", "options", "function", "pattern", "launches", "program")
"""What may stand in braces in a part of a command."""

_PLACE = re.compile(r"\{(\w*)\}")
_DIGITS = re.compile(r"\d+")
_SPECIAL = re.compile(r"[*?\[]")  # of patterns

Version = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Counters that versions from ``first`` to ``last`` can collect; ``*`` stands for anything."""

    counters: tuple[str, ...]
    first: str | None = None
    last: str | None = None

    def brings(self, counter: str) -> bool:
        """Return whether a counter is among its own."""
        return counter in self._plain or self.matches(counter)

    @property
    def has_patterns(self) -> bool:
        """Return whether it brings more than the counters that it names."""
        return bool(self._beginnings or self._patterns)

    def matches(self, counter: str) -> bool:
        """Return whether one of its patterns fits a counter."""
        return counter.startswith(self._beginnings) or any(
            fnmatchcase(counter, pattern) for pattern in self._patterns
        )

    def is_in(self, version: str | None) -> bool:
        """Return whether a version has it; where that is not known, the newest is meant."""
        if version is None:
            return self.last is None
        key = version_key(version)
        after = self.first is None or key >= version_key(self.first)
        return after and (
            self.last is None or key[: len(version_key(self.last))] <= version_key(self.last)
        )

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(self.counters)

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        return tuple(each[:-1] for each in self.counters if _is_beginning(each))

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        """Return the other patterns: a regular expression for each takes time to compile."""
        return tuple(each for each in self.counters if "*" in each and not _is_beginning(each))


def _is_beginning(pattern: str) -> bool:
    """Return whether a pattern is the beginning of names, with a star behind it."""
    return pattern.endswith("*") and _SPECIAL.search(pattern[:-1]) is None


@dataclass(frozen=True, kw_only=True)
class Section(Offer):
    """A set of counters with a name.

    One in ``reserve`` is asked for only where a fact cannot be known without.
    """

    name: str
    reserve: bool = False


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to read a call of the profiler: what it is called, and its options.

    ``flags`` have no value; ``chooses`` say which launches were profiled, and ``keeps`` hold for
    the next call too. ``programs`` are the names that the profiler's call begins with.
    """

    programs: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    chooses: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Retired:
    """Devices, by their ``isa``, and the ``last`` version that profiles them."""

    devices: tuple[str, ...]
    last: str


@dataclass(frozen=True, kw_only=True)
class Never:
    """Quantities, values of launches and facts that a profiler can never know, and why."""

    names: tuple[str, ...]
    because: str


@dataclass(frozen=True, kw_only=True)
class Profiler:
    """One profiler.

    ``command`` are the parts of a call, with places in braces (``PLACES``): one with ``{section}``
    or ``{function}`` comes once for each, one whose place has no value is left out. ``always`` are
    patterns of counters that come without being asked for, ``by_name`` those that one may ask for
    by their names. ``retired`` are devices that newer versions do not profile. ``launch`` are the
    counters that tell values of a launch, such as its grid. ``printed`` names, for formats of
    profiles, what has more. Without a command there is nothing to ask.
    """

    id: str
    name: str
    suffixes: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)
    sections: tuple[Section, ...] = ()
    always: tuple[str, ...] = ()
    by_name: tuple[Offer, ...] = ()
    launch: Mapping[str, str] = field(default_factory=dict)
    never: tuple[Never, ...] = ()
    retired: tuple[Retired, ...] = ()
    _bringing: dict[str, tuple[int, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def last_for(self, devices: Iterable[str]) -> str | None:
        """Return the last version that profiles all of some devices; None where the newest does."""
        wanted = set(devices)
        last = (each.last for each in self.retired if wanted.intersection(each.devices))
        return min(last, key=version_key, default=None)

    def sections_with(
        self, counter: str, version: str | None, *, reserve: bool = True
    ) -> tuple[str, ...]:
        """Return the sections that bring a counter in a version, in the order of the file.

        Without ``reserve`` those in reserve are left out.
        """
        found = (self.sections[place] for place in self._places(counter, version))
        return tuple(dict.fromkeys(s.name for s in found if reserve or not s.reserve))

    def has_section(self, name: str, version: str | None) -> bool:
        """Return whether a version has a section, whatever it collects."""
        return any(each.name == name and each.is_in(version) for each in self.sections)

    def place_of(self, counter: str, version: str | None) -> int:
        """Return the place of the first section that brings a counter; after all, where none does.

        What comes without being asked for is before all.
        """
        if self.brings_always(counter):
            return -1
        return next(self._places(counter, version), len(self.sections))

    def _places(self, counter: str, version: str | None) -> Iterator[int]:
        """Yield the places of the sections that bring a counter in a version."""
        if counter not in self._bringing:
            by_pattern = (n for n in self._patterned if self.sections[n].matches(counter))
            self._bringing[counter] = tuple(sorted({*self._named.get(counter, ()), *by_pattern}))
        return (n for n in self._bringing[counter] if self.sections[n].is_in(version))

    @cached_property
    def _named(self) -> Mapping[str, list[int]]:
        """Return the places of the sections that name a counter, for each."""
        places = defaultdict(list)
        for place, section in enumerate(self.sections):
            for counter in section.counters:
                places[counter].append(place)
        return places

    @cached_property
    def _patterned(self) -> tuple[int, ...]:
        return tuple(n for n, each in enumerate(self.sections) if each.has_patterns)

    def brings_always(self, counter: str) -> bool:
        """Return whether a counter comes without being asked for."""
        return any(fnmatchcase(counter, pattern) for pattern in self.always)

    def takes_name(self, counter: str, version: str | None) -> bool:
        """Return whether one may ask a version for a counter by its name."""
        return any(each.is_in(version) and each.brings(counter) for each in self.by_name)

    def first_with(self, counter: str, version: str | None) -> str | None:
        """Return the first version after ``version`` that can be asked for a counter."""
        later = [
            s.first
            for s in (*self.sections, *self.by_name)
            if s.first is not None
            and s.last is None
            and s.brings(counter)
            and (version is None or version_key(s.first) > version_key(version))
        ]
        return min(later, key=version_key, default=None)

    def in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return names of sections in the order of the file."""
        wanted = set(names)
        return tuple(dict.fromkeys(s.name for s in self.sections if s.name in wanted))

    def printed_note(self, format_name: str | None) -> str:
        """Return what has more than profiles of a format; empty for what is no print."""
        return self.printed.get(format_name or "", "")

    def why_never(self, name: str) -> str | None:
        """Return why it can never know a name; None where the file does not say."""
        return next((each.because for each in self.never if name in each.names), None)


def version_key(version: str) -> Version:
    """Return what orders versions: their numbers.

    >>> version_key("2025.2.1.0") > version_key("2025.1")
    True
    """
    return tuple(int(digits) for digits in _DIGITS.findall(version))


def load_profilers(directories: Sequence[Path] | None = None) -> dict[str, Profiler]:
    """Return the profilers by their names in ``rules/counters``, of installed packs too.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    found: dict[str, Profiler] = {}
    for path in profiler_files(directories):
        document = load(path)
        profiler = _profiler(document)
        if profiler.id in found:
            raise RuleError(f"{profiler.id!r} is described twice", at=document["profiler"].at)
        found[profiler.id] = profiler
    return found


def load_profiler(name: str) -> Profiler | None:
    """Return one profiler; None where no file describes it."""
    return load_profilers().get(name)


def profiler_files(directories: Sequence[Path] | None = None) -> Iterator[Path]:
    """Yield the files of all profilers, the shipped ones first."""
    for directory in directories or rule_dirs():
        yield from sorted((directory / "profilers").glob("*.yaml"))


def _profiler(document: MappingNode) -> Profiler:
    document.refuse_unknown(KEYS)
    return Profiler(
        id=document.text("profiler"),
        name=document.text("name"),
        suffixes=_texts(document, "suffixes"),
        printed=_text_by_name(document, "printed"),
        command=_command(document),
        options=_options(document),
        sections=tuple(_sections(document)),
        always=_texts(document, "always"),
        by_name=tuple(_offers(document)),
        launch=_text_by_name(document, "launch"),
        never=tuple(_never(document)),
        retired=tuple(_retired(document)),
    )


def _texts(node: MappingNode, key: str) -> tuple[str, ...]:
    return tuple(node.sequence(key).texts()) if key in node else ()


def _command(document: MappingNode) -> tuple[str, ...]:
    if "command" not in document:
        return ()
    for part in document.sequence("command"):
        for place in _PLACE.findall(part.as_text()):
            if place not in PLACES:
                hint = f"there are {', '.join(f'{{{each}}}' for each in PLACES)}"
                raise RuleError(f"{{{place}}} is no place of a command", at=part.at, hint=hint)
    return _texts(document, "command")


def _options(document: MappingNode) -> Options:
    if "options" not in document:
        return Options()
    node = document.mapping("options")
    node.refuse_unknown(OPTION_KEYS)
    programs, flags, chooses, keeps = (frozenset(_texts(node, key)) for key in OPTION_KEYS)
    return Options(programs=programs, flags=flags, chooses=chooses, keeps=keeps)


def _sections(document: MappingNode) -> Iterator[Section]:
    for item in document.sequence("sections") if "sections" in document else ():
        node = item.as_mapping()
        node.refuse_unknown(SECTION_KEYS)
        first, last = _versions(node)
        yield Section(
            name=node.text("name"),
            counters=_texts(node, "counters"),
            first=first,
            last=last,
            reserve="reserve" in node and node.boolean("reserve"),
        )


def _offers(document: MappingNode) -> Iterator[Offer]:
    for item in document.sequence("by_name") if "by_name" in document else ():
        node = item.as_mapping()
        node.refuse_unknown(OFFER_KEYS)
        first, last = _versions(node)
        counters = tuple(node.sequence("counters").texts())
        yield Offer(counters=counters, first=first, last=last)


def _versions(node: MappingNode) -> tuple[str | None, str | None]:
    first, last = (node.text(key) if key in node else None for key in ("first", "last"))
    for version in filter(None, (first, last)):
        if not version_key(version):
            raise RuleError(f"{version!r} is no version", at=node.at)
    return first, last


def _text_by_name(document: MappingNode, key: str) -> dict[str, str]:
    if key not in document:
        return {}
    node = document.mapping(key)
    return {name: node.text(name) for name in node}


def _never(document: MappingNode) -> Iterator[Never]:
    for item in document.sequence("never") if "never" in document else ():
        node = item.as_mapping()
        node.refuse_unknown(NEVER_KEYS)
        yield Never(names=_texts(node, "names"), because=node.text("because"))


def _retired(document: MappingNode) -> Iterator[Retired]:
    for item in document.sequence("retired") if "retired" in document else ():
        node = item.as_mapping()
        node.refuse_unknown(RETIRED_KEYS)
        _versions(node)  # refuses what is no version
        yield Retired(devices=_texts(node, "devices"), last=node.text("last"))
