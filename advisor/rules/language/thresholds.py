"""Named numbers of rules: read, given a unit, and replaced by the project's own."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.documents import DocumentNode
from advisor.errors import AdvisorError, ConfigError, Location, RuleError
from advisor.expression import Kind, Symbol
from advisor.records import dataclass
from advisor.rules.language.rule import Threshold
from advisor.suggest import did_you_mean
from advisor.units import Unit, parse_unit


@dataclass(frozen=True, kw_only=True)
class Override:
    """A threshold's value from a configuration; ``origin`` says which.

    It is in the unit of the rule where ``unit`` is None.
    """

    value: float
    origin: str
    unit: str | None = None


def read_thresholds(
    node: DocumentNode | None, symbols: Mapping[str, Symbol], overrides: Mapping[str, Override]
) -> dict[str, Threshold]:
    """Return the thresholds by name, with the overridden values.

    Raises:
        RuleError: an entry is wrong, or has the name of a fact.
        ConfigError: an override names no threshold.
    """
    entries = {} if node is None else dict(node.as_mapping().items())
    for name, override in overrides.items():
        if name not in entries:
            hint = did_you_mean(name, entries, f"known: {', '.join(entries)}")
            at = Location(name=override.origin)
            raise ConfigError(f"the rule has no threshold {name!r}", at=at, hint=hint)
    return {n: _threshold(n, e, symbols, overrides.get(n)) for n, e in entries.items()}


def _threshold(
    name: str, node: DocumentNode, symbols: Mapping[str, Symbol], override: Override | None
) -> Threshold:
    entry = node.as_mapping()
    entry.refuse_unknown(("value", "unit", "source"))
    if name in symbols:
        raise RuleError(f"{name!r} is a fact; give the threshold another name", at=node.at)
    unit_node = entry.get("unit")
    text = "1" if unit_node is None else unit_node.as_text()
    unit = parse_unit(text, at=node.at if unit_node is None else unit_node.at)
    shown = entry.number("value") if override is None else _overridden(override, unit, name)
    return Threshold(
        name=name,
        value=shown * float(unit.scale),
        shown=shown,
        unit=text,
        source=entry.text("source"),
        origin=node.at.name if override is None else override.origin,
    )


def _overridden(override: Override, unit: Unit, name: str) -> float:
    """Return the new value in ``unit``.

    Raises:
        ConfigError: it is in a unit of something else.
    """
    if override.unit is None:
        return override.value
    at = Location(name=override.origin)
    try:
        given = parse_unit(override.unit, at=at)
    except AdvisorError as error:
        raise ConfigError(error.problem, at=at, hint=error.hint) from error
    if given.dimension != unit.dimension:
        problem = f"the threshold {name!r} is in {unit}, not in {given}"
        raise ConfigError(problem, at=at, hint=f"give it in {unit}")
    return override.value * float(given.scale) / float(unit.scale)


def in_scope(
    symbols: Mapping[str, Symbol], thresholds: Mapping[str, Threshold]
) -> dict[str, Symbol]:
    """Return the symbols with the thresholds among them, in SI."""
    named = {
        name: Symbol(Kind.NUMBER, parse_unit(threshold.unit).in_si())
        for name, threshold in thresholds.items()
    }
    return {**symbols, **named}
