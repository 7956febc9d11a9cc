from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from advisor.database.names import distinguished, normalised_name, short_name
from advisor.resources import data_dir


@pytest.mark.parametrize(
    ("name", "short", "normalised"),
    [
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("_Z3fooi", "_Z3fooi", "_Z3fooi"),
        ("foo(int, float *)", "foo", "foo"),
        ("void foo<(int)3, float>(T1 *, int)", "foo", "foo<3,float>"),
        ("void a::b::c<int>(int)", "b::c", "a::b::c<int>"),
        ("void (anonymous namespace)::bar<int>(int)", "bar", "{anonymous}::bar<int>"),
        ("a::(anonymous namespace)::B<x>::c(int)", "B::c", "a::{anonymous}::B<x>::c"),
        ("bool operator< <int>(A<int> const&)", "operator<", "operator<<int>"),
        ("S<int>::operator()(int) const", "S::operator()", "S<int>::operator()"),
        ("std::ostream& operator<<(A, B)", "operator<<", "operator<<"),
        (
            "f(int)::{lambda(int)#1}::operator()(int) const",
            "{lambda(int)#1}::operator()",
            "f(int)::{lambda(int)#1}::operator()",
        ),
        ("decltype(auto) f<int>(int)", "f", "f<int>"),
        ("void k<(Op)(1>2)>(int)", "k", "k<(Op)(1>2)>"),
        ("void g<&(void bar<int>(float *))>(int)", "g", "g<&(void bar<int>(float*))>"),
        ("unsigned int h(void (*)(int))", "h", "h"),
        ("f(int) [clone .kd]", "f", "f"),
        ("unnamed>::saxpy(float *)", "saxpy", "{anonymous}::saxpy"),  # a bracket short, as printed
        ("void unnamed>::tiled<32>(int)", "tiled", "{anonymous}::tiled<32>"),
        (
            "void map<4, unnamed>::silu(T &)::[lambda() (instance 1)]::operator ()() lambda(float)"
            " (instance 1)], std::array<char *, 2>>(int, T2)",
            "map",
            "map<4,{anonymous}::silu(T&)::[lambda()(instance 1)]::operator()()lambda(float)"
            "(instance 1)],std::array<char*,2>>",
        ),
    ],
)
def test_reads_a_name(name: str, short: str, normalised: str) -> None:
    assert short_name(name) == short
    assert normalised_name(name) == normalised


@pytest.mark.parametrize(
    "other",
    [
        "scale<4, unsigned int, long>(float*)",
        "void scale<4u, unsigned int, long>(float*, int)",
        "void scale<(int)4, unsigned, long int>(T1 *)",
        "void  scale< 4 , unsigned int , long >(float *)",
    ],
)
def test_takes_two_spellings_of_a_kernel_for_one(other: str) -> None:
    assert normalised_name(other) == "scale<4,unsigned,long>"


CUTLASS = (
    "void cutlass::Kernel<cutlass::gemm::Gemm<cutlass::MmaMultistage<cutlass::GemmShape<(int){m},"
    " (int)96, (int)64>, cutlass::layout::RowMajor, signed char, (int){stages}>,"
    " cutlass::Swizzle<(int)1>>>(T1::Params)"
)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        # The short list of a tile says more than that of the product around it.
        (
            [CUTLASS.format(m=128, stages=3), CUTLASS.format(m=64, stages=3)],
            ["GemmShape<128, 96, 64>", "GemmShape<64, 96, 64>"],
        ),
        # 50 characters, of which the first 19 and the last 20 are kept.
        (
            [CUTLASS.format(m=64, stages=3), CUTLASS.format(m=64, stages=4)],
            [
                "MmaMultistage<GemmS…jor, signed char, 3>",
                "MmaMultistage<GemmS…jor, signed char, 4>",
            ],
        ),
        (
            [
                "at::f<4, add<float>, array<char*, 3>>(T2)",
                "at::f<4, mul<float>, array<char*, 3>>(T2)",
            ],
            ["<4, add, array>", "<4, mul, array>"],
        ),
        (["f<int>(int)", "f<int>(long)"], ["", ""]),
        (["scale", "scale(int)"], ["", ""]),
    ],
)
def test_tells_names_apart_by_template_arguments(names: list[str], told: list[str]) -> None:
    assert distinguished(names) == told


@given(st.lists(st.text("fg<>(),: 1{}") | st.just("<" * 4000), min_size=2, max_size=4))
def test_tells_names_of_any_kind_apart_in_few_characters(names: list[str]) -> None:
    assert all(len(each) <= 40 for each in distinguished(names))


def test_keeps_template_arguments_apart() -> None:
    assert normalised_name("f<1>(int)") != normalised_name("f<2>(int)")
    assert normalised_name("f<unsigned long>(int)") != normalised_name("f<unsigned>(int)")


@given(st.text(alphabet="ab:<>(){}[], \0&*#1", max_size=60))
def test_gives_every_text_some_name(name: str) -> None:
    assert bool(short_name(name)) == bool(name)
    assert bool(normalised_name(name)) == bool(name)


@given(st.lists(st.text(alphabet="ab:&*1", min_size=1), min_size=1))
def test_takes_no_account_of_spaces_between_arguments(arguments: list[str]) -> None:
    close, wide = (f"f<{comma.join(arguments)}>(int)" for comma in (",", " , "))
    assert normalised_name(close) == normalised_name(wide)


def name_examples() -> list[tuple[str, str]]:
    """Return the examples of rules/names.yaml, each with what it becomes."""
    document = yaml.safe_load((data_dir("rules") / "names.yaml").read_text(encoding="utf-8"))
    return [
        (entry["example"], entry["becomes"])
        for part in ("spellings", "suffixes")
        for entry in document[part]
    ]


@pytest.mark.parametrize(("name", "becomes"), name_examples())
def test_each_pattern_does_what_its_example_says(name: str, becomes: str) -> None:
    assert name != becomes
    assert normalised_name(name) == becomes


@pytest.mark.parametrize(
    "name",
    [
        "conv_2d",
        "radix_0d",
        "triton_poi_fused_add_0",
        "sort_1234567890123456",  # figures alone are a size
        "f_deadbeefdeadbeef",  # letters alone are a word
        "scale.x2",
    ],
)
def test_leaves_alone_what_only_looks_like_a_suffix(name: str) -> None:
    assert normalised_name(name) == name
