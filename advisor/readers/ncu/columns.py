"""Many small messages read at once, field by field.

A launch has hundreds of metrics, and its metrics thousands of instances: messages of a dozen bytes.
One by one they take a microsecond each; here NumPy reads the same field of all of them. Messages
with the fields that the profiler writes, in its order, are read this way; where one has others, all
are read one by one, which gives the same.

Source: Protocol Buffers, "Encoding"; NVIDIA, Nsight Compute Customization Guide, "Report File
Format".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from advisor.readers.ncu import messages
from advisor.records import dataclass

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

# Field number and wire type, as one byte.
_NAME_ID = 0x08
_VALUE = 0x12
_BEHIND = (0x1A, 0x20)  # instances, and what newer versions add
_KEY = 0x0A
_TEXT, _F64, _U64 = 0x0A, 0x19, 0x28

_ONE = np.uint64(1)
_EIGHTH_BITS = np.uint64(0x8080808080808080)
_TOGETHER = tuple(
    (np.uint64(shift), np.uint64(low), np.uint64(low << width))
    for shift, width, low in (
        (1, 8, 0x007F007F007F007F),
        (2, 16, 0x00003FFF00003FFF),
        (4, 32, 0x000000000FFFFFFF),
    )
)
_PADDING = bytes(16)  # so that reading ahead stays inside


@dataclass(frozen=True, kw_only=True)
class Values:
    """Of messages ``Value``: ``numbers`` where ``is_number``, and texts by place.

    ``integers`` are those of the numbers that are, exactly, and 0 elsewhere.
    """

    numbers: Floats
    integers: NDArray[np.uint64]
    is_number: Flags
    texts: dict[int, bytes]

    def split(self, ends: Sequence[int]) -> list[Values]:
        """Return what lies between each of ``ends``, which ascend from 0, and the next."""
        texts = [*self.texts.items()]
        cuts = np.searchsorted([*self.texts], ends).tolist()
        return [
            Values(
                numbers=self.numbers[begin:end],
                integers=self.integers[begin:end],
                is_number=self.is_number[begin:end],
                texts={place - begin: found for place, found in texts[first:last]},
            )
            for (begin, end), (first, last) in zip(pairwise(ends), pairwise(cuts), strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """Of metrics: places in the report's table of texts, and values."""

    name_ids: Ints
    values: Values

    def split(self, sizes: Sequence[int]) -> list[Metrics]:
        """Return the first so many metrics, the next so many, and so on."""
        ends = [*accumulate(sizes, initial=0)]
        parts = self.values.split(ends)
        return [
            Metrics(name_ids=self.name_ids[begin:end], values=values)
            for (begin, end), values in zip(pairwise(ends), parts, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class Instances:
    """Of instances of metrics: keys and values."""

    keys: Values
    values: Values


def read_metrics(data: Sequence[bytes]) -> Metrics:
    """Return what messages ``Metric`` hold, without their instances.

    Raises:
        DecodeError: the bytes are no such message.
    """
    try:
        return _Reader(data).metrics()
    except _UnusualError:
        read = [messages.Metric.FromString(each) for each in data]
        return Metrics(
            name_ids=np.array([each.name_id for each in read], np.int64),
            values=_values_of([each.value for each in read]),
        )


def read_instances(data: Sequence[bytes]) -> Instances:
    """Return what messages ``Instance`` hold.

    Raises:
        DecodeError: the bytes are no such message.
    """
    try:
        return _Reader(data).instances() if data else _one_by_one(data)
    except _UnusualError:
        return _one_by_one(data)


def _one_by_one(data: Sequence[bytes]) -> Instances:
    read = [messages.Instance.FromString(each) for each in data]
    return Instances(
        keys=_values_of([each.key for each in read]),
        values=_values_of([each.value for each in read]),
    )


def _values_of(values: Sequence[Any]) -> Values:
    """Return what parsed messages ``Value`` hold."""
    kinds = [value.WhichOneof("kind") for value in values]
    found = [kind and getattr(value, kind) for kind, value in zip(kinds, values, strict=True)]
    is_number = [kind is not None and kind != "text" for kind in kinds]
    pairs = zip(is_number, found, strict=True)
    return Values(
        numbers=np.array([float(each) if number else np.nan for number, each in pairs]),
        integers=np.array([value.u64 or value.u32 for value in values], np.uint64),
        is_number=np.array(is_number, np.bool_),
        texts={place: found[place] for place, kind in enumerate(kinds) if kind == "text"},
    )


class _UnusualError(Exception):
    """A message has other fields than the profiler writes, or the same in another order."""


class _Reader:
    """Reads messages that lie end to end; where each field begins is an array of offsets."""

    def __init__(self, data: Sequence[bytes]) -> None:
        sizes = np.fromiter(map(len, data), np.int64, len(data))
        self._data = b"".join((*data, _PADDING))
        self._bytes = np.frombuffer(self._data, np.uint8)
        self._pairs = self._from_every_byte("<u2")
        self._words = self._from_every_byte("<u8")
        self._ends = sizes.cumsum()
        self._starts = self._ends - sizes

    def _from_every_byte(self, kind: str) -> NDArray[Any]:
        """Return the integers of ``kind`` that begin at each byte."""
        size = len(self._data) - np.dtype(kind).itemsize + 1
        return np.ndarray(size, np.dtype(kind), self._data, strides=(1,))

    def metrics(self) -> Metrics:
        _require(self._bytes[self._starts] == _NAME_ID)
        name_ids, at = self._short_integers(self._starts + 1)
        _require(at <= self._ends)
        begins, ends = self._field(at, _VALUE)
        tags = self._bytes[ends]
        instances, newer = _BEHIND
        _require((ends == self._ends) | (tags == instances) | (tags == newer))
        return Metrics(name_ids=name_ids, values=self._values(begins, ends))

    def instances(self) -> Instances:
        keys = self._field(self._starts, _KEY)
        values = self._field(keys[1], _VALUE)
        _require(values[1] == self._ends)
        return Instances(keys=self._values(*keys), values=self._values(*values))

    def _field(self, at: Ints, tag: int) -> tuple[Ints, Ints]:
        """Return begin and end of the messages in fields at ``at``; empty where it is another."""
        present = (at < self._ends) & (self._bytes[at] == tag)
        sizes, begins = self._short_integers(at + 1)
        begins = np.where(present, begins, at)
        ends = begins + np.where(present, sizes, 0)
        _require(ends <= self._ends)
        return begins, ends

    def _values(self, begins: Ints, ends: Ints) -> Values:
        """Return what the messages ``Value`` between ``begins`` and ``ends`` hold."""
        tags = self._bytes[begins]
        is_f64, is_u64, is_text = ((tags == tag) & (begins < ends) for tag in (_F64, _U64, _TEXT))
        _require(is_f64 | is_u64 | is_text | (begins == ends))
        numbers = np.full(len(tags), np.nan)
        places = _places(is_f64)
        at = begins[places] + 1
        _require(at + 8 == ends[places])
        numbers[places] = self._words[at].view(np.float64)
        integers = np.zeros(len(tags), np.uint64)
        places = _places(is_u64)
        found, after = self._integers(begins[places] + 1)
        _require(after == ends[places])
        numbers[places] = integers[places] = found
        texts = self._texts(_places(is_text), begins, ends)
        return Values(numbers=numbers, integers=integers, is_number=is_f64 | is_u64, texts=texts)

    def _texts(self, places: Ints, begins: Ints, ends: Ints) -> dict[int, bytes]:
        if not len(places):
            return {}
        sizes, starts = self._short_integers(begins[places] + 1)
        stops = ends[places]
        _require(starts + sizes == stops)
        found = zip(places.tolist(), starts.tolist(), stops.tolist(), strict=True)
        return {place: self._data[start:stop] for place, start, stop in found}

    def _short_integers(self, at: Ints) -> tuple[Ints, Ints]:
        """Return integers as ``_integers`` does; most are of one byte or two."""
        pairs = self._pairs[at]
        longer = (pairs & 0x80) != 0
        if (pairs[longer] & 0x8000).any():
            found, after = self._integers(at)
            return found.astype(np.int64), after
        found = np.where(longer, (pairs & 0x7F) | (pairs >> 8 << 7), pairs & 0x7F)
        return found.astype(np.int64), at + 1 + longer

    def _integers(self, at: Ints) -> tuple[NDArray[np.uint64], Ints]:
        """Return integers, seven bits in each byte and the last one's eighth clear; where they end.

        Of a word of eight bytes those up to the last are kept, then moved together in pairs.
        """
        words = self._words[at]
        last = ~words & _EIGHTH_BITS
        _require(last != 0)
        kept = last ^ (last - _ONE)
        words &= kept & ~_EIGHTH_BITS
        for shift, low, high in _TOGETHER:
            words = (words & low) | ((words & high) >> shift)
        return words, at + (np.bitwise_count(kept) >> 3)


def _require(usual: Flags) -> None:
    if not usual.all():
        raise _UnusualError


def _places(where: Flags) -> Ints:
    found: Ints = where.nonzero()[0]
    return found
