"""What many launches have in common, stored once: names of counters, texts, curves."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from functools import lru_cache

import duckdb
import numpy as np

from advisor.database import ids
from advisor.database.arrays import ArrayTable, lists, objects
from advisor.database.records import insert_records
from advisor.model import Keyed

_REMEMBERED = 1024  # sets whose id is not recomputed


class Sets:
    """Gives sets their ids, and stores those that it did not store before."""

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
