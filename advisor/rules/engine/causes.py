"""Which finding of a kernel causes another one (``explains`` in ``rules/relations.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.rules.engine.evaluation import Evaluation


def root(finding: Evaluation, found: Mapping[str, Evaluation]) -> Evaluation:
    """Return the finding that explains one at last; itself where none does."""
    seen = {finding.rule.id}
    while (cause := _cause(finding, found)) is not None and cause.rule.id not in seen:
        finding = cause
        seen.add(cause.rule.id)
    return finding


def all_causes(symptom: Evaluation, found: Mapping[str, Evaluation]) -> set[str]:
    """Return the rules whose findings explain one, and those that explain these."""
    causes: set[str] = set()
    waiting = [symptom]
    while waiting:
        new = [e for e in _explaining(waiting.pop(), found) if e.rule.id not in causes]
        causes.update(each.rule.id for each in new)
        waiting += new
    return causes


def _cause(symptom: Evaluation, found: Mapping[str, Evaluation]) -> Evaluation | None:
    """Return the finding that explains another, the one that promises most."""
    return max(_explaining(symptom, found), key=lambda each: each.expected or 0.0, default=None)


def _explaining(symptom: Evaluation, found: Mapping[str, Evaluation]) -> list[Evaluation]:
    """Return the findings that promise enough to explain another."""
    least = 0.0 if symptom.gain is None else symptom.gain.likely * symptom.rule.explained_at
    return [
        cause
        for name in symptom.rule.explained_by
        if (cause := found.get(name)) is not None
        and not cause.rule.is_unproven
        and cause.gain is not None
        and cause.gain.likely > 0
        and cause.gain.likely >= least
    ]
