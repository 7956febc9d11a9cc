"""What must move when advice works, as sentences with a target."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.facts import Vocabulary
from advisor.reports import numbers
from advisor.reports.record.rows import Row, number, whole
from advisor.rules.language.words import Words, capital

# After a name in the singular, and in the plural. ``{now}`` is the value that the kernel has.
_CHANGES: Mapping[str, tuple[str, str]] = {
    "decreases": ("goes down (now {now})", "go down (now {now})"),
    "increases": ("goes up (now {now})", "go up (now {now})"),
    "does not increase": ("stays at or below {now}", "stay at or below {now}"),
    "does not decrease": ("stays at or above {now}", "stay at or above {now}"),
    "does not halve": ("stays above half of {now}", "stay above half of {now}"),
    "becomes 0": ("falls to 0 (now {now})", "fall to 0 (now {now})"),
}
_MOVES = ("decreases", "increases")  # may be followed by how much, or where
_SHARES = frozenset(
    {"share", "rate", "utilization", "fraction", "efficiency", "pipe", "occupancy", "divergence"}
    | {"side", "busy", "balance", "imbalance"}
)


def expected(line: str, row: Row, vocabulary: Vocabulary, words: Words) -> str:
    """Return a line of ``verify`` as a sentence, with the value that the kernel has now."""
    fact, _, change = line.partition(" ")
    if fact not in vocabulary.symbols:
        return capital(line)
    name = words.name(fact)
    verb, _, how = change.partition(" ")
    forms = _CHANGES.get(change) or (_CHANGES.get(verb) if verb in _MOVES else None)
    if forms is None:
        return f"{name.capital} {change}".strip()
    sentence = forms[name.is_plural]
    if change not in _CHANGES:
        sentence = sentence.replace(" (now", f" {how} (now")
    now = number(row, fact)
    if now is None:
        return f"{name.capital} {sentence.partition(' (now')[0].format(now='its value now')}"
    unit = vocabulary.unit(fact) or "1"
    shown = numbers.share(now) if _is_share(fact, unit) else numbers.si(now, unit)
    return f"{name.capital} {sentence.format(now=shown + _summed(fact, row, vocabulary))}"


def _summed(fact: str, row: Row, vocabulary: Vocabulary) -> str:
    """Return over how many launches a value adds up; nothing where it is of one."""
    launches = (row.get("coverage") or {}).get(fact, whole(row, "launch_count"))
    if launches == 1 or not vocabulary.adds_up(fact):
        return ""
    return f", sum of {numbers.counted(launches, 'launch')}"


def _is_share(fact: str, unit: str) -> bool:
    """Tell whether a value is a share and not a count; the vocabulary keeps both without a unit."""
    return unit == "1" and any(part in _SHARES for part in fact.split("_"))
