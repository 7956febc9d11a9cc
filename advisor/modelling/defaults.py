"""What models take for granted, read from ``rules/modelling.yaml``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from advisor.documents import SequenceNode, load
from advisor.records import dataclass
from advisor.resources import data_dir


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """The file says what each is; ``formats`` are bytes of an element by name.

    ``pipes`` are ceilings of work by pipe and by the widest element [B] that they are for.
    """

    work: tuple[str, ...]
    pipes: Mapping[str, Mapping[float, tuple[str, ...]]]
    formats: Mapping[str, float]
    cost_flops: str
    cost_bytes: str
    activations: float
    refused_keys: Mapping[str, str]
    refused_types: Mapping[str, str]

    def usual(self, pipe: str | None) -> Mapping[float, tuple[str, ...]]:
        """Return the ceilings of work that names a pipe, or none, by the widest element [B]."""
        return {math.inf: self.work} if pipe is None else self.pipes[pipe]


def defaults_file() -> Path:
    """Return where they stand."""
    return data_dir("rules") / "modelling.yaml"


def load_defaults() -> Defaults:
    """Return them.

    Raises:
        RuleError: the file is wrong; with its place.
    """
    node = load(defaults_file())
    node.refuse_unknown(("work", "formats", "costs", "activations", "refused"))
    formats = node.mapping("formats")
    costs = node.mapping("costs")
    refused = node.mapping("refused")
    keys, types = refused.mapping("keys"), refused.mapping("model_types")
    work = node.mapping("work")
    work.refuse_unknown(("default", "pipes"))
    pipes = work.mapping("pipes")
    return Defaults(
        work=work.sequence("default").texts(),
        pipes={pipe: _by_width(pipes.sequence(pipe)) for pipe in pipes},
        formats={name: formats.number(name) for name in formats},
        cost_flops=costs.text("flops"),
        cost_bytes=costs.text("bytes"),
        activations=node.number("activations"),
        refused_keys={key: keys.text(key) for key in keys},
        refused_types={kind: types.text(kind) for kind in types},
    )


def _by_width(nodes: SequenceNode) -> dict[float, tuple[str, ...]]:
    found = {}
    for entry in (each.as_mapping() for each in nodes):
        entry.refuse_unknown(("width", "work"))
        found[entry.number("width")] = entry.sequence("work").texts()
    return dict(sorted(found.items()))
