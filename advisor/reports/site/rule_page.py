"""The page of one rule: what it says, where it is found now, and the record of its advice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advisor import wording
from advisor.records import dataclass
from advisor.reports.record.kernel_records import Gain
from advisor.reports.site.frame import full_day, run_night
from advisor.reports.write.links import Links
from advisor.rules.language.verify_words import general_lines
from advisor.tracking.record import Advice, record_of

if TYPE_CHECKING:
    from advisor.reports.site.whole import Whole
    from advisor.rules.language.rule import Rule
    from advisor.rules.language.words import VendorWords
    from advisor.tracking.settings import OutcomeSettings

MOST_FOUND = 100
MOST_OUTCOMES = 50
_VALUE = re.compile(r"\{\{(.*?)\}\}")
_SHARES = ("percent", "share")

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class FoundNow:
    """A kernel of a newest run for which a rule fires, or that run itself."""

    rule_id: str
    kernel: str
    href: str
    is_simulated: bool
    gain: Gain | None
    text: str
    night: str
    run_href: str
    share: Gain | None = None
    gain_below: float | None = None


@dataclass(frozen=True, kw_only=True)
class OutcomeShown:
    """One piece of advice: seconds of one launch, predicted beside achieved."""

    outcome: str
    kernel: str
    href: str
    low: float | None
    likely: float | None
    high: float | None
    achieved: float | None
    opened: str
    decided: str


@dataclass(frozen=True, kw_only=True)
class RecordShown:
    """The record of a rule over measured runs, or over simulated ones."""

    sentence: str
    is_simulated: bool
    outcomes: tuple[OutcomeShown, ...]
    more: int


@dataclass(frozen=True, kw_only=True)
class RulePage:
    """Everything on the page of a rule; texts name no kernel."""

    title: str
    footer: str
    heading: str
    why: str
    rule_id: str
    severity: str
    subject: str
    mechanism: str
    found: tuple[FoundNow, ...]
    more_found: int
    records: tuple[RecordShown, ...]
    steps: tuple[str, ...]
    verify: tuple[str, ...]
    caveats: tuple[str, ...]
    applies_to: str
    when: str
    guards: tuple[tuple[str, str], ...]
    thresholds: tuple[str, ...]
    references: tuple[str, ...]


def rule_shown(
    rule: Rule,
    words: VendorWords,
    found: Sequence[FoundNow],
    records: Sequence[RecordShown],
    footer: str,
) -> RulePage:
    """Return the page of a rule, in neutral words."""
    title = words.fill(rule.title)
    return RulePage(
        title=title,
        footer=footer,
        heading=title,
        why=words.fill(rule.why),
        rule_id=rule.id,
        severity=rule.severity.value,
        subject=rule.subject,
        mechanism=rule.mechanism,
        found=tuple(found[:MOST_FOUND]),
        more_found=max(0, len(found) - MOST_FOUND),
        records=tuple(records),
        steps=tuple(_in_general(words.quote(step)) for step in rule.recommendation),
        verify=tuple(general_lines(rule.verify, words.name)),
        caveats=tuple(words.fill(caveat) for caveat in rule.caveats),
        applies_to="" if rule.applies_to is None else " ".join(rule.applies_to.text.split()),
        when=" ".join(rule.when.text.split()),
        guards=tuple(
            (" ".join(guard.when.text.split()), _in_general(words.quote(guard.because)))
            for guard in rule.unless
        ),
        thresholds=tuple(
            f"{each.name} = {each.shown:g}{'' if each.unit == '1' else f' {each.unit}'};"
            f" source: {each.source}"
            for each in rule.thresholds.values()
        ),
        references=rule.references,
    )


def found_now(wholes: Sequence[Whole], links: Links) -> dict[str, list[FoundNow]]:
    """Return where rules fire in the newest runs, by rule, the largest gain first."""
    found: dict[str, list[FoundNow]] = defaultdict(list)
    for whole in wholes:
        for each in (*_of_kernels(whole, links), *_of_run(whole, links)):
            found[each.rule_id].append(each)
    for several in found.values():
        several.sort(key=_by_gain)
    return found


def _by_gain(one: FoundNow) -> tuple[float, float]:
    seconds, share = (0.0 if each is None else each.likely for each in (one.gain, one.share))
    return -seconds, -share


def _of_kernels(whole: Whole, links: Links) -> Iterator[FoundNow]:
    series = {track.variant_id: track.series.series_id for track in whole.tracks}
    for kernel in whole.report.kernels:
        href = links.series.get(series.get(kernel.id, ""), "")
        for result in kernel.results:
            if result.outcome == "fires":
                yield FoundNow(
                    rule_id=result.rule_id,
                    kernel=kernel.full_name,
                    href=href,
                    is_simulated=whole.newest.simulated,
                    gain=result.gain,
                    share=result.share,
                    gain_below=result.gain_below,
                    text=result.text,
                    night=run_night(whole.newest),
                    run_href=links.run(whole.newest.run_id),
                )


def _of_run(whole: Whole, links: Links) -> Iterator[FoundNow]:
    for finding in whole.report.findings:
        yield FoundNow(
            rule_id=finding.rule_id,
            kernel="the run as a whole",
            href="",
            is_simulated=whole.newest.simulated,
            gain=finding.gain,
            text=finding.evidence,
            night=run_night(whole.newest),
            run_href=links.run(whole.newest.run_id),
        )


def records_of(
    outcomes: Sequence[Row], links: Links, settings: OutcomeSettings
) -> dict[str, list[RecordShown]]:
    """Return the records of rules: measured runs and simulated ones are counted apart."""
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in outcomes:
        groups[row["rule_id"], row["simulated"]].append(row)
    found: dict[str, list[RecordShown]] = defaultdict(list)
    for (rule, simulated), rows in sorted(groups.items()):
        newest = sorted(rows, key=lambda row: row["decided_at"] or row["opened_at"], reverse=True)
        newest.sort(key=lambda row: row["decided_at"] is None)
        found[rule].append(
            RecordShown(
                sentence=_sentence(rows, settings),
                is_simulated=simulated,
                outcomes=tuple(_outcome(row, links) for row in newest[:MOST_OUTCOMES]),
                more=max(0, len(rows) - MOST_OUTCOMES),
            )
        )
    return found


def _sentence(rows: Sequence[Row], settings: OutcomeSettings) -> str:
    record = record_of(
        [
            Advice(state=row["state"], predicted=row["predicted_likely"], achieved=row["achieved"])
            for row in rows
        ],
        settings,
    )
    states = ", ".join(
        f"{wording.fixed(number)} {state}" for state, number in sorted(record.states.items())
    )
    ratio = ""
    if record.ratio is not None:
        ratio = f" Achieved over predicted: {wording.significant(record.ratio)} (median)."
    return f"Given {wording.count(record.given, 'time')}: {states}.{ratio}"


def _outcome(row: Row, links: Links) -> OutcomeShown:
    decided = row["decided_at"]
    return OutcomeShown(
        outcome=row["state"],
        kernel=row["short_name"],
        href=links.series.get(row["series_id"], ""),
        low=row["predicted_low"],
        likely=row["predicted_likely"],
        high=row["predicted_high"],
        achieved=row["achieved"],
        opened=full_day(row["opened_at"]),
        decided="" if decided is None else full_day(decided),
    )


def _in_general(text: str) -> str:
    """Return a sentence about no kernel: where it names a value, a letter or dots stand.

    >>> _in_general("at {{ load | percent }} of {{ peak | seconds }}, {{ unit }}")
    'at N % of N, …'
    """

    def stand_in(found: re.Match[str]) -> str:
        _, _, how = found[1].partition("|")
        return "N %" if how.strip() in _SHARES else "N" if how else "…"

    return _VALUE.sub(stand_in, " ".join(text.split()))
