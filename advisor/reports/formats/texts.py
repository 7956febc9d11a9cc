"""What all formats say alike: names, and sentences about a finding and a change."""

from __future__ import annotations

from advisor.reports.escaping import shorten
from advisor.reports.record.published import PublishedFinding, PublishedMove
from advisor.reports.record.saved import likely_sentence
from advisor.wording import count, one_line


def short(text: str, most: int) -> str:
    """Return text on one line, harmless to look at, its middle cut out where it is too long."""
    return shorten(one_line(text), most)


def about_finding(finding: PublishedFinding, most: int) -> str:
    """Return kernel, evidence, gain and first step of a finding in at most ``most`` characters."""
    names = finding.kernels
    more = f" and {count(len(names) - 1, 'more launch shape')}" if len(names) > 1 else ""
    where = f"{short(names[0], most // 4)}{more}: " if names else ""
    gain = likely_sentence(finding)
    step = f" {finding.step}" if finding.step else ""
    return short(f"{where}{finding.evidence}{gain}{step}", most)


def about_move(move: PublishedMove, most: int) -> str:
    """Return kernel, change and cause in at most ``most`` characters."""
    others = f" {count(move.others, 'more change')} of this kernel." if move.others else ""
    return short(f"{short(move.kernel, most // 4)}: {move.sentence}{others}", most)
