"""Values with places, and typed ways to ask for them."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from advisor.errors import Location, RuleError
from advisor.records import dataclass
from advisor.suggest import did_you_mean

MAX_NODES = 100_000
MAX_DEPTH = 20

Plain = str | float | int | bool | None | list["Plain"] | dict[str, "Plain"]

_LOOKS_NUMERIC = re.compile(r"[-+]?[0-9][0-9_,.]*([eE][-+]?[0-9]+)?")


class DocumentNode(ABC):
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

    @abstractmethod
    def plain(self) -> Plain:
        """Return the value without places: dict, list, text, number, boolean or None."""

    @abstractmethod
    def describe(self) -> str:
        """Return what the node is, in words for an error."""

    def unexpected(self, wanted: str, hint: str | None = None) -> RuleError:
        """Return the error that says what was wanted here and what was found."""
        return RuleError(f"expected {wanted}, found {self.describe()}", at=self.at, hint=hint)


@dataclass(frozen=True, kw_only=True)
class ScalarNode(DocumentNode):
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
        if math.isinf(number):
            return None
        spelled = f"{number:.15g}"
        if "e" in spelled and "." not in spelled:
            spelled = spelled.replace("e", ".0e")
        return f"YAML reads this as text; write {spelled}"


@dataclass(frozen=True, kw_only=True)
class SequenceNode(DocumentNode):
    """A list of nodes."""

    at: Location
    nodes: tuple[DocumentNode, ...]

    def __iter__(self) -> Iterator[DocumentNode]:
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
class MappingNode(DocumentNode):
    """Nodes by key, in file order; ``places`` are those of the keys."""

    at: Location
    nodes: dict[str, DocumentNode]
    places: dict[str, Location]

    def __contains__(self, key: object) -> bool:
        return key in self.nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, key: str) -> DocumentNode:
        """Return the node of a key that must be there.

        Raises:
            RuleError: it is not; names the mapping's place.
        """
        if key not in self.nodes:
            raise RuleError(f"the key {key!r} is missing", at=self.at)
        return self.nodes[key]

    def get(self, key: str) -> DocumentNode | None:
        """Return the node of a key, or None."""
        return self.nodes.get(key)

    def items(self) -> Iterable[tuple[str, DocumentNode]]:
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
                hint = did_you_mean(key, known, f"known keys: {', '.join(known)}")
                raise RuleError(f"unknown key {key!r}", at=self.places[key], hint=hint)

    def plain(self) -> Plain:
        """Return the dict of plain values."""
        return {key: node.plain() for key, node in self.nodes.items()}

    def describe(self) -> str:
        """Return the words for an error."""
        return "a mapping"
