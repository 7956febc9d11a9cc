"""Which device a name means: an id, a name, an alias, or words of an id."""

from __future__ import annotations

from itertools import combinations, takewhile
from typing import TYPE_CHECKING, TypeVar

from advisor.errors import UsageError
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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

        @property
        def left_out(self) -> tuple[str, ...]:
            """Return the words that people leave out where a name begins with them."""


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

    A full name means one device, although others have more words: an id, a name, an alias that
    tells the vendor or the series, or what the project's documents print. Vendor and series may be
    left out of it. A short name may be the alias of one and be part of the ids of others. Case,
    blanks and hyphens do not count.

    Raises:
        UsageError: there is no such device; names the nearest.
    """
    wanted = name.casefold().strip()
    full = tuple(device for device in devices if _joined(wanted) in _full_names(device))
    if len(full) == 1:
        return full
    if found := tuple(device for device in devices if _may_be(device, wanted)):
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
    words = _words(wanted)
    known = {*_words(device.device_id), *_begins(device, device.name)}
    names = {_joined(name) for name in _names(device)}
    return bool(words) and (known.issuperset(words) or _joined(wanted) in names)


def _full_names(device: HasNames) -> Iterator[str]:
    """Yield what means this device: its full names, with and without vendor and series."""
    aliases = (alias for alias in device.aliases if _begins(device, alias))
    for name in (device.device_id, device.name, *aliases, *device.called):
        begins = _begins(device, name)
        rest = "".join(_words(name)[len(begins) :])
        for many in range(len(begins) + 1):
            yield from ("".join(some) + rest for some in combinations(begins, many))


def _begins(device: HasNames, name: str) -> list[str]:
    """Return the words at the beginning of a name that may be left out."""
    may = {word.casefold() for word in device.left_out}
    return list(takewhile(may.__contains__, _words(name)))


def _words(name: str) -> list[str]:
    return name.casefold().replace("-", " ").split()


def _joined(name: str) -> str:
    return "".join(_words(name))


def _names(device: HasNames) -> Sequence[str]:
    return (device.device_id, device.name, *device.aliases, *device.called)
