"""What is loaded once and used for every profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from advisor.database.variants import VariantStatements
from advisor.facts import Vocabulary, variant_statements
from advisor.rules.engine.compiled import Compiled, compile_rules
from advisor.rules.engine.reach import Reach
from advisor.rules.language.rule import Rule
from advisor.rules.language.settings import EvaluationSettings

if TYPE_CHECKING:
    from advisor.counters.staging import Mapping as Counters
    from advisor.hardware.devices import SeedData
    from advisor.tracking.settings import OutcomeSettings


@dataclass(kw_only=True)
class Knowledge:
    """Vocabulary, rules and settings; what only ingest needs is loaded when it does.

    ``load_mapping`` returns how the counters of a profiler become quantities, ``load_seed`` what
    is known of devices, ``load_outcomes`` when advice has worked; ``reaches`` say what
    profilers can tell, by their names.
    """

    vocabulary: Vocabulary
    rules: Sequence[Rule]
    settings: EvaluationSettings
    load_mapping: Callable[[str], Counters]
    load_seed: Callable[[], SeedData]
    load_outcomes: Callable[[], OutcomeSettings]
    reaches: Mapping[str, Reach] = field(default_factory=dict)
    _mappings: dict[str, Counters] = field(default_factory=dict, init=False)

    def mapping(self, profiler: str) -> Counters:
        """Return how the counters of ``profiler`` become quantities.

        Raises:
            RuleError: a file of ``rules/counters`` is wrong; with its place.
        """
        if profiler not in self._mappings:
            self._mappings[profiler] = self.load_mapping(profiler)
        return self._mappings[profiler]

    def prepare(self, profilers: Iterable[str]) -> None:
        """Load what storing profiles needs: it takes a while, and nobody should wait for it."""
        for profiler in profilers:
            self.mapping(profiler)
        _ = self.compiled, self.variants, self.seed

    @cached_property
    def compiled(self) -> Compiled:
        """The rules as SQL."""
        return compile_rules(
            self.rules,
            vocabulary=self.vocabulary,
            settings=self.settings,
            reaches=self.reaches,
        )

    @cached_property
    def variants(self) -> VariantStatements:
        """What stores the variants of a run, as SQL."""
        return variant_statements(self.vocabulary)

    @cached_property
    def seed(self) -> SeedData:
        """What is known of devices."""
        return self.load_seed()

    @cached_property
    def outcomes(self) -> OutcomeSettings:
        """When advice has worked."""
        return self.load_outcomes()
