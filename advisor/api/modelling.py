"""Models: how fast could it be, of a file, an operation, a compiler's estimate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cache import files_below, remembered
from advisor.configuration import DEFAULTS, Configuration
from advisor.errors import UsageError
from advisor.modelling.names import (
    ModelRequest,
    check_name,
    check_readable,
    no_device,
    operation_files,
    operation_names,
    parse_sizes,
)
from advisor.resources import data_dir, rule_dirs

if TYPE_CHECKING:
    from advisor.facts.operations import Operation
    from advisor.hardware.machines import Machines
    from advisor.modelling.defaults import Defaults
    from advisor.modelling.index import NameIndex
    from advisor.modelling.ranges import Range
    from advisor.modelling.read import Known
    from advisor.modelling.results import Modelled
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
    values = _values(sweep)
    from advisor.modelling.read_scenario import read_scenario

    known = known_to(configuration)
    scenario = read_scenario(path, known)
    from advisor.modelling.declare import asked_scenario
    from advisor.modelling.estimate import model

    return model(asked_scenario(scenario, asked, known), values)


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
    check_name(name, operation_names(_rule_dirs(configuration)))
    sizes, values = parse_sizes(words), _values(sweep)
    if not asked.devices:
        raise no_device()
    from advisor.modelling.index import check_asked

    check_asked(_names(configuration), name, sizes, asked, values)
    from advisor.modelling.declare import operation_scenario
    from advisor.modelling.estimate import model

    known = known_to(configuration)
    return model(operation_scenario(name, sizes, asked, known), values)


def model_costs(
    path: Path, asked: ModelRequest, *, configuration: Configuration = DEFAULTS
) -> Modelled:
    """Return what a compiler's estimates come to.

    Raises:
        UsageError: the file or an option is wrong.
    """
    from advisor.modelling.declare import costs_scenario
    from advisor.modelling.estimate import model

    return model(costs_scenario(path, asked, known_to(configuration)))


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
    values = _values(sweep)
    from advisor.modelling import transformer
    from advisor.modelling.workloads import load_workloads

    return transformer.model_transformer(
        path,
        asked_pass,
        asked,
        known_to(configuration),
        load_workloads(_rule_dirs(configuration)),
        values,
    )


def check_devices(names: Sequence[str], configuration: Configuration) -> None:
    """Refuse names that mean no device, or several, before the devices are loaded.

    Raises:
        UsageError: as it says; names the nearest.
        RuleError: a file is wrong; with its place.
    """
    from advisor.modelling import index

    index.check_devices(_names(configuration), names)


def _rule_dirs(configuration: Configuration) -> tuple[Path, ...]:
    """Return every directory with operations: shipped, of installed packs, and configured."""
    return (*rule_dirs(), *configuration.rule_dirs)


def _values(sweep: str | None) -> Range | None:
    if sweep is None:
        return None
    from advisor.modelling.ranges import parse_sweep

    return parse_sweep(sweep)


def _names(configuration: Configuration) -> NameIndex:
    """Return the names that models may speak of.

    Raises:
        RuleError: a file is wrong; with its place.
    """
    from advisor.modelling.index import index_of

    packs = _rule_dirs(configuration)
    own = _own_devices(configuration)
    files = (
        *(path for each in packs for path in operation_files(each)),
        *files_below(data_dir("seed"), ".yaml"),
        *(() if own is None else own.glob("*.yaml")),
    )
    return remembered("names", files, "", lambda: index_of(known_to(configuration)))


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
    data = [path for each in _rule_dirs(configuration) for path in operation_files(each)]
    return remembered(
        "operations",
        (*data, defaults.defaults_file()),
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
    from advisor.knowledge.parts import load_seed

    shipped = load_seed().devices
    folder = _own_devices(configuration, is_made=without is not None)
    return Machines(shipped, load_own_machines(folder, resources_of(shipped), without=without))


def _own_devices(configuration: Configuration, *, is_made: bool = False) -> Path | None:
    """Return the directory of the user's own devices, which is there unless it ``is_made`` next.

    Raises:
        ConfigError: it is not.
    """
    if configuration.devices is None:
        return None
    if not is_made:
        from advisor.knowledge.configured import check_device_folder

        check_device_folder(configuration)
    return configuration.devices.value
