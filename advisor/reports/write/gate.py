"""The answer of a gate as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.reports.escaping import escape_markdown
from advisor.reports.record.gate import Gate, Looked
from advisor.wording import one_line

SCHEMA_VERSION = 1
_SHOWN = 10  # of what did not fail


def verdict(gate: Gate) -> str:
    """Return the first line: what tripped, of how much."""
    against = f" against {gate.baseline.run_id}" if gate.baseline is not None else ""
    tripped, unsure, environment = map(len, (gate.tripped, gate.unsure, gate.environment))
    summary = f"{tripped:,} of {len(gate.looked):,} checks of {gate.run.run_id}{against} failed"
    if unsure:
        summary += f"; {unsure:,} could not be judged"
    if environment:
        summary += f"; {environment:,} moved with the environment, which fails nothing"
    return f"{summary}."


def text(gate: Gate) -> str:
    """Return what tripped, worst first, each with the command that reproduces it; then the rest."""
    lines = [verdict(gate)]
    for each in gate.tripped:
        lines += [
            "",
            f"{each.kind}: {one_line(each.kernel)} ({one_line(each.called or each.name)})",
        ]
        lines += [f"  {one_line(each.text)}", f"  {each.command}"]
    for title, rest in _rest(gate):
        lines += ["", f"{title}:"]
        lines += [f"  {one_line(each.kernel)}: {one_line(each.text)}" for each in rest[:_SHOWN]]
        if len(rest) > _SHOWN:
            lines.append(f"  and {len(rest) - _SHOWN:,} more; --format json lists all")
        lines += [f"  {command}" for command in dict.fromkeys(each.command for each in rest)][:1]
    return "\n".join(lines) + "\n"


def _rest(gate: Gate) -> Iterator[tuple[str, Sequence[Looked]]]:
    """Yield what did not fail but is listed, under its title."""
    parts = (("could not be judged", gate.unsure), ("moved with the environment", gate.environment))
    return ((title, found) for title, found in parts if found)


def markdown(gate: Gate) -> str:
    """Return the same as a table, for the summary of a job."""
    lines = [escape_markdown(verdict(gate))]
    parts = ((each.kind, each) for each in gate.tripped)
    entries = [*parts, *((title, each) for title, rest in _rest(gate) for each in rest[:_SHOWN])]
    if entries:
        lines += ["", "| check | kernel | what | reproduce |", "| --- | --- | --- | --- |"]
    for word, each in entries:
        cells = (word, each.kernel, each.text)
        lines.append(f"| {' | '.join(map(escape_markdown, cells))} | `{each.command}` |")
    return "\n".join(lines) + "\n"


def as_json(gate: Gate) -> dict[str, object]:
    """Return plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run": gate.run.run_id,
        "baseline": None if gate.baseline is None else gate.baseline.run_id,
        "checked": len(gate.looked),
        "failed": [_record(each) for each in gate.tripped],
        "inconclusive": [_record(each) for each in gate.unsure],
        "environment": [_record(each) for each in gate.environment],
    }


def _record(each: Looked) -> dict[str, object]:
    return {
        "check": each.kind,
        "kernel": each.kernel,
        "name": each.name,
        "text": each.text,
        "command": each.command,
    }
