"""The program and its arguments, out of what profiles hold of them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.profilers import load_profilers
from advisor.profilers.command import Profiled, profiled

NCU = "/opt/nsight-compute/target/linux/ncu"
NCU_OPTIONS = load_profilers()["ncu"].options


@pytest.mark.parametrize(
    ("call", "again"),
    [
        (f"{NCU} -c 10 -o profile python3 train.py", "ncu python3 train.py"),
        (f"{NCU} --set full --import-source=1 -o a -f ./a.out 1024 64", "ncu ./a.out 1024 64"),
        (f"{NCU} -f -o p env X=/lib: ./a.out --threads=3", "ncu env X=/lib: ./a.out --threads=3"),
        (f"{NCU} -c3 --csv ./a.out -c 4", "ncu ./a.out -c 4"),
        (
            f"{NCU} --nvtx --nvtx-include A/ --nvtx-include B/ --clock-control none -f ./a.out",
            "ncu --nvtx --nvtx-include A/ --nvtx-include B/ --clock-control none ./a.out",
        ),
        ("python3 train.py --steps 2", "ncu python3 train.py --steps 2"),
    ],
)
def test_finds_the_program_behind_the_options(call: str, again: str) -> None:
    found = profiled(call, "/usr/bin/other", NCU_OPTIONS)
    assert found.command(["ncu", *found.options]) == again
    assert found.is_complete
    assert not found.chooses_launches


def test_keeps_how_launches_were_chosen() -> None:
    call = f"{NCU} --set full --launch-skip 29 -c 5 -k regex:[Bb]e mpiexec -n 1 ./a.out"
    found = profiled(call, None, NCU_OPTIONS)
    assert found.options == ("--launch-skip", "29", "-k", "regex:[Bb]e")
    assert found.chooses_launches
    assert found.command(found.options) == (
        "--launch-skip 29 -k 'regex:[Bb]e' mpiexec -n 1 ./a.out"
    )


def test_quotes_as_windows_does() -> None:
    call = r'"C:\Program Files\ncu.exe" --export r "C:\My Code\a.exe" --name "two words"'
    found = profiled(call, None, NCU_OPTIONS)
    assert found.words == (r"C:\My Code\a.exe", "--name", "two words")
    assert found.command(["ncu", "-k", "regex:^(a|b)$"]) == (
        r'ncu -k "regex:^(a|b)$" "C:\My Code\a.exe" --name "two words"'
    )


@pytest.mark.parametrize("call", [None, "", NCU, f"{NCU} --mode attach", f"{NCU} -o profile"])
def test_takes_the_name_alone_where_there_is_no_more(call: str | None) -> None:
    found = profiled(call, "/opt/my app", NCU_OPTIONS)
    assert found == Profiled(words=("/opt/my app",))
    assert found.command(["ncu"]) == "ncu '/opt/my app' <arguments>"
    assert profiled(call, None, NCU_OPTIONS).command(["ncu"]) == "ncu <program>"


def test_splits_a_call_as_a_shell_would() -> None:
    found = profiled(f"{NCU} -f ./a.out --name 'two words' a\\ b", None, NCU_OPTIONS)
    assert found.words == ("./a.out", "--name", "two words", "a b")


def test_leaves_out_what_cannot_be_split_and_says_so() -> None:
    call = f"{NCU} -f ./a.out --name 'never closed"
    found = profiled(call, "/opt/app", NCU_OPTIONS)
    assert found == Profiled(words=("/opt/app",), unsplit=call)
    assert found.command(["ncu"]) == "ncu /opt/app <arguments>"


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"))), max_size=6))
def test_gives_every_shell_the_words_it_found(words: list[str]) -> None:
    found = profiled(f"{NCU} -f ./a.out {shlex.join(words)}", None, NCU_OPTIONS)
    assert shlex.split(found.command(())) == ["./a.out", *words]
