"""What the options of what-if say, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from advisor.errors import UsageError
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.hardware.machines import Machine
    from advisor.modelling.elsewhere_settings import ElsewhereSettings


def settings_for() -> ElsewhereSettings:
    """Return what predictions rest on, from a cache where the file did not change."""
    from advisor.cache import remembered
    from advisor.modelling import elsewhere_settings

    files = [elsewhere_settings.settings_file()]
    return remembered("whatif", files, "", elsewhere_settings.load_settings)


def check_covered(machines: Iterable[Machine], settings: ElsewhereSettings) -> None:
    """Refuse devices of a kind that no prediction was compared with.

    Raises:
        UsageError: a device is no GPU.
    """
    for machine in machines:
        if not settings.covers(machine.unit_kind):
            hint = (
                "predictions were compared with measurements on GPUs only; advisor model gives"
                " least times of operations on any device"
            )
            raise UsageError(f"{machine.name} is no GPU", hint=hint)


def parse_scales(words: Sequence[str], settings: ElsewhereSettings) -> dict[str, float]:
    """Return factors by the name of a peak; a word is ``name=factor``.

    Raises:
        UsageError: there is no such peak, it is there twice, or its factor is no positive number.
    """
    from advisor.modelling.names import parse_number

    found: dict[str, float] = {}
    for word in words:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            raise UsageError(f"{word!r} is no factor", hint="write dram_bandwidth=1.4")
        if name not in settings.scales:
            listed = f"one of {', '.join(settings.scales)}"
            hint = did_you_mean(name, settings.scales, listed)
            raise UsageError(f"there is no peak {name!r} to scale", hint=hint)
        if name in found:
            raise UsageError(f"{name} is scaled twice")
        found[name] = parse_number(value, f"the factor of {name}", positive=True)
    return found
