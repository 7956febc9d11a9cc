"""One configuration file becomes one layer: every key checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TypeVar

from advisor.configuration.entries import Budget, KernelOperation, Suppression, ThresholdSetting
from advisor.configuration.records import Layer
from advisor.configuration.setting import Setting
from advisor.configuration.toml import load_table
from advisor.documents import DocumentNode, MappingNode, load
from advisor.errors import ConfigError, RuleError
from advisor.units import parse_unit

KEYS = (
    "budgets",
    "database",
    "devices",
    "disable",
    "operations",
    "report",
    "rules",
    "severity",
    "suppress",
    "thresholds",
    "wait",
)
REPORT_FORMATS = (
    "text", "html", "markdown", "json", "sarif", "junit", "github", "gitlab", "openmetrics",
    "comment", "csv", "parquet",
)  # fmt: skip
SEVERITIES = ("error", "warning", "note")

_SHAPE = re.compile(r"(?=.*[x*])[0-9(),x*\s]+", re.DOTALL)

T = TypeVar("T")


def read_file(path: Path) -> Layer | None:
    """Return what a file says; None for a ``pyproject.toml`` without ``[tool.advisor]``.

    Raises:
        ConfigError: it cannot be read, or a key or value is wrong; with line and column.
    """
    try:
        node = load_table(path) if path.suffix == ".toml" else load(path)
        return None if node is None else _layer(node, path.parent)
    except RuleError as error:
        raise ConfigError(error.problem, at=error.at, hint=error.hint) from error


def _layer(node: MappingNode, base: Path) -> Layer:
    node.refuse_unknown(KEYS)
    database, wait, devices = node.get("database"), node.get("wait"), node.get("devices")
    return Layer(
        database=None if database is None else _setting(str(_path(database, base)), database),
        wait=None if wait is None else _setting(_not_negative(wait, "seconds"), wait),
        report_format=_report_format(node.get("report")),
        devices=None if devices is None else _setting(_path(devices, base), devices),
        rules=tuple(_directory(each, base) for each in _list(node, "rules")),
        thresholds={
            rule: {name: _threshold(value) for name, value in entry.as_mapping().items()}
            for rule, entry in _pairs(node, "thresholds")
        },
        disable={each.as_text(): each.at for each in _list(node, "disable")},
        severity={
            rule: _setting(_word(word, SEVERITIES), word) for rule, word in _pairs(node, "severity")
        },
        suppress=tuple(_suppression(each.as_mapping()) for each in _list(node, "suppress")),
        operations=tuple(_operation(each.as_mapping()) for each in _list(node, "operations")),
        budgets=tuple(_budget(each.as_mapping()) for each in _list(node, "budgets")),
    )


def _list(node: MappingNode, key: str) -> Iterable[DocumentNode]:
    return node.sequence(key) if key in node else ()


def _pairs(node: MappingNode, key: str) -> Iterable[tuple[str, DocumentNode]]:
    return node.mapping(key).items() if key in node else ()


def _setting(value: T, node: DocumentNode) -> Setting[T]:
    return Setting(value=value, origin=str(node.at))


def _path(node: DocumentNode, base: Path) -> Path:
    """Return a path of the file, relative to the file's directory."""
    text = node.as_text()
    if not text:
        raise node.unexpected("a path")
    return base / Path(text).expanduser()


def _directory(node: DocumentNode, base: Path) -> Setting[Path]:
    path = _path(node, base)
    if not path.is_dir():
        hint = "paths are relative to the directory of the configuration file"
        raise ConfigError(f"there is no directory {str(path)!r}", at=node.at, hint=hint)
    return _setting(path, node)


def _not_negative(node: DocumentNode, what: str) -> float:
    value = node.as_number()
    if value < 0:
        raise node.unexpected(f"{what}, 0 or more")
    return value


def _report_format(node: DocumentNode | None) -> Setting[str] | None:
    if node is None:
        return None
    report = node.as_mapping()
    report.refuse_unknown(("format",))
    return _setting(_word(report["format"], REPORT_FORMATS), report["format"])


def _word(node: DocumentNode, allowed: tuple[str, ...]) -> str:
    text = node.as_text()
    if text not in allowed:
        raise node.unexpected(" or ".join(repr(word) for word in allowed))
    return text


def _threshold(node: DocumentNode) -> ThresholdSetting:
    """Return a bare number, or what ``{value, unit}`` says."""
    if not isinstance(node, MappingNode):
        return ThresholdSetting(value=node.as_number(), unit=None, at=node.at)
    node.refuse_unknown(("value", "unit"))
    unit = node.text("unit") if "unit" in node else None
    return ThresholdSetting(value=node.number("value"), unit=unit, at=node["value"].at)


def _suppression(node: MappingNode) -> Suppression:
    node.refuse_unknown(("rule", "kernel", "reason", "expires", "owner"))
    return Suppression(
        rule=_filled(node["rule"]),
        kernel=_filled(node["kernel"]) if "kernel" in node else "*",
        reason=_filled(node["reason"]),
        expires=_day(node["expires"]) if "expires" in node else None,
        owner=_filled(node["owner"]) if "owner" in node else None,
        at=node.at,
    )


def _operation(node: MappingNode) -> KernelOperation:
    node.refuse_unknown(("kernel", "shape", "operation", "sizes"))
    return KernelOperation(
        kernel=_pattern(node["kernel"]),
        shape=_shape(node["shape"]) if "shape" in node else "*",
        operation=_setting(_filled(node["operation"]), node["operation"]),
        sizes={
            name: _setting(_not_negative(size, "a size"), size)
            for name, size in node.mapping("sizes").items()
        },
        at=node.at,
    )


def _budget(node: MappingNode) -> Budget:
    node.refuse_unknown(("kernel", "fact", "at_most", "at_least", "unit"))
    bounds = [key for key in ("at_most", "at_least") if key in node]
    if len(bounds) != 1:
        hint = "such as {kernel: gemm*, fact: duration, at_most: 1.2, unit: ms}"
        raise RuleError("a budget has either at_most or at_least", at=node.at, hint=hint)
    unit = node.text("unit")
    parse_unit(unit, at=node["unit"].at)
    return Budget(
        kernel=_pattern(node["kernel"]) if "kernel" in node else "*",
        fact=node.text("fact"),
        limit=node.number(bounds[0]),
        unit=unit,
        is_most=bounds == ["at_most"],
        at=node.at,
    )


def _pattern(node: DocumentNode) -> str:
    """Return a pattern that may stand in SQL: no database takes the character 0."""
    text = _filled(node)
    if "\0" in text:
        raise node.unexpected("a name without the character 0")
    return text


def _shape(node: DocumentNode) -> str:
    """Return a pattern of grid and block, spaced as they are stored."""
    text = _filled(node)
    if not _SHAPE.fullmatch(text):
        raise node.unexpected("grid and block such as (32, 32, 1)x(256, 1, 1) or (32, *)x*")
    return "".join(text.split()).replace(",", ", ")


def _filled(node: DocumentNode) -> str:
    text = node.as_text().strip()
    if not text:
        raise node.unexpected("some text")
    return text


def _day(node: DocumentNode) -> date:
    try:
        return date.fromisoformat(node.as_text())
    except ValueError as error:
        raise node.unexpected("a day such as 2026-12-31") from error
