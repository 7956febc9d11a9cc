"""Pairing of variants: exact shapes first, then equal work, then order."""

from __future__ import annotations

from advisor.tracking.pair import Pair, Variant, pair_variants


def variant(index: int, shape: str, work: float | None = None, series: str = "s") -> Variant:
    return Variant(
        index=index, series=series, kernel="k", shape=shape, position=index, work=(work,)
    )


def pairs(base: list[Variant], head: list[Variant]) -> list[Pair]:
    return pair_variants(base, head, equal_work=0.01)


def test_pairs_exact_shapes_before_anything_else() -> None:
    found = pairs(
        [variant(0, "a", 1.0), variant(1, "b", 2.0)], [variant(0, "b", 1.0), variant(1, "a", 2.0)]
    )
    assert found == [Pair(base=0, head=1), Pair(base=1, head=0)]


def test_pairs_equal_work_before_order_and_says_that_the_shape_changed() -> None:
    found = pairs(
        [variant(0, "a", 1.0), variant(1, "b", 2.0)], [variant(0, "c", 2.01), variant(1, "d", 7.0)]
    )
    assert found == [
        Pair(base=0, head=1, shape_changed=True),
        Pair(base=1, head=0, shape_changed=True),
    ]


def test_counts_that_differ_by_more_than_the_tolerance_are_not_equal() -> None:
    found = pairs(
        [variant(0, "a", 1.0), variant(1, "b", 1.02)], [variant(0, "c", 1.03), variant(1, "d", 5.0)]
    )
    # 1.02 and 1.03 differ by 1 %, 1.0 and 1.03 by 3 %.
    assert [(pair.base, pair.head) for pair in found] == [(0, 1), (1, 0)]


def test_is_an_outer_join_with_the_baseline_first() -> None:
    found = pairs([variant(0, "a"), variant(1, "b")], [variant(0, "a")])
    assert found == [Pair(base=0, head=0), Pair(base=1, head=None)]
    base = [variant(0, "a", series="one")]
    new = Variant(index=1, series="two", kernel="other", shape="a", position=0)
    found = pairs(base, [new, replace_index(base[0], 0)])
    assert found == [Pair(base=0, head=0), Pair(base=None, head=1)]


def replace_index(each: Variant, index: int) -> Variant:
    return Variant(
        index=index, series=each.series, kernel=each.kernel, shape=each.shape, position=9
    )


def test_pairs_by_kernel_what_no_series_pairs() -> None:
    assert pairs([variant(0, "a", series="one")], [variant(0, "a", series="two")]) == [
        Pair(base=0, head=0)
    ]


def test_a_shape_that_is_not_known_has_not_changed() -> None:
    unknown = Variant(index=0, series="s", kernel="k", shape=None, position=0, work=(None,))
    (pair,) = pairs([unknown], [variant(0, "a")])
    assert (pair.base, pair.head, pair.shape_changed) == (0, 0, False)
