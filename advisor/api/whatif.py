"""What if: the kernels of a run elsewhere, with other peaks, after advice, against operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.modelling.whatif_asked import check_covered, parse_scales, settings_for
from advisor.quoting import double, quoted
from advisor.records import dataclass

if TYPE_CHECKING:
    import duckdb

    from advisor.database.read import StoredRun
    from advisor.database.relations import Relations
    from advisor.hardware.machines import Machine
    from advisor.knowledge.knowledge import Knowledge
    from advisor.modelling.applied import Assumed
    from advisor.modelling.elsewhere_settings import ElsewhereSettings
    from advisor.modelling.measured import MeasuredKernel, Row
    from advisor.modelling.prospects import Outlook, Prospect, WhatIf
    from advisor.rules import Rule


@dataclass(frozen=True, kw_only=True)
class About:
    """Which run, and which kernels of it: all for None."""

    database: str
    run: str
    kernel: str | None
    wait: float
    configuration: Configuration = DEFAULTS


def whatif_devices(about: About, names: Sequence[str], *, every: bool = False) -> WhatIf:
    """Return what the kernels of a run would take on some GPUs, or on every one, ranked.

    Raises:
        UsageError: there is no such device, run or kernel, or the device is no GPU.
        DatabaseError: the database cannot be opened.
    """
    from advisor.api.modelling import check_devices, load_machines

    check_devices(names, about.configuration)
    from advisor.modelling.elsewhere import TargetDevice, predict
    from advisor.modelling.prospects import Prospect, ranked

    machines = load_machines(about.configuration)
    settings = settings_for()
    if every:
        chosen = tuple(each for each in machines.every() if settings.covers(each.unit_kind))
    else:
        chosen = _each_once(map(machines.called, names))
        check_covered(chosen, settings)
    with _opened(about) as here:
        found = []
        for machine in chosen:
            target = TargetDevice(machine, here.settings)
            kernels = tuple(
                Prospect(predicted=predict(each.measured, target)) for each in here.kernels
            )
            where = (machine.name, machine.device_id, machine.name)
            found.append(_outlook(*where, kernels, here.measured))
        scenarios = ranked(found) if every or len(found) > 1 else tuple(found)
        return here.answer("Elsewhere", scenarios)


def whatif_scaled(about: About, words: Sequence[str]) -> WhatIf:
    """Return what the kernels of a run would take with peaks scaled; ``words`` are ``name=factor``.

    Raises:
        UsageError: there is no such peak, run or kernel, or a factor is no positive number.
        DatabaseError: the database cannot be opened.
    """
    scales = parse_scales(words, settings_for())
    from advisor.modelling.changed import changed
    from advisor.modelling.prospects import Prospect

    with _opened(about) as here:
        divided: dict[str, float] = {}
        for name, factor in scales.items():
            for quantity in here.settings.scales[name].quantities:
                divided[quantity] = divided.get(quantity, 1.0) * factor
        after = here.rows_with(
            {name: f"{quoted(name)} / {double(by)}" for name, by in divided.items()}
        )
        kernels = tuple(
            Prospect(predicted=changed(each, after[each.row["variant_id"]], here.settings))
            for each in here.kernels
        )
        name = ", ".join(f"{name} × {factor:g}" for name, factor in scales.items())
        return here.answer("With other peaks", (here.outlook(name, kernels),))


def whatif_applied(about: About, names: Sequence[str]) -> WhatIf:
    """Return what following rules would do: each alone, together, and beside the others.

    Raises:
        UsageError: there is no such rule, run or kernel, or a rule does not fire or changes nothing
            that can be computed.
        DatabaseError: the database cannot be opened.
    """
    from advisor.modelling.applied import found_and_assumed

    with _opened(about) as here:
        rules = [_applicable(here.knowledge, name) for name in dict.fromkeys(names)]
        meant = {each.row["variant_id"] for each in here.kernels}
        assumed = [
            each
            for each in found_and_assumed(
                here.connection, here.knowledge.compiled, here.run.run_id, here.relations
            )
            if each.variant_id in meant
        ]
        for rule in rules:
            if not any(each.rule.id == rule.id for each in assumed):
                raise _not_found(rule, assumed, about)
        return here.answer("After advice", tuple(_applied(here, rules, assumed)))


def whatif_operations(about: About) -> WhatIf:
    """Return the kernels that the configuration binds to operations, and why they take longer.

    Raises:
        UsageError: there is no such run or kernel, or no kernel of it is bound.
        DatabaseError: the database cannot be opened.
    """
    from advisor.modelling.gaps import gap_of

    with _opened(about, operations=True) as here:
        kernels = tuple(found for each in here.kernels if (found := gap_of(each)) is not None)
        if not kernels:
            hint = "bind some under `operations:` of advisor.yaml; docs/configuration.md says how"
            raise UsageError(f"no kernel of run {here.run.run_id} has an operation", hint=hint)
        return here.answer("Against operations", (here.outlook("operations", kernels),))


@dataclass(frozen=True, kw_only=True)
class _Here:
    """A run that is open, and its kernels."""

    connection: duckdb.DuckDBPyConnection
    run: StoredRun
    relations: Relations
    knowledge: Knowledge
    settings: ElsewhereSettings
    kernels: tuple[MeasuredKernel, ...]

    @property
    def measured(self) -> float:
        """Return the time of all kernels, in s."""
        return sum(each.measured.measured or 0.0 for each in self.kernels)

    def answer(self, title: str, scenarios: tuple[Outlook, ...]) -> WhatIf:
        from advisor.modelling.prospects import WhatIf

        return WhatIf(
            title=title,
            run_id=self.run.run_id,
            measured_on=self.run.device_names or "an unnamed device",
            simulated=self.run.simulated,
            scenarios=scenarios,
        )

    def outlook(self, name: str, kernels: tuple[Prospect, ...]) -> Outlook:
        """Return a scenario on the device of the run."""
        ids = dict.fromkeys(each.row["device_id"] or "" for each in self.kernels)
        device = ", ".join(each for each in ids if each)
        return _outlook(name, device, self.run.device_names or device, kernels, self.measured)

    def rows_with(self, changes: Mapping[str, str]) -> dict[str, Row]:
        """Return the facts of the kernels with launches as they would be.

        Raises:
            UsageError: the launches of the run were pruned.
        """
        from advisor.database.relations import what_if
        from advisor.modelling.measured import read_rows

        rows = read_rows(
            self.connection,
            self.knowledge.vocabulary,
            self.run.run_id,
            what_if(self.relations, changes),
            self.settings,
        )
        found = {row["variant_id"]: row for row in rows}
        if not all(each.row["variant_id"] in found for each in self.kernels):
            problem = f"the launches of run {self.run.run_id} were pruned"
            hint = "ingest the profile again, or ask for --device, which needs no launches"
            raise UsageError(problem, hint=hint)
        return found


@contextmanager
def _opened(about: About, *, operations: bool = False) -> Iterator[_Here]:
    from advisor.database.read import get_vendors, open_run
    from advisor.facts import current
    from advisor.knowledge.load import load_knowledge
    from advisor.modelling.measured import kernels_of, read_rows

    knowledge = load_knowledge(about.configuration)
    settings = settings_for()
    with open_run(about.database, about.run, wait=about.wait) as (connection, run):
        relations = current(connection, knowledge.vocabulary, [run.run_id])
        rows: Sequence[Row] = read_rows(
            connection,
            knowledge.vocabulary,
            run.run_id,
            relations,
            settings,
            operations=operations,
        )
        if about.kernel is not None:
            from advisor.reports.record.source import named

            rows = named(list(rows), about.kernel, run.run_id)
        if not rows:
            raise UsageError(f"run {run.run_id} has no kernel")
        vendor, profiler = get_vendors(connection, [run.run_id])[run.run_id]
        vendor = vendor or knowledge.settings.vendors.profilers.get(profiler or "")
        yield _Here(
            connection=connection,
            run=run,
            relations=relations,
            knowledge=knowledge,
            settings=settings,
            kernels=tuple(kernels_of(rows, vendor, settings)),
        )


def _outlook(
    name: str, device: str, device_name: str, kernels: tuple[Prospect, ...], measured: float
) -> Outlook:
    from advisor.modelling.prospects import Outlook, total_of

    return Outlook(
        name=name,
        device=device,
        device_name=device_name,
        kernels=kernels,
        total=total_of(kernels, measured),
    )


def _each_once(machines: Iterable[Machine]) -> tuple[Machine, ...]:
    return tuple({each.device_id: each for each in machines}.values())


def _applicable(knowledge: Knowledge, name: str) -> Rule:
    """Return the rule of a name that says what following it changes in a kernel."""
    from advisor.knowledge.load import find_rule
    from advisor.modelling.applied import changeable

    rule = find_rule(knowledge.rules, name)
    if changeable(rule, knowledge.vocabulary):
        return rule
    problem = f"{name} does not say what following it changes in a kernel"
    hint = (
        "a rule about kernels with `assumes` of quantities is needed;"
        f" advisor rules show {name} shows it"
    )
    raise UsageError(problem, hint=hint)


def _not_found(rule: Rule, assumed: Sequence[Assumed], about: About) -> UsageError:
    others = sorted({each.rule.id for each in assumed})
    where = "in this run" if about.kernel is None else f"for {about.kernel!r}"
    problem = f"{rule.id} was not found {where}"
    if not others:
        return UsageError(problem, hint="nor was any rule that says what it changes")
    return UsageError(problem, hint=f"found were {', '.join(others)}")


def _applied(here: _Here, rules: Sequence[Rule], assumed: Sequence[Assumed]) -> Iterator[Outlook]:
    ids = tuple(rule.id for rule in rules)
    for rule in rules:
        only = [each for each in assumed if each.rule.id == rule.id]
        yield _scenario(here, f"{rule.id} alone", only, (rule.id,))
    if len(rules) > 1:
        both = [each for each in assumed if each.rule.id in ids]
        yield _scenario(here, " and ".join(ids), both, ids)
    others = [each for each in assumed if each.rule.id not in ids]
    if others:
        without = _scenario(here, "the others", others, ())
        yield _scenario(here, "with all that was found", assumed, ids, without)


def _scenario(
    here: _Here,
    name: str,
    assumed: Sequence[Assumed],
    rules: tuple[str, ...],
    without: Outlook | None = None,
) -> Outlook:
    from dataclasses import replace

    from advisor.modelling.applied import launch_changes, together
    from advisor.modelling.changed import changed
    from advisor.modelling.prospects import Prospect

    durations = {each.row["variant_id"]: each.measured.measured or 0.0 for each in here.kernels}
    changes = together(assumed)
    after = here.rows_with(launch_changes(changes, durations)) if changes else {}
    touched = [each for each in here.kernels if each.row["variant_id"] in changes]
    kernels = tuple(
        Prospect(predicted=changed(each, after[each.row["variant_id"]], here.settings))
        for each in touched
    )
    found = replace(here.outlook(name, kernels), rules=rules)
    if without is None:
        return found
    return replace(found, adds=_saved(found) - _saved(without))


def _saved(outlook: Outlook) -> float:
    return outlook.total.measured_covered - (outlook.total.likely or 0.0)
