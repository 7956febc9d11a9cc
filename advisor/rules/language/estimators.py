"""Named estimators (``rules/estimators.yaml``): time that could be saved, from parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor.documents import MappingNode, load
from advisor.errors import RuleError
from advisor.expression import Expression, Kind, Symbol, compile_expression
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.rules.language.rule import BOUNDS, SECONDS, FilledExpression, GainRange
from advisor.rules.language.subjects import KERNEL, SUBJECTS, Subjects
from advisor.units import Unit, parse_unit

_KEYS = ("about", "source", "subjects", "parameters", *BOUNDS)


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """Three expressions in seconds over facts and ``parameters`` (name → unit)."""

    name: str
    about: str
    source: str
    parameters: Mapping[str, Unit]
    low: Expression
    likely: Expression
    high: Expression

    def bind(self, arguments: Mapping[str, Expression]) -> GainRange:
        """Return the gain with expressions in the place of the parameters."""
        low, likely, high = (
            FilledExpression(expression=bound, parameters=arguments)
            for bound in (self.low, self.likely, self.high)
        )
        return GainRange(low=low, likely=likely, high=high, estimator=self.name)


def load_estimators(
    symbols: Mapping[str, Symbol],
    subject: str = KERNEL,
    *,
    subjects: Subjects = SUBJECTS,
) -> dict[str, Estimator]:
    """Return the estimators for rules about a subject, by name; ``symbols`` are its facts.

    Raises:
        RuleError: an entry is wrong; with its place.
    """
    document = load(data_dir("rules") / "estimators.yaml")
    nodes = {name: node.as_mapping() for name, node in document.items()}
    return {
        name: _estimator(name, node, symbols)
        for name, node in nodes.items()
        if subject in _subjects(node, subjects)
    }


def _subjects(node: MappingNode, known: Subjects) -> Sequence[str]:
    if "subjects" not in node:
        return (KERNEL,)
    named = node.sequence("subjects")
    for entry in named:
        if entry.as_text() not in known:
            raise entry.unexpected(" or ".join(map(repr, known)))
    return named.texts()


def _estimator(name: str, node: MappingNode, symbols: Mapping[str, Symbol]) -> Estimator:
    node.refuse_unknown(_KEYS)
    units = {}
    parameters = node.get("parameters")
    for parameter, entry in parameters.as_mapping().items() if parameters else ():
        if parameter in symbols:
            raise RuleError(
                f"{parameter!r} is a fact; give the parameter another name", at=entry.at
            )
        described = entry.as_mapping()
        described.refuse_unknown(("unit", "about"))
        described.text("about")
        units[parameter] = parse_unit(described.text("unit"), at=described["unit"].at)
    scope = {**symbols, **{key: Symbol(Kind.NUMBER, unit) for key, unit in units.items()}}
    low, likely, high = (
        compile_expression(
            node.text(bound), scope, at=node[bound].at, kind=Kind.NUMBER, unit=SECONDS
        )
        for bound in BOUNDS
    )
    return Estimator(
        name=name,
        about=node.text("about"),
        source=node.text("source"),
        parameters=units,
        low=low,
        likely=likely,
        high=high,
    )
