"""``python -m studies.vendor [FOLDER]``: our findings beside those of the vendor's own rules.

Reads the reports below FOLDER (by default ``../shared/data/ncu-rep``) into a database of its own,
and holds each message that a rule of Nsight Compute left in them against what our rules say of the
same kernel (``vendor.yaml`` says which are about the same symptom). Writes
``docs/vendor-agreement.md``: the table, and each case in which the vendor expects a gain of 10 % or
more and ours do not fire, with a reason. Fails where a case has no reason, where a reason that
covers many cases is not explained, and where a gain exceeds its cap.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading
from advisor.facts.view import create_views
from advisor.facts.vocabulary import load_vocabulary
from advisor.ingest.profiles import RunLabels, ingest_paths
from advisor.quoting import quoted
from advisor.rules.engine.compiled import compile_rules
from advisor.rules.engine.evaluate import evaluate_runs
from advisor.rules.language.load import load_rules
from advisor.rules.language.rule import Outcome
from advisor.rules.language.settings import load_settings
from studies.symptoms import read_knowledge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import duckdb

    from advisor.rules.engine.evaluation import Evaluation
    from studies.symptoms import Knowledge, Reason, Symptom

ROOT = Path(__file__).parent.parent
REPORTS = ROOT.parent / "shared" / "data" / "ncu-rep"
PAGE = ROOT / "docs" / "vendor-agreement.md"
NOTABLE = 0.1  # of the run time, as the vendor estimates
MANY = 0.2  # of one rule's cases: a reason that covers more is explained
ROUNDING = 1e-9

FOUND, RULED_OUT, SILENT, UNKNOWN, MISSED = (
    "found", "ruled out", "stricter", "unknown", "no rule",
)  # fmt: skip
ANSWERS = (FOUND, RULED_OUT, SILENT, UNKNOWN, MISSED)

GUARDED, NOT_COLLECTED = "guarded", "not-collected"  # reasons that evaluating a rule gives

_SPOKEN = {  # what a rule's outcome says of a symptom, and the reason it gives; the first counts
    Outcome.FIRES: (FOUND, ""),
    Outcome.RULED_OUT: (RULED_OUT, GUARDED),
    Outcome.UNKNOWN: (UNKNOWN, NOT_COLLECTED),
}
_MESSAGES = """
    select run_id, variant_id, launch_index, reference_finding.rule, title, estimate,
        runs.name as report, short_name
    from reference_finding
    join runs using (run_id)
    join (select run_id, launch_index, variant_id from main.launch) using (run_id, launch_index)
    join (select run_id, variant_id, short_name from kernels) using (run_id, variant_id)
    where severity in ('warning', 'optimization')
    order by rule, title, report, launch_index, estimate
"""
_LEFT_OUT = "select count(*) from reference_finding where severity in ('ok', 'error')"

Subject = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Message:
    """What a rule of the vendor said of a launch; ``estimate`` is a share of its time."""

    subject: Subject
    launch: int
    rule: str
    title: str
    estimate: float | None
    report: str
    kernel: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What ours say of the same; ``code`` and ``words`` give the reason where they do not fire."""

    message: Message
    symptom: Symptom
    said: str
    code: str = ""
    words: str = ""


def messages(connection: duckdb.DuckDBPyConnection) -> list[Message]:
    """Return every message by which a rule of the vendor warned or advised."""
    return [
        Message(
            subject=(run, variant), launch=launch, rule=rule, title=title,
            estimate=estimate, report=report, kernel=kernel,
        )
        for run, variant, launch, rule, title, estimate, report, kernel
        in connection.execute(_MESSAGES).fetchall()
    ]  # fmt: skip


def holding(
    connection: duckdb.DuckDBPyConnection, reasons: Iterable[Reason]
) -> dict[Subject, set[str]]:
    """Return the reasons that hold, by kernel."""
    reasons = tuple(reasons)
    conditions = ", ".join(reason.when.sql(quoted) for reason in reasons)
    rows = connection.execute(f"select run_id, variant_id, {conditions} from kernels").fetchall()
    return {
        (run, variant): {reason.code for reason, holds in zip(reasons, held, strict=True) if holds}
        for run, variant, *held in rows
    }


def answer(
    message: Message,
    knowledge: Knowledge,
    evaluations: Mapping[tuple[Subject, str], Evaluation],
    held: Mapping[Subject, set[str]],
) -> Answer:
    """Return what ours say of the symptom that a message names.

    Raises:
        RuleError: no symptom of ``vendor.yaml`` matches the message.
    """
    symptom = knowledge.symptom(message.rule, message.title)

    def so(said: str, code: str = "", words: str = "") -> Answer:
        return Answer(message=message, symptom=symptom, said=said, code=code, words=words)

    if not symptom.ours:
        return so(MISSED, symptom.code, symptom.because)
    found = [evaluations.get((message.subject, name)) for name in symptom.ours]
    for outcome, (said, code) in _SPOKEN.items():
        for each in found:
            if each is not None and each.outcome is outcome:
                return so(said, code, each.because or ", ".join(each.missing))
    for code in symptom.reasons:
        if code in held[message.subject]:
            return so(SILENT, code, knowledge.reasons[code].about)
    return so(SILENT)


def over_cap(
    evaluations: Iterable[Evaluation], least: Mapping[Subject, tuple[float, float]]
) -> list[str]:
    """Return the gains that promise more than physics allows; ``least``: time and roof of a kernel.

    Held against the engine's own cap, and, where following the advice changes no work or traffic,
    against what lies above the profiled roof, computed here.
    """
    wrong = []
    for each in evaluations:
        gain, caps = each.gain, (each.cap, each.cap_likely)
        if gain is None:
            continue
        high, likely = (cap * (1 + ROUNDING) for cap in caps if cap is not None)
        fine = 0 <= gain.low <= gain.likely <= gain.high <= high and gain.likely <= likely
        duration, roof = least.get((each.run_id, each.variant_id), (None, 0.0))
        if duration is not None:
            above = duration if each.rule.assumes else max(0.0, duration - roof)
            fine = fine and gain.high <= above * (1 + ROUNDING)
        if not fine:
            wrong.append(f"{each.rule.id} promises {gain} of {each.variant_id}, caps {caps}")
    return wrong


def page(answers: Sequence[Answer], left_out: int, gains: int, knowledge: Knowledge) -> str:
    """Return the page: the table, the cases, and why reasons that cover many are right."""
    cases = _cases(answers)
    silent = [case for case in cases if case.said != FOUND]
    parts = [
        "<!-- Generated by `python -m studies.vendor`; edit `studies/vendor.yaml` instead."
        " -->\n",
        "# Agreement with the vendor's rules\n",
        "Reports of Nsight Compute carry what its own rules said of each launch. Here"
        f" {len(answers):,} such messages, all that warn or advise in the reports at hand, stand"
        f" beside what our rules say of the same kernel; {left_out:,} that say that all is well, or"
        " that the vendor's rule failed, are left out.\n",
        f"* **{FOUND}**: one of our rules about the same symptom fires.\n"
        f"* **{RULED_OUT}**: our rule's symptom is there, and a guard says why advice on it would"
        " not help.\n"
        f"* **{SILENT}**: our rule was evaluated and its condition is not met.\n"
        f"* **{UNKNOWN}**: the report lacks a counter that our rule needs; the report says which.\n"
        f"* **{MISSED}**: we have no such rule, for a reason given below.\n",
        _summary(answers),
        f"## Estimates of {NOTABLE:.0%} and more on which ours do not fire\n",
        f"The vendor puts {len(cases)} of its estimates at {NOTABLE:.0%} of the run time or more."
        f" Ours fire on {len(cases) - len(silent)} of them; the other {len(silent)} are all"
        " listed.\n",
        _listed(silent),
        "## Reasons that cover many cases\n",
        f"A reason that covers more than {MANY:.0%} of the cases of one of the vendor's rules"
        " may hide a rule to fix. These do not:\n",
        *(f"* **{rule}, {code}** ({count} of {total}). {knowledge.explained.get((rule, code), '')}"
          for rule, code, count, total in _many(cases)),
        "\n## Gains\n",
        f"None of the {gains:,} gains that our rules give for these kernels exceeds its cap, and"
        " none whose advice leaves work and traffic as they are exceeds the time above the"
        " profiled roof.\n",
    ]  # fmt: skip
    return "\n".join(parts)


def _cases(answers: Iterable[Answer]) -> list[Answer]:
    return [each for each in answers if (each.message.estimate or 0) >= NOTABLE]


def _many(cases: Sequence[Answer]) -> Iterator[tuple[str, str, int, int]]:
    """Yield rule, code, cases with that reason, cases of the rule, where the reason covers many."""
    totals = Counter(case.message.rule for case in cases)
    reasons = Counter((case.message.rule, case.code) for case in cases if case.said != FOUND)
    for (rule, code), count in sorted(reasons.items()):
        if count > MANY * totals[rule]:
            yield rule, code, count, totals[rule]


def _summary(answers: Sequence[Answer]) -> str:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for each in answers:
        key = (each.symptom.rule, each.symptom.title)
        counts.setdefault(key, Counter())[each.said] += 1
    rows = [
        (f"`{rule}`", title, found.total(), *(found[said] or "" for said in ANSWERS))
        for (rule, title), found in sorted(counts.items())
    ]
    total = Counter(each.said for each in answers)
    rows.append(("all", "", total.total(), *(total[said] or "" for said in ANSWERS)))
    return _table(("the vendor's rule", "title", "messages", *ANSWERS), rows)


def _listed(cases: Iterable[Answer]) -> str:
    rows = [
        (
            f"`{case.message.rule}`: {case.message.title}", f"{case.message.estimate:.0%}",
            f"`{case.message.report}`, {case.message.launch}", f"`{case.message.kernel}`",
            case.said, case.code, case.words,
        )
        for case in cases
    ]  # fmt: skip
    head = ("the vendor's rule", "estimate", "report, launch", "kernel", "ours", "reason", "")
    return _table(head, rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def compare(database: str, folder: Path) -> tuple[str, list[str]]:
    """Return the page for the runs of a database, and what is wrong.

    Raises:
        RuleError: ``vendor.yaml`` is wrong or does not know a message.
    """
    vocabulary = load_vocabulary()
    settings = load_settings(vocabulary.symbols)
    rules = load_rules(vocabulary, settings=settings)
    knowledge = read_knowledge(vocabulary, (rule.id for rule in rules))
    compiled = compile_rules(rules, vocabulary=vocabulary, settings=settings)
    with open_for_reading(database) as connection:
        create_views(connection, vocabulary)
        connection.execute("create temp table judged as from kernels")
        runs = [run for (run,) in connection.execute("select run_id from runs").fetchall()]
        by_run = evaluate_runs(connection, compiled, runs)
        said = messages(connection)
        held = holding(connection, knowledge.reasons.values())
        left_out = sum(count for (count,) in connection.execute(_LEFT_OUT).fetchall())
        times = connection.execute(
            "select run_id, variant_id, duration, coalesce(t_sol, 0) from judged"
        ).fetchall()
    everything = [each for found in by_run.values() for each in found]
    by_key = {((each.run_id, each.variant_id), each.rule.id): each for each in everything}
    answers = [answer(message, knowledge, by_key, held) for message in said]
    least = {(run, variant): (duration, roof) for run, variant, duration, roof in times}
    problems = over_cap(everything, least)
    problems += [
        f"no reason for {case.message.rule}: {case.message.title} of {case.message.report}"
        for case in _cases(answers)
        if case.said != FOUND and not case.code
    ]
    problems += [
        f"the reason {code!r} covers {count} of {total} cases of {rule} and is not explained"
        for rule, code, count, total in _many(_cases(answers))
        if (rule, code) not in knowledge.explained
    ]
    gains = sum(each.gain is not None for each in everything)
    return page(answers, left_out, gains, knowledge).replace(f"{folder}/", ""), problems


def main(arguments: Sequence[str]) -> int:
    """Read the reports, write the page, and return the exit status."""
    folder = Path(arguments[0]) if arguments else REPORTS
    with tempfile.TemporaryDirectory() as scratch:
        database = str(Path(scratch) / "vendor.duckdb")
        for each in ingest_paths(database, [str(folder)], labels=RunLabels(), wait=0):
            if each.status == "refused":
                print(f"{each.name}: {each.error}", file=sys.stderr)
        text, problems = compare(database, folder)
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join(problems) or f"wrote {PAGE}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
