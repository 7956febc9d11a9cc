"""The names that models may speak of, without what they mean: enough to tell a slip at once.

To load the operations and devices takes longer than all else that a mistyped name needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from advisor.errors import UsageError
from advisor.facts.sizes import wrong_sizes
from advisor.hardware.called import device_called
from advisor.modelling.names import check_ceiling, check_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.modelling.names import ModelRequest
    from advisor.modelling.ranges import Range
    from advisor.modelling.read import Known


class OperationNames(NamedTuple):
    """The sizes of an operation and what they are about; ``optional`` ones have defaults."""

    sizes: Mapping[str, str]
    optional: frozenset[str]


class DeviceNames(NamedTuple):
    """What a shipped device is called."""

    device_id: str
    name: str
    aliases: tuple[str, ...]
    called: tuple[str, ...]
    left_out: tuple[str, ...]


class NameIndex(NamedTuple):
    """All names: ``own`` are the user's devices, ``resources`` what some device rates."""

    operations: Mapping[str, OperationNames]
    devices: tuple[DeviceNames, ...]
    own: frozenset[str]
    resources: Mapping[str, str]


def index_of(known: Known) -> NameIndex:
    """Return the names of what is known."""
    return NameIndex(
        operations={
            name: OperationNames(each.abouts, each.optional)
            for name, each in known.operations.items()
        },
        devices=tuple(
            DeviceNames(each.device_id, each.name, each.aliases, each.called, each.left_out)
            for each in known.machines.devices
        ),
        own=frozenset(each.name.casefold() for each in known.machines.own),
        resources=dict(known.machines.resources),
    )


def check_asked(
    index: NameIndex,
    operation: str,
    sizes: Iterable[str],
    asked: ModelRequest,
    sweep: Range | None,
) -> None:
    """Refuse an operation on the command line that speaks of anything unknown.

    Raises:
        UsageError: there is no such operation, size, ceiling or device; names the nearest.
    """
    check_name(operation, index.operations)
    names, sizes = index.operations[operation], tuple(sizes)
    if wrong := wrong_sizes(operation, names.sizes, names.optional, sizes):
        raise UsageError(wrong[0], hint=wrong[1])
    if asked.work is not None:
        check_ceiling(asked.work, index.resources, "FLOP/s")
    check_devices(index, asked.devices)
    if sweep is not None:
        from advisor.modelling.ranges import check_size

        check_size(sweep, sizes)


def check_devices(index: NameIndex, names: Iterable[str]) -> None:
    """Refuse names that mean no device, or several.

    Raises:
        UsageError: as it says; names the nearest.
    """
    for name in names:
        if name.casefold().strip() not in index.own:
            device_called(name, index.devices)
