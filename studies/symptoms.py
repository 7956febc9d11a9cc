"""Which of our rules are about the same symptom as a rule of the vendor: ``vendor.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.documents import load
from advisor.errors import RuleError
from advisor.expression import Kind, compile_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from advisor.documents import MappingNode
    from advisor.errors import Location
    from advisor.expression import Expression
    from advisor.facts.vocabulary import Vocabulary

KNOWLEDGE = Path(__file__).with_name("vendor.yaml")


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why ours may be silent, told by a condition over the facts of the kernel."""

    code: str
    when: Expression
    about: str


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """What a rule of the vendor speaks of, and our rules about the same.

    ``reasons`` are codes, in the order in which they are tried; where there is no rule of ours,
    ``code`` and ``because`` say why.
    """

    rule: str
    title: str
    ours: tuple[str, ...]
    reasons: tuple[str, ...]
    code: str
    because: str
    at: Location


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """The file ``vendor.yaml``; ``explained``: the vendor's rule, code → text."""

    symptoms: tuple[Symptom, ...]
    reasons: Mapping[str, Reason]
    explained: Mapping[tuple[str, str], str]

    def symptom(self, rule: str, title: str) -> Symptom:
        """Return what a message of the vendor is about.

        Raises:
            RuleError: no symptom matches it.
        """
        for symptom in self.symptoms:
            if fnmatch(rule, symptom.rule) and fnmatch(title.lower(), symptom.title.lower()):
                return symptom
        raise RuleError(f"no symptom matches {rule}: {title}")


def read_knowledge(vocabulary: Vocabulary, rules: Iterable[str]) -> Knowledge:
    """Return what ``vendor.yaml`` says.

    Raises:
        RuleError: a condition is wrong, or there is no such rule or reason; with its place.
    """
    document = load(KNOWLEDGE)
    document.refuse_unknown(("symptoms", "reasons", "explained"))
    reasons = {
        code: _reason(code, node.as_mapping(), vocabulary)
        for code, node in document.mapping("reasons").items()
    }
    symptoms = tuple(_symptom(node.as_mapping()) for node in document.sequence("symptoms"))
    known = set(rules)
    for symptom in symptoms:
        for name in (set(symptom.ours) - known) | (set(symptom.reasons) - reasons.keys()):
            raise RuleError(f"there is no {name!r}", at=symptom.at)
    explained = {
        (rule, code): texts.as_mapping().text(code)
        for rule, texts in document.mapping("explained").items()
        for code in texts.as_mapping()
    }
    return Knowledge(symptoms=symptoms, reasons=reasons, explained=explained)


def _reason(code: str, node: MappingNode, vocabulary: Vocabulary) -> Reason:
    node.refuse_unknown(("when", "about"))
    when = compile_expression(
        node.text("when"), vocabulary.symbols, at=node["when"].at, kind=Kind.BOOLEAN
    )
    return Reason(code=code, when=when, about=node.text("about"))


def _symptom(node: MappingNode) -> Symptom:
    node.refuse_unknown(("rule", "title", "ours", "reasons", "code", "because"))
    ours = node.sequence("ours").texts()
    return Symptom(
        rule=node.text("rule"),
        title=node.text("title"),
        ours=ours,
        reasons=node.sequence("reasons").texts() if ours else (),
        code="" if ours else node.text("code"),
        because="" if ours else node.text("because"),
        at=node.at,
    )
