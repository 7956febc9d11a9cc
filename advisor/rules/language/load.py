"""Directories of YAML become rules: found, extended, overridden, checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.documents import MappingNode, add_document
from advisor.errors import ConfigError, Location, RuleError
from advisor.facts.vocabulary import Vocabulary
from advisor.resources import data_dir, rule_dirs
from advisor.rules.language.estimators import load_estimators
from advisor.rules.language.parse import Scope, parse_rule
from advisor.rules.language.proven import load_proven
from advisor.rules.language.rule import Rule
from advisor.rules.language.settings import EvaluationSettings, load_settings
from advisor.rules.language.subjects import SUBJECTS, SubjectKind, Subjects
from advisor.rules.language.thresholds import Override
from advisor.suggest import did_you_mean

NOT_RULES = (
    "counters",
    "facts",
    "labels",
    "operations",
    "profilers",
    "quantities",
    "workloads",
)

Overrides = Mapping[str, Mapping[str, Override]]


def load_rules(
    vocabulary: Vocabulary,
    extra_dirs: Sequence[Path] = (),
    *,
    overrides: Overrides | None = None,
    settings: EvaluationSettings | None = None,
    subjects: Subjects = SUBJECTS,
) -> tuple[Rule, ...]:
    """Return every rule that is enabled, sorted by id.

    Rules of ``extra_dirs`` come after the shipped ones; one with the id of an earlier rule takes
    its place, and must say so by ``extends``. ``overrides``: rule id → threshold → new value.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: an override names no rule or no threshold.
    """
    directories = (*rule_dirs(), *extra_dirs)
    return load_directories(
        directories, vocabulary, overrides=overrides, settings=settings, subjects=subjects
    )


def load_directories(
    directories: Sequence[Path],
    vocabulary: Vocabulary,
    *,
    overrides: Overrides | None = None,
    settings: EvaluationSettings | None = None,
    subjects: Subjects = SUBJECTS,
) -> tuple[Rule, ...]:
    """Return the enabled rules of these directories alone, sorted by id.

    Raises:
        RuleError: a file is wrong; with its place.
        ConfigError: an override names no rule or no threshold.
    """
    settings = settings or load_settings(vocabulary.symbols)
    scopes = make_scopes(vocabulary, settings, subjects)
    nodes = _rule_nodes(directories)
    overrides = overrides or {}
    _check_overrides(overrides, nodes)
    rules = (
        parse_rule(
            node,
            scopes,
            text_hash=_hash(node, overrides.get(rule_id, {})),
            overrides=overrides.get(rule_id, {}),
        )
        for rule_id, node in sorted(nodes.items())
    )
    proven = {rule_id for rule_id, evidence in load_proven().items() if evidence.is_proof}
    relations = settings.relations
    return tuple(
        replace(
            rule,
            is_state=settings.names_no_cause(rule.id),
            only_measures=settings.only_measures(rule.id),
            is_unproven=rule.id not in proven
            and is_shipped(rule)
            and not relations.voids(rule.id),  # to miss it costs more than to say it once too often
            explained_by=relations.explained_by(rule.id),
            explained_at=relations.enough,
            unexplained_at=relations.most,
            handicap=relations.handicap(rule.id),
            voids=relations.voids(rule.id),
        )
        for rule in rules
        if rule.enabled
    )


def make_scopes(
    vocabulary: Vocabulary, settings: EvaluationSettings, subjects: Subjects = SUBJECTS
) -> dict[str, Scope]:
    """Return what rules may name, by the name of their subject."""
    return {name: _scope(kind, vocabulary, settings, subjects) for name, kind in subjects.items()}


def _scope(
    kind: SubjectKind, vocabulary: Vocabulary, settings: EvaluationSettings, subjects: Subjects
) -> Scope:
    symbols = kind.vocabulary(vocabulary, settings)
    return Scope(
        symbols=symbols,
        estimators=load_estimators(symbols, kind.name, subjects=subjects),
        shared_guards=() if kind.guards is None else kind.guards(settings),
        tolerance=settings.verify_tolerance,
        instructions=frozenset() if kind.instructions is None else kind.instructions(settings),
        terms=settings.vendors.terms,
        counts=kind.counts,
    )


def is_shipped(rule: Rule) -> bool:
    """Return whether a rule is ours, and not from somebody's own directory."""
    return Path(rule.at.name).is_relative_to(data_dir("rules"))


def rule_paths(directory: Path) -> Iterator[Path]:
    """Yield the rule files of a directory of families, sorted."""
    for family in sorted(path for path in directory.iterdir() if path.is_dir()):
        if family.name not in NOT_RULES:
            yield from sorted(family.glob("*.yaml"))


def _rule_nodes(directories: Sequence[Path]) -> dict[str, MappingNode]:
    """Return the documents by rule id, extensions merged with what they extend."""
    nodes: dict[str, MappingNode] = {}
    for directory in directories:
        if not directory.is_dir():
            raise RuleError("there is no such directory", at=Location(name=str(directory)))
        for path in rule_paths(directory):
            add_rule(path, nodes)
    return nodes


def add_rule(path: Path, nodes: dict[str, MappingNode]) -> str:
    """Read a rule file into ``nodes``, merged with the rule that it extends; return its id.

    Raises:
        RuleError: it is not YAML, its id is not its path, or what it extends is not in ``nodes``.
    """
    wanted = f"{path.parent.name}/{path.stem}"
    return add_document(path, nodes, wanted=wanted, what="rule", merged=("threshold",))


def _check_overrides(overrides: Overrides, nodes: Mapping[str, MappingNode]) -> None:
    for rule_id, thresholds in overrides.items():
        if rule_id not in nodes:
            hint = did_you_mean(rule_id, nodes)
            origin = next((each.origin for each in thresholds.values()), "configuration")
            at = Location(name=origin)
            raise ConfigError(f"there is no rule {rule_id!r}", at=at, hint=hint)


def _hash(node: MappingNode, overrides: Mapping[str, Override]) -> str:
    """Return 12 hex digits over what the rule says, whichever file a part comes from."""
    texts = repr(node.plain())
    if overrides:
        texts += repr(sorted((name, each.value, each.unit) for name, each in overrides.items()))
    return hashlib.blake2b(texts.encode(), digest_size=6).hexdigest()
