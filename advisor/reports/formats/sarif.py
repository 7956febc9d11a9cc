"""SARIF 2.1.0: findings that fire and series that moved, for code scanning.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0; GitHub, "SARIF
support for code scanning".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from advisor.escaping import json_text, relative_address, sarif_text
from advisor.reports.escaping import escape_markdown
from advisor.reports.formats.texts import about_finding, about_move, short
from advisor.reports.record.format_settings import FormatSettings
from advisor.reports.record.published import (
    Published,
    PublishedFinding,
    PublishedMove,
    RuleText,
    SourcePlace,
)
from advisor.reports.record.published_moves import FAMILY
from advisor.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT = "advisorSeriesRule/v1"

Object = dict[str, Any]


def sarif(published: Published, settings: FormatSettings) -> str:
    """Return the log: one run of the tool, moved series before findings, the worst first."""
    shown = published.shown[: settings.limits.results]
    rules = _rules(published, settings, dict.fromkeys(each.rule_id for each in shown))
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    levels = settings.severities["sarif"]
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "advisor",
                        "semanticVersion": __version__,
                        "rules": rules,
                    }
                },
                "automationDetails": {"id": _category(published, settings)},
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(each, places[each.rule_id], levels, settings) for each in shown
                ],
                "properties": {"run": published.run_id, "simulated": published.simulated},
            }
        ],
    }
    return json_text(log, indent=1) + "\n"


def _category(published: Published, settings: FormatSettings) -> str:
    """Return what tells configurations and devices apart; what follows the last slash is a run."""
    parts = (published.configuration, published.device)
    names = (short(part, settings.limits.name).replace("/", "_") for part in parts)
    return "/".join(("advisor", *names, published.run_id))


def _rules(published: Published, settings: FormatSettings, wanted: Iterable[str]) -> list[Object]:
    levels = settings.severities["sarif"]
    return [_rule(_text(rule, published, settings), levels) for rule in wanted]


def _text(rule_id: str, published: Published, settings: FormatSettings) -> RuleText:
    """Return what a rule says, of series that moved what the settings do."""
    family, _, verdict = rule_id.partition("/")
    if family == FAMILY and verdict in settings.history:
        verdict_text = settings.history[verdict]
        return RuleText(
            rule_id=rule_id,
            title=verdict_text.title,
            severity=verdict_text.severity,
            why=verdict_text.why,
        )
    unknown = RuleText(rule_id=rule_id, title=rule_id, severity="note", why=rule_id)
    return published.rules.get(rule_id, unknown)


def _rule(rule: RuleText, levels: Mapping[str, str]) -> Object:
    lines = [rule.why, *rule.caveats, *rule.references]
    is_ours = rule.rule_id.startswith(f"{FAMILY}/")
    more = "advisor history" if is_ours else f"advisor rules show {rule.rule_id}"
    markdown = [escape_markdown(rule.why), ""]
    markdown += [f"- {escape_markdown(caveat)}" for caveat in rule.caveats]
    markdown += [f"- reference: {escape_markdown(each)}" for each in rule.references]
    return {
        "id": rule.rule_id,
        "shortDescription": {"text": sarif_text(rule.title)},
        "fullDescription": {"text": sarif_text(rule.why)},
        "help": {
            "text": sarif_text(" ".join((*lines, f"More: {more}"))),
            "markdown": "\n".join((*markdown, "", f"More: `{more}`")),
        },
        "defaultConfiguration": {"level": levels[rule.severity]},
        "properties": {"tags": ["performance", rule.rule_id.partition("/")[0]]},
    }


def _result(
    each: PublishedFinding | PublishedMove,
    place: int,
    levels: Mapping[str, str],
    settings: FormatSettings,
) -> Object:
    most = settings.limits.message
    names: Sequence[str]
    if isinstance(each, PublishedMove):
        message, why = about_move(each, most), each.accepted
        names, properties = (each.kernel,), _moved(each)
    else:
        message, why = about_finding(each, most), each.suppressed
        names, properties = each.kernels, _found(each)
    result = {
        "ruleId": each.rule_id,
        "ruleIndex": place,
        "level": levels[each.severity],
        "message": {"text": sarif_text(message)},
        "locations": [_location(names, each.place, settings)],
        "partialFingerprints": {_FINGERPRINT: each.fingerprint},
        "properties": properties,
    }
    if why is not None:
        justification = short(why, most)
        result["suppressions"] = [{"kind": "external", "justification": justification}]
    return result


def _location(names: Sequence[str], place: SourcePlace, settings: FormatSettings) -> Object:
    location: Object = {"physicalLocation": _physical(place)}
    if names:
        location["logicalLocations"] = [
            {"name": short(name, settings.limits.name), "kind": "function"} for name in names
        ]
    return location


def _physical(place: SourcePlace) -> Object:
    found: Object = {"artifactLocation": {"uri": relative_address(place.path)}}
    found["region"] = {"startLine": place.line or 1}
    return found


def _found(finding: PublishedFinding) -> Object:
    found: Object = {"series": finding.series_id}
    for name, gain, unit in (("gain", finding.gain, "s"), ("share", finding.share, "1")):
        if gain is not None:
            bounds = {"low": gain.low, "likely": gain.likely, "high": gain.high}
            found[name] = {**bounds, "unit": unit}
    return found


def _moved(move: PublishedMove) -> Object:
    return {
        "series": move.series_id,
        "state": move.state,
        "base": {"value": move.base, "unit": "s"},
        "head": {"value": move.head, "unit": "s"},
        "relative": move.relative,
        "commit": move.commit,
    }
