"""The lines under ``verify`` of a rule file: read, typed and checked like its conditions."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.documents import DocumentNode, MappingNode, ScalarNode
from advisor.errors import RuleError
from advisor.expression import Kind, Symbol, compile_expression
from advisor.rules.language.verification import Criterion, Direction, Verify

CHECK_KEYS = ("expression", "moves", "target", "tolerance", "called")
NOTE_KEYS = ("note",)


def read_verify(node: DocumentNode, names: Mapping[str, Symbol], tolerance: float) -> Verify:
    """Return what to verify; ``tolerance`` holds where a line has none of its own.

    Raises:
        RuleError: a line is wrong, or nothing can be measured; with its place.
    """
    lines = [entry.as_mapping() for entry in node.as_sequence()]
    notes = [line for line in lines if "note" in line]
    for line in notes:
        line.refuse_unknown(NOTE_KEYS)
    checks = [_check(line, names, tolerance) for line in lines if "note" not in line]
    if not lines:
        hint = "write {expression: duration, moves: down}, or {note: …} where nothing is measured"
        raise RuleError("there is nothing to verify", at=node.at, hint=hint)
    return Verify(checks=tuple(checks), notes=tuple(line.text("note") for line in notes))


def _check(line: MappingNode, names: Mapping[str, Symbol], tolerance: float) -> Criterion:
    line.refuse_unknown(CHECK_KEYS)
    at = line["expression"].at
    expression = compile_expression(line.text("expression"), names, at=at, kind=Kind.NUMBER)
    own = line.number("tolerance") if "tolerance" in line else None
    if own is not None and not 0 <= own <= 1:
        problem = "a tolerance is a share of the value before, from 0 to 1"
        raise RuleError(problem, at=line["tolerance"].at)
    moves = _direction(line["moves"])
    target = None
    if "target" in line:
        if moves.forbids:
            hint = "write `up` or `down`, or leave the target out"
            raise RuleError("what must not move has no target", at=line["target"].at, hint=hint)
        target = compile_expression(
            _expression(line["target"]),
            names,
            at=line["target"].at,
            kind=Kind.NUMBER,
            unit=expression.unit,
        )
    check = Criterion(
        expression=expression,
        moves=moves,
        tolerance=tolerance if own is None else own,
        has_own_tolerance=own is not None,
        target=target,
        called=line.text("called") if "called" in line else None,
    )
    _refuse_unnamed(check, line)
    return check


def _expression(node: DocumentNode) -> str:
    """Return the text of an expression, which may be a plain number."""
    if isinstance(node, ScalarNode) and isinstance(node.value, float | int):
        return node.text
    return node.as_text()


def _direction(node: DocumentNode) -> Direction:
    for direction in Direction:
        if direction.value == node.as_text():
            return direction
    raise node.unexpected(" or ".join(repr(each.value) for each in Direction))


def _refuse_unnamed(check: Criterion, line: MappingNode) -> None:
    """Refuse an expression that readers could only be shown as it is written.

    Raises:
        RuleError: names the line.
    """
    if check.fact is None and check.called is None:
        hint = "add `called: …`, its name in a sentence"
        raise RuleError("an expression needs a name for readers", at=line.at, hint=hint)
    if check.fact is not None and check.called is not None:
        hint = "leave `called` out"
        raise RuleError(f"{check.fact!r} has a name already", at=line["called"].at, hint=hint)
