"""Numbers by key are a mapping like any other; the size of a launch is known without its shape."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.ingest.identity import launch_shape
from advisor.model import Keys, Launch, Packed


def test_gives_numbers_by_key_in_their_order() -> None:
    packed = Packed(Keys(("b", "a")), np.array([2.0, 1.0]))
    assert (list(packed), packed["a"], packed.get("c"), len(packed)) == (["b", "a"], 1.0, None, 2)
    assert packed == {"a": 1.0, "b": 2.0}
    with pytest.raises(KeyError, match="c"):
        _ = packed["c"]


def test_leaves_what_is_packed_as_it_is() -> None:
    packed = Packed.of({"a": 1.0})
    assert Packed.of(packed) is packed
    assert packed.numbers.tolist() == [1.0]


def test_a_size_is_that_of_the_shape_or_else_what_is_told() -> None:
    shaped = Launch(index=0, kernel_name="k", grid=(4, 2, 1), block=(32, 4, 2))
    assert (shaped.grid_size, shaped.block_size) == (8, 256)
    sized = Launch(index=0, kernel_name="k", blocks=1024, threads=128)
    assert (sized.grid_size, sized.block_size) == (1024, 128)
    bare = Launch(index=0, kernel_name="k", blocks=1024)
    assert (bare.grid_size, bare.block_size) == (1024, None)
    assert [launch_shape(each) for each in (shaped, sized, bare)] == [
        "(4, 2, 1)x(32, 4, 2)",
        "(1024)x(128)",
        None,
    ]
