"""What to verify, as sentences with a target where one is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from advisor.expression import written
from advisor.records import dataclass
from advisor.rules.language.verification import Criterion, Direction, Verify


@dataclass(frozen=True)
class DisplayName:
    """What readers call a fact; ``is_plural`` decides the form of the verb."""

    text: str
    is_plural: bool = False


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Numbers of a check in words, with their units; None is unknown.

    ``bound`` is what a value that must not move may come to at most, or must at least.
    """

    now: str | None = None
    target: str | None = None
    bound: str | None = None
    remark: str = ""


def display_name(fact: str) -> DisplayName:
    """Return what readers call a fact that has no name of its own.

    >>> display_name("load_sectors_per_request")
    DisplayName(text='load sectors per request', is_plural=True)
    """
    words = fact.replace("_", " ")
    head = words.partition(" per ")[0]
    return DisplayName(words, head.endswith("s") and not head.endswith("ss"))


Named = Callable[[str], DisplayName]
"""What readers call a fact."""


def general_lines(verify: Verify, named: Named = display_name) -> Iterator[str]:
    """Yield the lines of a rule as they read without a subject; targets as the rule gives them."""
    for check in verify.checks:
        target = None if check.target is None else written(check.target.tree)
        bound = _share_of(check) if check.has_own_tolerance else None
        yield sentence(check, Shown(target=target, bound=bound), named)
    yield from notes(verify)


def notes(verify: Verify) -> tuple[str, ...]:
    """Return what only a person can check, as sentences."""
    return tuple(note[:1].upper() + note[1:] for note in verify.notes)


def sentence(check: Criterion, shown: Shown, named: Named = display_name) -> str:
    """Return what a check expects, in words; ``named`` gives the display names of facts."""
    name = _name(check, named)
    subject = name.text[:1].upper() + name.text[1:]
    does = _predicate(check, shown, is_plural=name.is_plural)
    says_now = shown.now is not None and (not check.moves.forbids or shown.bound is not None)
    remarks = [f"now {shown.now}"] * says_now + [shown.remark] * bool(shown.remark)
    return f"{subject} {does}" + (f" ({', '.join(remarks)})" if remarks else "")


def _name(check: Criterion, named: Named) -> DisplayName:
    if check.fact is None:
        return DisplayName(check.called or check.expression.text)
    return named(check.fact)


def _predicate(check: Criterion, shown: Shown, *, is_plural: bool) -> str:
    if check.moves.forbids:
        return _stays(check, shown, is_plural=is_plural)
    up = check.moves is Direction.UP
    if shown.target is None:
        return f"{'go' if is_plural else 'goes'} {'up' if up else 'down'}"
    verb = "rise" if up else "fall"
    limit = "" if _is_zero(check) else "at least " if up else "at most "
    return f"{verb}{'' if is_plural else 's'} to {limit}{shown.target}"


def _stays(check: Criterion, shown: Shown, *, is_plural: bool) -> str:
    verb = "stay" if is_plural else "stays"
    side = "at or below" if check.moves is Direction.NOT_UP else "at or above"
    limit = shown.bound or shown.now
    if limit is not None:
        return f"{verb} {side} {limit}"
    way = "up" if check.moves is Direction.NOT_UP else "down"
    return f"{'do' if is_plural else 'does'} not go {way}"


def _is_zero(check: Criterion) -> bool:
    """Return whether the target is 0, which a value that falls cannot pass."""
    return check.target is not None and written(check.target.tree) == "0"


def _share_of(check: Criterion) -> str:
    """Return the bound of a check as a share of what the value is now."""
    sign = 1 if check.moves is Direction.NOT_UP else -1
    return f"{100 * (1 + sign * check.tolerance):.0f}\N{NO-BREAK SPACE}% of the value now"
