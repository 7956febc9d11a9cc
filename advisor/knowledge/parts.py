"""What storing a profile needs beside the rules: counters and devices, loaded once and cached."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.knowledge.cache import code_files, remembered
from advisor.resources import rule_dirs
from advisor.suggest import did_you_mean

if TYPE_CHECKING:
    from advisor.counters.staging import Mapping
    from advisor.hardware.devices import SeedData
    from advisor.tracking.settings import OutcomeSettings


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

    files = (*devices.seed_files(), *code_files())
    return remembered("devices", files, "", devices.load_seed)


def load_outcomes() -> OutcomeSettings:
    """Return when advice has worked.

    Raises:
        RuleError: ``rules/tracking.yaml`` is wrong; with its place.
    """
    from advisor.tracking import settings

    files = (*(path / settings.FILE for path in rule_dirs()), *code_files())
    there = [path for path in files if path.is_file()]
    return remembered("outcomes", there, "", settings.load_outcome_settings)


def knowledge_files(packs: Iterable[Path]) -> list[Path]:
    """Return every file that the knowledge rests on: rules, facts, and the code that reads them."""
    data = [path for folder in (*rule_dirs(), *packs) for path in folder.rglob("*.yaml")]
    return [path for path in (*data, *code_files()) if path.is_file()]


def nearest(known: Iterable[str], name: str) -> str:
    """Return a hint at the ids that are most like a name."""
    return did_you_mean(name, known, "advisor rules list names them", most=3, like=0.4)
