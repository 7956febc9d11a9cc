"""``advisor why``: how the numbers of a kernel came about, and what is known about an idea."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from advisor.api.explaining import explanations, kernel_label
from advisor.configuration import DEFAULTS, Configuration
from advisor.database.parts import first_launch, variants_of
from advisor.database.read import open_run, run_details
from advisor.errors import UsageError
from advisor.escaping import json_text
from advisor.knowledge.load import load_knowledge
from advisor.records import dataclass
from advisor.reports.record.ideas import Idea, ideas_of, rules_about
from advisor.reports.record.layout import layout
from advisor.reports.record.opened import Opened, OpenedKernel, read_kernels
from advisor.reports.record.source import named
from advisor.rules.engine.evaluate import run_words
from advisor.rules.language.subjects import KERNEL
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    import duckdb

    from advisor.counters.mapping import Ways
    from advisor.counters.opened import LaunchOpener
    from advisor.database.read import StoredRun
    from advisor.facts import Vocabulary
    from advisor.knowledge.knowledge import Knowledge
    from advisor.reports.record.rows import Row
    from advisor.rules import Rule
    from advisor.rules.language.words import VendorWords


@dataclass(frozen=True, kw_only=True)
class WhyKernel:
    """What is answered about one kernel.

    ``asked`` are the names of the numbers that were asked for, ``numbers`` these and what they rest
    on; ``ideas`` are answers of rules, ``collect`` the command for the counters that some need.
    """

    run_id: str
    variant_id: str
    kernel: str
    asked: tuple[str, ...]
    numbers: dict[str, Opened]
    ideas: tuple[Idea, ...] = ()
    collect: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Meant:
    """What a word means: numbers by name, and rules."""

    names: tuple[str, ...]
    rules: tuple[Rule, ...] = ()


def why(
    database: str,
    kernel: str,
    word: str | None,
    *,
    run: str,
    wait: float,
    configuration: Configuration = DEFAULTS,
) -> list[WhyKernel]:
    """Return how numbers of kernels came about, and what rules about ``word`` answer.

    ``word`` is a number's name, a rule's id, or a word of their titles; without it the numbers that
    every report shows are opened.

    Raises:
        UsageError: there is no such run or kernel, or nothing is called so.
        DatabaseError: the database cannot be opened.
    """
    knowledge = load_knowledge(configuration)
    with open_run(database, run, wait=wait) as (connection, about):
        words = run_words(connection, [about.run_id], knowledge.settings)[about.run_id]
        meant = _meant(word, knowledge, words)
        rows = named(variants_of(connection, about.run_id), kernel, about.run_id)
        ideas = _ideas(connection, database, about, rows, meant.rules, knowledge)
        opened = _opened(connection, about, rows, meant.names, knowledge.vocabulary, words)
    return [
        WhyKernel(
            run_id=about.run_id,
            variant_id=str(row["variant_id"]),
            kernel=kernel_label(row),
            asked=meant.names,
            numbers=numbers,
            ideas=ideas_here,
            collect=collect,
        )
        for row, numbers, (ideas_here, collect) in zip(rows, opened, ideas, strict=True)
    ]


def _meant(word: str | None, knowledge: Knowledge, words: VendorWords) -> _Meant:
    vocabulary = knowledge.vocabulary
    known = {*vocabulary.facts, *vocabulary.quantities.quantities, *vocabulary.quantities.device}
    if word is None:
        entries = (entry for group in layout().groups for entry in group.entries)
        return _Meant(names=tuple(entry.name for entry in entries if entry.essential))
    if word in known:
        return _Meant(names=(word,))
    labels = {words.name(name).text.lower(): name for name in known}
    if word.lower() in labels:
        return _Meant(names=(labels[word.lower()],))
    rules = [rule for rule in knowledge.rules if rule.subject == KERNEL and rule.enabled]
    found = [rule for rule in rules if rule.id == word] or rules_about(word, rules, words)
    if not found:
        hint = did_you_mean(word, (*known, *labels, *(rule.id for rule in rules)))
        problem = f"no number, rule or title is called {word!r}"
        raise UsageError(problem, hint=hint or "advisor rules list names the rules")
    return _Meant(names=(), rules=tuple(found))


def _ideas(
    connection: duckdb.DuckDBPyConnection,
    database: str,
    about: StoredRun,
    rows: Sequence[Row],
    rules: Sequence[Rule],
    knowledge: Knowledge,
) -> list[tuple[tuple[Idea, ...], str | None]]:
    """Return the answers of rules about each variant, and the command that some of them need."""
    if not rules:
        return [((), None)] * len(rows)
    found = explanations(connection, database, about, rules, rows, knowledge)
    answers = []
    for row in rows:
        of_row = [each for each in found if each.explanation.subject == row["variant_id"]]
        ideas = ideas_of([each.explanation for each in of_row], knowledge.vocabulary)
        commands = (each.collect for each in of_row if each.collect is not None)
        answers.append((tuple(ideas), next(commands, None)))
    return answers


def _opened(
    connection: duckdb.DuckDBPyConnection,
    about: StoredRun,
    rows: Sequence[Row],
    names: Sequence[str],
    vocabulary: Vocabulary,
    words: VendorWords,
) -> list[dict[str, Opened]]:
    """Return the numbers of each variant, opened."""
    from advisor.counters.mapping import load_ways
    from advisor.readers import reader_of

    if not names:
        return [{}] * len(rows)
    stored_as = str(run_details(connection, about.run_id)["format"])
    ways = load_ways(reader_of(stored_as).COUNTERS)
    values = read_kernels(connection, about.run_id, (*names, *ways.mapping.devices), vocabulary)
    opened = []
    for row in rows:
        kernel = str(row["variant_id"])
        opener = _opener(connection, (about.run_id, kernel), ways, values[kernel])
        of_row = OpenedKernel(row=values[kernel], vocabulary=vocabulary, words=words, opener=opener)
        opened.append(of_row.open(names))
    return opened


def _opener(
    connection: duckdb.DuckDBPyConnection, kernel: tuple[str, str], ways: Ways, values: Row
) -> LaunchOpener | None:
    """Return what opens the first launch of a kernel; None where its counters are gone."""
    from advisor.counters.opened import LaunchOpener
    from advisor.ingest.refresh import stored_launches

    first = first_launch(connection, *kernel)
    if first is None:
        return None
    (launch,), _ = stored_launches(connection, kernel[0], after=first - 1, most=1)
    return LaunchOpener(ways, launch, {name: values[name] for name in ways.mapping.devices})


def why_json(found: Sequence[WhyKernel]) -> str:
    """Return the answers as JSON; values are in SI units."""
    return json_text({"schema_version": 1, "kernels": [_record(each) for each in found]}, indent=2)


def _record(found: WhyKernel) -> dict[str, Any]:
    return {
        "run": found.run_id,
        "variant": found.variant_id,
        "kernel": found.kernel,
        "asked": list(found.asked),
        "numbers": [asdict(each) for each in found.numbers.values()],
        "ideas": [asdict(each) for each in found.ideas],
        "collect": found.collect,
    }


def why_text(found: Sequence[WhyKernel], *, width: int = 0, ascii_only: bool = False) -> str:
    """Return the answers for a terminal ``width`` columns wide (0: 80)."""
    from advisor.reports.write.opened import write_ideas, write_numbers
    from advisor.reports.write.paper import Paper

    paper = Paper(width=width, ascii_only=ascii_only)
    for each in found:
        paper.heading(each.kernel)
        if each.asked:
            write_numbers(paper, each.asked, each.numbers)
        if each.ideas:
            write_ideas(paper, each.ideas, each.collect)
    return paper.text()
