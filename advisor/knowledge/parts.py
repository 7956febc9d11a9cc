"""What storing a profile needs beside the rules: counters and devices, loaded once and cached."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cache import files_below, remembered
from advisor.errors import ConfigError, Location
from advisor.resources import rule_dirs
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.counters.staging import Mapping
    from advisor.hardware.devices import SeedData


def load_mapping(profiler: str) -> Mapping:
    """Return how the counters of a profiler become quantities, with the SQL of every formula.

    Raises:
        RuleError: a file of ``rules/counters`` is wrong; with its place.
    """
    from advisor.counters import mapping

    files = knowledge_files(())
    return remembered(f"counters-{profiler}", files, "", lambda: mapping.load_mapping(profiler))


def load_seed() -> SeedData:
    """Return the devices of the seed data, and what fits on their multiprocessors."""
    from advisor.hardware import devices

    return remembered("devices", devices.seed_files(), "", devices.load_seed)


def knowledge_files(packs: Iterable[Path]) -> list[str]:
    """Return every file that the knowledge rests on: rules and facts."""
    data = (files_below(folder, ".yaml") for folder in (*rule_dirs(), *packs))
    return [*chain.from_iterable(data)]


def require_rule(known: Collection[str], rule_id: str, at: Location) -> None:
    """Refuse what a configuration says about a rule that there is not.

    Raises:
        ConfigError: names the nearest.
    """
    if rule_id not in known:
        hint = nearest(known, rule_id)
        raise ConfigError(f"there is no rule {rule_id!r}", at=at, hint=hint)


def nearest(known: Iterable[str], name: str) -> str:
    """Return a hint at the ids that are most like a name."""
    return did_you_mean(name, known, "advisor rules list names them", most=3, like=0.4)
