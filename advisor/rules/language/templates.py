"""Texts with numbers in them become sentences: a small, safe part of Jinja's language.

A template may name facts, pass them through the filters of ``advisor.wording``, and choose between
words by a condition on names. It cannot compute, call, loop or reach into anything, so a
stranger's rule can neither look around nor take long. Jinja only reads it; nothing is ever run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from advisor.documents import locate
from advisor.errors import Location, RuleError
from advisor.expression import Kind, Symbol
from advisor.rules.language.rule import Template
from advisor.rules.language.sentences import (
    FILTERS,
    Both,
    Chosen,
    ComparedPieces,
    Filtered,
    Named,
    Negated,
    Piece,
    PlainPiece,
)
from advisor.suggest import did_you_mean

MAX_LENGTH = 2000

_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Filter,
    nodes.Const,
    nodes.If,
    nodes.CondExpr,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Not,
)
_COMPARISONS = ("eq", "ne")
_DIGITS = range(16)  # as many as a number has
_ANY_NUMBER = 2.5  # neither whole nor one: every argument of a filter counts
_TERM = Symbol(kind=Kind.TEXT, unit=None)
_READER = ImmutableSandboxedEnvironment()


def read_template(
    text: str, names: Mapping[str, Symbol], at: Location, *, terms: Iterable[str] = ()
) -> Template:
    """Return the template that ``text`` is; ``names`` are those it may use.

    ``terms`` are the words that follow the vendor of the device, in capitals: ``WARPS``.

    Raises:
        RuleError: a name, filter or construct that is not allowed; with its line.
    """
    if len(text) > MAX_LENGTH:
        raise RuleError(f"the text is longer than {MAX_LENGTH:,} characters", at=at)
    try:
        tree = _READER.parse(text)
    except TemplateSyntaxError as error:
        raise RuleError(f"the template is wrong: {error.message}", at=at) from error
    _Joined(names).visit(tree)
    known = {**names, **dict.fromkeys(terms, _TERM)}
    found: dict[str, None] = {}
    for node in _walk(tree):
        _check(node, known, text, at)
        if isinstance(node, nodes.Name) and node.name in names:
            found[node.name] = None
    return Template(text=text, names=tuple(found), pieces=_sentence(tree.body), at=at)


class _Joined(NodeTransformer):
    """Makes one name of what is written ``before.x`` or ``ratio(x)``, where it is one."""

    def __init__(self, names: Mapping[str, Symbol]) -> None:
        self._names = names

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:
        """Return the name of a part, such as ``before.x``."""
        of = node.node
        return self._name(f"{of.name}.{node.attr}" if isinstance(of, nodes.Name) else "", node)

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        """Return the name of a call over one name, such as ``ratio(x)``."""
        of, given = node.node, node.args
        if isinstance(of, nodes.Name) and len(given) == 1 and isinstance(given[0], nodes.Name):
            return self._name(f"{of.name}({given[0].name})", node)
        return node

    def _name(self, name: str, node: nodes.Node) -> nodes.Node:
        return nodes.Name(name, "load", lineno=node.lineno) if name in self._names else node


def _walk(tree: nodes.Template) -> Iterator[nodes.Node]:
    yield tree
    yield from tree.find_all(nodes.Node)


def _check(node: nodes.Node, names: Mapping[str, Symbol], text: str, at: Location) -> None:
    """Refuse what a template must not do.

    Raises:
        RuleError: names the construct and its place.
    """
    found = _problem(node, names)
    if found is not None:
        problem, hint = found
        raise RuleError(problem, at=_place(node, text, at), hint=hint)


def _problem(node: nodes.Node, names: Mapping[str, Symbol]) -> tuple[str, str | None] | None:
    """Return what is wrong with a node, and a hint."""
    if not isinstance(node, _ALLOWED):
        hint = "name facts, filter them, choose words with if; compute in a fact instead"
        return f"a template cannot use {type(node).__name__}", hint
    if isinstance(node, nodes.Name) and node.name not in names:
        return f"unknown name {node.name!r}", did_you_mean(node.name, names)
    if isinstance(node, nodes.Operand) and node.op not in _COMPARISONS:
        return "a template compares with == and != only", None
    if isinstance(node, nodes.Filter):
        return _problem_of_filter(node, names)
    return _problem_of_output(node, names) if isinstance(node, nodes.Output) else None


def _problem_of_filter(
    node: nodes.Filter, names: Mapping[str, Symbol]
) -> tuple[str, str | None] | None:
    if node.name not in FILTERS:
        return f"unknown filter {node.name!r}", did_you_mean(node.name, FILTERS)
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return "a template names the arguments of a filter one by one", None
    if not _is_number(node.node, names):
        return f"the filter {node.name!r} needs a number", None
    arguments = [_argument(each) for each in node.args]
    if not all(isinstance(each, str) or each in _DIGITS for each in arguments):
        return f"the filter {node.name!r} takes a unit, a noun or digits, written out", None
    try:
        FILTERS[node.name](_ANY_NUMBER, *arguments)
    except (AttributeError, TypeError, ValueError):
        return f"the filter {node.name!r} does not take these arguments", None
    return None


def _argument(node: nodes.Expr) -> object:
    """Return an argument of a filter as it is written; a term is a noun."""
    if isinstance(node, nodes.Name) and node.name.isupper():
        return node.name
    return node.value if isinstance(node, nodes.Const) else None


def _is_number(node: nodes.Node | None, names: Mapping[str, Symbol]) -> bool:
    if isinstance(node, nodes.Name):
        return node.name not in names or names[node.name].kind is Kind.NUMBER
    if isinstance(node, nodes.CondExpr):
        return _is_number(node.expr1, names) and _is_number(node.expr2, names)
    return isinstance(node, nodes.Const) and isinstance(node.value, int | float)


def _problem_of_output(
    node: nodes.Output, names: Mapping[str, Symbol]
) -> tuple[str, str | None] | None:
    for name in _shown(node.nodes):
        if name in names and names[name].kind is Kind.NUMBER:
            hint = f"write {{{{ {name} | number }}}} or another filter: {', '.join(FILTERS)}"
            return f"the number {name!r} has no filter", hint
    return None


def _shown(parts: Iterable[nodes.Node | None]) -> Iterator[str]:
    """Yield the names that are shown as they are."""
    for part in parts:
        if isinstance(part, nodes.Name):
            yield part.name
        elif isinstance(part, nodes.CondExpr):
            yield from _shown((part.expr1, part.expr2))


def _place(node: nodes.Node, text: str, at: Location) -> Location:
    """Return the place of a node as well as Jinja knows it: its line, and its name within it."""
    offset = 0
    for _ in range((node.lineno or 1) - 1):
        offset = text.find("\n", offset) + 1
    if isinstance(node, nodes.Name | nodes.Filter):
        offset = max(offset, text.find(node.name, offset))
    return locate(at, text, offset)


def _sentence(tree: Sequence[nodes.Node]) -> tuple[Piece, ...]:
    """Return the pieces of checked statements."""
    return tuple(piece for node in tree for piece in _statement(node))


def _statement(node: nodes.Node) -> Iterator[Piece]:
    if isinstance(node, nodes.Output):
        yield from map(_piece, node.nodes)
    elif isinstance(node, nodes.If):
        otherwise = _sentence(node.else_)
        for branch in reversed(node.elif_):
            otherwise = (Chosen(_piece(branch.test), _sentence(branch.body), otherwise),)
        yield Chosen(_piece(node.test), _sentence(node.body), otherwise)


def _piece(node: nodes.Node) -> Piece:
    return _PIECES[type(node)](node)


def _filtered(node: Any) -> Piece:
    return Filtered(_piece(node.node), node.name, tuple(map(_piece, node.args)))


def _compared(node: nodes.Compare) -> Piece:
    others = [_piece(operand.expr) for operand in node.ops]
    equal = tuple(operand.op == "eq" for operand in node.ops)
    return ComparedPieces((_piece(node.expr), *others), equal)


def _choice(node: nodes.CondExpr) -> Piece:
    otherwise = () if node.expr2 is None else (_piece(node.expr2),)
    return Chosen(_piece(node.test), (_piece(node.expr1),), otherwise)


_PIECES: Mapping[type[nodes.Node], Callable[[Any], Piece]] = {
    nodes.TemplateData: lambda node: PlainPiece(node.data),
    nodes.Const: lambda node: PlainPiece(node.value),
    nodes.Name: lambda node: Named(node.name),
    nodes.And: lambda node: Both(_piece(node.left), _piece(node.right)),
    nodes.Not: lambda node: Negated(_piece(node.node)),
    nodes.Filter: _filtered,
    nodes.Compare: _compared,
    nodes.CondExpr: _choice,
}
