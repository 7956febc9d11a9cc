"""Which shipped rules have fired on real launches and stayed silent on others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from advisor.documents import load
from advisor.records import dataclass
from advisor.resources import data_dir
from advisor.rules.language.rule import Outcome

FILE = "proven.yaml"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Over how many real kernels (or runs) a rule fired, and over how many it decided not to.

    ``silent`` counts those where the symptom was absent or a guard ruled the advice out; unknown
    and not applicable count for nothing. ``elsewhere`` counts public pages, judged by hand, on
    which what it says was right.
    """

    fired: int
    silent: int
    elsewhere: int = 0

    @property
    def is_proof(self) -> bool:
        """Return whether the rule was seen to tell kernels apart."""
        return bool((self.fired or self.elsewhere) and self.silent)


def tally(outcomes: Iterable[Outcome]) -> Evidence:
    """Return the evidence in the outcomes of one rule.

    >>> tally([Outcome.FIRES, Outcome.SILENT, Outcome.RULED_OUT, Outcome.UNKNOWN])
    Evidence(fired=1, silent=2, elsewhere=0)
    """
    found = list(outcomes)
    decided_against = found.count(Outcome.SILENT) + found.count(Outcome.RULED_OUT)
    return Evidence(fired=found.count(Outcome.FIRES), silent=decided_against)


def load_proven(path: Path | None = None) -> Mapping[str, Evidence]:
    """Return the evidence by rule id, as ``studies/proven.py`` counted it.

    Raises:
        RuleError: the file has another form; with its place.
    """
    document = load(path or data_dir("rules") / FILE)
    document.refuse_unknown(("reports", "kernels", "rules"))
    found = {}
    for rule_id, node in document.mapping("rules").items():
        counts = node.as_mapping()
        counts.refuse_unknown(("fired", "silent", "elsewhere"))
        found[rule_id] = Evidence(
            fired=round(counts.number("fired")),
            silent=round(counts.number("silent")),
            elsewhere=round(counts.number("elsewhere")) if "elsewhere" in counts else 0,
        )
    return found
