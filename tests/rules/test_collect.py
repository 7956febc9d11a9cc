from __future__ import annotations

import shlex
from dataclasses import replace

import duckdb
import pytest

from advisor.database.names import short_name
from advisor.facts import Vocabulary
from advisor.model import UNNAMED, titled
from advisor.profilers import Offer, Options, Profiler, Section
from advisor.profilers.command import Profiled
from advisor.rules import Evaluation, EvaluationSettings, Outcome, Rule, collect
from advisor.rules.engine.collect import Asking, NamedLaunch, named_launches
from advisor.rules.engine.gains import Seconds
from advisor.rules.engine.reach import Reach
from advisor.rules.language.subjects import RUN
from tests.support.sample_rule import RULE, Load


@pytest.fixture
def rule(load_rule: Load) -> Rule:
    return load_rule(RULE)


PROFILER = Profiler(
    id="ncu",
    name="Nsight Compute",
    command=(
        "ncu",
        "--section {section}",
        "--metrics {metrics}",
        "{options}",
        "-k regex:^({pattern})$",
        "-c {launches}",
        "{program}",
    ),
    options=Options(programs=frozenset({"ncu"})),
    sections=tuple(Section(name=name, counters=(f"of {name}",)) for name in "ABCDR"),
    by_name=(Offer(counters=("m",)),),
)


@pytest.fixture
def asking(vocabulary: Vocabulary) -> Asking:
    """Return a profiler that has a section for each of A to R that tells the quantity so called."""
    ways = {name: (frozenset({f"of {name}"}),) for name in "ABCDR"}
    reach = Reach(profiler=PROFILER, vocabulary=vocabulary, ways={**ways, "M": (frozenset({"m"}),)})
    return Asking(reach=reach, version=None, known={})


def unknown(rule: Rule, variant: str, cap: float | None, *missing: str) -> Evaluation:
    return Evaluation(
        rule=rule,
        missing=missing,
        run_id="r1",
        variant_id=variant,
        outcome=Outcome.UNKNOWN,
        values={},
        cap=cap,
    )


APP = Profiled(words=("./app", "--n", "5"), is_complete=True)
LAUNCHES = [
    NamedLaunch(variant_id="v1", function="copy"),
    NamedLaunch(variant_id="v1", function="copy"),
    NamedLaunch(variant_id="v3", function="other"),
    NamedLaunch(variant_id="v2", function="sum"),
    *[NamedLaunch(variant_id="v1", function="copy")] * 9,
]


def test_asks_for_every_section_of_the_kernels_worth_most(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    found = [
        unknown(rule, "v1", 6.0, "A", "B"),
        unknown(rule, "v1", 6.0, "B", "M"),
        unknown(rule, "v2", 4.0, "C"),
        unknown(rule, "v3", 0.1, "D"),
    ]
    result = collect(found, LAUNCHES, settings.collect, APP, asking)
    assert result is not None
    assert result.sections == ("A", "B", "C")
    assert result.variant_ids == ("v1", "v2")
    assert result.value == 10
    # copy and sum match 12 launches; the third of copy comes after sum, as the fourth match.
    assert result.command == (
        "ncu --section A --section B --section C --metrics m"
        " -k 'regex:^(copy|sum)$' -c 4 ./app --n 5"
    )


def test_has_nothing_to_ask_where_nothing_is_unknown(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    fires = replace(unknown(rule, "v1", 1.0, "A"), outcome=Outcome.FIRES)
    assert collect([fires], LAUNCHES, settings.collect, APP, asking) is None


@pytest.mark.parametrize(
    ("saved", "cap", "is_explained", "is_asked"),
    [
        (4.0, 4.0, True, False),
        (4.0, 4.1, True, True),
        (4.0, 4.0, False, True),
        (10.0, 4.0, False, False),  # at enough = 0.5 it would explain what promises up to 20
    ],
)
def test_asks_nothing_that_leaves_the_advice_as_it_is(
    rule: Rule,
    settings: EvaluationSettings,
    asking: Asking,
    *,
    saved: float,
    cap: float,
    is_explained: bool,
    is_asked: bool,
) -> None:
    start = replace(rule, id="launch/start")
    gain = Seconds(low=0.0, likely=saved, high=saved)
    found = replace(unknown(start, "v1", saved), outcome=Outcome.FIRES, gain=gain)
    names = (start.id,) if is_explained else ()
    other = replace(rule, id="memory/other", explained_by=names, explained_at=0.5)
    collected = collect(
        [found, unknown(other, "v1", cap, "A")], LAUNCHES, settings.collect, APP, asking
    )
    assert (collected is not None) is is_asked


def test_asks_about_kernels_not_about_the_run(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    whole = unknown(replace(rule, subject=RUN), "r1", 100.0, "R")
    result = collect(
        [whole, unknown(rule, "v2", 4.0, "C")], LAUNCHES, settings.collect, APP, asking
    )
    assert result is not None
    assert (result.sections, result.functions) == (("C",), ("sum",))


def test_does_not_ask_about_what_cannot_save_time(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    assert collect([unknown(rule, "v1", 0.0, "A")], LAUNCHES, settings.collect, APP, asking) is None


def test_asks_about_kernels_without_a_duration_where_no_other_is_worth_it(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    found = [unknown(rule, "v1", None, "A"), unknown(rule, "v2", None, "B")]
    result = collect(
        [*found, unknown(rule, "v3", 0.0, "C")], LAUNCHES, settings.collect, APP, asking
    )
    assert result is not None
    assert (result.sections, result.variant_ids) == (("A", "B"), ("v1", "v2"))
    assert result.value is None
    better = collect(
        [*found, unknown(rule, "v3", 1.0, "C")], LAUNCHES, settings.collect, APP, asking
    )
    assert better is not None
    assert better.variant_ids == ("v3",)


def test_quotes_hostile_names_for_the_shell(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    launches = [NamedLaunch(variant_id="v1", function="a'; rm -rf $(x) b")]
    result = collect([unknown(rule, "v1", 1.0, "A")], launches, settings.collect, APP, asking)
    assert result is not None
    words = shlex.split(result.command)
    assert words[words.index("-k") + 1] == r"regex:^(a';\ rm\ \-rf\ \$\(x\)\ b)$"


def test_asks_for_the_launches_that_were_chosen_before(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    chosen = replace(APP, options=("--launch-skip", "29"), chooses_launches=True)
    result = collect([unknown(rule, "v2", 1.0, "A")], LAUNCHES, settings.collect, chosen, asking)
    assert result is not None
    # The kernel comes fourth of the launches that were profiled, whatever the others are called.
    assert result.command == "ncu --section A --launch-skip 29 -c 4 ./app --n 5"


def test_a_title_keeps_what_would_be_the_scopes_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [("v1", "space::scan"), ("v2", titled("std::sort, tuned"))]
    monkeypatch.setattr("advisor.rules.engine.collect.launches_of", lambda *_: names)
    with duckdb.connect() as connection:
        found = named_launches(connection, "run")
    assert [each.function for each in found] == ["scan", "[std::sort, tuned]"]


@pytest.mark.parametrize("name", [UNNAMED, titled("Baseline")])
def test_chooses_no_kernel_where_the_name_of_one_is_not_known(
    name: str, rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    launches = [*LAUNCHES[:1], NamedLaunch(variant_id="v2", function=short_name(name))]
    result = collect([unknown(rule, "v2", 4.0, "C")], launches, settings.collect, APP, asking)
    assert result is not None
    # A filter for such a name would match no launch; the second launch is the one without.
    assert result.command == "ncu --section C -c 2 ./app --n 5"


def test_says_what_the_profile_does_not_tell(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    found = [unknown(rule, "v2", 1.0, "A")]
    named = collect(found, LAUNCHES, settings.collect, Profiled(words=("/opt/app",)), asking)
    nothing = collect(found, LAUNCHES, settings.collect, Profiled(), asking)
    assert named is not None
    assert nothing is not None
    assert named.command.endswith(" /opt/app <arguments>")
    assert nothing.command.endswith(" <program>")
    assert not named.is_complete
    assert not nothing.is_complete


def test_asks_for_nothing_that_the_profiler_cannot_tell(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    beyond = unknown(rule, "v1", 6.0, "flops_fp32")
    assert collect([beyond], LAUNCHES, settings.collect, APP, asking) is None
    assert collect([unknown(rule, "v1", 6.0, "A")], LAUNCHES, settings.collect, APP, None) is None


def test_names_only_counters_that_the_version_of_the_command_has(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    offers = (Offer(counters=("m",), first="2021.3", last="2023.2"),)
    reach = replace(asking.reach, profiler=replace(PROFILER, by_name=offers))
    found = [unknown(rule, "v1", 6.0, "M")]
    told = {}
    for version in ("2021.2", "2021.3.1.0", "2023.2.0.0", "2024.1.0.0", None):
        of_version = Asking(reach=reach, version=version, known={})
        told[version] = collect(found, LAUNCHES, settings.collect, APP, of_version)
    asked = {version: each is not None and each.metrics == ("m",) for version, each in told.items()}
    assert [*asked.values()] == [False, True, True, False, False]


def test_asks_no_version_that_does_not_profile_the_device(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    sections = (Section(name="A", first="2020.1", counters=("of A",)), *PROFILER.sections[1:])
    reach = replace(asking.reach, profiler=replace(PROFILER, sections=sections))
    found = [unknown(rule, "v1", 6.0, "A"), unknown(rule, "v1", 6.0, "B")]
    for version in ("2019.3", None):
        retired = Asking(reach=reach, version=version, newest="2019.5", known={})
        told = collect(found, LAUNCHES, settings.collect, APP, retired)
        assert told is not None
        assert (told.sections, told.needs_version) == (("B",), None)


def test_says_which_version_can_be_asked_by_name(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    offers = (Offer(counters=("m",), first="2024.1"),)
    reach = replace(asking.reach, profiler=replace(PROFILER, by_name=offers))
    older = Asking(reach=reach, version="2023.2", known={})
    found = collect([unknown(rule, "v1", 6.0, "M")], LAUNCHES, settings.collect, APP, older)
    assert found is not None
    assert (found.metrics, found.needs_version) == (("m",), "2024.1")


def test_says_which_version_has_what_is_asked_for(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    newer = (*PROFILER.sections[1:], Section(name="A", first="2024.1", counters=("of A",)))
    reach = replace(asking.reach, profiler=replace(PROFILER, sections=newer, by_name=()))
    found = [unknown(rule, "v1", 6.0, "A", "B")]
    by_version = {
        version: collect(
            found, LAUNCHES, settings.collect, APP, Asking(reach=reach, version=version, known={})
        )
        for version in ("2023.3.1.0", "2024.1.0.0")
    }
    old, new = by_version.values()
    assert old is not None
    assert new is not None
    assert (old.needs_version, new.needs_version) == ("2024.1", None)
    assert set(old.sections) == set(new.sections) == {"A", "B"}


def test_does_not_ask_for_what_is_known(
    rule: Rule, settings: EvaluationSettings, asking: Asking
) -> None:
    known = replace(asking, known={"v1": frozenset({"A"})})
    result = collect([unknown(rule, "v1", 6.0, "A", "B")], LAUNCHES, settings.collect, APP, known)
    assert result is not None
    assert result.sections == ("B",)
