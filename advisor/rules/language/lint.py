"""Everything that is wrong with a directory of rules and their like, and what could be better."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from advisor.documents import DocumentNode, MappingNode, ScalarNode, SequenceNode
from advisor.errors import Location, RuleError
from advisor.facts.operations import add_operation, operation_paths, read_operation
from advisor.facts.vocabulary import load_vocabulary
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.rules.language.load import add_rule, make_scopes, rule_paths
from advisor.rules.language.parse import Scope, parse_rule, problems
from advisor.rules.language.rule import Rule, Severity
from advisor.rules.language.settings import load_settings

MOST_WORDS = 8
PLACEHOLDER = "FILL IN"

_TERM = re.compile(r"\{\{.*?\}\}")
_GERUND = re.compile(r"\w*[aeiouy]\w*ing$")  # "using", but not "bring"
_NO_ADVICE = ("a", "an", "the", "this", "there", "it", "is")


@dataclass(frozen=True, kw_only=True)
class Remark:
    """An error, which keeps the rule from being used, or a warning, which does not.

    ``ends_it`` where facts or settings are wrong, so that no rule could be read.
    """

    kind: Literal["error", "warning"]
    problem: str
    at: Location | None
    hint: str | None = None
    ends_it: bool = False


def lint(directory: Path | None = None) -> list[Remark]:
    """Return every remark on a directory of rules, facts, operations; on the shipped ones for None.

    Rules of the directory may name its own facts and extend shipped rules.
    """
    if directory is not None and directory.resolve() == data_dir("rules").resolve():
        directory = None
    packs = () if directory is None else (directory,)
    try:
        vocabulary = load_vocabulary(packs)
        settings = load_settings(vocabulary.symbols, packs=packs)
        scopes = make_scopes(vocabulary, settings)
    except RuleError as error:
        return [replace(_error(error), ends_it=True)]
    nodes: dict[str, MappingNode] = {}
    shipped = data_dir("rules")
    if directory is not None:
        for path in rule_paths(shipped):
            add_rule(path, nodes)
    remarks: list[Remark] = []
    for path in rule_paths(directory or shipped):
        remarks += _file(path, nodes, scopes)
    return [*remarks, *_operations(directory)]


def _operations(directory: Path | None) -> Iterator[Remark]:
    """Yield remarks on operations; those of a directory may extend the shipped ones."""
    shipped = data_dir("rules")
    nodes: dict[str, MappingNode] = {}
    if directory is not None:
        for path in operation_paths(shipped):
            add_operation(path, nodes)
    for path in operation_paths(directory or shipped):
        try:
            node = nodes[add_operation(path, nodes)]
            read_operation(node)
        except RuleError as error:
            yield _error(error)
        else:
            yield from _unfilled(node)


def _file(path: Path, nodes: dict[str, MappingNode], scopes: Mapping[str, Scope]) -> list[Remark]:
    try:
        node = nodes[add_rule(path, nodes)]
    except RuleError as error:
        return [_error(error)]
    try:
        rule = parse_rule(node, scopes, text_hash="", overrides={})
    except RuleError:  # of which there may be more
        return [_error(error) for error in problems(node, scopes, overrides={})]
    return [*_warnings(rule, node), *_unfilled(node)]


def _error(error: RuleError) -> Remark:
    return Remark(kind="error", problem=error.problem, at=error.at, hint=error.hint)


def _warnings(rule: Rule, node: MappingNode) -> Iterator[Remark]:
    """Yield what makes a rule less trusted or harder to read than it could be."""
    words = _TERM.sub("term", rule.title.text).split()
    if len(words) > MOST_WORDS:
        problem = f"the title has {len(words)} words"
        yield _warning(problem, node["title"].at, f"{MOST_WORDS} are enough to say what to do")
    first = words[0].lower() if words else ""
    if first in _NO_ADVICE or _GERUND.match(first):
        hint = "begin with what to do: a title is the heading of an action"
        yield _warning(f"the title begins with {words[0]!r}", node["title"].at, hint)
    loose = [name for name, each in rule.thresholds.items() if each.is_uncalibrated]
    if loose:
        problem = f"{len(loose)} of {len(rule.thresholds)} thresholds uncalibrated: "
        hint = "name the document or the measurement that the number comes from"
        yield _warning(problem + ", ".join(loose), node["threshold"].at, hint)
    if rule.gain is not None and not rule.caveats:
        hint = "say where following the advice does not pay"
        yield _warning("a gain is promised, and there are no caveats", node["gain"].at, hint)
    if rule.severity is not Severity.NOTE and not rule.recommendation[0].names:
        hint = "a number of the kernel makes the first step concrete"
        at = node["recommendation"].at
        yield _warning("the first step names nothing of this kernel", at, hint)


def _unfilled(node: DocumentNode) -> Iterator[Remark]:
    """Yield the places of a scaffold that are still to be filled."""
    if isinstance(node, ScalarNode):
        if isinstance(node.value, str) and PLACEHOLDER in node.value:
            yield _warning(f"still says {PLACEHOLDER!r}", node.at, "replace it with your words")
    elif isinstance(node, SequenceNode):
        for item in node:
            yield from _unfilled(item)
    elif isinstance(node, MappingNode):
        for value in node.nodes.values():
            yield from _unfilled(value)


def _warning(problem: str, at: Location, hint: str) -> Remark:
    return Remark(kind="warning", problem=problem, at=at, hint=hint)
