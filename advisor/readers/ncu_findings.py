"""The findings of the vendor's own rules, as a report stores them with each launch.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format" and "Rule System"; the
estimates, which came later, as observed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from advisor.model import ReferenceFinding
from advisor.readers.ncu_messages import text

# As stored; the vendor's Python module numbers them differently.
_SEVERITIES = {1: "ok", 2: "warning", 3: "error", 4: "optimization"}
_SCOPES = {1: "local", 2: "global"}

_known = lru_cache(maxsize=1024)(text)  # texts that come with every launch
_LINK = re.compile(r"@url:([^:@]*):[^@]*@|@(?:section|source):[^:@]*:([^@]*)@")


def findings(result: Any) -> Iterator[ReferenceFinding]:
    """Yield the messages of the vendor's rules about a launch, in file order.

    A rule that ran and had nothing to say yields one finding without text: it tells that the rule
    was evaluated.
    """
    for rule in result.rules:
        known = _known(rule.identifier), _known(rule.name), _known(rule.section)
        items = [item for item in rule.body.items if item.HasField("message")]
        for item in items:
            yield _finding(*known, item)
        if not items:
            identifier, name, section = known
            yield ReferenceFinding(rule=identifier, title=name, section=section)


def _finding(identifier: str, name: str, section: str, item: Any) -> ReferenceFinding:
    estimate, scope = _estimate(item)
    message = item.message
    return ReferenceFinding(
        rule=identifier,
        title=_known(message.title) or name,
        section=section,
        severity=_SEVERITIES.get(message.kind, "none"),
        text=plain(text(message.text)),
        estimate=estimate,
        scope=scope,
        focus=tuple(
            (_known(focus.metric), focus.value)
            for focus in item.focus
            if math.isfinite(focus.value)
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
    return _LINK.sub(lambda link: link[1] or link[2] or "", message) if "@" in message else message
