"""Write launches by the hundred, with the data attached to them: as arrays, by a few statements.

Row by row, a launch of 150 columns takes milliseconds; this way it takes microseconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import duckdb
import numpy as np

from advisor.database import ids
from advisor.database.arrays import Array, ArrayTable, Column, lists, numbers, objects, text_lists
from advisor.database.planning import memory_limit, release_blocks
from advisor.database.records import insert_records
from advisor.database.rows import PlacedLaunch
from advisor.model import Dim3, Keyed, Packed, Place

_VALUES = "incoming_values"
_FREED_AFTER = 4096  # launches after which blocks that are on the disk are freed
_LAUNCHES = """
    PREPARE store_launches AS INSERT INTO launch BY NAME
    SELECT * EXCLUDE (row) FROM incoming
"""
_MOST_SUMS = 100_000  # that wait: 10 MB
_FINDINGS = """
    INSERT INTO reference_finding BY NAME
    SELECT * EXCLUDE (keys, items), map(keys, items) AS focus FROM incoming_findings
"""
_REMEMBERED = 1024  # sets whose id is not recomputed


class LaunchWriter:
    """Stores launches batch by batch, inside of the caller's transaction.

    ``quantities`` turns the name of a view of a batch's values, and the names of those, into a
    SELECT of ``row`` (the place of a launch in the batch, from 0), quantities and perhaps
    ``flags``. That statement is planned once, and again where a batch has a value that none before
    it had: it takes longer than to run it over a batch.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        quantities: Callable[[str, Collection[str]], str] | None = None,
    ) -> None:
        self._connection = connection
        self._quantities = quantities
        self._prepared = False
        self._memory_limit = memory_limit(connection)
        self._unreleased = 0
        self._sets = _Sets(connection)
        self._details = _Details(connection, self._sets)
        self._launches = ArrayTable(connection, "incoming")
        self._values = ArrayTable(connection, _VALUES)
        self._absent = dict[str, Array]()  # of each column that has had a value, one without

    def write(
        self, launches: Sequence[PlacedLaunch], values: Mapping[str, Array] | None = None
    ) -> None:
        """Store a batch; ``values`` has an array in its order per column that has a value."""
        if not launches:
            return
        rows = {"row": np.arange(len(launches))}
        self._launches.fill({**rows, **_columns(launches, self._sets)})
        if values is not None:
            self._take(rows, values)
        self._details.add(launches)
        self._sets.store()
        if not self._prepared:
            self._prepare()
        self._connection.execute("EXECUTE store_launches")
        self._unreleased += len(launches)
        if self._unreleased > _FREED_AFTER:
            release_blocks(self._connection, self._memory_limit)
            self._unreleased = 0

    @property
    def valued(self) -> frozenset[str]:
        """Return the columns that have had a value."""
        return frozenset(self._absent)

    def finish(self) -> None:
        """Store what is known once all launches were seen."""
        self._details.finish()
        self._forget()

    def _take(self, rows: Mapping[str, Array], values: Mapping[str, Array]) -> None:
        """Hold the values of a batch; what only batches before it had is absent."""
        if not values.keys() <= self._absent.keys():
            self._absent |= {name: _nothing(column) for name, column in values.items()}
            self._forget()
            self._values = ArrayTable(self._connection, _VALUES)
        absent = {name: each.repeat(len(rows["row"])) for name, each in self._absent.items()}
        self._values.fill({**rows, **absent, **values})

    def _prepare(self) -> None:
        statement = _LAUNCHES
        if self._quantities is not None:
            statement += f"LEFT JOIN ({self._quantities(_VALUES, self._absent)}) USING (row)"
        self._connection.execute(statement)
        self._prepared = True

    def _forget(self) -> None:
        if self._prepared:
            self._connection.execute("DEALLOCATE store_launches")
            self._prepared = False


def _nothing(column: Array) -> Array:
    """Return a row without a value, of the type of ``column``."""
    return np.array([None if column.dtype.kind == "O" else np.nan], column.dtype)


def _columns(launches: Sequence[PlacedLaunch], sets: _Sets) -> dict[str, Column]:
    counters = [Packed.of(placed.launch.counters) for placed in launches]
    read = [placed.launch for placed in launches]
    columns: dict[str, Column] = {
        "launch_index": numbers([x.index for x in read]),
        "device_ordinal": numbers([x.device for x in read]),
        "process": numbers([x.process for x in read]),
        "context": numbers([x.context for x in read]),
        "stream": numbers([x.stream for x in read]),
        "nvtx": text_lists([x.nvtx or None for x in read]),
        "started_at": numbers([placed.started_at for placed in launches]),
        "counter_keys": objects([sets.keys(x.named) for x in counters]),
        "counter_values": lists([x.numbers for x in counters]),
        "text_set": objects([sets.texts(x.texts) for x in read]),
        "clock_locked": numbers([x.clock_locked for x in read]),
        "invalid_counters": numbers([x.invalid_counters for x in read]),
        "detailed": numbers([x.detailed for x in read]),
        "grid_size": numbers([x.grid_size for x in read]),
        "block_size": numbers([x.block_size for x in read]),
        **_dimensions("grid", [x.grid for x in read]),
        **_dimensions("block", [x.block for x in read]),
    }
    for name in (
        "run_id",
        "kernel_id",
        "series_id",
        "variant_id",
        "launch_shape",
        "device_id",
        "device_name",
    ):
        columns[name] = objects([getattr(placed, name) for placed in launches])
    return columns


def _dimensions(name: str, shapes: Sequence[Dim3 | None]) -> dict[str, Array]:
    return {
        f"{name}_{axis}": numbers([None if s is None else s[place] for s in shapes])
        for place, axis in enumerate("xyz")
    }


class _Details:
    """Stores data attached to launches.

    Values per instruction wait: they are added up over the launches of a variant, and what the
    instructions are is stored once. Advice is about variants, and one report may have thousands of
    launches of the same instructions.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, sets: _Sets) -> None:
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
        self, found: Mapping[tuple[str, str], Mapping[int, Mapping[int, Place]]]
    ) -> None:
        if not found:
            return
        variants = {
            key: dict(chain.from_iterable(places.items() for places in each.values()))
            for key, each in found.items()
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


class _Sets:
    """What launches share: gives sets their ids, and stores those that it did not store before."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._known: set[str] = set()
        self._keys: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, Mapping[str, str]] = {}
        self._keyed: dict[str, Keyed] = {}
        self._keyed_table = ArrayTable(connection, "new_keyed")

    def keys(self, keys: tuple[str, ...]) -> str | None:
        """Return the id of a list of keys; None of an empty one."""
        if not keys:
            return None
        name = _id_of_keys(keys)
        if name not in self._known:
            self._keys[name] = keys
        return name

    def texts(self, texts: Mapping[str, str]) -> str | None:
        """Return the id of texts by counter; None where there is none."""
        if not texts:
            return None
        name = _id_of_texts(tuple(texts.items()))
        if name not in self._known:
            self._texts[name] = texts
        return name

    def keyed(self, keyed: Keyed) -> str:
        """Return the id of keys with their values."""
        name = _id_of_keyed(keyed)
        if name not in self._known:
            self.keys(keyed.keys)
            self._keyed[name] = keyed
        return name

    def store(self) -> None:
        """Store the sets that are new; what the database has already stays."""
        keys = [{"key_set": name, "keys": keys} for name, keys in self._keys.items()]
        insert_records(self._connection, "key_set", keys, known="keep")
        texts = [{"text_set": name, "texts": texts} for name, texts in self._texts.items()]
        insert_records(self._connection, "text_set", texts, known="keep")
        self._store_keyed()
        self._known |= self._keys.keys() | self._texts.keys() | self._keyed.keys()
        self._keys, self._texts, self._keyed = {}, {}, {}

    def _store_keyed(self) -> None:
        if not self._keyed:
            return
        self._keyed_table.fill(
            {
                "keyed_set": objects([*self._keyed]),
                "key_set": objects([self.keys(keyed.keys) for keyed in self._keyed.values()]),
                "values": lists([np.array(keyed.values) for keyed in self._keyed.values()]),
            }
        )
        self._connection.execute(
            "INSERT INTO keyed_set BY NAME FROM new_keyed ON CONFLICT DO NOTHING"
        )


@lru_cache(maxsize=_REMEMBERED)
def _id_of_keys(keys: tuple[str, ...]) -> str:
    return ids.key_id("key set", *keys)


@lru_cache(maxsize=_REMEMBERED)
def _id_of_texts(texts: tuple[tuple[str, str], ...]) -> str:
    return ids.key_id("text set", *(part for pair in texts for part in pair))


@lru_cache(maxsize=_REMEMBERED)
def _id_of_keyed(keyed: Keyed) -> str:
    return ids.key_id("keyed set", *keyed.keys, array("d", keyed.values).tobytes().hex())
