"""Messages read many at once hold what protobuf finds in each of them."""

from __future__ import annotations

import contextlib
import math
import struct
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.readers.ncu import messages
from advisor.readers.ncu.columns import Values, read_instances, read_metrics

UNUSUAL = ({"u32": 7}, {"f32": 1.5})  # kinds of values that no profiler was seen to write
integers = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1))
usual = st.one_of(
    st.just({}),
    st.builds(lambda number: {"u64": number}, integers),
    st.builds(lambda number: {"f64": number}, st.floats()),
    st.builds(lambda data: {"text": data}, st.binary(max_size=300)),
)
values = st.one_of(usual, st.sampled_from(UNUSUAL))
metrics = st.lists(
    st.tuples(st.integers(0, 2**21), st.none() | values, st.lists(st.tuples(usual, usual)))
)


def metric(name_id: int, value: dict[str, Any] | None, instances: list[Any]) -> bytes:
    made = messages.InstancedMetric(name_id=name_id)
    if value is not None:
        made.value.CopyFrom(messages.Value(**value))
    for key, number in instances:
        made.instances.add(key=key, value=number)
    return bytes(made.SerializeToString())


def instance(key: dict[str, Any], value: dict[str, Any]) -> bytes:
    return bytes(messages.Instance(key=key, value=value).SerializeToString())


def assert_holds(found: Values, place: int, value: Any) -> None:
    """Compare one of many values with a message ``Value``."""
    kind = value.WhichOneof("kind")
    assert found.is_number[place] == (kind not in (None, "text"))
    assert found.texts.get(place) == (value.text if kind == "text" else None)
    assert int(found.integers[place]) == (value.u64 or value.u32)
    number = float(getattr(value, kind)) if found.is_number[place] else math.nan
    assert struct.pack("d", found.numbers[place]) == struct.pack("d", number) or (
        math.isnan(found.numbers[place]) and math.isnan(number)
    )


@settings(max_examples=150, deadline=None)
@given(metrics)
@example([(2**20, {"text": b"x" * 20_000}, []), (3, {"u64": 2**21}, [])])
@example([(5, {"u64": 2**63 + 1}, [({"u64": 2**60}, {"u64": 2**56})])])
def test_reads_metrics_as_protobuf_does(made: list[Any]) -> None:
    data = [metric(*each) for each in made]
    found = read_metrics(data)
    for place, each in enumerate(data):
        known = messages.Metric.FromString(each)
        assert found.name_ids[place] == known.name_id
        assert_holds(found.values, place, known.value)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(values, values)))
def test_reads_instances_as_protobuf_does(made: list[Any]) -> None:
    data = [instance(*each) for each in made]
    found = read_instances(data)
    for place, each in enumerate(data):
        known = messages.Instance.FromString(each)
        assert_holds(found.keys, place, known.key)
        assert_holds(found.values, place, known.value)


@pytest.mark.parametrize("more", UNUSUAL)
def test_reads_the_same_where_another_message_is_unusual(more: dict[str, Any]) -> None:
    data = [metric(300, {"u64": 129}, []), metric(1, {"f64": 0.1}, [({"u64": 1}, {"u64": 2})])]
    alone, beside = read_metrics(data), read_metrics([*data, metric(2, more, [])])
    assert alone.name_ids.tolist() == beside.name_ids[:2].tolist() == [300, 1]
    assert alone.values.numbers.tolist() == beside.values.numbers[:2].tolist() == [129.0, 0.1]


def test_takes_what_newer_versions_add_behind() -> None:
    added = b"\x20\x00"  # field 4
    found = read_metrics([metric(9, {"f64": 2.5}, []) + added])
    assert (found.name_ids.tolist(), found.values.numbers.tolist()) == ([9], [2.5])


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 200), st.integers(0, 255), st.sampled_from((read_metrics, read_instances)))
def test_only_refuses_damaged_bytes(place: int, byte: int, read: Any) -> None:
    data = bytearray(
        metric(300, {"u64": 70_000}, [({"text": b"FFMA"}, {"f64": 1.0}), ({"u64": 3}, {"u64": 4})])
    )
    data[place % len(data)] = byte
    with contextlib.suppress(DecodeError):
        read([bytes(data), metric(1, {"f64": 0.5}, []), bytes(data[: place % len(data)])])
