"""What a gate of continuous integration trips on: regressions, budgets, new findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import duckdb

from advisor.commands import on_database
from advisor.configuration import Budget
from advisor.database.comparisons import firing_findings, take_kernels
from advisor.database.fetching import rows_of_cursor
from advisor.database.read import StoredRun
from advisor.facts import current, kernels_select
from advisor.facts.vocabulary import Vocabulary
from advisor.records import dataclass
from advisor.reports.record.compared import ComparedSeries, RunComparison
from advisor.reports.record.layout import layout
from advisor.rules.language.rule import Severity
from advisor.rules.language.words import VendorWords
from advisor.tracking.records import Verdict
from advisor.units import parse_unit
from advisor.wording import percent, seconds, si, signed_percent

REGRESSION, NEW_FINDING, BUDGET = "regression", "new-finding", "budget"
_KERNELS = "budget_kernels"
_SEVERITIES = tuple(Severity)
_UNSURE = (Verdict.INCONCLUSIVE, Verdict.INSUFFICIENT)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One thing that a gate looked at.

    ``tripped`` is None where it cannot be decided. ``weight`` orders what tripped, the worst
    largest; ``command`` reproduces it. ``text`` is empty for a series that did not move.
    ``called`` is what readers call it where ``name`` is made of keys.
    ``variant_id`` is the kernel in the run that is checked.
    """

    kind: str
    kernel: str
    name: str
    tripped: bool | None
    text: str
    command: str
    called: str = ""
    weight: float = 0.0
    is_environment: bool = False
    variant_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Everything that was looked at, what tripped first, the worst of it in front.

    ``comparison`` is what regressions and new findings were read from.
    """

    run: StoredRun
    baseline: StoredRun | None
    looked: Sequence[Looked]
    comparison: RunComparison | None = None

    @property
    def tripped(self) -> list[Looked]:
        """Return what tripped."""
        return [each for each in self.looked if each.tripped]

    @property
    def unsure(self) -> list[Looked]:
        """Return what cannot be decided."""
        return [each for each in self.looked if each.tripped is None]

    @property
    def environment(self) -> list[Looked]:
        """Return what moved with its environment."""
        return [each for each in self.looked if each.is_environment]


def make_gate(
    run: StoredRun,
    baseline: StoredRun | None,
    looked: Sequence[Looked],
    comparison: RunComparison | None = None,
) -> Gate:
    """Return the gate, worst first."""
    order = {True: 0, None: 1, False: 2}
    kinds = (REGRESSION, BUDGET, NEW_FINDING)
    ranked = sorted(
        looked, key=lambda e: (order[e.tripped], kinds.index(e.kind), -e.weight, e.kernel, e.name)
    )
    return Gate(run=run, baseline=baseline, looked=ranked, comparison=comparison)


def regressions(comparison: RunComparison, database: str) -> Iterator[Looked]:
    """Yield a line for each series; improvements never trip.

    A series that one of the runs lacks cannot be judged: it is new, gone, or has another name.
    """
    runs = f"{comparison.base.run_id} {comparison.head.run_id}"
    command = on_database(f"advisor compare {runs}", database)
    for row in comparison.rows:
        if row.base is None or row.head is None:
            yield _alone(row, command)
            continue
        tripped: bool | None = row.verdict == Verdict.REGRESSED
        if row.verdict in _UNSURE:
            tripped = None
        is_environment = row.verdict == Verdict.ENVIRONMENT
        yield Looked(
            kind=REGRESSION,
            kernel=row.kernel,
            name=row.series,
            tripped=tripped,
            text="" if tripped is False and not is_environment else _moved(row),
            command=command,
            weight=row.lost,
            is_environment=is_environment,
            variant_id=row.head.variant_id,
        )


def _alone(row: ComparedSeries, command: str) -> Looked:
    found = row.base or row.head
    where = "only the baseline has it" if row.head is None else "the baseline does not have it"
    time = "" if found is None else f", {seconds(found.total)}"
    return Looked(
        kind=REGRESSION,
        kernel=row.kernel,
        name=row.series,
        tripped=None,
        text=f"{where}{time}; `advisor series link` joins a kernel that was renamed",
        command=command,
        variant_id=None if row.head is None else row.head.variant_id,
    )


def _moved(row: ComparedSeries) -> str:
    assert row.base is not None
    assert row.head is not None
    change = "" if row.relative is None else f" ({signed_percent(row.relative)})"
    times = f"{seconds(row.base.total)} → {seconds(row.head.total)}{change}"
    if row.rests_on_medians:
        times += f", by the median launch {signed_percent(row.of_medians or 0.0)}"
    because = f"; {row.cause}" if row.cause else ""
    return f"{row.verdict}: {times}{because}"


def new_findings(
    connection: duckdb.DuckDBPyConnection,
    comparison: RunComparison,
    severities: Mapping[str, Severity],
    is_suppressed: Callable[[str, str], bool],
    database: str,
) -> Iterator[Looked]:
    """Yield what fires in the head, and did not for the same series in the baseline.

    Only findings of the rules in ``severities``, by what these are today; ``is_suppressed`` is
    asked of a rule and a variant of the head.
    """
    rows = comparison.rows
    of_base = {row.base.variant_id: row.series for row in rows if row.base is not None}
    of_head = {row.head.variant_id: row for row in rows if row.head is not None}
    base, head = comparison.base.run_id, comparison.head.run_id
    known = {
        (rule, of_base.get(variant)) for rule, variant, _, _ in firing_findings(connection, base)
    }
    for rule, variant, _, evidence in firing_findings(connection, head):
        row = of_head.get(variant)
        if row is None or rule not in severities or is_suppressed(rule, variant):
            continue
        is_new = (rule, row.series) not in known
        severity = severities[rule]
        yield Looked(
            kind=NEW_FINDING,
            kernel=row.kernel,
            name=rule,
            tripped=is_new,
            text=f"{severity.value}: {evidence}",
            command=on_database(f"advisor rules explain {rule} {variant} --run {head}", database),
            weight=float(len(_SEVERITIES) - _SEVERITIES.index(severity)),
            variant_id=variant,
        )


def budgets(
    connection: duckdb.DuckDBPyConnection,
    run: StoredRun,
    budgets: Sequence[Budget],
    vocabulary: Vocabulary,
    words: VendorWords,
    database: str,
) -> Iterator[Looked]:
    """Yield a line for each budget and kernel that it covers; unknown where a fact is.

    So is a budget that covers none: its kernel may have been renamed.
    """
    facts = sorted({each.fact for each in budgets})
    names = ("run_id", "variant_id", "kernel_name", "short_name", "launch_shape")
    relations = current(connection, vocabulary, [run.run_id])
    wanted = sorted({*names, "launch_count", "launches_excluded", *facts})
    take_kernels(connection, _KERNELS, kernels_select(vocabulary, wanted, relations), [run.run_id])
    kernels = rows_of_cursor(connection.execute(f"FROM {_KERNELS} ORDER BY variant_id"))
    for budget in budgets:
        covered = [k for k in kernels if budget.covers((k["kernel_name"], k["short_name"]))]
        for kernel in covered:
            command = f"advisor show {kernel['variant_id']} --run {run.run_id}"
            yield _held(budget, kernel, vocabulary, words, on_database(command, database))
        if not covered:
            yield Looked(
                kind=BUDGET,
                kernel=budget.kernel,
                name=budget.fact,
                called=words.name(budget.fact).text,
                tripped=None,
                text="no kernel of this run is called so",
                command=on_database(f"advisor report {run.run_id}", database),
            )


def _held(
    budget: Budget,
    kernel: Mapping[str, Any],
    vocabulary: Vocabulary,
    words: VendorWords,
    command: str,
) -> Looked:
    value = kernel[budget.fact]
    launches = kernel["launch_count"] - (kernel["launches_excluded"] or 0)
    if value is not None and vocabulary.adds_up(budget.fact):
        value = value / launches if launches else None
    limit = budget.limit * float(parse_unit(budget.unit).scale)
    tripped: bool | None = None
    weight = 0.0
    if value is not None:
        tripped = value > limit if budget.is_most else value < limit
        weight = abs(value - limit) / abs(limit) if limit else abs(value)
    unit = vocabulary.unit(budget.fact) or "1"
    is_share = budget.fact in layout().shares
    word = "at most" if budget.is_most else "at least"
    found = "unknown" if value is None else _shown(value, unit, is_share=is_share)
    fact = words.name(budget.fact)
    verb = "are" if fact.is_plural else "is"
    allowed = f"{word} {_shown(limit, unit, is_share=is_share)}"
    return Looked(
        kind=BUDGET,
        kernel=str(kernel["short_name"]),
        name=f"{budget.fact} {word} {budget.limit:g} {budget.unit}",
        tripped=tripped,
        text=f"{fact.text} {verb} {found}, the budget {allowed} ({budget.at})",
        command=command,
        called=f"{fact.text} {allowed}",
        weight=weight,
        variant_id=str(kernel["variant_id"]),
    )


def _shown(value: float, unit: str, *, is_share: bool) -> str:
    return percent(value, 1) if is_share else si(value, unit)
