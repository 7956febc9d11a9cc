"""YAML in which every value knows its place, for files that strangers may have written.

Read from events in one pass, without recursion, so that size, depth and node count are bounded
while the file is still being read. Aliases, tags and duplicate keys are refused. Plain scalars are
numbers only where YAML 1.1 and 1.2 agree (``0.5``, ``4.0e-4``), so that no editor reads them
differently; ``true``, ``false`` and ``null`` are the only other words with a meaning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import yaml

from advisor.errors import Location, RuleError

Plain = str | float | int | bool | None | list["Plain"] | dict[str, "Plain"]

MAX_BYTES = 2_000_000
MAX_NODES = 100_000
MAX_DEPTH = 20

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]{1,3})?")
_LOOKS_NUMERIC = re.compile(r"[-+]?[0-9][0-9_,.]*([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, kw_only=True)
class TextLocation(Location):
    """The place of a scalar, and how its text is written there.

    ``written`` is what stands in the file between the scalar's marks, quotes and block header
    included; ``style`` is YAML's: ``'`` and ``"`` quoted, ``|`` and ``>`` block, empty for plain.
    """

    written: str
    style: str

    def __str__(self) -> str:
        """Return ``name:line:column``."""
        return super().__str__()

    def inside(self, text: str, offset: int) -> Location:
        """Return the place in the file of ``text[offset]``, where ``text`` is the scalar's value.

        Folding and indentation change white space only, so the place is found by counting the other
        characters.
        """
        wanted = sum(not character.isspace() for character in text[:offset])
        line, column = self.line or 1, self.column or 1
        for index, width in _characters(self.written, self.style):
            if wanted == 0:
                before = self.written[:index]
                rows = before.count("\n")
                column = index - before.rfind("\n") if rows else column + index
                return Location(name=self.name, line=line + rows, column=column)
            wanted -= width
        return Location(name=self.name, line=self.line, column=self.column)


def locate(at: Location, text: str, offset: int) -> Location:
    """Return the place of ``text[offset]`` where ``text`` begins at ``at``."""
    if isinstance(at, TextLocation):
        return at.inside(text, offset)
    before = text[:offset]
    rows = before.count("\n")
    column = offset - before.rfind("\n") if rows else (at.column or 1) + offset
    return Location(name=at.name, line=(at.line or 1) + rows, column=column)


def _characters(written: str, style: str) -> Iterator[tuple[int, int]]:
    """Yield the index of each character that is not white space; 1 if it is one of the value's."""
    index = 0
    if style in ("|", ">"):
        index = written.find("\n") + 1
    elif style:
        index = 1
    escapes = {"'": "'", '"': "\\"}.get(style)
    while index < len(written):
        character = written[index]
        if not character.isspace():
            yield index, 1
            index += character == escapes
        index += 1


class Node:
    """A value of a document. ``at`` is its place."""

    at: Location

    def as_text(self) -> str:
        """Return the text; numbers and words are not text."""
        raise self.unexpected("a text")

    def as_number(self) -> float:
        """Return the number; text that looks like one is refused with the spelling to use."""
        raise self.unexpected("a number")

    def as_boolean(self) -> bool:
        """Return true or false."""
        raise self.unexpected("true or false")

    def as_mapping(self) -> MappingNode:
        """Return the node, a mapping."""
        raise self.unexpected("a mapping (key: value)")

    def as_sequence(self) -> SequenceNode:
        """Return the node, a sequence."""
        raise self.unexpected("a list")

    def plain(self) -> Plain:
        """Return the value without places: dict, list, text, number, boolean or None."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return what the node is, in words for an error."""
        raise NotImplementedError

    def unexpected(self, wanted: str, hint: str | None = None) -> RuleError:
        """Return the error that says what was wanted here and what was found."""
        return RuleError(f"expected {wanted}, found {self.describe()}", at=self.at, hint=hint)


@dataclass(frozen=True, kw_only=True)
class ScalarNode(Node):
    """A text, number, boolean or null; ``text`` as read, ``value`` as meant."""

    at: Location
    text: str
    value: str | float | bool | None

    def as_text(self) -> str:
        """Return the text; numbers and words are not text."""
        if isinstance(self.value, str):
            return self.value
        hint = None if self.value is None else f'put it in quotes: "{self.text}"'
        raise self.unexpected("a text", hint)

    def as_number(self) -> float:
        """Return the number as a float; text that looks like one is refused with a hint."""
        if isinstance(self.value, (int, float)) and not isinstance(self.value, bool):
            return float(self.value)
        raise self.unexpected("a number", self._number_hint())

    def as_boolean(self) -> bool:
        """Return true or false."""
        if isinstance(self.value, bool):
            return self.value
        raise self.unexpected("true or false")

    def plain(self) -> Plain:
        """Return the value."""
        return self.value

    def describe(self) -> str:
        """Return the kind of the value and the value."""
        if self.value is None:
            return "nothing (null)"
        kind = {str: "the text", bool: "the word"}.get(type(self.value), "the number")
        return f"{kind} {self.text[:60]!r}"

    def _number_hint(self) -> str | None:
        if not isinstance(self.value, str) or not _LOOKS_NUMERIC.fullmatch(self.text):
            return None
        try:
            number = float(self.text.replace("_", "").replace(",", ""))
        except ValueError:
            return None
        spelled = f"{number!r}" if "e" in f"{number!r}" else f"{number:.6e}"
        if "." not in spelled:
            spelled = spelled.replace("e", ".0e")
        return f"YAML reads this as text; write {spelled}"


@dataclass(frozen=True, kw_only=True)
class SequenceNode(Node):
    """A list of nodes."""

    at: Location
    nodes: tuple[Node, ...]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def as_sequence(self) -> SequenceNode:
        """Return the node."""
        return self

    def texts(self) -> tuple[str, ...]:
        """Return the texts of a list of texts."""
        return tuple(node.as_text() for node in self.nodes)

    def plain(self) -> Plain:
        """Return the list of plain values."""
        return [node.plain() for node in self.nodes]

    def describe(self) -> str:
        """Return the words for an error."""
        return "a list"


@dataclass(frozen=True, kw_only=True)
class MappingNode(Node):
    """Nodes by key, in file order; ``places`` are those of the keys."""

    at: Location
    nodes: dict[str, Node]
    places: dict[str, Location]

    def __contains__(self, key: object) -> bool:
        return key in self.nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, key: str) -> Node:
        """Return the node of a key that must be there.

        Raises:
            RuleError: it is not; names the mapping's place.
        """
        if key not in self.nodes:
            raise RuleError(f"the key {key!r} is missing", at=self.at)
        return self.nodes[key]

    def get(self, key: str) -> Node | None:
        """Return the node of a key, or None."""
        return self.nodes.get(key)

    def items(self) -> Iterable[tuple[str, Node]]:
        """Return the pairs of key and node, in file order."""
        return self.nodes.items()

    def as_mapping(self) -> MappingNode:
        """Return the node."""
        return self

    def text(self, key: str) -> str:
        """Return the text of a key that must be there."""
        return self[key].as_text()

    def number(self, key: str) -> float:
        """Return the number of a key that must be there."""
        return self[key].as_number()

    def boolean(self, key: str) -> bool:
        """Return the boolean of a key that must be there."""
        return self[key].as_boolean()

    def mapping(self, key: str) -> MappingNode:
        """Return the mapping of a key that must be there."""
        return self[key].as_mapping()

    def sequence(self, key: str) -> SequenceNode:
        """Return the list of a key that must be there."""
        return self[key].as_sequence()

    def refuse_unknown(self, allowed: Iterable[str]) -> None:
        """Refuse keys that are not in ``allowed``.

        Raises:
            RuleError: names the key, its place, and the key that was probably meant.
        """
        known = sorted(allowed)
        for key in self.nodes:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
                raise RuleError(f"unknown key {key!r}", at=self.places[key], hint=hint)

    def plain(self) -> Plain:
        """Return the dict of plain values."""
        return {key: node.plain() for key, node in self.nodes.items()}

    def describe(self) -> str:
        """Return the words for an error."""
        return "a mapping"


def load(source: Path | str, *, name: str | None = None) -> MappingNode:
    """Return the mapping that a YAML file (a path) or YAML text (a string) holds.

    ``name`` is what errors call the file; the path by default.

    Raises:
        RuleError: not YAML, not one mapping, or over the limits; with line and column.
    """
    name = name or (str(source) if isinstance(source, Path) else "<text>")
    text = _read(source, name) if isinstance(source, Path) else source
    if len(text) > MAX_BYTES:
        raise RuleError(f"larger than {MAX_BYTES:,} bytes", at=Location(name=name))
    try:
        return _Builder(name, text).build().as_mapping()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = Location(name=name, line=mark.line + 1, column=mark.column + 1) if mark else None
        problem = getattr(error, "problem", None) or getattr(error, "reason", None)
        raise RuleError(f"not YAML: {problem}", at=at or Location(name=name)) from error


def _read(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise RuleError(f"larger than {MAX_BYTES:,} bytes", at=Location(name=name))
        return data.decode("utf-8-sig")
    except OSError as error:
        raise RuleError(f"cannot be read: {error.strerror}", at=Location(name=name)) from error
    except UnicodeDecodeError as error:
        at = Location(name=name, offset=error.start)
        raise RuleError("not UTF-8 text", at=at) from error


class _Builder:
    """Builds the tree from events; ``_open`` holds the collections not yet ended."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._open: list[tuple[Location, list[Node]]] = []
        self._root: Node | None = None
        self._count = 0

    def build(self) -> Node:
        """Return the root node of the only document."""
        for event in yaml.parse(self._text, Loader=yaml.CSafeLoader):
            self._take(event)
        if self._root is None:
            raise RuleError("the file is empty", at=Location(name=self._name, line=1, column=1))
        return self._root

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._add(self._scalar(event))
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            at = self._checked(event)
            self._open.append((at, []))
            if len(self._open) > MAX_DEPTH:
                raise RuleError(f"nested deeper than {MAX_DEPTH} levels", at=at)
        elif isinstance(event, yaml.MappingEndEvent):
            at, nodes = self._open.pop()
            self._add(self._mapping(at, nodes))
        elif isinstance(event, yaml.SequenceEndEvent):
            at, nodes = self._open.pop()
            self._add(SequenceNode(at=at, nodes=tuple(nodes)))
        elif isinstance(event, yaml.AliasEvent):
            hint = "write the value out"
            raise RuleError("YAML aliases are not allowed here", at=self._at(event), hint=hint)

    def _add(self, node: Node) -> None:
        if self._open:
            self._open[-1][1].append(node)
        elif self._root is None:
            self._root = node
        else:
            raise RuleError("more than one YAML document in the file", at=node.at)

    def _at(self, event: yaml.Event) -> Location:
        mark = event.start_mark
        return Location(name=self._name, line=mark.line + 1, column=mark.column + 1)

    def _checked(self, event: yaml.NodeEvent) -> Location:
        """Return the place of a node that is within the limits and has no tag."""
        at = self._at(event)
        self._count += 1
        if self._count > MAX_NODES:
            raise RuleError(f"more than {MAX_NODES:,} values in one file", at=at)
        if event.tag is not None:
            raise RuleError(f"the YAML tag {event.tag!r} is not allowed here", at=at)
        return at

    def _scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        self._checked(event)
        start, end = event.start_mark, event.end_mark
        at = TextLocation(
            name=self._name,
            line=start.line + 1,
            column=start.column + 1,
            written=self._text[start.index : end.index],
            style=event.style or "",
        )
        value = _meaning(event.value) if event.implicit[0] else event.value
        return ScalarNode(at=at, text=event.value, value=value)

    def _mapping(self, at: Location, nodes: list[Node]) -> MappingNode:
        found: dict[str, Node] = {}
        places: dict[str, Location] = {}
        for key, node in zip(nodes[::2], nodes[1::2], strict=True):
            if not isinstance(key, ScalarNode):
                raise key.unexpected("a key")
            if key.text in found:
                hint = f"it is first given in line {places[key.text].line}"
                raise RuleError(f"the key {key.text!r} is given twice", at=key.at, hint=hint)
            found[key.text] = node
            places[key.text] = key.at
        return MappingNode(at=at, nodes=found, places=places)


def _meaning(text: str) -> str | float | int | bool | None:
    """Return what a plain scalar means; text unless YAML 1.1 and 1.2 agree on more."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
