"""What models take for granted, read from ``rules/modelling.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from advisor.documents import load
from advisor.records import dataclass
from advisor.resources import data_dir


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """The file says what each is; ``formats`` are bytes of an element by name."""

    work: tuple[str, ...]
    formats: Mapping[str, float]
    cost_flops: str
    cost_bytes: str
    activations: float
    refused_keys: Mapping[str, str]
    refused_types: Mapping[str, str]


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
    return Defaults(
        work=node.mapping("work").sequence("default").texts(),
        formats={name: formats.number(name) for name in formats},
        cost_flops=costs.text("flops"),
        cost_bytes=costs.text("bytes"),
        activations=node.number("activations"),
        refused_keys={key: keys.text(key) for key in keys},
        refused_types={kind: types.text(kind) for kind in types},
    )
