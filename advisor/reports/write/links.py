"""Where pages tell more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from advisor.records import dataclass

if TYPE_CHECKING:
    from advisor.reports.record.over_time import AdviceOutcome, MovedSeries


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where to read more: addresses of kernels by variant, of series, runs and rules by their ids,
    of numbers by their names, and of words as pages write them, in small letters.

    A page that stands alone knows kernels only.
    """

    kernels: Mapping[str, str] = field(default_factory=dict)
    series: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def kernel(self, variant_id: str) -> str:
        """Return the address of a kernel, empty where there is none."""
        return self.kernels.get(variant_id, "")

    def of(self, row: MovedSeries | AdviceOutcome) -> str:
        """Return the address of what moved, or of what advice was for."""
        return self.kernel(row.variant_id or "") or self.series.get(row.series_id, "")

    def run(self, run_id: str) -> str:
        """Return the address of a run."""
        return self.runs.get(run_id, "")

    def number(self, name: str) -> str:
        """Return the address of where a number comes from."""
        return self.numbers.get(name, "")

    def word(self, said: str) -> str:
        """Return the address of what a word means."""
        return self.words.get(said.lower(), "")

    def rule(self, rule_id: str) -> str:
        """Return the address of a rule."""
        return self.rules.get(rule_id, "")
