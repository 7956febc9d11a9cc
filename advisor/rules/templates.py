"""Sentences with numbers in them: a small, safe part of Jinja.

A template may name facts, pass them through the filters of ``advisor.wording``, and choose between
words by a condition on a name. It cannot compute, call, loop or reach into anything, so a
stranger's rule can neither look around nor take long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2 import Template as Compiled
from jinja2.sandbox import ImmutableSandboxedEnvironment

from advisor import wording
from advisor.documents import locate
from advisor.errors import Location, RuleError
from advisor.expression import Kind, Symbol
from advisor.rules.rule import Template, Value

MAX_LENGTH = 2000

FILTERS: Mapping[str, Callable[..., str]] = {
    "bytes": wording.size,
    "count": wording.count,
    "number": wording.number,
    "percent": wording.percent,
    "rate": lambda value: wording.si(value, "B/s"),
    "seconds": wording.seconds,
    "si": wording.si,
}

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
    nodes.Not,
)
_COMPARISONS = ("eq", "ne")


class Wording:
    """Reads templates and fills them in; keeps what it compiled."""

    def __init__(self) -> None:
        environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, finalize=_spoken)
        environment.filters = dict(FILTERS)
        environment.globals = {}
        self._environment = environment
        self._compiled: dict[str, Compiled] = {}

    def read(self, text: str, names: Mapping[str, Symbol], at: Location) -> Template:
        """Return the template that ``text`` is; ``names`` are those it may use.

        Raises:
            RuleError: a name, filter or construct that is not allowed; with its line.
        """
        if len(text) > MAX_LENGTH:
            raise RuleError(f"the text is longer than {MAX_LENGTH:,} characters", at=at)
        try:
            tree = self._environment.parse(text)
        except TemplateSyntaxError as error:
            raise RuleError(f"the template is wrong: {error.message}", at=at) from error
        found: dict[str, None] = {}
        for node in _walk(tree):
            _check(node, names, text, at)
            if isinstance(node, nodes.Name):
                found[node.name] = None
        return Template(text=text, names=tuple(found), at=at)

    def fill(self, template: Template, values: Mapping[str, Value]) -> str:
        """Return the sentence with the values in it; what is NULL reads "unknown"."""
        compiled = self._compiled.get(template.text)
        if compiled is None:
            compiled = self._environment.from_string(template.text)
            self._compiled[template.text] = compiled
        shown = {name: values.get(name) for name in template.names}
        return compiled.render(shown).strip()


def _spoken(value: object) -> object:
    """Return what stands in a sentence for a value without a filter: NULL reads "unknown"."""
    return wording.UNKNOWN if value is None else value


def _walk(tree: nodes.Template) -> Iterator[nodes.Node]:
    yield tree
    yield from tree.find_all(nodes.Node)


def _check(node: nodes.Node, names: Mapping[str, Symbol], text: str, at: Location) -> None:
    """Refuse what a template must not do.

    Raises:
        RuleError: names the construct and its place.
    """
    place = _place(node, text, at)
    if not isinstance(node, _ALLOWED):
        hint = "name facts, filter them, choose words with if; compute in a fact instead"
        raise RuleError(f"a template cannot use {type(node).__name__}", at=place, hint=hint)
    if isinstance(node, nodes.Name) and node.name not in names:
        raise RuleError(f"unknown name {node.name!r}", at=place, hint=_near(node.name, names))
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        raise RuleError(f"unknown filter {node.name!r}", at=place, hint=_near(node.name, FILTERS))
    if isinstance(node, nodes.Operand) and node.op not in _COMPARISONS:
        raise RuleError("a template compares with == and != only", at=place)
    if isinstance(node, nodes.Output):
        _check_output(node, names, place)


def _check_output(node: nodes.Output, names: Mapping[str, Symbol], at: Location) -> None:
    shown = [part.name for part in node.nodes if isinstance(part, nodes.Name)]
    for name in shown:
        if name in names and names[name].kind is Kind.NUMBER:
            hint = f"write {{{{ {name} | number }}}} or another filter: {', '.join(FILTERS)}"
            raise RuleError(f"the number {name!r} has no filter", at=at, hint=hint)


def _place(node: nodes.Node, text: str, at: Location) -> Location:
    """Return the place of a node as well as Jinja knows it: its line, and its name within it."""
    offset = 0
    for _ in range((node.lineno or 1) - 1):
        offset = text.find("\n", offset) + 1
    if isinstance(node, nodes.Name | nodes.Filter):
        offset = max(offset, text.find(node.name, offset))
    return locate(at, text, offset)


def _near(name: str, known: Mapping[str, object]) -> str | None:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else None
