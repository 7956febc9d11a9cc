"""From evaluations to actions, to what needs none, to what should be collected."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from advisor.commands import program
from advisor.records import dataclass
from advisor.reports.record.further import Further
from advisor.reports.record.gain_notes import gain_notes, roof_moved
from advisor.reports.record.instructions import Ranking, Rankings
from advisor.reports.record.judgement import Judgement
from advisor.reports.record.kernel_records import Gain, KernelRecord, RuleResult
from advisor.reports.record.kernel_records import Outcome as Told
from advisor.reports.record.records import Collect, Recommendation, Rest
from advisor.reports.record.rows import Row, number
from advisor.reports.record.source import ReportSource
from advisor.reports.record.verify import verify_lines
from advisor.rules.engine.collect import Collection
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.gains import Seconds, Share
from advisor.rules.engine.rank import Action
from advisor.rules.language.rule import Outcome, Severity

if TYPE_CHECKING:
    from advisor.rules.engine.collect import Asking
    from advisor.rules.engine.reach import Reach

MOST_CARDS = 3
Confidence = Literal["high", "medium", "low"]


def cards(
    source: ReportSource, ranked: Sequence[Action], worst: Rankings
) -> tuple[Recommendation, ...]:
    """Return the cards of the first page: actions of one rule become one, the most time first.

    ``worst`` are the worst instructions of kernels. An action that saves too little of the run's
    time is not worth acting on; one without an estimate is where its rule is no mere note, or
    where nothing else is. Unproven rules get none.
    """
    share = source.judgement.worth_a_card
    worth = share * (source.totals.duration or 0.0)
    by_rule: dict[str, list[Action]] = defaultdict(list)
    for each in ranked:
        if not each.evaluation.rule.is_unproven:
            by_rule[each.evaluation.rule.id].append(each)
    groups = [group for group in by_rule.values() if _worth(group, source.variants, worth, share)]
    if all(group[0].evaluation.rule.is_about_measurement for group in groups):
        most = source.judgement.worth_a_headline * (source.totals.duration or 0.0)
        groups += _noted(ranked, source.variants, most)
    groups.sort(key=_rank)
    return tuple(
        _card(number, group, source, worst)
        for number, group in enumerate(groups[:MOST_CARDS], start=1)
    )


def results(
    source: ReportSource,
    evaluations: Sequence[Evaluation],
    ranked: Iterable[Action],
    worst: Rankings,
    asking: Asking | None = None,
) -> dict[str, tuple[RuleResult, ...]]:
    """Return what the rules say about each variant: actions in order, what else fires, the rest.

    What stands beside an action says so. ``asking`` says which counters would decide what is
    unknown.
    """
    actions = list(ranked)
    places = {(r.evaluation.variant_id, r.evaluation.rule.id): r for r in actions}
    judged = {each.rule.id: each for each in evaluations}
    common = _Common(
        rows=source.variants,
        worst=worst,
        asking=asking,
        titles={name: each.words.fill(each.rule.title) for name, each in judged.items()},
        commands={variant: _show(source, variant) for variant in source.variants},
        least=source.judgement.worth_a_number,
        beside={
            (other.variant_id, other.rule.id): action.evaluation.rule.id
            for action in actions
            for other in action.also
        },
    )

    def order(each: Evaluation) -> tuple[int, int, float]:
        place = places.get((each.variant_id, each.rule.id))
        likely = 0.0 if each.gain is None else each.gain.likely
        return _ORDER[each.outcome], place.position if place else len(places) + 1, -likely

    found: dict[str, list[RuleResult]] = defaultdict(list)
    for each in sorted(evaluations, key=order):
        place = places.get((each.variant_id, each.rule.id))
        found[each.variant_id].append(_result(each, place, common))
    return {variant: tuple(its) for variant, its in found.items()}


def left_alone(
    kernels: Sequence[KernelRecord], further: Mapping[str, Further], total: float | None
) -> Rest | None:
    """Return the kernels that no card speaks of, and what could be saved there all the same.

    None where there are no cards.
    """
    if not any(kernel.actions for kernel in kernels):
        return None
    alone = [k for k in kernels if not k.actions and k.is_judged]
    rest, found = _rest(alone, total), [further[k.id] for k in alone if k.id in further]
    if rest is None:
        return None
    return replace(
        rest,
        saved=sum(each.likely for each in found),
        is_too_little=bool(found) and all(each.is_too_little for each in found),
    )


def not_judged(kernels: Sequence[KernelRecord], total: float | None) -> Rest | None:
    """Return the kernels that no card speaks of because too little of them was counted."""
    return _rest([k for k in kernels if not k.actions and not k.is_judged], total)


def _rest(kernels: Sequence[KernelRecord], total: float | None) -> Rest | None:
    if not kernels or not total:
        return None
    times = [kernel.duration for kernel in kernels if kernel.duration is not None]
    time = sum(times) if times else None
    return Rest(
        kernel_count=len(kernels),
        duration=time,
        duration_share=None if time is None else time / total,
        untimed=len(kernels) - len(times),
    )


def to_collect(
    evaluations: Sequence[Evaluation],
    collection: Collection | None,
    reach: Reach | None,
    format_name: str | None,
) -> Collect | None:
    """Return what could not be decided, and the command that settles what can be."""
    unknown = [each for each in evaluations if each.outcome is Outcome.UNKNOWN]
    never = {each.rule.id for each in evaluations if each.outcome is Outcome.NOT_KNOWABLE}
    if not unknown and not never:
        return None
    return Collect(
        rule_count=len({each.rule.id for each in unknown}),
        kernel_count=len({each.variant_id for each in unknown}),
        most_valuable=None if collection is None else collection.value,
        command=None if collection is None else collection.command,
        needs_version=None if collection is None else collection.needs_version,
        printed_note="" if reach is None else reach.profiler.printed_note(format_name),
        not_knowable_count=len(never),
        profiler=None if reach is None else reach.profiler.name,
    )


_OUTCOMES = (Outcome.FIRES, Outcome.RULED_OUT, Outcome.UNKNOWN, Outcome.NOT_KNOWABLE)
_ORDER = {outcome: place for place, outcome in enumerate(_OUTCOMES)}


def _rank(group: Sequence[Action]) -> tuple[bool, float, float]:
    """Return what sorts cards: the most time first, what is about the measurement last."""
    about = group[0].evaluation.rule.is_about_measurement
    seconds = sum(each.expected or 0.0 for each in group)
    return about, -seconds, -max(each.expected_share for each in group)


def _worth(
    group: Sequence[Action], rows: Mapping[str, Row], least: float, least_share: float
) -> bool:
    ran = [each for each in group if number(rows[each.evaluation.variant_id], "duration")]
    if least and not ran:
        return False
    likely = [each.gain.likely for each in group if each.gain is not None]
    if likely and least:
        return sum(likely) >= least
    shares = [each.share.likely for each in group if each.share is not None]
    if shares and not likely:
        return max(shares) >= least_share
    return not likely and group[0].evaluation.rule.severity is not Severity.NOTE


def _noted(ranked: Sequence[Action], rows: Mapping[str, Row], most: float) -> list[list[Action]]:
    """Return what is found first of a kernel that takes ``most`` of the time, if that is a note."""
    for each in ranked:
        rule = each.evaluation.rule
        if most and (number(rows[each.evaluation.variant_id], "duration") or 0.0) > most:
            is_note = rule.severity is Severity.NOTE
            is_fit = is_note and not rule.is_about_measurement and not rule.is_unproven
            return [[each]] if is_fit else []
    return []


def _card(
    position: int, group: Sequence[Action], source: ReportSource, worst: Rankings
) -> Recommendation:
    best = group[0].evaluation
    rule, words, variant = best.rule, best.words, best.variant_id
    gain, total = (
        _sum([each.gain for each in group if each.gain is not None]),
        source.totals.duration,
    )
    return Recommendation(
        number=position,
        rule_id=rule.id,
        title=words.fill(rule.title),
        headline=words.fill(rule.headline),
        severity=rule.severity.value,
        kernels=tuple(source.names[each.evaluation.variant_id] for each in group),
        gain=gain,
        gain_share=gain.likely / total if gain is not None and total else None,
        evidence=_evidence(group, source),
        why=words.fill(rule.why),
        steps=best.recommendation,
        verify=verify_lines(source, rule, variant, words),
        caveats=tuple(words.fill(caveat) for caveat in rule.caveats),
        confidence=_confidence(best.confidence, source.judgement),
        confidence_reason="; ".join(filter(None, (*best.confidence_because, best.record))),
        confidence_doubts="; ".join(best.confidence_because),
        next_command=_show(source, variant),
        references=rule.references,
        gain_note="" if gain is None else gain_notes(group, gain, source.variants),
        instructions=_worst(best, worst),
        about_measurement=rule.is_about_measurement,
        only_measures=rule.only_measures,
        voids=rule.voids,
        share=_widest([each.share for each in group if each.share is not None]),
        most={
            each.evaluation.variant_id: (each.gain.high, each.all_save)
            for each in group
            if each.gain is not None
        },
    )


def _evidence(group: Sequence[Action], source: ReportSource) -> str:
    """Return what was found, and of several kernels in which: numbers are those of the first."""
    found = group[0].evaluation
    if len(group) == 1:
        return found.evidence
    return f"In {source.names[found.variant_id].short_name}: {found.evidence}"


@dataclass(frozen=True, kw_only=True)
class _Common:
    """What the results of a run share: ``titles`` by rule, ``commands`` that tell more by kernel.

    ``worst`` are the worst instructions; ``asking`` says which counters decide what is unknown;
    ``beside`` is the rule of the action that stands for another rule of a variant; ``rows`` are
    the facts of variants. Gains below the share ``least`` of a kernel's time are not shown.
    """

    rows: Mapping[str, Row]
    worst: Rankings
    asking: Asking | None
    titles: Mapping[str, str]
    commands: Mapping[str, str]
    beside: Mapping[tuple[str, str], str]
    least: float


def _result(evaluation: Evaluation, place: Action | None, common: _Common) -> RuleResult:
    rule = evaluation.rule
    gain = evaluation.gain
    return RuleResult(
        outcome=_WORDS[evaluation.outcome],
        rule_id=rule.id,
        title=common.titles[rule.id],
        severity=rule.severity.value,
        text=_text(evaluation, place, common),
        gain=None if gain is None else _gain(gain),
        share=None if evaluation.share is None else _gain(evaluation.share),
        unchecked=evaluation.unchecked,
        not_checked=_not_checked(evaluation),
        instructions=_worst(evaluation, common.worst),
        gain_below=_below(gain, common.rows[evaluation.variant_id], common.least),
        next_command=common.commands.get(evaluation.variant_id, ""),
        is_void=evaluation.is_void,
        only_measures=rule.only_measures,
    )


def _below(gain: Seconds | None, row: Row, least: float) -> float | None:
    """Return the share of a kernel's time that a gain too small to show stays below."""
    duration = number(row, "duration")
    if gain is None or not duration or not 0 < gain.high < least * duration:
        return None
    return least


def _text(evaluation: Evaluation, place: Action | None, common: _Common) -> str:
    if evaluation.outcome is Outcome.FIRES:
        return evaluation.evidence + "".join(
            f" {each}" for each in _remarks(evaluation, place, common)
        )
    if evaluation.outcome is Outcome.RULED_OUT:
        return _sentence(evaluation.because or "")
    tell = _needs if evaluation.outcome is Outcome.UNKNOWN else _never
    return tell(evaluation, common.asking)


def _remarks(evaluation: Evaluation, place: Action | None, common: _Common) -> Iterator[str]:
    """Yield how what fires stands to the roof and to other advice, in sentences."""
    gain = evaluation.gain
    if gain and (moved := roof_moved([evaluation], _gain(gain), common.rows)):
        yield moved
    if place:
        if place.after:
            yield f"Overlaps with {', '.join(place.after)}."
    elif gain and (first := common.beside.get((evaluation.variant_id, evaluation.rule.id))):
        yield f"The same time as {first}: do not add the two."
    if evaluation.rule.is_unproven:
        yield _UNPROVEN


def _worst(evaluation: Evaluation, worst: Rankings) -> Ranking | None:
    """Return the worst instructions by what the rule looks at; None where it does not fire."""
    if evaluation.outcome is not Outcome.FIRES or evaluation.rule.instructions is None:
        return None
    return worst.get((evaluation.variant_id, evaluation.rule.instructions))


_UNPROVEN = "Unproven: not yet found on one real kernel and absent from another."
_WORDS: Mapping[Outcome, Told] = {
    Outcome.FIRES: "fires",
    Outcome.RULED_OUT: "ruled out",
    Outcome.UNKNOWN: "unknown",
    Outcome.NOT_KNOWABLE: "not knowable here",
}


def _needs(evaluation: Evaluation, asking: Asking | None) -> str:
    words = None if asking is None else asking.words(evaluation.variant_id, evaluation.missing)
    needs = f"Needs {evaluation.words.list_names(evaluation.missing)}"
    return f"{needs}; collect with {words}." if words else f"{needs}."


def _never(evaluation: Evaluation, asking: Asking | None) -> str:
    if asking is None:
        return _needs(evaluation, None)
    lost = asking.reach.lost(evaluation.missing)
    names = evaluation.words.list_names(lost or evaluation.missing)
    why = asking.reach.why(lost)
    return f"{asking.reach.profiler.name} cannot measure {names}{f': {why}' if why else ''}."


def _not_checked(evaluation: Evaluation) -> tuple[str, ...]:
    """Return what each exclusion lacks that could not be checked."""
    if not evaluation.not_collected:
        return ()
    words = evaluation.words
    return tuple(
        f"{words.list_names(facts)} (not collected)" for facts in evaluation.not_collected if facts
    )


def _sentence(text_: str) -> str:
    return text_[:1].upper() + text_[1:] + ("" if text_.endswith(".") else ".") if text_ else ""


def _confidence(value: float, judgement: Judgement) -> Confidence:
    if value >= judgement.high_confidence:
        return "high"
    return "medium" if value >= judgement.medium_confidence else "low"


def _show(source: ReportSource, variant: str) -> str:
    request = source.request
    return f"{program(request.database)} show {shlex.quote(variant)} --run {request.run_id}"


def _gain(saved: Seconds | Share) -> Gain:
    return Gain(low=saved.low, likely=saved.likely, high=saved.high)


def _widest(shares: Sequence[Share]) -> Gain | None:
    """Return the range of all shares, which are of kernels of their own; likely of the first."""
    if not shares:
        return None
    low, high = min(each.low for each in shares), max(each.high for each in shares)
    return Gain(low=low, likely=shares[0].likely, high=high)


def _sum(gains: Sequence[Seconds]) -> Gain | None:
    if not gains:
        return None
    return Gain(
        low=sum(gain.low for gain in gains),
        likely=sum(gain.likely for gain in gains),
        high=sum(gain.high for gain in gains),
    )
