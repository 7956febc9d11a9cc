"""The findings of the vendor's own rules, as a report stores them with each launch.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format" and "Rule System"; the
estimates, which came later, as observed.
"""

from __future__ import annotations

import math
import re
from typing import Any

from advisor.model import ReferenceFinding
from advisor.readers.ncu import messages
from advisor.readers.ncu.messages import text

# As stored; the vendor's Python module numbers them differently.
_SEVERITIES = {1: "ok", 2: "warning", 3: "error", 4: "optimization"}
_SCOPES = {1: "local", 2: "global"}

_LINK = re.compile(r"@url:([^:@]*):[^@]*@|@(?:section|source):[^:@]*:([^@]*)@")


def findings(data: bytes) -> tuple[ReferenceFinding, ...]:
    """Return the messages of one of the vendor's rules about a launch, in file order.

    ``data`` is a message ``RuleResult``. A rule that ran and had nothing to say yields one finding
    without text: it tells that the rule was evaluated.

    Raises:
        DecodeError: it is no such message.
    """
    rule = messages.RuleResult.FromString(data)
    found = tuple(_finding(rule, item) for item in rule.body.items if item.HasField("message"))
    return found or (
        ReferenceFinding(
            rule=text(rule.identifier), title=text(rule.name), section=text(rule.section)
        ),
    )


def _finding(rule: Any, item: Any) -> ReferenceFinding:
    estimate, scope = _estimate(item)
    return ReferenceFinding(
        rule=text(rule.identifier),
        title=text(item.message.title or rule.name),
        section=text(rule.section),
        severity=_SEVERITIES.get(item.message.kind, "none"),
        text=plain(text(item.message.text)),
        estimate=estimate,
        scope=scope,
        focus=tuple(
            (text(focus.metric), focus.value) for focus in item.focus if math.isfinite(focus.value)
        ),
    )


def _estimate(item: Any) -> tuple[float | None, str | None]:
    """Return the share of time that the vendor thinks removable, and of what."""
    if not item.HasField("speedup") or not 0 <= item.speedup.percent <= 100:
        return None, None
    return item.speedup.percent / 100, _SCOPES.get(item.speedup.kind)


def plain(message: str) -> str:
    """Return ``message`` with the label alone in place of each link.

    >>> plain("See the @url:Guide:https://example.org/#a@ and @section:Occupancy:Occupancy@.")
    'See the Guide and Occupancy.'
    """
    return _LINK.sub(lambda link: link[1] or link[2] or "", message)
