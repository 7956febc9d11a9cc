"""What a rule says about a subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from advisor.rules.engine.gains import Seconds
from advisor.rules.language.rule import Outcome, Rule, Value
from advisor.rules.language.words import VendorWords


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What one rule says about one subject, with the values it read (by name, in SI).

    ``gain`` is in seconds and cut; None where it cannot be estimated. ``cap`` and ``cap_likely``
    are what could be saved at most, following this rule. ``confidence`` is in [0, 1], with the
    reasons that it is not 1. ``because`` says why it was ruled out, ``unchecked`` which guards had
    no value and ``not_collected`` which facts each lacks; ``missing`` which facts made it unknown.
    ``variant_id`` identifies the subject: it is the run's id where that is the run. All texts are
    in ``words``.
    """

    rule: Rule
    run_id: str
    variant_id: str
    outcome: Outcome
    values: Mapping[str, Value]
    words: VendorWords = field(default_factory=VendorWords, repr=False)
    gain: Seconds | None = None
    cap: float | None = None
    cap_likely: float | None = None
    confidence: float = 1.0
    confidence_because: tuple[str, ...] = ()
    evidence: str = ""
    recommendation: tuple[str, ...] = ()
    because: str | None = None
    unchecked: tuple[str, ...] = ()
    not_collected: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def expected(self) -> float | None:
        """Return the likely seconds saved times the confidence, by which findings are ranked."""
        return None if self.gain is None else self.gain.likely * self.confidence
