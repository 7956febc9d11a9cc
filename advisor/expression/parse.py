"""Text to tree: sqlglot reads, a closed list of node classes is taken over, the rest is refused.

Words that are no keywords of ours are made plain names before parsing, so that SQL's other keywords
(``select``, ``cast``, ``over`` …) mean nothing here; function names are looked up by us.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from advisor.expression.tree import ExpressionNode

if TYPE_CHECKING:
    from advisor.expression.tree import Text

MAX_CHARACTERS = 8_000
MAX_TOKENS = 1_500
MAX_NESTING = 16
MAX_DEPTH = 60

_KEYWORDS = {
    "and": TokenType.AND,
    "between": TokenType.BETWEEN,
    "case": TokenType.CASE,
    "else": TokenType.ELSE,
    "end": TokenType.END,
    "false": TokenType.FALSE,
    "in": TokenType.IN,
    "is": TokenType.IS,
    "not": TokenType.NOT,
    "null": TokenType.NULL,
    "or": TokenType.OR,
    "then": TokenType.THEN,
    "true": TokenType.TRUE,
    "when": TokenType.WHEN,
}
_MARKS = {
    TokenType.COMMA,
    TokenType.DASH,
    TokenType.DOT,
    TokenType.EQ,
    TokenType.GT,
    TokenType.GTE,
    TokenType.IDENTIFIER,
    TokenType.LT,
    TokenType.LTE,
    TokenType.L_PAREN,
    TokenType.NEQ,
    TokenType.NUMBER,
    TokenType.PLUS,
    TokenType.R_PAREN,
    TokenType.SLASH,
    TokenType.STAR,
    TokenType.STRING,
}
_LITERALS = {TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING}
_OPENING = {TokenType.L_PAREN, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.END}
_PREFIX = {TokenType.NOT, TokenType.DASH}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "and",
    exp.Or: "or",
}
_ARGUMENTS: dict[type[exp.Expr], set[str]] = {
    exp.Column: {"this", "table"},
    exp.Identifier: {"this", "quoted"},
    exp.Literal: {"this", "is_string"},
    exp.Boolean: {"this"},
    exp.Null: set(),
    exp.Paren: {"this"},
    exp.Neg: {"this"},
    exp.Not: {"this"},
    exp.In: {"this", "expressions"},
    exp.Between: {"this", "low", "high"},
    exp.Is: {"this", "expression"},
    exp.Case: {"ifs", "default"},
    exp.If: {"this", "true"},
    exp.Anonymous: {"this", "expressions"},
} | {operator: {"this", "expression", "typed", "safe"} for operator in _BINARY}


class _PlainParser(Parser):
    """A parser to which every function is just a name with arguments."""

    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {}
    NO_PAREN_FUNCTIONS: ClassVar = {}


def parse(source: Text) -> ExpressionNode:
    """Return the tree of an expression.

    Raises:
        ExpressionError: not an expression of the language, or over the limits.
    """
    if len(source.text) > MAX_CHARACTERS:
        raise source.error(f"longer than {MAX_CHARACTERS:,} characters", 0)
    control = _CONTROL.search(source.text)
    if control:
        raise source.error("control characters are not allowed", control.start())
    try:
        tokens = list(_tokens(source))
        if not tokens:
            raise source.error("the expression is empty", 0)
        parsed = _PlainParser().parse_into(exp.Condition, tokens, source.text)
    except TokenError as error:
        raise source.error("a quote is not closed", 0) from error
    except ParseError as error:
        raise _syntax_error(source, error) from error
    except RecursionError as error:
        raise source.error("nested too deeply", 0) from error
    if len(parsed) != 1 or parsed[0] is None:
        raise source.error("not an expression", 0)
    return _Converter(source).convert(parsed[0], 0)


def _tokens(source: Text) -> Iterator[Token]:
    """Yield the tokens, checked against the closed list and the limits."""
    nesting = prefixes = 0
    for count, token in enumerate(Tokenizer().tokenize(source.text)):
        if count >= MAX_TOKENS:
            raise source.error(f"more than {MAX_TOKENS:,} words and signs", token.start)
        if token.comments:
            raise source.error("comments are not allowed", token.start)
        if token.token_type not in _LITERALS and _WORD.fullmatch(token.text):
            token.token_type = _KEYWORDS.get(token.text.lower(), TokenType.VAR)
        elif token.token_type not in _MARKS:
            raise source.error(f"{token.text[:20]!r} is not part of the language", token.start)
        nesting += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        prefixes = prefixes + 1 if token.token_type in _PREFIX else 0
        if max(nesting, prefixes) > MAX_NESTING:
            raise source.error(f"nested deeper than {MAX_NESTING} levels", token.start)
        yield token


def _syntax_error(source: Text, error: ParseError) -> Exception:
    details = error.errors[0] if error.errors else {}
    lines = source.text.split("\n")
    line = min(max(int(details.get("line") or 1), 1), len(lines))
    column = int(details.get("col") or 1) - len(details.get("highlight") or "")
    position = sum(len(before) + 1 for before in lines[: line - 1]) + max(column, 0)
    found = details.get("highlight") or ""
    problem = f"cannot be understood near {found[:40]!r}" if found else "cannot be understood"
    return source.error(problem, min(position, max(len(source.text) - 1, 0)))


class _Converter:
    """Takes sqlglot's tree over into ours, class by class."""

    def __init__(self, source: Text) -> None:
        self._source = source
        self._special: dict[type, Callable[[exp.Expr, int], ExpressionNode]] = {
            exp.Column: self._name,
            exp.Literal: self._literal,
            exp.Boolean: lambda node, _: ExpressionNode("literal", value=bool(node.this)),
            exp.Null: lambda _, __: ExpressionNode("literal"),
            exp.Paren: lambda node, depth: self.convert(node.this, depth),
            exp.Is: self._is_null,
            exp.In: lambda node, depth: self._of("in", [node.this, *node.expressions], depth),
            exp.Between: self._between,
            exp.Case: self._case,
            exp.Anonymous: self._call,
            exp.Neg: lambda node, depth: self._of("negate", [node.this], depth),
            exp.Not: lambda node, depth: self._of("not", [node.this], depth),
        }

    def convert(self, node: exp.Expr, depth: int) -> ExpressionNode:
        """Return our node for sqlglot's; ``depth`` counts the levels above it."""
        kind = type(node)
        if depth > MAX_DEPTH:
            raise self._error(node, f"more than {MAX_DEPTH} levels of operations")
        allowed = _ARGUMENTS.get(kind)
        if allowed is None or any(v and k not in allowed for k, v in node.args.items()):
            raise self._error(node, "this construction of SQL is not part of the language")
        if kind in _BINARY:
            return self._of(_BINARY[kind], [node.this, node.expression], depth)
        return self._special[kind](node, depth)

    def _error(self, node: exp.Expr, problem: str, hint: str | None = None) -> Exception:
        starts = (found.meta.get("start") for found in node.walk())
        return self._source.error(
            problem, min((s for s in starts if s is not None), default=0), hint
        )

    def _of(self, head: str, nodes: list[exp.Expr], depth: int) -> ExpressionNode:
        operands = tuple(self.convert(node, depth + 1) for node in nodes)
        return ExpressionNode(head, operands, position=operands[0].position)

    def _name(self, node: exp.Expr, _: int) -> ExpressionNode:
        identifier = node.this
        if type(identifier) is not exp.Identifier:
            raise self._error(node, "'*' is not a value")
        of = node.args.get("table")
        if of is None:
            return ExpressionNode(
                "name", value=identifier.this, position=identifier.meta.get("start", 0)
            )
        if of.args.get("quoted") or identifier.args.get("quoted"):
            raise self._error(node, "a quoted name has no parts")
        name = f"{of.this}.{identifier.this}"
        return ExpressionNode("name", value=name, position=of.meta.get("start", 0))

    def _literal(self, node: exp.Expr, _: int) -> ExpressionNode:
        position = node.meta.get("start", 0)
        if node.is_string:
            return ExpressionNode("literal", value=node.this, position=position)
        try:
            value = float(node.this)
        except ValueError:  # an exponent without digits
            raise self._error(node, f"{node.this[:40]} is no number") from None
        if not math.isfinite(value):
            raise self._error(node, f"{node.this[:40]} is too large for a number")
        return ExpressionNode("literal", value=value, position=position)

    def _is_null(self, node: exp.Expr, depth: int) -> ExpressionNode:
        if type(node.expression) is not exp.Null:
            raise self._error(node, "only 'is null' and 'is not null' are part of the language")
        return self._of("is null", [node.this], depth)

    def _between(self, node: exp.Expr, depth: int) -> ExpressionNode:
        return self._of("between", [node.this, node.args["low"], node.args["high"]], depth)

    def _case(self, node: exp.Expr, depth: int) -> ExpressionNode:
        branches = node.args["ifs"]
        parts = [part for branch in branches for part in (branch.this, branch.args["true"])]
        otherwise = node.args.get("default") or exp.Null()
        return self._of("case", [*parts, otherwise], depth)

    def _call(self, node: exp.Expr, depth: int) -> ExpressionNode:
        if not isinstance(node.this, str):
            raise self._error(node, "a quoted name is not a function")
        operands = tuple(self.convert(argument, depth + 1) for argument in node.expressions)
        fallback = operands[0].position if operands else 0
        position = node.meta.get("start", fallback)
        return ExpressionNode("call", operands, value=node.this.lower(), position=position)
