"""GitLab code quality: an array of what fires and what moved, without what is suppressed.

Source: GitLab, "Code Quality", report format.
"""

from __future__ import annotations

from advisor.escaping import json_text, relative_address
from advisor.reports.formats.texts import about_finding, about_move
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.published import Published, PublishedFinding, PublishedMove


def gitlab(published: Published, settings: FormatSettings) -> str:
    """Return the report, the worst first."""
    shown = published.open[: settings.limits.results]
    return json_text([_issue(each, settings) for each in shown], indent=1) + "\n"


def _issue(each: PublishedFinding | PublishedMove, settings: FormatSettings) -> dict[str, object]:
    most = settings.limits.message
    text = about_move(each, most) if isinstance(each, PublishedMove) else about_finding(each, most)
    return {
        "description": text,
        "check_name": each.rule_id,
        "fingerprint": each.fingerprint,
        "severity": settings.severities["gitlab"][each.severity],
        "location": {
            "path": relative_address(each.place.path),
            "lines": {"begin": each.place.line or 1},
        },
    }
