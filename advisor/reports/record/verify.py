"""What to verify of an action, with the numbers of its kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import wording
from advisor.facts import Vocabulary
from advisor.reports.record.rows import Row, whole
from advisor.reports.record.source import ReportSource
from advisor.rules.language.verification import (
    Criterion,
    Direction,
    Measured,
    measure_sql,
    measured,
)
from advisor.rules.language.verify_words import Shown, notes, sentence
from advisor.rules.language.words import VendorWords

if TYPE_CHECKING:
    from advisor.rules import Rule

_SHARES = frozenset(
    {"share", "rate", "utilization", "fraction", "efficiency", "pipe", "occupancy", "divergence"}
    | {"side", "busy", "balance", "imbalance"}
)


def verify_lines(
    source: ReportSource, rule: Rule, variant: str, words: VendorWords
) -> tuple[str, ...]:
    """Return the sentences of a rule's ``verify`` for a kernel, notes last."""
    row = source.variants[variant]
    checks = zip(rule.verify.checks, _measure(source, rule, variant), strict=True)
    lines = [
        sentence(check, _shown(check, value, row, source.vocabulary), words.name)
        for check, value in checks
    ]
    return (*lines, *notes(rule.verify))


def _measure(source: ReportSource, rule: Rule, variant: str) -> tuple[Measured, ...]:
    """Return the values and targets of what a rule verifies."""
    thresholds = {name: each.value for name, each in rule.thresholds.items()}
    select = measure_sql(rule.verify, thresholds, source.kernels.name, "variant_id")
    ((_, *values),) = source.kernels.fetch(f"{select} WHERE variant_id = ?", [variant])
    return measured(values)


def _shown(check: Criterion, value: Measured, row: Row, vocabulary: Vocabulary) -> Shown:
    unit = str(check.expression.unit or "1")
    now = value.value
    bound = None
    if now is not None and check.moves.forbids and check.has_own_tolerance:
        bound = now * (1 + check.tolerance * (1 if check.moves is Direction.NOT_UP else -1))
    return Shown(
        now=_number(check, now, unit),
        target=None if _is_met(check, value) else _number(check, value.target, unit),
        bound=_number(check, bound, unit),
        remark="" if now is None else _summed(check.fact, row, vocabulary),
    )


def _is_met(check: Criterion, value: Measured) -> bool:
    """Return whether a value is beyond its target already, so that only the way is left to say."""
    if value.value is None or value.target is None:
        return False
    is_above, is_below = value.value >= value.target, value.value <= value.target
    return is_above if check.moves is Direction.UP else is_below


def _number(check: Criterion, value: float | None, unit: str) -> str | None:
    if value is None:
        return None
    is_share = unit == "1" and all(_is_share(name) for name in check.expression.names)
    if is_share:
        return wording.share(value)
    return wording.amount(value) if unit == "1" else wording.si(value, unit)


def _is_share(name: str) -> bool:
    """Return whether a value is a share and not a count, where units do not differ."""
    return any(part in _SHARES for part in name.split("_"))


def _summed(fact: str | None, row: Row, vocabulary: Vocabulary) -> str:
    """Return over how many launches a value adds up; nothing where it is of one."""
    if fact is None:
        return ""
    launches = (row.get("coverage") or {}).get(fact, whole(row, "launch_count"))
    if launches == 1 or not vocabulary.adds_up(fact):
        return ""
    return f"sum of {wording.count(launches, 'launch')}"
