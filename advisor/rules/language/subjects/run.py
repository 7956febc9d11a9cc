"""The subject ``run``: everything that one profile holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from advisor.database.relations import Relations
from advisor.expression import Symbol
from advisor.facts.vocabulary import Vocabulary
from advisor.rules.language.settings import EvaluationSettings
from advisor.rules.language.subjects.kind import Relation, SubjectKind


def _vocabulary(_: Vocabulary, settings: EvaluationSettings) -> Mapping[str, Symbol]:
    return settings.run.symbols


def _counted(settings: EvaluationSettings) -> EvaluationSettings:
    """Return the time and floors of a run; levels of evidence are those of kernels."""
    run = settings.run
    return replace(
        settings,
        time=run.time,
        floor=run.floor,
        floor_achievable=run.floor_achievable,
        busy=None,
        factors=(),
    )


def _select(
    settings: EvaluationSettings, kernels: str, relations: Relations, holds: Callable[[str], bool]
) -> str:
    return settings.run.select(kernels, relations, holds)


def _reads(settings: EvaluationSettings) -> frozenset[str]:
    return settings.run.kernel_columns


KIND: SubjectKind = SubjectKind(
    name="run",
    about="all of a run",
    key="run_id",
    vocabulary=_vocabulary,
    counted=_counted,
    relation=Relation(select=_select, reads=_reads),
)
