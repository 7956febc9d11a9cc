"""An explanation on a terminal: each clause with its values and how far it is from turning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor import wording
from advisor.rules.language.rule import Outcome

if TYPE_CHECKING:
    from advisor.reports.record.instructions import Ranking
    from advisor.reports.write.paper import Paper
    from advisor.rules.engine.clauses import Clause, GainExplained, Term
    from advisor.rules.engine.explain import Explanation
    from advisor.rules.engine.gains import Share
    from advisor.rules.language.rule import Value

_TRUTH = {True: "true", False: "false", None: wording.UNKNOWN}
_STEP = 4
_NO_GAIN = (Outcome.SILENT, Outcome.NOT_APPLICABLE)


def explanation_text(
    paper: Paper,
    explanation: Explanation,
    *,
    name: str,
    instructions: Ranking | None = None,
    collect: str | None,
    decided_by: str = "",
) -> None:
    """Write one explanation; ``decided_by`` are the words that ask for what it lacks."""
    rule = explanation.rule
    paper.heading(f"{rule.id} on {name}")
    paper.write(
        f"{explanation.words.fill(rule.title)}: {explanation.outcome.value}, {explanation.because}."
    )
    if explanation.applies_to is not None:
        _part(paper, "applies to", explanation.applies_to)
    _part(paper, "when", explanation.when)
    for guard in explanation.unless:
        kind = "unless (of many rules)" if guard.shared else "unless"
        _part(paper, kind + (" (required)" if guard.required else ""), guard.clause)
        if guard.clause.holds:
            label = "reason" if explanation.outcome is Outcome.RULED_OUT else "would say"
            paper.write(f"{label}: {guard.because}", indent=_STEP)
    if instructions is not None:
        paper.blank()
        paper.write(instructions.sentence)
    if explanation.gain is not None and explanation.outcome not in _NO_GAIN:
        _gain(paper, explanation.gain, explanation.share)
    if explanation.confidence is not None:
        reasons = ", ".join(explanation.confidence_because) or "no deduction"
        paper.blank()
        paper.write(f"confidence {wording.percent(explanation.confidence)}: {reasons}")
    if collect is not None:
        _collect(paper, collect, decided_by)


def _part(paper: Paper, name: str, clause: Clause) -> None:
    paper.blank()
    paper.write(f"{name}: {_TRUTH[clause.holds]}")
    for part in clause.parts if clause.joined == "and" else (clause,):
        _clause(paper, part, _STEP)


def _clause(paper: Paper, clause: Clause, indent: int) -> None:
    if not clause.parts:
        paper.write(_sentence(clause), indent=indent + 2, first=" " * indent + "-")
        return
    word = {"and": "all of", "or": "one of"}.get(clause.joined or "", "not")
    paper.write(f"{word}: {_TRUTH[clause.holds]}", indent=indent + 2, first=" " * indent + "-")
    for part in clause.parts:
        _clause(paper, part, indent + 2)


def _sentence(clause: Clause) -> str:
    """Return a clause with its values: ``a < b: 0.52 < 0.8 is true, by 0.28``."""
    truth = _TRUTH[clause.holds]
    if clause.operator is None:
        return f"{clause.text}: {truth}{_read(clause.values, clause.text)}"
    left, right = (_value(side, clause.unit) for side in (clause.left, clause.right))
    by = "" if clause.distance is None else f", by {_value(clause.distance, clause.unit)}"
    shown = f"{clause.text}: {left} {clause.operator} {right} is {truth}{by}"
    simple = set(clause.values) <= set(clause.text.split(f" {clause.operator} "))
    return shown if simple else shown + _read(clause.values, clause.text)


def _read(values: Mapping[str, Value], text: str) -> str:
    read = {name: value for name, value in values.items() if name != text}
    listed = ", ".join(f"{name} = {_value(value, None)}" for name, value in read.items())
    return f" ({listed})" if listed else ""


def _value(value: Value, unit: str | None) -> str:
    if value is None:
        return wording.UNKNOWN
    if isinstance(value, bool):
        return _TRUTH[value]
    if isinstance(value, str):
        return repr(value)
    if unit in (None, "1"):
        return wording.number(value) if abs(value) >= 1 or not value else f"{value:.3g}"
    return wording.si(value, unit)


def _gain(paper: Paper, gain: GainExplained, share: Share | None) -> None:
    paper.blank()
    by = f" (estimator {gain.estimator})" if gain.estimator else ""
    paper.write(f"gain{by}:")
    for term in (*gain.parameters, *gain.bounds):
        _term(paper, term)
    if gain.assumes:
        paper.write("assumed effect of the advice:", indent=2)
        for term in gain.assumes:
            _term(paper, term)
    if share is not None:
        bounds = (("low", share.low), ("likely", share.likely), ("high", share.high))
        shown = ", ".join(f"{name} {wording.share(x)}" for name, x in bounds)
        paper.write(f"as shares of the kernel's time, which is unknown: {shown}", indent=2)
        return
    paper.write(
        f"time now {wording.seconds(gain.duration)}; with the advice at least "
        f"{wording.seconds(gain.floor)}, in practice {wording.seconds(gain.floor_achievable)}; so "
        f"high is capped at {wording.seconds(gain.cap)} and likely at "
        f"{wording.seconds(gain.cap_likely)}",
        indent=2,
    )
    cut = gain.gain
    if cut is None:
        paper.write("no estimate: a value is unknown", indent=2)
        return
    bounds = (("low", cut.low), ("likely", cut.likely), ("high", cut.high))
    paper.write(
        "capped: " + ", ".join(f"{name} {wording.seconds(x)}" for name, x in bounds),
        indent=2,
    )


def _term(paper: Paper, term: Term) -> None:
    read = _read(term.values, term.text)
    shown = f"{term.name} = {term.text} = {_value(term.value, term.unit)}{read}"
    paper.write(shown, indent=_STEP + 2, first=" " * _STEP + "-")


def _collect(paper: Paper, command: str, decided_by: str) -> None:
    paper.blank()
    if decided_by:
        paper.write(f"decided by: {decided_by}")
    paper.write("next:")
    paper.command(command)
