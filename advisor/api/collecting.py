"""What to ask the profiler for next, and what that would settle."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS, Configuration
from advisor.database.parts import variants_of
from advisor.database.read import open_run, run_details
from advisor.knowledge.load import load_knowledge
from advisor.profilers import Options
from advisor.profilers.command import profiled
from advisor.records import dataclass
from advisor.reports.record.rows import text
from advisor.reports.record.source import named
from advisor.rules import Collection, Outcome, collect, evaluate_runs, named_launches
from advisor.rules.engine.collect import asking, missing_facts, total
from advisor.rules.engine.evaluate import run_words
from advisor.rules.engine.findings import kernel_names, screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.rows import Row
    from advisor.rules import Evaluation


UNDECIDED = (Outcome.UNKNOWN, Outcome.NOT_KNOWABLE)


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A rule that the command would decide, over how many kernels, and the facts it lacks now.

    ``lacks`` are keys of facts, ``lacks_named`` what a reader calls them. ``worth`` is the time
    that it could save at most in these kernels [s], None where that of none is known.
    """

    rule_id: str
    title: str
    kernels: int
    lacks: tuple[str, ...]
    lacks_named: str = ""
    worth: float | None = None


@dataclass(frozen=True, kw_only=True)
class ToCollect:
    """What a run leaves open; ``collection`` is None where nothing worth asking for is.

    ``printed_note`` says what has more than this profile, where it was printed from a report.
    ``not_knowable`` are the rules that ``profiler`` can never decide; None where nobody described
    the run's profiler.
    """

    run_id: str
    collection: Collection | None
    kernels: tuple[str, ...] = ()
    settles: tuple[Settled, ...] = ()
    profiler: str | None = None
    not_knowable: tuple[str, ...] = ()
    printed_note: str = ""


def to_collect(
    database: str,
    run: str,
    *,
    kernel: str | None = None,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> ToCollect:
    """Return the one profiler command that settles the most valuable unknowns of a run.

    ``kernel`` limits it to kernels that a name, a pattern or an id means.

    Raises:
        UsageError: there is no such run, or no such kernel in it.
        DatabaseError: the database cannot be opened.
    """
    knowledge = load_knowledge(configuration)
    with open_run(database, run, wait=wait) as (connection, opened):
        run_id = opened.run_id
        rows = variants_of(connection, run_id)
        if kernel is not None:
            rows = named(rows, kernel, run_id)
        words = run_words(connection, [run_id], knowledge.settings)
        found = evaluate_runs(connection, knowledge.compiled, [run_id], words=words)[run_id]
        judged = _judged(found, rows, configuration)
        return settling(connection, run_id, rows, judged, knowledge)


def settling(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    rows: Sequence[Row],
    judged: Sequence[Evaluation],
    knowledge: Knowledge,
) -> ToCollect:
    """Return the one profiler command that settles the most valuable unknowns of a run.

    ``rows`` are the kernels that this is about, by ``variants_of``, and ``judged`` what rules say
    about them: what is found may leave nothing that an unknown could change.
    """
    about = run_details(connection, run_id)
    launches = named_launches(connection, run_id)
    reach = knowledge.compiled.reach(text(about, "profiler"))
    version = text(about, "profiler_version")
    open_ = [each for each in judged if each.outcome is Outcome.UNKNOWN]
    ask = asking(connection, run_id, reach, version, missing_facts(open_))
    options = Options() if reach is None else reach.profiler.options
    program = profiled(text(about, "command_line"), text(about, "program"), options)
    found = collect(judged, launches, knowledge.settings.collect, program, ask)
    undecided = {each.rule.id for each in judged if each.outcome in UNDECIDED}
    never = tuple(sorted(undecided - {each.rule.id for each in open_}))
    name = None if reach is None else reach.profiler.name
    if found is None:
        return ToCollect(run_id=run_id, collection=None, profiler=name, not_knowable=never)
    names = {str(row["variant_id"]): str(row["short_name"]) for row in rows}
    chosen = tuple(dict.fromkeys(names[variant] for variant in found.variant_ids))
    return ToCollect(
        run_id=run_id,
        collection=found,
        kernels=chosen,
        settles=_settled(open_, found),
        profiler=name,
        not_knowable=never,
        printed_note="" if reach is None else reach.profiler.printed_note(text(about, "format")),
    )


def _judged(
    found: Sequence[Evaluation], rows: Sequence[Row], configuration: Configuration
) -> list[Evaluation]:
    """Return what rules say about some kernels, suppressed findings left out."""
    variants = kernel_names(rows)
    screened = screen(
        [each for each in found if each.variant_id in variants],
        configuration.suppress,
        kernel_names=variants,
        today=datetime.now(tz=UTC).date(),
    )
    return list(screened.shown)


def _settled(unknown: Sequence[Evaluation], found: Collection) -> tuple[Settled, ...]:
    """Return the rules that the command decides, those that could save most first."""
    by_rule: dict[str, list[Evaluation]] = {}
    for each in unknown:
        if each.variant_id in found.variant_ids:
            by_rule.setdefault(each.rule.id, []).append(each)
    settled = [
        Settled(
            rule_id=rule_id,
            title=evaluations[0].words.fill(evaluations[0].rule.title),
            kernels=len(evaluations),
            lacks=(lacks := _lacks(evaluations)),
            lacks_named=evaluations[0].words.list_names(lacks),
            worth=total(each.cap for each in evaluations),
        )
        for rule_id, evaluations in by_rule.items()
        if rule_id in found.rule_ids
    ]
    return tuple(
        sorted(settled, key=lambda each: (-(each.worth or 0), -each.kernels, each.rule_id))
    )


def _lacks(evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in evaluations for name in each.missing))
