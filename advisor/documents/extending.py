"""Documents that have an id, by which later ones may extend earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from advisor.documents.load import load
from advisor.documents.nodes import DocumentNode, MappingNode
from advisor.errors import RuleError
from advisor.suggest import did_you_mean


def add_document(
    path: Path, nodes: dict[str, MappingNode], *, wanted: str, what: str, merged: Iterable[str] = ()
) -> str:
    """Read a file into ``nodes``, merged with the document that it extends; return its id.

    ``wanted`` is the id that its path asks for, ``what`` the word for such a document; mappings
    under the keys ``merged`` are merged entry by entry, all else is replaced.

    Raises:
        RuleError: it is not YAML, its id is not its path, or what it extends is not in ``nodes``.
    """
    node = load(path, name=str(path))
    found = node.text("id")
    if found != wanted:
        problem = f"the id is {found!r}, the path says {wanted!r}"
        raise RuleError(problem, at=node["id"].at, hint=f"write id: {wanted}")
    extends = node.get("extends")
    if extends is not None:
        node = _extended(node, extends, nodes, what, merged)
    elif found in nodes:
        hint = f"add `extends: {found}` to change it; it is at {nodes[found].at}"
        raise RuleError(f"the {what} {found!r} exists", at=node["id"].at, hint=hint)
    nodes[found] = node
    return found


def _extended(
    node: MappingNode,
    extends: DocumentNode,
    known: Mapping[str, MappingNode],
    what: str,
    merged: Iterable[str],
) -> MappingNode:
    base_id = extends.as_text()
    if base_id not in known:
        hint = did_you_mean(base_id, known)
        raise RuleError(f"there is no {what} {base_id!r} to extend", at=extends.at, hint=hint)
    base = known[base_id]
    both = _merged(base, node)
    for key in merged:
        if key in base and key in node:
            both.nodes[key] = _merged(base.mapping(key), node.mapping(key))
    return both


def _merged(base: MappingNode, over: MappingNode) -> MappingNode:
    return MappingNode(
        at=over.at,
        nodes={**base.nodes, **over.nodes},
        places={**base.places, **over.places},
    )
