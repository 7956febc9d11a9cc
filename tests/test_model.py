"""Numbers by key are a mapping like any other."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.model import Keys, Packed


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
