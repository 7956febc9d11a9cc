"""Data attached to launches: histograms and curves, their instructions, the vendor's findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import duckdb
import numpy as np

from advisor.database.arrays import Array, ArrayTable, Column, lists, numbers, objects, text_lists
from advisor.database.rows import PlacedLaunch
from advisor.database.sets import Sets
from advisor.model import Packed, Place

_MOST_SUMS = 100_000  # that wait: 10 MB
_FINDINGS = """
    INSERT INTO reference_finding BY NAME
    SELECT * EXCLUDE (keys, items), map(keys, items) AS focus FROM incoming_findings
"""


class Details:
    """Stores data attached to launches.

    Values per instruction wait: they are added up over the launches of a variant, and what the
    instructions are is told once. Advice is about variants, and one report may have thousands of
    launches of the same instructions.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, sets: Sets) -> None:
        self._connection = connection
        self._sets = sets
        self._sums: dict[tuple[str, str, str], dict[int, Packed[int]]] = {}
        self._places: dict[tuple[str, str], dict[int, Mapping[int, Place]]] = {}
        self._waiting = 0
        self._keyed_table = ArrayTable(connection, "incoming_keyed")
        self._sum_table = ArrayTable(connection, "incoming_sums")
        self._place_table = ArrayTable(connection, "incoming_places")
        self._finding_table = ArrayTable(connection, "incoming_findings")

    def add(self, launches: Sequence[PlacedLaunch]) -> None:
        """Store data attached to launches, but for sums over all launches of a variant."""
        self._store_keyed(launches)
        self._store_findings(launches)
        for placed in launches:
            self._add_up(placed)
        if self._waiting > _MOST_SUMS:
            self.finish()

    def finish(self) -> None:
        """Store the sums over launches, and what their instructions are."""
        self._store_sums(self._sums)
        self._store_places(self._places)
        self._sums, self._places, self._waiting = {}, {}, 0

    def _store_sums(self, sums: Mapping[tuple[str, str, str], Mapping[int, Packed[int]]]) -> None:
        if not sums:
            return
        added = [_added(parts.values()) for parts in sums.values()]
        run_ids, variant_ids, counters = map(objects, zip(*sums, strict=True))
        self._sum_table.fill(
            {
                "run_id": run_ids,
                "variant_id": variant_ids,
                "counter": counters,
                "addresses": lists([addresses for addresses, _ in added]),
                "values": lists([values for _, values in added]),
            }
        )
        self._connection.execute("INSERT INTO variant_instruction BY NAME FROM incoming_sums")

    def _store_places(
        self, told: Mapping[tuple[str, str], Mapping[int, Mapping[int, Place]]]
    ) -> None:
        if not told:
            return
        variants = {
            key: dict(chain.from_iterable(places.items() for places in each.values()))
            for key, each in told.items()
        }
        run_ids, variant_ids = map(objects, zip(*variants, strict=True))
        places = [each.values() for each in variants.values()]
        self._place_table.fill(
            {
                "run_id": run_ids,
                "variant_id": variant_ids,
                "addresses": lists([np.array([*each], np.int64) for each in variants.values()]),
                "opcodes": text_lists([[place.opcode for place in each] for each in places]),
                "lines": text_lists([[place.line for place in each] for each in places]),
                "code": objects([_code_of(each) for each in places]),
            }
        )
        self._connection.execute("INSERT INTO variant_place BY NAME FROM incoming_places")

    def _add_up(self, placed: PlacedLaunch) -> None:
        """Add to what waits; launches with the very same addresses share one sum."""
        for counter, values in placed.launch.instructions.items():
            if not values:
                continue
            numbers = Packed.of(values)
            sums = self._sums.setdefault((placed.run_id, placed.variant_id, counter), {})
            known = sums.get(id(numbers.named))
            if known is None:
                sums[id(numbers.named)] = Packed(numbers.named, numbers.numbers.copy())
                self._waiting += len(numbers)
            else:
                known.numbers += numbers.numbers
        places = placed.launch.places
        if places:
            self._places.setdefault((placed.run_id, placed.variant_id), {})[id(places)] = places

    def _store_keyed(self, launches: Sequence[PlacedLaunch]) -> None:
        rows = [
            (placed, counter, keyed)
            for placed in launches
            for counter, keyed in placed.launch.keyed.items()
            if keyed.keys
        ]
        if rows:
            self._keyed_table.fill(
                {
                    **_owners([placed for placed, _, _ in rows]),
                    "counter": objects([counter for _, counter, _ in rows]),
                    "keyed_set": objects([self._sets.keyed(keyed) for _, _, keyed in rows]),
                }
            )
            self._connection.execute("INSERT INTO launch_keyed BY NAME FROM incoming_keyed")

    def _store_findings(self, launches: Sequence[PlacedLaunch]) -> None:
        rows = [(placed, each) for placed in launches for each in placed.launch.reference_findings]
        if not rows:
            return
        findings = [finding for _, finding in rows]
        focus = [dict(finding.focus) or None for finding in findings]
        columns: dict[str, Column] = {
            **_owners([placed for placed, _ in rows]),
            "estimate": numbers([finding.estimate for finding in findings]),
            "keys": text_lists([each and [*each] for each in focus]),
            "items": lists([each and np.array([*each.values()]) for each in focus]),
        }
        for name in ("rule", "title", "section", "severity", "text", "scope"):
            columns[name] = objects([getattr(finding, name) for finding in findings])
        self._finding_table.fill(columns)
        self._connection.execute(_FINDINGS)


def _code_of(places: Iterable[Place]) -> str | None:
    """Return the digest of the one function that instructions are of."""
    found = {place.code for place in places}
    return found.pop() if len(found) == 1 else None


def _added(parts: Iterable[Packed[int]]) -> tuple[Array, Array]:
    """Return the addresses of all parts, ascending, and the sum at each."""
    addresses = np.concatenate([np.array(part.named, np.int64) for part in parts])
    values = np.concatenate([part.numbers for part in parts])
    distinct, where = np.unique(addresses, return_inverse=True)
    return distinct, np.bincount(where, weights=values)


def _owners(launches: Sequence[PlacedLaunch]) -> dict[str, Array]:
    return {
        "run_id": objects([placed.run_id for placed in launches]),
        "launch_index": numbers([placed.launch.index for placed in launches]),
    }
