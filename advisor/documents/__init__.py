"""YAML in which every value knows its place, for files that strangers may have written.

Read from events in one pass, without recursion, so that size, depth and node count are bounded
while the file is still being read. Aliases, tags and duplicate keys are refused. Plain scalars are
numbers only where YAML 1.1 and 1.2 agree (``0.5``, ``4.0e-4``), so that no editor reads them
differently; ``true``, ``false`` and ``null`` are the only other words with a meaning.
"""

from __future__ import annotations

from advisor.documents.extending import add_document
from advisor.documents.load import MAX_BYTES, load
from advisor.documents.nodes import (
    MAX_DEPTH,
    MAX_NODES,
    DocumentNode,
    MappingNode,
    Plain,
    ScalarNode,
    SequenceNode,
)
from advisor.documents.places import TextLocation, locate

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "DocumentNode",
    "MappingNode",
    "Plain",
    "ScalarNode",
    "SequenceNode",
    "TextLocation",
    "add_document",
    "load",
    "locate",
]
