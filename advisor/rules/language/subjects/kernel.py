"""The subject ``kernel``: the launches of a kernel with one launch shape, in one run."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.expression import Symbol
from advisor.facts.vocabulary import KERNEL_COLUMNS, Vocabulary
from advisor.rules.language.settings import EvaluationSettings, SharedGuard
from advisor.rules.language.subjects.kind import SubjectKind


def _vocabulary(vocabulary: Vocabulary, _: EvaluationSettings) -> Mapping[str, Symbol]:
    return vocabulary.symbols


def _counted(settings: EvaluationSettings) -> EvaluationSettings:
    return settings


def _guards(settings: EvaluationSettings) -> tuple[SharedGuard, ...]:
    return settings.guards


def _instructions(settings: EvaluationSettings) -> frozenset[str]:
    return frozenset(name for view in settings.instruction_views for name in view.symptoms)


KIND: SubjectKind = SubjectKind(
    name="kernel",
    about="the launches of a kernel with one shape, in one run",
    key="variant_id",
    stored_in="variant_id",
    vocabulary=_vocabulary,
    counted=_counted,
    counts=frozenset(column.name for column in KERNEL_COLUMNS),
    guards=_guards,
    instructions=_instructions,
)
