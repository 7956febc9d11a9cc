"""What the configuration keeps off the pages: counted, named, and said when it comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from advisor.reports import numbers
from advisor.reports.record.rows import Row, text
from advisor.rules.engine.suppress import Screened


@dataclass(frozen=True, kw_only=True)
class SuppressedFinding:
    """A finding that is not shown, and why; ``expires`` is the last day, as ISO 8601."""

    kernel_id: str
    kernel: str
    rule_id: str
    title: str
    reason: str
    owner: str | None
    expires: str | None


@dataclass(frozen=True, kw_only=True)
class Suppressed:
    """What is not shown, in one sentence and in full; ``expired`` says what is shown again."""

    sentence: str
    findings: tuple[SuppressedFinding, ...]
    expired: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what to say beneath the actions."""
        return (self.sentence, *self.expired) if self.sentence else self.expired


def suppressed(screened: Screened, rows: Mapping[str, Row]) -> Suppressed | None:
    """Return what suppressions did to a run; None where they did nothing.

    ``rows`` are the kernels by variant.
    """
    if not screened.suppressed and not screened.returned:
        return None
    findings = tuple(
        SuppressedFinding(
            kernel_id=finding.variant_id,
            kernel=text(rows[finding.variant_id], "short_name") or "unnamed kernel",
            rule_id=finding.rule.id,
            title=finding.words.fill(finding.rule.title),
            reason=suppression.reason,
            owner=suppression.owner,
            expires=None if suppression.expires is None else suppression.expires.isoformat(),
        )
        for finding, suppression in screened.suppressed
    )
    expired = dict.fromkeys(
        f"The suppression of {suppression.rule} for {suppression.kernel} expired on "
        f"{suppression.expires} ({suppression.reason}; {suppression.at})."
        for _, suppression in screened.returned
    )
    return Suppressed(sentence=_sentence(findings), findings=findings, expired=tuple(expired))


def _sentence(findings: tuple[SuppressedFinding, ...]) -> str:
    if not findings:
        return ""
    days = Counter(finding.expires for finding in findings if finding.expires is not None)
    until = ", ".join(
        f"{count} expire{'s' if count == 1 else ''} {day}" for day, count in sorted(days.items())
    )
    return f"{numbers.counted(len(findings), 'finding')} suppressed" + (
        f" ({until})." if until else "."
    )
