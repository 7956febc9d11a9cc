"""Which facts a report shows of a kernel, in which order, under which words.

That is what ``rules/labels/report.yaml`` says. Units come from the vocabulary. Installed packs may
add to every part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from advisor.cache import remembered
from advisor.documents import MappingNode, load
from advisor.records import dataclass
from advisor.resources import rule_dirs

FILE = "report.yaml"
RESOURCE = ("label", "time", "work", "peak", "pipe_of", "drawn", "nominal")
STALL = ("share", "about", "neutral")
PARTS = (
    "levels", "precisions", "others", "limiters", "waiting", "sources", "notes", "stalls",
    "limits", "shares", "groups",
)  # fmt: skip
ENTRY = (
    "name", "label", "show", "essential", "of", "of_what", "kind", "part_of", "zero",
    "least_launches",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ResourceLabel:
    """A level of memory, or a kind of arithmetic: its label, and the fact of its least time.

    ``drawn`` levels are roofs of the roofline; ``nominal`` are the fact and the resource of the
    rated peak of arithmetic. ``work`` and ``peak`` are the facts of its operations and their
    profiled peak. Arithmetic that is part of another one runs on the pipe ``pipe_of`` that.
    """

    label: str
    time: str
    work: str
    peak: str
    pipe_of: str = ""
    drawn: bool = False
    nominal: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class StallLabel:
    """What warps wait for: the fact that is its share, and in words; a neutral one is no stall."""

    share: str
    about: str
    neutral: bool = False


@dataclass(frozen=True, kw_only=True)
class FactLine:
    """One line of the list of facts.

    ``of`` names a fact that is this value's share of a peak; ``kind`` says how a value came about
    that is not measured. ``part_of`` names a fact beside which an equal value says nothing. A
    ``share`` is shown in percent; an ``essential`` value is shown as unknown where it is missing,
    others are left out, and so is 0 of one that ``hides_zero``.
    """

    name: str
    label: str
    of: str = ""
    of_what: str = ""
    kind: str = "derived"
    part_of: str = ""
    share: bool = False
    essential: bool = False
    hides_zero: bool = False
    least_launches: int = 1


@dataclass(frozen=True, kw_only=True)
class Group:
    """Facts that stand together."""

    name: str
    entries: tuple[FactLine, ...]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The whole file.

    ``limits`` are the facts that say how many blocks fit, best first, by what bounds them;
    ``shares`` the names of pure numbers that are shown in percent; ``notes`` explain columns of
    tables, by their heads.
    """

    levels: Mapping[str, ResourceLabel]
    precisions: Mapping[str, ResourceLabel]
    others: Mapping[str, str]
    limiters: Mapping[str, str]
    waiting: Mapping[str, str]
    sources: Mapping[str, str]
    notes: Mapping[str, str]
    stalls: Mapping[str, StallLabel]
    limits: Mapping[str, tuple[str, ...]]
    shares: frozenset[str]
    groups: tuple[Group, ...]

    def label(self, resource: str, otherwise: str | None = None) -> str:
        """Return what to call a level or a kind of arithmetic; by default its own name."""
        found = self.levels.get(resource) or self.precisions.get(resource)
        other = self.others.get(resource, resource if otherwise is None else otherwise)
        return found.label if found else other


def layout() -> Layout:
    """Return what the shipped file says, and those of installed packs.

    Raises:
        RuleError: a file has another form.
    """
    return _layout(rule_dirs())


@lru_cache(maxsize=2)
def _layout(directories: tuple[Path, ...]) -> Layout:
    """Return what the files of these directories say, from the cache where they are unchanged."""
    paths = [directory / "labels" / FILE for directory in directories]
    files = [path for path in paths if path.is_file()]
    return remembered("layout", files, "", lambda: _read(files))


def _read(files: Sequence[Path]) -> Layout:
    documents = [load(path) for path in files]
    for document in documents:
        document.refuse_unknown(PARTS)
    limits = _merged(documents, "limits")
    shares = [document.sequence("shares").texts() for document in documents if "shares" in document]
    entries = [group for document in documents for group in _groups(document)]
    names = dict.fromkeys(group.name for group in entries)
    return Layout(
        levels=_resources(documents, "levels"),
        precisions=_resources(documents, "precisions"),
        others={name: node.text(name) for name, node in _merged(documents, "others").items()},
        limiters={name: node.text(name) for name, node in _merged(documents, "limiters").items()},
        waiting={name: node.text(name) for name, node in _merged(documents, "waiting").items()},
        sources={name: node.text(name) for name, node in _merged(documents, "sources").items()},
        notes={name: node.text(name) for name, node in _merged(documents, "notes").items()},
        stalls={n: _stall(node.mapping(n)) for n, node in _merged(documents, "stalls").items()},
        limits={name: tuple(node.sequence(name).texts()) for name, node in limits.items()},
        shares=frozenset(name for found in shares for name in found),
        groups=tuple(
            Group(name=name, entries=tuple(e for g in entries if g.name == name for e in g.entries))
            for name in names
        ),
    )


def _merged(documents: list[MappingNode], key: str) -> dict[str, MappingNode]:
    """Return the names of a part, each with the mapping that holds it; later files win."""
    parts = [document.mapping(key) for document in documents if key in document]
    return {name: part for part in parts for name in part}


def _resources(documents: list[MappingNode], key: str) -> dict[str, ResourceLabel]:
    return {n: _resource(n, node.mapping(n)) for n, node in _merged(documents, key).items()}


def _resource(name: str, node: MappingNode) -> ResourceLabel:
    node.refuse_unknown(RESOURCE)
    rated = None
    if "nominal" in node:
        fact, resource = node.sequence("nominal").texts()
        rated = (fact, resource)
    return ResourceLabel(
        label=node.text("label"),
        time=node.text("time"),
        work=node.text("work") if "work" in node else f"flops_{name}",
        peak=node.text("peak") if "peak" in node else f"peak_{name}",
        pipe_of=node.text("pipe_of") if "pipe_of" in node else "",
        drawn="drawn" in node and node.boolean("drawn"),
        nominal=rated,
    )


def _stall(node: MappingNode) -> StallLabel:
    node.refuse_unknown(STALL)
    neutral = "neutral" in node and node.boolean("neutral")
    return StallLabel(share=node.text("share"), about=node.text("about"), neutral=neutral)


def _groups(document: MappingNode) -> Iterator[Group]:
    for item in document.sequence("groups") if "groups" in document else ():
        group = item.as_mapping()
        group.refuse_unknown(("name", "facts"))
        facts = tuple(_entry(each.as_mapping()) for each in group.sequence("facts"))
        yield Group(name=group.text("name"), entries=facts)


def _entry(node: MappingNode) -> FactLine:
    node.refuse_unknown(ENTRY)
    texts = {key: node.text(key) for key in ("of", "of_what", "kind", "part_of") if key in node}
    return FactLine(
        name=node.text("name"),
        label=node.text("label"),
        share="show" in node and node.text("show") == "share",
        essential="essential" in node and node.boolean("essential"),
        hides_zero="zero" in node and node.text("zero") == "hidden",
        least_launches=round(node.number("least_launches")) if "least_launches" in node else 1,
        **texts,
    )


def limited_by(limiter: str | None) -> str:
    """Return what limits a kernel, in words.

    >>> limited_by("memory"), limited_by("balanced")
    ('memory-bound', 'bound by memory and compute alike')
    """
    if limiter is None:
        return "limiter undetermined"
    return layout().limiters.get(limiter, f"{limiter}-bound")
