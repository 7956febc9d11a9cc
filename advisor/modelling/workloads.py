"""Workloads: what a language model is made of, read from ``rules/workloads/*.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from advisor.documents import DocumentNode, MappingNode, SequenceNode, load
from advisor.errors import RuleError
from advisor.expression import Kind, Symbol, compile_expression
from advisor.modelling.given import Given, read_given
from advisor.records import dataclass
from advisor.units import DIMENSIONLESS

FOLDER = "workloads"
COMMANDED = ("batch", "context", "prefill", "weight", "kv", "element")
KEYS = (
    "id", "title", "model_types", "config", "refuse", "sizes", "parameters", "cache", "per",
    "element_wise_work", "operations", "references",
)  # fmt: skip
_CONFIG_KEYS = ("keys", "default", "for", "required", "counted")


@dataclass(frozen=True, kw_only=True)
class Key:
    """A size that a configuration gives: its keys, else a default, for some model types another.

    ``required`` are model types without a default. ``counted`` tells that a list counts.
    """

    keys: tuple[str, ...]
    default: Given | None
    special: Mapping[str, Given]
    required: frozenset[str] = frozenset()
    counted: bool = False

    def otherwise(self, model_type: str) -> Given | None:
        """Return what holds where the configuration has none of the keys; None where it must."""
        if model_type in self.required:
            return None
        return self.special.get(model_type, self.default)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Parameters of one kind: how many there are, and how many a token passes."""

    count: Given
    active: Given


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A kind of language model; operations stay nodes until their sizes are known."""

    id: str
    model_types: tuple[str, ...]
    config: Mapping[str, Key]
    refused: tuple[tuple[Given, str], ...]
    sizes: Mapping[str, Given]
    parameters: Mapping[str, Counted]
    bytes_per_token: Given
    positions: Given
    per: Given
    vector_works: tuple[str, ...]
    operations: SequenceNode

    @property
    def names(self) -> frozenset[str]:
        """Return every name that its formulas may use."""
        return frozenset((*COMMANDED, *self.config, *self.sizes))


def load_workloads(directories: Sequence[Path]) -> dict[str, Workload]:
    """Return the workloads of some directories of rules by model type; later ones win.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    found: dict[str, Workload] = {}
    for directory in directories:
        for path in sorted((directory / FOLDER).glob("*.yaml")):
            workload = read_workload(load(path))
            found |= dict.fromkeys(workload.model_types, workload)
    return found


def read_workload(node: MappingNode) -> Workload:
    """Return the workload that a mapping describes.

    Raises:
        RuleError: a key or a formula is wrong; with its place.
    """
    node.refuse_unknown(KEYS)
    config, derived = node.mapping("config"), node.mapping("sizes")
    names = frozenset((*COMMANDED, *config, *derived))
    cache = node.mapping("cache")
    cache.refuse_unknown(("bytes_per_token", "positions"))
    refuse = node.sequence("refuse") if "refuse" in node else ()
    return Workload(
        id=node.text("id"),
        model_types=node.sequence("model_types").texts(),
        config={name: _key(entry.as_mapping(), names) for name, entry in config.items()},
        refused=tuple(_refused(entry.as_mapping(), names) for entry in refuse),
        sizes={name: read_given(entry, names) for name, entry in derived.items()},
        parameters={
            name: _counted(entry.as_mapping(), names)
            for name, entry in node.mapping("parameters").items()
        },
        bytes_per_token=read_given(cache["bytes_per_token"], names),
        positions=read_given(cache["positions"], names),
        per=read_given(node["per"], names),
        vector_works=node.sequence("element_wise_work").texts(),
        operations=node.sequence("operations"),
    )


def _key(node: MappingNode, names: Iterable[str]) -> Key:
    node.refuse_unknown(_CONFIG_KEYS)
    special = node.mapping("for") if "for" in node else None
    return Key(
        keys=node.sequence("keys").texts() if "keys" in node else (),
        default=read_given(node["default"], names) if "default" in node else None,
        special={} if special is None else {k: read_given(v, names) for k, v in special.items()},
        required=frozenset(node.sequence("required").texts())
        if "required" in node
        else frozenset(),
        counted="counted" in node and node.boolean("counted"),
    )


def _counted(node: MappingNode, names: Iterable[str]) -> Counted:
    node.refuse_unknown(("count", "active"))
    count = read_given(node["count"], names)
    return Counted(
        count=count, active=read_given(node["active"], names) if "active" in node else count
    )


def _refused(node: MappingNode, names: Iterable[str]) -> tuple[Given, str]:
    node.refuse_unknown(("when", "because"))
    return condition(node["when"], names), node.text("because")


def condition(node: DocumentNode, names: Iterable[str]) -> Given:
    """Return a condition over sizes, as a formula that is 1 where it holds and 0 where not.

    Raises:
        RuleError: it is no condition; with its place.
    """
    symbols = dict.fromkeys(names, Symbol(Kind.NUMBER, DIMENSIONLESS))
    made = compile_expression(node.as_text(), symbols, at=node.at, kind=Kind.BOOLEAN)
    holds = made.calculation()
    return Given(
        text=made.text,
        names=made.names,
        at=node.at,
        calculate=lambda find: 1.0 if holds(find) is True else 0.0,
    )


def without(node: MappingNode, *keys: str) -> MappingNode:
    """Return a mapping without some keys."""
    kept = {key: value for key, value in node.nodes.items() if key not in keys}
    if len(kept) + len([key for key in keys if key in node]) != len(node.nodes):
        raise RuleError("a key is there twice", at=node.at)
    return MappingNode(at=node.at, nodes=kept, places=node.places)
