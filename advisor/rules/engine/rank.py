"""From findings to actions: one per cause and kernel, in order of the seconds they likely save.

Findings of one kernel with the same mechanism are symptoms of one cause: the best becomes the
action, the others stand beside it, and so do symptoms that its rule explains
(``rules/relations.yaml``), however much they promise. A symptom of which the causes leave most
comes next, with what is left. Advice that changes results comes after
advice of like size that does not. What makes a whole profile meaningless stands for all the time
that could be saved. Rules that only describe a state promise what the causes leave
unexplained, and stand beside the first where that is nothing. A later action of a kernel saves its
share of the time that the earlier ones leave to be saved, so that together they never exceed what
that kernel could save at most. Rules that are unproven come after all others and take nothing from
them; where nothing else names a cause they come before the states, for a state names none.

Of a kernel whose time is unknown all this holds for shares of it, and its actions come after those
that save seconds.

Confidence follows the record of a rule: how often its advice worked here (``believed``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import inf
from typing import TYPE_CHECKING

from advisor.database.outcomes import decided_outcomes
from advisor.records import dataclass
from advisor.rules.engine.causes import all_causes, root
from advisor.rules.engine.evaluation import Evaluation
from advisor.rules.engine.gains import Seconds, Share, shrunk
from advisor.rules.language.rule import Outcome, Severity

if TYPE_CHECKING:
    import duckdb

    from advisor.tracking.record import Record
    from advisor.tracking.settings import OutcomeSettings

_LOUDNESS = {severity: place for place, severity in enumerate(Severity)}
_SELDOM_SEEN = "no published profile has shown this cause yet"

Records = Mapping[str, "Record"]
"""The records of rules, by rule."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """One thing to do about one subject.

    ``gain`` is what it saves once the actions ``after`` (rule ids, of the same subject) are done;
    those are named only where they took something away. ``share`` is the same of the time of a
    kernel, where that is unknown. ``also`` are findings of the same cause.
    ``overtaken`` are findings of other causes to which the actions for this subject leave nothing
    to win, and states that they explain; they stand beside the first one. ``position`` counts from
    1 over the run. ``depth`` is 0 for causes, more for what is left of symptoms, which come after
    their causes and are expected to save ``at_most`` as much. ``all_save`` is the most that all
    actions for the subject save together, where a gain is known.
    """

    evaluation: Evaluation
    gain: Seconds | None
    position: int
    after: tuple[str, ...] = ()
    also: tuple[Evaluation, ...] = ()
    overtaken: tuple[Evaluation, ...] = ()
    share: Share | None = None
    depth: int = 0
    at_most: float = inf
    all_save: float = inf

    @property
    def expected(self) -> float | None:
        """Return the likely seconds saved times the confidence, by which actions are ordered."""
        expected = _expected(self.evaluation, self.gain)
        return None if expected is None else min(expected, self.at_most)

    @property
    def expected_share(self) -> float:
        """Return the same of the time of a kernel whose time is unknown; 0 where it is known."""
        if self.share is None:
            return 0.0
        return min(_trusted(self.evaluation, self.share.likely), self.at_most)


def rank(evaluations: Iterable[Evaluation]) -> list[Action]:
    """Return the actions of a run, the most seconds first, then those without a gain.

    Those of unproven rules are last of all.
    """
    subjects: dict[str, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        if evaluation.outcome is Outcome.FIRES:
            subjects[evaluation.variant_id].append(evaluation)
    actions = [action for found in subjects.values() for action in _of_any_subject(found)]
    actions.sort(
        key=lambda action: _order(
            action.evaluation, action.expected, action.expected_share, action.depth
        )
    )
    return [replace(action, position=position) for position, action in enumerate(actions, start=1)]


def _of_any_subject(findings: Sequence[Evaluation]) -> list[Action]:
    if all(each.share is None for each in findings):
        return _of_subject(findings)
    return [_in_shares(action) for action in _of_subject([_as_gain(each) for each in findings])]


def _as_gain(finding: Evaluation) -> Evaluation:
    """Return a finding in which a share stands for seconds: those of one kernel have one unit."""
    share = finding.share
    if share is None:
        return finding
    gain = Seconds(low=share.low, likely=share.likely, high=share.high)
    return replace(finding, gain=gain, cap=share.cap, cap_likely=share.cap_likely)


def _in_shares(action: Action) -> Action:
    """Return an action of findings that were such, with its gain as a share again."""
    gain, share = action.gain, action.evaluation.share
    if gain is not None and share is not None:
        share = replace(share, low=gain.low, likely=gain.likely, high=gain.high)
    return replace(
        action,
        evaluation=_as_share(action.evaluation),
        gain=None,
        share=share,
        also=tuple(map(_as_share, action.also)),
        overtaken=tuple(map(_as_share, action.overtaken)),
    )


def _as_share(finding: Evaluation) -> Evaluation:
    if finding.share is None:
        return finding
    return replace(finding, gain=None, cap=None, cap_likely=None)


def _of_subject(findings: Sequence[Evaluation]) -> list[Action]:
    """Return the actions of one subject, cut one after the other; states after causes."""
    findings = _believable(findings)
    explained = _explained(findings)
    aside = set(map(id, explained))
    pending = [each for each in findings if id(each) not in aside]
    found = {each.rule.id: each for each in pending}
    taken = _Taken(first for first, *_ in _causes(pending)[0])
    later: list[tuple[int, list[Evaluation]]] = []
    for depth in count():
        groups, symptoms = _causes(pending)
        for group in groups:
            if group[0].rule.is_state or group[0].rule.is_unproven:
                later.append((depth, group))
            else:
                taken.act(depth, group, found)
        firsts = {id(first) for first, *_ in groups}
        pending = [e for e in symptoms if id(e) not in firsts and taken.leaves_most_of(e)]
        if not pending:
            break
    for depth, group in later:
        taken.act(depth, group, found)
    return taken.beside_the_first(explained)


class _Taken:
    """The actions of one subject so far, and what they leave of what it can save at most."""

    def __init__(self, firsts: Iterable[Evaluation]) -> None:
        gaining = [first for first in firsts if first.gain is not None]
        caps = [each.cap for each in gaining if each.cap is not None]
        self._most = self._left = max(caps, default=0.0)
        self._roof = min(caps, default=0.0)
        likely = (e.cap_likely for e in gaining if e.cap_likely is not None)
        self._left_likely = max(likely, default=0.0)
        self._actions: list[Action] = []
        self._overtaken: list[Evaluation] = []
        self._won = self._won_above_roof = 0.0

    def act(self, depth: int, group: Sequence[Evaluation], found: Mapping[str, Evaluation]) -> None:
        """Add the action of a group of findings, cut at what is left for it."""
        first, *others = group
        gain = self._cut(first, is_rest=first.rule.is_state or depth > 0)
        cut = gain != first.gain
        if cut and gain is not None and gain.likely <= 0:
            self._overtaken += group
            return
        done = tuple(each.evaluation.rule.id for each in self._actions if each.gain is not None)
        self._actions.append(
            Action(
                evaluation=first,
                gain=gain,
                position=0,
                after=done if cut else (),
                also=tuple(others),
                depth=depth,
                at_most=self._expected_of_causes(first, found) if depth else inf,
                all_save=self._most,
            )
        )
        if gain is not None and not first.rule.only_measures:
            self._won += gain.likely
            moves_roof = first.rule.assumes and (first.cap or 0.0) > self._roof
            self._won_above_roof += 0.0 if moves_roof else gain.likely
            self._left, self._left_likely = (
                self._left - gain.likely,
                self._left_likely - gain.likely,
            )

    def leaves_most_of(self, symptom: Evaluation) -> bool:
        """Return whether most of what a symptom promises remains, whatever explains it."""
        if symptom.gain is None:
            return False
        left = symptom.gain.likely - self._won
        return left > symptom.rule.unexplained_at * symptom.gain.likely

    def beside_the_first(self, explained: Sequence[Evaluation]) -> list[Action]:
        """Return the actions; beside the first stands what gets none."""
        beside = (*self._overtaken, *explained)
        if beside:
            self._actions[0] = replace(self._actions[0], overtaken=beside)
        return self._actions

    def _cut(self, first: Evaluation, *, is_rest: bool) -> Seconds | None:
        if first.gain is None:
            return None
        most = self._left
        if first.cap is not None:
            most = min(most, first.cap - self._won_above_roof)
        unexplained = first.gain.likely - self._won if is_rest else inf
        gain = first.gain if is_rest else self._of_what_is_left(first.gain)
        return _within(gain, most, min(self._left_likely, unexplained))

    def _of_what_is_left(self, gain: Seconds) -> Seconds:
        """Return what a cause saves of the time that the actions before it leave to be saved."""
        left = 1.0 if self._most <= 0 else max(0.0, 1 - self._won / self._most)
        return Seconds(low=gain.low * left, likely=gain.likely * left, high=gain.high)

    def _expected_of_causes(self, symptom: Evaluation, found: Mapping[str, Evaluation]) -> float:
        """Return the least that is expected of an action that explains a symptom."""
        causes = all_causes(symptom, found)
        expected = (e.expected for e in self._actions if e.evaluation.rule.id in causes)
        return min((each for each in expected if each is not None), default=inf)


def _believable(findings: Sequence[Evaluation]) -> Sequence[Evaluation]:
    """Return the findings of one subject; without a proven cause, its unproven ones count."""
    if any(_is_cause(each) for each in findings):
        return findings
    return [_believable_one(each) for each in findings]


def _believable_one(finding: Evaluation) -> Evaluation:
    promises = finding.gain is not None and finding.gain.likely > 0
    if finding.rule.is_state or not finding.rule.is_unproven or not promises:
        return finding
    reasons = (*finding.confidence_because, _SELDOM_SEEN)
    return replace(
        finding, rule=replace(finding.rule, is_unproven=False), confidence_because=reasons
    )


def _causes(
    findings: Sequence[Evaluation],
) -> tuple[list[list[Evaluation]], list[Evaluation]]:
    """Return findings by mechanism, the action first, and the symptoms.

    Symptoms stand beside what explains them, too.
    """
    found = {each.rule.id: each for each in findings}
    groups: dict[str, list[Evaluation]] = defaultdict(list)
    symptoms: list[tuple[Evaluation, Evaluation]] = []
    for finding in sorted(findings, key=_order_within):
        cause = root(finding, found)
        if cause is finding:
            groups[finding.rule.mechanism].append(finding)
        else:
            symptoms.append((finding, cause))
    for finding, cause in symptoms:
        groups[cause.rule.mechanism].append(finding)
    return [*groups.values()], [symptom for symptom, _ in symptoms]


def _explained(findings: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the states that promise nothing, where a cause was found for the subject.

    Of the states of the profile itself only the notes: a warning about it is worth an action.

    A cause is what promises time, or says without an estimate what is wrong or that all is well.
    """
    if not any(_is_cause(each) for each in findings):
        return []
    states = [each for each in findings if each.rule.is_state and each.gain is None]
    return [
        each
        for each in states
        if each.rule.severity is Severity.NOTE or not each.rule.is_about_measurement
    ]


def _is_cause(finding: Evaluation) -> bool:
    if finding.rule.is_state or finding.rule.is_unproven:
        return False
    return finding.rule.gain is None or (finding.gain is not None and finding.gain.likely > 0)


def _order_within(finding: Evaluation) -> tuple[object, ...]:
    rule = finding.rule
    expected = _expected(finding, finding.gain)
    return (rule.is_unproven, rule.is_state, *_order(finding, expected))


def _expected(finding: Evaluation, gain: Seconds | None) -> float | None:
    """Return the likely seconds saved times the confidence, less where results change."""
    if finding.rule.voids:
        return finding.cap
    return None if gain is None else _trusted(finding, gain.likely)


def _trusted(finding: Evaluation, likely: float) -> float:
    return likely * finding.confidence / finding.rule.handicap


def _within(gain: Seconds, left: float, left_likely: float) -> Seconds:
    high = min(gain.high, max(left, 0.0))
    likely = min(gain.likely, max(left_likely, 0.0), high)
    return Seconds(low=shrunk(gain.low, gain.likely, likely), likely=likely, high=high)


def _order(
    evaluation: Evaluation, expected: float | None, share: float = 0.0, depth: int = 0
) -> tuple[bool, bool, bool, float, float, int, int, str, str]:
    rule = evaluation.rule
    return (
        rule.is_unproven,
        rule.is_about_measurement,
        expected is None,
        -(expected or 0.0),
        -share,
        depth,
        _LOUDNESS[rule.severity],
        rule.id,
        evaluation.variant_id,
    )


def rule_records(
    connection: duckdb.DuckDBPyConnection,
    load_settings: Callable[[], OutcomeSettings],
    *,
    simulated: bool,
    until: str | None = None,
) -> dict[str, Record]:
    """Return the records of rules whose advice was decided, by rule.

    Of measured runs or of simulated ones, never of both; before the night of the run ``until``.
    """
    rows = decided_outcomes(connection, simulated=simulated, until=until)
    if not rows:
        return {}
    from advisor.tracking.record import Advice, record_of

    by_rule: dict[str, list[Advice]] = defaultdict(list)
    for row in rows:
        by_rule[row["rule_id"]].append(
            Advice(state=row["state"], predicted=row["predicted_likely"], achieved=row["achieved"])
        )
    settings = load_settings()
    return {rule: record_of(outcomes, settings) for rule, outcomes in by_rule.items()}


def believed(evaluations: Sequence[Evaluation], records: Mapping[str, Record]) -> list[Evaluation]:
    """Return evaluations whose confidence takes the record of their rule into account.

    Confidence is never above 1. What is stored of findings is without it: the order of nights
    would change what is stored.
    """
    return [_believed(each, records.get(each.rule.id)) for each in evaluations]


def _believed(evaluation: Evaluation, record: Record | None) -> Evaluation:
    if record is None or evaluation.outcome is not Outcome.FIRES or not record.taken:
        return evaluation
    confidence = min(1.0, evaluation.confidence * record.belief)
    if confidence == evaluation.confidence:
        return evaluation
    worked = record.states["worked"]
    told = f"its advice worked {worked} of {record.taken} times here"
    return replace(evaluation, confidence=confidence, record=told)
