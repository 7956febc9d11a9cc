"""What other programs call our severities, and how much they take: ``rules/formats.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from advisor.cache import remembered
from advisor.documents import load
from advisor.documents.nodes import MappingNode
from advisor.records import dataclass
from advisor.resources import data_dir

_SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, kw_only=True)
class FormatLimits:
    """Numbers of section ``limits``, which says where each comes from.

    ``summary`` and ``comment`` are bytes, ``label``, ``name`` and ``message`` characters, the
    others counts.
    """

    annotations: int
    summary: int
    comment: int
    results: int
    kernels: int
    label: int
    name: int
    message: int
    comment_rows: int


@dataclass(frozen=True, kw_only=True)
class VerdictText:
    """Words for a series with one verdict."""

    severity: str
    title: str
    why: str


@dataclass(frozen=True, kw_only=True)
class FormatSettings:
    """Severities by format and our word, verdicts by their word, and limits."""

    severities: Mapping[str, Mapping[str, str]]
    history: Mapping[str, VerdictText]
    limits: FormatLimits


def load_format_settings() -> FormatSettings:
    """Return what the file says, from the cache where it is unchanged.

    Raises:
        RuleError: an entry is missing, unknown or wrong; with its place.
    """
    path = data_dir("rules") / "formats.yaml"
    return remembered("formats", [path], "", lambda: _read(load(path)))


def _read(document: MappingNode) -> FormatSettings:
    document.refuse_unknown(("severities", "history", "limits"))
    severities, history = document.mapping("severities"), document.mapping("history")
    return FormatSettings(
        severities={name: _words(severities.mapping(name)) for name in severities},
        history={name: _verdict(history.mapping(name)) for name in history},
        limits=_limits(document.mapping("limits")),
    )


def _words(node: MappingNode) -> dict[str, str]:
    node.refuse_unknown(_SEVERITIES)
    return {name: node.text(name) for name in _SEVERITIES}


def _verdict(node: MappingNode) -> VerdictText:
    node.refuse_unknown([field.name for field in fields(VerdictText)])
    return VerdictText(**{field.name: node.text(field.name) for field in fields(VerdictText)})


def _limits(node: MappingNode) -> FormatLimits:
    names = [field.name for field in fields(FormatLimits)]
    node.refuse_unknown(names)
    entries = {name: node.mapping(name) for name in names}
    for entry in entries.values():
        entry.refuse_unknown(("value", "source"))
        entry.text("source")
    return FormatLimits(**{name: int(entry.number("value")) for name, entry in entries.items()})
