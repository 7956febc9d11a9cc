"""What the instructions of a kernel are ranked by: ``instruction_views`` of the counter files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from advisor.documents import DocumentNode, MappingNode, load
from advisor.errors import RuleError
from advisor.facts.formulas import yaml_files
from advisor.records import dataclass

FILE = "instructions.yaml"
VIEW_KEYS = (
    "name", "title", "about", "counter", "ideal", "unit", "times", "kinds", "opcodes", "except",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class InstructionView:
    """A way to rank the instructions of a kernel.

    ``counters`` are added up and multiplied by ``times``; each has its kind, such as ``barrier``
    among stalls, empty where a view has one counter only. What exceeds the counter ``ideal`` (all
    of it for None) is the excess. ``opcodes`` sort instructions into kinds, such as loads; where
    ``only`` names one of them, the others are left out as far as opcodes are known.
    """

    name: str
    title: str
    about: str
    unit: str
    counters: Mapping[str, str]
    times: float = 1.0
    ideal: str | None = None
    opcodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only: str | None = None

    @property
    def symptoms(self) -> Iterator[str]:
        """Yield what rules may call it: its name, and with a slash each of its kinds."""
        yield self.name
        kinds = (*filter(None, self.counters.values()), *self.opcodes)
        yield from (f"{self.name}/{kind}" for kind in kinds)

    def narrowed(self, symptom: str) -> InstructionView | None:
        """Return the view of one symptom; None where it is none of this view's."""
        if symptom == self.name:
            return self
        name, _, kind = symptom.partition("/")
        if name == self.name and kind in self.opcodes:
            return replace(self, name=symptom, only=kind)
        kept = {counter: each for counter, each in self.counters.items() if each and each == kind}
        if name != self.name or not kept:
            return None
        title = f"{self.title}, {kind.replace('_', ' ')}"
        return replace(self, name=symptom, title=title, counters=kept)


def load_instruction_views(directories: Sequence[Path]) -> tuple[InstructionView, ...]:
    """Return the views of all profilers, of which each has a folder in one of ``directories``.

    Raises:
        RuleError: a file has another form.
    """
    found = []
    for path in yaml_files(directories, f"*/{FILE}"):
        document = load(path)
        kept = document.sequence("instructions").texts()
        found += [read_view(n.as_mapping(), kept) for n in document.sequence("instruction_views")]
    return tuple(found)


def of_symptom(views: Iterable[InstructionView], symptom: str) -> list[InstructionView]:
    """Return the views that show a symptom: one for each profiler that counts it."""
    found = (view.narrowed(symptom) for view in views)
    return [view for view in found if view is not None]


def read_view(node: MappingNode, kept: Sequence[str]) -> InstructionView:
    """Return the view that a mapping describes, of the counters that are ``kept``.

    Raises:
        RuleError: it has another form, or rests on what is not kept.
    """
    node.refuse_unknown(VIEW_KEYS)
    ideal = node.text("ideal") if "ideal" in node else None
    if ideal is not None and ideal not in kept:
        raise RuleError(f"{ideal!r} is not among `instructions`", at=node["ideal"].at)
    return InstructionView(
        name=node.text("name"),
        title=node.text("title"),
        about=node.text("about"),
        unit=node.text("unit"),
        counters=_counters(node, kept),
        times=node.number("times") if "times" in node else 1.0,
        ideal=ideal,
        opcodes=_opcodes(node),
    )


def _opcodes(node: MappingNode) -> dict[str, tuple[str, ...]]:
    kinds = node.mapping("opcodes").items() if "opcodes" in node else ()
    return {kind: each.as_sequence().texts() for kind, each in kinds}


def _counters(node: MappingNode, kept: Sequence[str]) -> dict[str, str]:
    """Return the counters of the view with their kinds, in the order in which they are kept."""
    before, star, after = node.text("counter").partition("*")
    excepted = node.sequence("except").texts() if "except" in node else ()
    names = {each.as_text(): kind for kind, each in _kinds(node)}
    found = {}
    for counter in kept:
        if counter in excepted or not _matches(counter, before, star, after):
            continue
        kind = counter[len(before) : len(counter) - len(after)]
        found[counter] = names.pop(kind, kind)
    if not found:
        raise RuleError("no counter of `instructions` matches", at=node["counter"].at)
    if names:
        raise RuleError(f"no counter is of the kind {min(names)!r}", at=node["kinds"].at)
    return found


def _matches(counter: str, before: str, star: str, after: str) -> bool:
    if not star:
        return counter == before
    long_enough = len(counter) > len(before) + len(after)
    return long_enough and counter.startswith(before) and counter.endswith(after)


def _kinds(node: MappingNode) -> Iterable[tuple[str, DocumentNode]]:
    return node.mapping("kinds").items() if "kinds" in node else ()
