"""Which device a name means: an id, a name, an alias, or words of an id."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from advisor.errors import UsageError
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class HasNames(Protocol):
        """What has the names of a device."""

        @property
        def device_id(self) -> str:
            """Return its id."""

        @property
        def name(self) -> str:
            """Return its name."""

        @property
        def aliases(self) -> tuple[str, ...]:
            """Return what else it is called."""

        @property
        def called(self) -> tuple[str, ...]:
            """Return what the project's documents call it, and it alone."""


Named = TypeVar("Named", bound="HasNames")

_NEAREST = 3


def device_called(name: str, devices: Sequence[Named]) -> Named:
    """Return the one device that a name means, as ``devices_called`` reads it.

    Raises:
        UsageError: there is none, or there are several; names them or the nearest.
    """
    found = devices_called(name, devices)
    if len(found) > 1:
        raise several_devices(name, found)
    return found[0]


def devices_called(name: str, devices: Sequence[Named]) -> tuple[Named, ...]:
    """Return every device that a name may mean.

    An id means one device, and so does what the project's documents print; a short name may be the
    alias of one and be part of the ids of others. Case does not count, and words may be apart by
    spaces as well.

    Raises:
        UsageError: there is no such device; names the nearest.
    """
    wanted = name.casefold().strip()
    exact = tuple(device for device in devices if wanted in _exact_names(device))
    found = exact or tuple(device for device in devices if _may_be(device, wanted))
    if found:
        return found
    parts = [device.device_id for device in devices if wanted and wanted in device.device_id]
    names = [known for device in devices for known in _names(device)]
    otherwise = "`advisor hardware list` names the known devices"
    hint = did_you_mean(name, parts, most=_NEAREST, like=0.0)
    hint = hint or did_you_mean(name, names, otherwise, most=_NEAREST)
    raise UsageError(f"no device called {name!r} is known", hint=hint)


def several_devices(name: str, found: Sequence[HasNames]) -> UsageError:
    """Return the error of a name that leaves several devices; their ids do not."""
    ids = ", ".join(device.device_id for device in found)
    return UsageError(f"{name!r} may be several devices: {ids}", hint="give one of these ids")


def _may_be(device: HasNames, wanted: str) -> bool:
    words = set(wanted.replace("-", " ").split())
    of_id = bool(words) and words <= set(device.device_id.split("-"))
    return of_id or wanted in {known.casefold() for known in _names(device)}


def _exact_names(device: HasNames) -> Sequence[str]:
    return (device.device_id, *(name.casefold() for name in device.called))


def _names(device: HasNames) -> Sequence[str]:
    return (device.device_id, device.name, *device.aliases, *device.called)
