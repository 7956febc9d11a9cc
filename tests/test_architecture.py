"""Functions that docs/architecture.md calls are there, and take what it gives them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from advisor.expression.functions import FUNCTIONS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
Place = tuple[str, ast.FunctionDef]


def calls() -> Iterator[str]:
    """Yield what stands in backquotes and is a call, without what it returns."""
    for quoted in re.findall(r"`([^`]+)`", re.sub(r"(?s)```.*?```", "", PAGE)):
        if re.match(r"[a-z_.]*\b[a-z_]+\(", quoted):
            yield " ".join(quoted.split()).partition(" -> ")[0]


def parsed(call: str) -> ast.Call:
    """Return a call of which an ellipsis is what is left out, and `x=` an argument."""
    text = re.sub(r"=(?=[,)])", "=_", call.replace("…", "...").removeprefix("."))
    found = ast.parse(text, mode="eval").body
    assert isinstance(found, ast.Call), call
    return found


@cache
def functions() -> dict[str, list[Place]]:
    """Return functions and methods by name, each with its module."""
    found = defaultdict(list)
    for path in sorted((ROOT / "advisor").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found[node.name].append((module, node))
    return found


def meant(call: ast.Call) -> list[ast.FunctionDef]:
    """Return the functions that a call may mean: those of its module where it names one."""
    *places, name = ast.unparse(call.func).split(".")
    every = functions()[name]
    within = [each for each in every if f".{'.'.join(places)}." in f"{each[0]}."]
    return [node for _, node in within or every]


def fits(call: ast.Call, function: ast.FunctionDef) -> bool:
    """Return whether a function can be called like that; an ellipsis stands for all else."""
    arguments = function.args
    optional = len(arguments.defaults)
    plain = [each.arg for each in arguments.args if each.arg != "self"]
    needed = set(plain[: len(plain) - optional])
    needed |= {
        each.arg
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    }
    given = [each for each in call.args if not is_ellipsis(each)]
    named = {each.arg for each in call.keywords}
    known = {*plain, *(each.arg for each in arguments.kwonlyargs)}
    if len(given) > len(plain) or not named <= known:
        return False
    if any(is_other(each, name) for each, name in zip(given, plain, strict=False)):
        return False
    return len(given) < len(call.args) or needed <= {*plain[: len(given)], *named}


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def is_other(given: ast.expr, name: str) -> bool:
    """Return whether an argument is called otherwise than the parameter."""
    return isinstance(given, ast.Name) and given.id != name


@pytest.mark.parametrize("call", sorted(set(calls())))
def test_functions_take_what_the_page_gives_them(call: str) -> None:
    asked = parsed(call)
    if ast.unparse(asked.func) in FUNCTIONS:
        return  # of the rule language
    found = meant(asked)
    assert found, "there is no such function"
    assert any(fits(asked, each) for each in found), [ast.unparse(each.args) for each in found]
