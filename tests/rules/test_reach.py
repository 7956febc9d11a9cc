"""What a profiler can tell: from the trees of formulas down to its counters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from advisor.counters.mapping import load_mapping
from advisor.errors import Location, RuleError
from advisor.expression import Kind, Symbol, compile_expression
from advisor.expression.needs import Needs, needs
from advisor.facts import Vocabulary
from advisor.profilers import Profiler, Section, load_profilers
from advisor.profilers.command import asking_words, command_words
from advisor.rules import EvaluationSettings
from advisor.rules.engine.collect import Asking
from advisor.rules.engine.reach import Reach, make_reach
from advisor.units import DIMENSIONLESS

NOTHING: frozenset[str] = frozenset()
NUMBER = Symbol(Kind.NUMBER, DIMENSIONLESS)
# k is known, a and b can be asked for, n never can be known.
NAMES: Mapping[str, Needs] = {
    "k": NOTHING,
    "a": frozenset("a"),
    "b": frozenset("b"),
    "n": None,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k * 2 + 1", ""),
        ("a / b", "ab"),
        ("a + n", None),
        ("coalesce(a, 0)", ""),
        ("coalesce(n, a, b)", "a"),
        ("coalesce(n, n)", None),
        ("max_known(a, n, b)", "ab"),
        ("max_known(k, a)", ""),
        ("max(a, n)", None),
        ("case when a > 1 then b else k end", "ab"),
        ("case when n > 1 then a end", None),
        ("case when n > 1 then a else b end", "b"),
        ("a > 1 and n > 1", None),
        ("a > 1 or n > 1", "a"),
        ("not (a > 1)", "a"),
        ("known(n)", ""),
        ("n is null", ""),
        ("arg_max('x', a, 'y', n)", "a"),
    ],
)
def test_follows_the_meaning_of_null(text: str, expected: str | None) -> None:
    tree = compile_expression(text, dict.fromkeys(NAMES, NUMBER), at=Location(name="test")).tree
    found = needs(tree, NAMES.__getitem__)
    assert found == (None if expected is None else frozenset(expected))


@pytest.fixture(scope="module")
def ncu(vocabulary: Vocabulary, settings: EvaluationSettings) -> Reach:
    mapping = load_mapping("ncu")
    return make_reach(load_profilers()["ncu"], mapping, vocabulary, settings.run, ())


def test_takes_the_section_that_tells_a_fact(ncu: Reach) -> None:
    asking = Asking(reach=ncu, version="2025.1.0.0", known={})
    assert asking.words("v1", ["stall_share_barrier"]) == "--section WarpStateStats"
    known = Asking(reach=ncu, version=None, known={"v1": frozenset({"l2_hit_rate"})})
    assert known.words("v1", ["l2_hit_rate"]) == ""


def test_tells_the_last_version_that_profiles_a_device(ncu: Reach) -> None:
    assert ncu.profiler.last_for(["cc-8.0", "cc-9.0"]) is None
    assert ncu.profiler.last_for(["cc-7.0"]) == "2025.2"
    assert ncu.profiler.last_for(["cc-7.0", "cc-6.1"]) == "2019.5"


def test_asks_for_no_counter_that_reports_of_the_version_lack(ncu: Reach) -> None:
    # Widths of accesses were in the memory tables from 2021.3 to 2023.2 and are in none since.
    told = {
        version: Asking(reach=ncu, version=version, known={}).ask(
            [("v1", ["load_bytes_per_instruction"])]
        )
        for version in ("2023.2.0.0", "2025.1.0.0")
    }
    old, new = told.values()
    assert (old.sections, old.metrics) == (("MemoryWorkloadAnalysis_Tables",), ())
    assert (new.sections, new.metrics) == ((), ())


def test_every_counter_of_the_mapping_can_be_had(ncu: Reach, vocabulary: Vocabulary) -> None:
    assert ncu.unknowable == NOTHING
    assert vocabulary.quantities.quantities.keys() <= ncu.ways.keys()


def test_what_ships_speaks_of_counters_that_formulas_read() -> None:
    for name, profiler in load_profilers().items():
        mapping = load_mapping(name)
        known = {
            *mapping.counters,
            *mapping.keyed,
            *mapping.instructions,
            *profiler.launch.values(),
        }
        known |= {column.counter for column in mapping.opcodes}
        known |= {counters for each in mapping.breakdowns for counters in each.lists}
        for section in profiler.sections:
            plain = {counter for counter in section.counters if "*" not in counter}
            assert plain <= known, section.name


@pytest.mark.parametrize(
    ("version", "first", "last", "expected"),
    [
        ("2024.1.1.0", "2024.1", None, True),
        ("2023.3.1.0", "2024.1", None, False),
        ("2023.2.0.0", None, "2023.2", True),
        ("2023.10.0.0", None, "2023.2", False),
        (None, "2024.1", None, True),
        (None, None, "2023.2", False),
    ],
)
def test_knows_which_versions_have_a_section(
    version: str | None, first: str | None, last: str | None, expected: bool
) -> None:
    section = Section(name="S", counters=("c",), first=first, last=last)
    assert section.is_in(version) is expected


def test_fills_the_parts_of_a_command() -> None:
    profiler = Profiler(
        id="x",
        name="X",
        command=(
            "x run",
            "--set={sections}",
            "--kernel {function}",
            "--",
            "{program}",
            "--last {launches}",
        ),
    )
    before, after = command_words(
        profiler, sections=["A", "B"], metrics=[], options=[], functions=["f", "g h"], launches=3
    )
    assert before == ["x", "run", "--set=A,B", "--kernel", "f", "--kernel", "g h", "--"]
    assert after == ["--last", "3"]
    assert asking_words(profiler, ["A"], []) == ["--set=A"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("command: ['{sektion}']", r"\{sektion\} is no place of a command"),
        ("sections: [{name: S, first: new, counters: [c]}]", "'new' is no version"),
        ("section: []", "unknown key 'section'"),
    ],
)
def test_refuses_a_wrong_file(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "profilers").mkdir()
    (tmp_path / "profilers" / "x.yaml").write_text(f"profiler: x\nname: X\n{text}\n")
    with pytest.raises(RuleError, match=problem):
        load_profilers([tmp_path])
