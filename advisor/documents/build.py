"""Text to nodes, in one pass over the events of the parser."""

from __future__ import annotations

import math
import re
from typing import cast

import yaml

from advisor.documents.nodes import (
    MAX_DEPTH,
    MAX_NODES,
    DocumentNode,
    MappingNode,
    ScalarNode,
    SequenceNode,
)
from advisor.documents.places import TextLocation
from advisor.errors import Location, RuleError

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]{1,3})?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


_TaggedEvent = yaml.ScalarEvent | yaml.CollectionStartEvent


def build(text: str, name: str) -> DocumentNode:
    """Return the root of the document that ``text`` is; ``name`` is what errors call it.

    Raises:
        RuleError: not YAML, or over the limits; with line and column.
    """
    try:
        return _Builder(name, text).build()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = Location(name=name, line=mark.line + 1, column=mark.column + 1) if mark else None
        problem = getattr(error, "problem", None) or getattr(error, "reason", None)
        raise RuleError(f"not YAML: {problem}", at=at or Location(name=name)) from error


def _marks(event: yaml.Event) -> tuple[yaml.Mark, yaml.Mark]:
    """Return where an event starts and ends; the C parser always knows."""
    return cast("tuple[yaml.Mark, yaml.Mark]", (event.start_mark, event.end_mark))


class _Builder:
    """Builds the tree from events; ``_open`` holds the collections not yet ended."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._open: list[tuple[Location, list[DocumentNode]]] = []
        self._root: DocumentNode | None = None
        self._count = 0

    def build(self) -> DocumentNode:
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
            at = self._at(event)
            self._check(event, at)
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

    def _add(self, node: DocumentNode) -> None:
        if self._open:
            self._open[-1][1].append(node)
        elif self._root is None:
            self._root = node
        else:
            raise RuleError("more than one YAML document in the file", at=node.at)

    def _at(self, event: yaml.Event) -> Location:
        start, _ = _marks(event)
        return Location(name=self._name, line=start.line + 1, column=start.column + 1)

    def _check(self, event: _TaggedEvent, at: Location) -> None:
        """Refuse a node that is over the limits or has a tag."""
        self._count += 1
        if self._count > MAX_NODES:
            raise RuleError(f"more than {MAX_NODES:,} values in one file", at=at)
        if event.tag is not None:
            raise RuleError(f"the YAML tag {event.tag!r} is not allowed here", at=at)

    def _scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        start, end = _marks(event)
        at = TextLocation(
            name=self._name,
            line=start.line + 1,
            column=start.column + 1,
            written=self._text[start.index : end.index],
            style=event.style or "",
        )
        self._check(event, at)
        value = _meaning(event.value) if event.implicit[0] else event.value
        return ScalarNode(at=at, text=event.value, value=value)

    def _mapping(self, at: Location, nodes: list[DocumentNode]) -> MappingNode:
        found: dict[str, DocumentNode] = {}
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
