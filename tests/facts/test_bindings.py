"""What the configuration says about kernels becomes facts; numbers are worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.configuration import KernelOperation, Setting, Suppression
from advisor.errors import ConfigError, Location
from advisor.facts import kernels_select, load_vocabulary
from advisor.facts.bindings import bind
from advisor.facts.operations import load_operations
from tests.support.facts import FROM_LAUNCHES, Row, Value, database_of

AT = Location(name="advisor.yaml", line=3, column=5)
FACTS = (
    "operation", "operation_flops", "operation_bytes", "required_flops", "required_bytes",
    "traffic_per_required", "work_per_required", "avoidable_bytes", "avoidable_flops",
    "t_operation", "operation_fraction", "more_than_needed", "nothing_to_win",
)  # fmt: skip
OPERATIONS = load_operations()


def said(
    kernel: str, operation: str = "matrix-product", shape: str = "*", **sizes: float
) -> KernelOperation:
    return KernelOperation(
        kernel=kernel,
        shape=shape,
        operation=Setting(value=operation, origin="advisor.yaml:4:16"),
        sizes={name: Setting(value=v, origin="advisor.yaml:5:20") for name, v in sizes.items()},
        at=AT,
    )


PRODUCT = said("sgemm", m=1000, n=1000, k=1000, element=4)  # 2 GFLOP, 12 MB


@contextmanager
def kernel_named(connection: DuckDBPyConnection, name: str, short: str) -> Iterator[None]:
    columns = "kernel_id, name, short_name, normalised_name"
    connection.execute(
        f"insert into kernel ({columns}) values (?, ?, ?, ?)", ["kernel", name, short, short]
    )
    try:
        yield
    finally:
        connection.execute("delete from kernel")


def facts(
    launches: Sequence[Row],
    *bindings: KernelOperation,
    name: str = "void sgemm<128, float>(float*)",
    short: str = "sgemm",
) -> dict[str, Value]:
    """Return the facts on operations of one variant, bound as the configuration says."""
    vocabulary = load_vocabulary(bound=bind(bindings, OPERATIONS))
    with database_of(launches) as connection, kernel_named(connection, name, short):
        row = connection.execute(kernels_select(vocabulary, FACTS, FROM_LAUNCHES)).fetchall()
    (values,) = row
    return dict(zip(FACTS, values, strict=True))


def launch(**values: Value) -> Row:
    return {"grid_size": 100, "duration": 1e-3, **values}


def test_are_unknown_where_nothing_is_said() -> None:
    measured = launch(dram_bytes=1e9, flops_fp32=1e9)
    for bindings in ([], [said("copy", "copy", n=1, element=4)]):
        found = facts([measured], *bindings)
        assert found.pop("more_than_needed") is False
        assert set(found.values()) == {None}


def test_hold_what_was_measured_against_what_is_needed() -> None:
    one = launch(dram_bytes=36e6, flops_fp32=3e9, peak_dram_bandwidth=1e11, peak_fp32=1e13)
    found = facts([one], PRODUCT)
    # 36 MB are three times 12 MB; 3 GFLOP are one and a half times 2 GFLOP. At 100 GB/s the 12 MB
    # take 0.12 ms; at 10 TFLOP/s the 2 GFLOP take 0.2 ms, a fifth of 1 ms.
    assert found["operation"] == "matrix-product"
    assert found["required_flops"] == found["operation_flops"] == pytest.approx(2e9)
    assert found["required_bytes"] == found["operation_bytes"] == pytest.approx(12e6)
    assert found["traffic_per_required"] == pytest.approx(3)
    assert found["work_per_required"] == pytest.approx(1.5)
    assert found["avoidable_bytes"] == pytest.approx(24e6)
    assert found["avoidable_flops"] == pytest.approx(1e9)
    assert found["t_operation"] == pytest.approx(2e-4)
    assert found["operation_fraction"] == pytest.approx(0.2)


def test_add_up_over_launches_and_compare_only_those_that_were_measured() -> None:
    launches = [
        launch(dram_bytes=36e6, flops_fp32=3e9),
        launch(dram_bytes=24e6),
        launch(),
        launch(dram_bytes=5e9, flops_fp32=5e9, grid_size=0),  # did not run
    ]
    found = facts(launches, PRODUCT)
    assert found["required_flops"] == pytest.approx(3 * 2e9)
    assert found["required_bytes"] == pytest.approx(3 * 12e6)
    assert found["operation_bytes"] == pytest.approx(12e6)
    assert found["traffic_per_required"] == pytest.approx(60 / 24)
    assert found["avoidable_bytes"] == pytest.approx(36e6)
    assert found["work_per_required"] == pytest.approx(1.5)
    assert found["avoidable_flops"] == pytest.approx(1e9)


@pytest.mark.parametrize(
    ("moved", "done", "bandwidth", "peak", "more"),
    [
        # Device memory takes all of the 1 ms, for 1.5 and for 1.58 times the 12 MB.
        (18e6, 2e9, 1.8e10, 1e13, False),
        (19e6, 2e9, 1.9e10, 1e13, True),
        # Work takes all of it, for 1.25 and for 1.3 times the 2 GFLOP.
        (12e6, 2.5e9, 1e12, 2.5e12, False),
        (12e6, 2.6e9, 1e12, 2.6e12, True),
        # Work takes all of it; three times the bytes take 0.36 ms beside it.
        (36e6, 2e9, 1e11, 2e12, False),
    ],
)
def test_know_whether_what_binds_is_more_than_needed(
    moved: float, done: float, bandwidth: float, peak: float, more: bool
) -> None:
    one = launch(dram_bytes=moved, flops_fp32=done, peak_dram_bandwidth=bandwidth, peak_fp32=peak)
    found = facts([one], PRODUCT)
    assert found["more_than_needed"] is more
    assert found["nothing_to_win"] is not more


def test_count_integer_products_as_work() -> None:
    one = launch(flops_fp32=0, ops_tensor_int8=4e9)
    assert facts([one], PRODUCT)["work_per_required"] == pytest.approx(2)


def test_leave_out_a_ratio_to_no_work_at_all() -> None:
    found = facts([launch(dram_bytes=16e6, flops_fp32=0)], said("sgemm", "copy", n=1e6, element=4))
    assert (found["required_flops"], found["required_bytes"]) == (0, 8e6)
    assert (found["work_per_required"], found["traffic_per_required"]) == (None, 2)


@pytest.mark.parametrize(
    ("kernel", "fits"),
    [
        ("sgemm", True),
        ("s*m", True),
        ("*", True),
        ("void sgemm<128, float>(float*)", True),
        ("void sgemm<*>(*)", True),
        ("gemm", False),
        ("sgemm.*", False),
        ("SGEMM", False),
        ("s_emm", False),
        ("s%", False),
    ],
)
def test_takes_a_pattern_for_the_full_or_the_short_name(kernel: str, fits: bool) -> None:
    found = facts([launch()], said(kernel, m=1, n=1, k=1, element=4))
    assert found["operation"] == ("matrix-product" if fits else None)


@pytest.mark.parametrize(
    "name",
    ['it\'s "odd"', "a\\b", "x'; drop table launch; --", "new\nline", "(a|b)+[c]{2}^$.?#~&-"],
)
def test_takes_any_name_for_what_it_is(name: str) -> None:
    found = facts([launch()], said(name, m=1, n=1, k=1, element=4), name=name, short="other")
    assert found["operation"] == "matrix-product"
    assert facts([launch()], said(name, m=1, n=1, k=1, element=4))["operation"] is None


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(name=NAMES, kernel=st.one_of(NAMES, st.text("a*.(+\\\\ 'b", max_size=6)))
@example(name="", kernel="*")
@example(name="a\nb", kernel="a*b")
def test_matches_as_suppressions_do(name: str, kernel: str) -> None:
    suppression = Suppression(rule="*", kernel=kernel, reason="r", expires=None, owner=None, at=AT)
    entry = said(kernel, m=1, n=1, k=1, element=4)
    (bound,) = bind([entry], OPERATIONS)
    query = f"select {bound.condition()} from (select $name as kernel_name, $name as short_name)"
    found = duckdb.execute(query, {"name": name}).fetchall()
    assert found == [(suppression.covers("a/b", (name,)),)] == [(entry.binds((name,), None),)]


def test_the_first_that_matches_holds() -> None:
    found = facts([launch()], said("s*", m=1, n=1, k=1, element=4), PRODUCT)
    assert found["required_flops"] == 2


def test_tells_shapes_apart() -> None:
    small = said("sgemm", shape="(1, 1, 1)x*", m=1, n=1, k=1, element=4)
    shapes = {"(1, 1, 1)x(256, 1, 1)": 2, "(8, 8, 1)x(256, 1, 1)": 2e9, None: 2e9}
    for shape, flops in shapes.items():
        found = facts([launch(launch_shape=shape)], small, PRODUCT)
        assert found["required_flops"] == flops
        assert small.binds(("sgemm",), shape) is (flops == 2)


@pytest.mark.parametrize(
    ("binding", "place", "problem", "hint"),
    [
        (
            said("x", "matrix-prodct", m=1),
            "advisor.yaml:4:16", "there is no operation 'matrix-prodct'", "'matrix-product'",
        ),
        (
            said("x", "gemm", m=1),
            "advisor.yaml:4:16", "there is no operation 'gemm'", "advisor rules operations",
        ),
        (
            said("x", "zzzz", m=1),
            "advisor.yaml:4:16", "there is no operation 'zzzz'", "advisor rules operations",
        ),
        (
            said("x", m=1, n=1, k=1, elment=4),
            "advisor.yaml:5:20", "matrix-product has no size 'elment'", "did you mean 'element'?",
        ),
        (
            said("x", m=1, element=4),
            "advisor.yaml:3:5", "matrix-product needs the size 'n' and 'k'", "n: columns of B",
        ),
        (
            said("x", "reduction", n=1.5, element=4),
            "advisor.yaml:5:20", "n must be a whole number, not 1.5", "n: elements of each input",
        ),
        (
            said("x", "reduction", n=1, outputs=5, element=4),
            "advisor.yaml:3:5", "reduction comes to -4 FLOP and 24 B", "outputs: results",
        ),
        (
            said("x", m=1e200, n=1e200, k=1e200, element=4),
            "advisor.yaml:3:5", "matrix-product comes to no number of FLOP and no number of B", "",
        ),
    ],
)  # fmt: skip
def test_refuses_what_makes_no_sense_and_says_where(
    binding: KernelOperation, place: str, problem: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        bind([binding], OPERATIONS)
    assert problem in caught.value.problem
    assert str(caught.value.at) == place
    assert hint in (caught.value.hint or "")
