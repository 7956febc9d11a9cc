"""The operations, to list and to read."""

from __future__ import annotations

from advisor.api.rule_listing import Rows, section
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.facts.operations import Operation, OperationSize, load_operations
from advisor.knowledge.load import load_knowledge
from advisor.knowledge.parts import nearest

_LIST = ("operation", "title", "sizes")


def list_operations(configuration: Configuration = DEFAULTS) -> tuple[tuple[str, ...], Rows]:
    """Return columns and one row per operation; sizes that may be left out stand in brackets.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    operations = load_operations(configuration.rule_dirs).values()
    return _LIST, [(each.id, each.title, _sizes(each)) for each in operations]


def _sizes(operation: Operation) -> str:
    sizes = operation.sizes.values()
    return ", ".join(size.name if size.default is None else f"[{size.name}]" for size in sizes)


def show_operation(name: str, configuration: Configuration = DEFAULTS) -> str:
    """Return an operation as a page: what it needs, and what its sizes mean.

    Raises:
        UsageError: there is no such operation; names the nearest, and rules too.
    """
    operations = load_operations(configuration.rule_dirs)
    if name not in operations:
        known = [*operations, *(rule.id for rule in load_knowledge(configuration).rules)]
        hint = nearest(known, name)
        raise UsageError(f"no rule or operation is called {name!r}", hint=hint)
    operation = operations[name]
    constants = operation.constants.values()
    parts = [
        f"{operation.id}: {operation.title}",
        section("Least work, in FLOP", [operation.flops.expression.text]),
        section("Least traffic, in bytes", [operation.bytes.expression.text]),
        section("Usual work", [operation.usual_work] if operation.usual_work else []),
        section("Sizes", [_size(size) for size in operation.sizes.values()]),
        section("Constants", [f"{c.name} = {c.value:g} {c.unit} ({c.source})" for c in constants]),
        section("Mind", operation.caveats),
        section("Sources", operation.references),
    ]
    return "\n".join(part for part in parts if part)


def _size(size: OperationSize) -> str:
    unit = "" if size.unit == "1" else f" [{size.unit}]"
    default = "" if size.default is None else f"; {size.default_text} where left out"
    return f"{size.name}{unit}: {size.about}{default}"
