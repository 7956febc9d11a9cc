"""Models: how fast could it be, of a file, an operation, a compiler's estimate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.knowledge.cache import code_files, remembered
from advisor.knowledge.parts import load_seed
from advisor.modelling.names import ModelRequest, check_readable
from advisor.resources import data_dir

if TYPE_CHECKING:
    from advisor.facts.operations import Operation
    from advisor.hardware.machines import Machines
    from advisor.modelling.defaults import Defaults
    from advisor.modelling.read import Known
    from advisor.modelling.results import Modelled
    from advisor.modelling.scenario import Scenario
    from advisor.modelling.transformer import Pass

__all__ = ["ModelRequest", "model_costs", "model_file", "model_operation", "model_transformer"]


def model_file(
    path: Path,
    asked: ModelRequest,
    *,
    sweep: str | None = None,
    configuration: Configuration = DEFAULTS,
) -> Modelled:
    """Return what the scenario of a YAML file comes to.

    Raises:
        UsageError: the file or an option is wrong; with its place where it has one.
    """
    if asked.work is not None or asked.repeat is not None:
        problem = "--work and --repeat are for an operation on the command line"
        raise UsageError(problem, hint="say it in the file")
    check_readable(path)
    from advisor.modelling.declare import asked_scenario
    from advisor.modelling.read_scenario import read_scenario

    known = known_to(configuration)
    return _answer(asked_scenario(read_scenario(path, known), asked, known), sweep)


def model_operation(
    name: str,
    words: Sequence[str],
    asked: ModelRequest,
    *,
    sweep: str | None = None,
    configuration: Configuration = DEFAULTS,
) -> Modelled:
    """Return what one operation comes to; ``words`` are ``size=value``.

    Raises:
        UsageError: an operation, a size, a value or an option is wrong.
    """
    _check_operation(name, configuration)
    from advisor.modelling.declare import operation_scenario

    known = known_to(configuration)
    return _answer(operation_scenario(name, words, asked, known), sweep)


def model_costs(
    path: Path, asked: ModelRequest, *, configuration: Configuration = DEFAULTS
) -> Modelled:
    """Return what a compiler's estimates come to.

    Raises:
        UsageError: the file or an option is wrong.
    """
    from advisor.modelling.declare import costs_scenario

    return _answer(costs_scenario(path, asked, known_to(configuration)), None)


def model_transformer(
    path: Path,
    asked_pass: Pass,
    asked: ModelRequest,
    *,
    sweep: str | None = None,
    configuration: Configuration = DEFAULTS,
) -> Modelled:
    """Return what a pass of a language model comes to, from its published configuration.

    Raises:
        UsageError: the configuration or an option is wrong, or no workload describes the model.
    """
    from advisor.modelling import transformer
    from advisor.modelling.sweep import parse_sweep
    from advisor.modelling.workloads import load_workloads

    return transformer.model_transformer(
        path,
        asked_pass,
        asked,
        known_to(configuration),
        load_workloads((data_dir("rules"), *configuration.rule_dirs)),
        None if sweep is None else parse_sweep(sweep),
    )


def _check_operation(name: str, configuration: Configuration) -> None:
    """Refuse a name that no file has, before anything is read."""
    from advisor.modelling.names import check_name, operation_names

    check_name(name, operation_names((data_dir("rules"), *configuration.rule_dirs)))


def known_to(configuration: Configuration) -> Known:
    """Return the operations, devices and defaults that models may speak of.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    from advisor.modelling.read import Known

    operations, defaults = load_operations(configuration)
    return Known(operations=operations, machines=load_machines(configuration), defaults=defaults)


def load_operations(
    configuration: Configuration,
) -> tuple[dict[str, Operation], Defaults]:
    """Return the operations, shipped and configured, by id, and what models take for granted.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    from advisor.facts import operations
    from advisor.modelling import defaults

    packs = configuration.rule_dirs
    folders = (data_dir("rules"), *packs)
    data = [path for each in folders for path in operations.operation_paths(each)]
    return remembered(
        "operations",
        (*data, defaults.defaults_file(), *code_files()),
        repr([str(pack) for pack in packs]),
        lambda: (operations.load_operations(packs), defaults.load_defaults()),
    )


def load_machines(
    configuration: Configuration = DEFAULTS, *, without: Path | None = None
) -> Machines:
    """Return the devices to model on: shipped, and the user's own but for those of one file.

    Raises:
        RuleError: a file of the user's own devices is wrong; with its place.
    """
    from advisor.hardware.machines import Machines, load_own_machines, resources_of

    shipped = load_seed().devices
    folder = None if configuration.devices is None else configuration.devices.value
    return Machines(shipped, load_own_machines(folder, resources_of(shipped), without=without))


def _answer(scenario: Scenario, sweep: str | None) -> Modelled:
    from advisor.modelling.estimate import model
    from advisor.modelling.sweep import parse_sweep

    return model(scenario, None if sweep is None else parse_sweep(sweep))
