"""The worst instructions of a kernel; shares and excesses are worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import duckdb
import pytest

from advisor.counters.files import read_counter_files
from advisor.counters.instructions import InstructionView, load_instruction_views
from advisor.reports.record.instructions import (
    Instruction,
    Ranking,
    worst_instructions,
)
from advisor.reports.record.kernel_records import RuleResult
from advisor.reports.record.records import Report
from advisor.reports.write import render
from advisor.reports.write.instructions import write_rankings
from advisor.reports.write.machine import json_text
from advisor.reports.write.paper import Paper
from advisor.reports.write.terminal import kernel_text, report_text
from advisor.resources import data_dir

Launches = list[Mapping[str, Mapping[int, float]]]

SECTORS: Mapping[str, Mapping[int, float]] = {
    "sectors": {0x110: 320.0, 0x130: 40.0, 0x150: 100.0},
    "ideal": {0x110: 40.0, 0x130: 40.0, 0x150: 80.0},
    "executed": {0x100: 10.0},
}


def view(*counters: str, ideal: str | None = None, times: float = 1.0) -> InstructionView:
    many = len(counters) > 1
    return InstructionView(
        name="accesses",
        title="Accesses",
        about="what they need",
        unit="sectors",
        counters={each: each.removeprefix("stall_") if many else "" for each in counters},
        times=times,
        ideal=ideal,
    )


class Kernels:
    """A database with the values of instructions, by variant, each time for some launches."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        connection.execute("CREATE TABLE run AS SELECT 'r1' AS run_id, 0 AS run_number")
        connection.execute(
            "CREATE TABLE variant_instruction (run_id TEXT, run_number BIGINT,"
            " variant_id TEXT, counter TEXT,"
            ' addresses BIGINT[], "values" DOUBLE[])'
        )
        connection.execute(
            "CREATE TABLE variant_place (run_id TEXT, run_number BIGINT,"
            " variant_id TEXT, addresses BIGINT[],"
            " opcodes TEXT[], lines TEXT[])"
        )
        connection.execute(
            "CREATE TABLE variant (run_id TEXT, run_number BIGINT,"
            " variant_id TEXT, launches_detailed BIGINT,"
            " launch_count BIGINT)"
        )

    def sample(self, detailed: int, launches: int) -> None:
        row = ["r1", "v1", detailed, launches]
        self._connection.execute("INSERT INTO variant VALUES (?, 0, ?, ?, ?)", row)

    def add(self, values: Mapping[str, Mapping[int, float]], variant: str = "v1") -> None:
        for counter, held in values.items():
            row = [variant, counter, list(held), list(held.values())]
            self._connection.execute(
                "INSERT INTO variant_instruction VALUES ('r1', 0, ?, ?, ?, ?)", row
            )

    def place(self, places: Mapping[int, tuple[str | None, str | None]]) -> None:
        row = [list(places), [o for o, _ in places.values()], [line for _, line in places.values()]]
        self._connection.execute("INSERT INTO variant_place VALUES ('r1', 0, 'v1', ?, ?, ?)", row)

    def worst(self, *views: InstructionView, most: int = 5) -> list[Ranking]:
        asked = [("v1", each) for each in views]
        return list(worst_instructions(self._connection, "r1", asked, most).values())


@pytest.fixture
def kernels() -> Iterator[Kernels]:
    with duckdb.connect(":memory:") as connection:
        yield Kernels(connection)


def test_ranks_by_what_exceeds_the_ideal(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    (found,) = kernels.worst(view("sectors", ideal="ideal"))
    assert (found.value, found.excess, found.count) == (460, 300, 3)
    assert [(each.address, each.offset) for each in found.worst] == [(0x110, 0x10), (0x150, 0x50)]
    assert [each.share for each in found.worst] == pytest.approx([280 / 300, 20 / 300])
    assert [(each.value, each.ideal) for each in found.worst] == [(320, 40), (100, 80)]


def test_adds_up_the_launches_of_a_variant_and_of_no_other(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.add({"sectors": {0x150: 900.0}, "ideal": {0x150: 100.0}})
    kernels.add({"sectors": {0x010: 5000.0}, "ideal": {0x010: 1.0}}, variant="v2")
    (found,) = kernels.worst(view("sectors", ideal="ideal"))
    assert found.excess == 280 + 820
    assert [each.address for each in found.worst] == [0x150, 0x110]


def test_takes_all_of_it_where_there_is_no_ideal(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    (found,) = kernels.worst(view("sectors"))
    assert found.excess == found.value == 460
    assert [each.address for each in found.worst] == [0x110, 0x150, 0x130]


def test_needs_no_ideal_where_an_instruction_has_none(kernels: Kernels) -> None:
    kernels.add({"sectors": {1: 5.0, 2: 4.0}, "ideal": {2: 4.0}})
    (found,) = kernels.worst(view("sectors", ideal="ideal"))
    assert [(each.address, each.ideal) for each in found.worst] == [(1, 0)]


@pytest.mark.parametrize("ideal", [{}, {"ideal": {}}])
def test_leaves_out_what_has_no_ideal_though_it_needs_one(
    kernels: Kernels, ideal: Mapping[str, Mapping[int, float]]
) -> None:
    kernels.add({"sectors": {1: 5.0}, **ideal})
    assert kernels.worst(view("sectors", ideal="ideal")) == []


def test_leaves_out_a_kernel_without_excess(kernels: Kernels) -> None:
    kernels.add({"sectors": {1: 5.0}, "ideal": {1: 5.0}})
    assert kernels.worst(view("sectors", ideal="ideal")) == []


def test_is_asked_nothing(kernels: Kernels) -> None:
    assert kernels.worst() == []


def test_tells_opcode_and_line_where_the_profile_does(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.place({0x110: ("LDG", "a.cu:7"), 0x130: ("STG", "a.cu:9")})
    kernels.place({0x110: ("LDG", "a.cu:7"), 0x150: ("LDG", None)})
    (found,) = kernels.worst(view("sectors", ideal="ideal"))
    assert [(each.opcode, each.line) for each in found.worst] == [("LDG", "a.cu:7"), ("LDG", None)]
    said = found.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith(
        "Worst instructions: 93 % at +0x0010 LDG a.cu:7, 7 % at +0x0050 LDG, of 300"
    )


LOADS = {"loads": ("LDG", "LD"), "stores": ("STG",)}


def test_ranks_the_instructions_of_one_kind(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.place({0x110: ("STG", None), 0x130: ("LDG", None), 0x150: ("LD", None)})
    sorted_by_opcode = replace(view("sectors", ideal="ideal"), opcodes=LOADS)
    loads = sorted_by_opcode.narrowed("accesses/loads")
    stores = sorted_by_opcode.narrowed("accesses/stores")
    assert loads is not None
    assert stores is not None
    of_loads, of_stores = kernels.worst(loads, stores)
    # 20 sectors in excess of loads in two instructions, 280 of the store.
    assert (of_loads.title, of_loads.excess, of_loads.count) == ("Accesses, loads", 20, 2)
    assert [each.address for each in of_loads.worst] == [0x150]
    assert (of_stores.excess, of_stores.worst[0].share) == (280, 1)


def test_ranks_all_where_no_opcode_is_known(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.place({0x110: (None, "a.cu:7")})
    loads = replace(view("sectors", ideal="ideal"), opcodes=LOADS).narrowed("accesses/loads")
    assert loads is not None
    (found,) = kernels.worst(loads)
    assert (found.title, found.excess) == ("Accesses", 300)


def test_leaves_out_a_kind_without_excess(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.place({0x110: ("STG", None), 0x130: ("LDG", None), 0x150: ("STG", None)})
    loads = replace(view("sectors", ideal="ideal"), opcodes=LOADS).narrowed("accesses/loads")
    assert loads is not None
    assert kernels.worst(loads) == []


def test_names_its_kinds() -> None:
    assert list(replace(view("sectors"), opcodes=LOADS).symptoms) == [
        "accesses",
        "accesses/loads",
        "accesses/stores",
    ]
    assert view("sectors").narrowed("accesses/loads") is None
    assert view("sectors").narrowed("other/loads") is None


def test_shortens_the_names_of_files(kernels: Kernels) -> None:
    kernels.add({"sectors": {0: 5.0}})
    kernels.place({0: (None, "a" * 5000 + ".cu:12")})
    (found,) = kernels.worst(view("sectors"))
    assert len(found.sentence) < 200
    assert "a.cu:12" in found.sentence


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (("LDG", "a.cu:7"), ""),
        (("LDG", None), "Compile with -lineinfo"),
        (None, "contains no code with opcodes and source lines"),
    ],
)
def test_says_why_lines_are_missing(
    place: tuple[str, str | None] | None, said: str, kernels: Kernels
) -> None:
    kernels.add(SECTORS)
    if place:
        kernels.place({0x110: place})
    paper = Paper(width=100)
    write_rankings(paper, "gather", kernels.worst(view("sectors", ideal="ideal")), "collect")
    text = " ".join(paper.text().split())
    assert said in text
    assert ("LDG" in text, "a.cu:7" in text) == (place is not None, said == "")
    assert ("source lines" in text) == (said != "")


def test_multiplies_warps_into_threads(kernels: Kernels) -> None:
    kernels.add({"warps": {0: 10.0, 16: 10.0}, "threads": {0: 320.0, 16: 80.0}})
    (found,) = kernels.worst(view("warps", ideal="threads", times=32))
    (worst,) = found.worst
    assert (worst.value, worst.ideal, worst.excess, worst.share) == (320, 80, 240, 1)


STALLS: Mapping[str, Mapping[int, float]] = {
    "stall_wait": {0: 10.0, 16: 5.0},
    "stall_long_scoreboard": {0: 30.0},
    "stall_selected": {0: 1000.0},
}


def test_adds_up_counters_of_a_view_and_names_the_largest(kernels: Kernels) -> None:
    kernels.add(STALLS)
    (found,) = kernels.worst(view("stall_wait", "stall_long_scoreboard"))
    assert found.value == 45
    assert found.worst[0].kinds == (("long scoreboard", 0.75), ("wait", 0.25))
    assert found.worst[0].share == pytest.approx(40 / 45)


def test_ranks_by_one_kind_of_a_view(kernels: Kernels) -> None:
    kernels.add(STALLS)
    stalls = view("stall_wait", "stall_long_scoreboard")
    narrowed = stalls.narrowed("accesses/wait")
    assert narrowed is not None
    (found,) = kernels.worst(narrowed)
    assert found.title == "Accesses, wait"
    assert [each.share for each in found.worst] == pytest.approx([10 / 15, 5 / 15])
    assert stalls.narrowed("accesses/selected") is None


def test_shows_at_most_so_many(kernels: Kernels) -> None:
    kernels.add({"sectors": dict.fromkeys(range(100), 1.0)})
    (found,) = kernels.worst(view("sectors"), most=3)
    assert [each.address for each in found.worst] == [0, 1, 2]
    assert found.count == 100


def test_says_the_worst_places_in_one_sentence(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    found = kernels.worst(view("sectors", ideal="ideal"))[0]
    wanted = (
        "Worst instructions: 93 % at +0x0010, 7 % at +0x0050, of 300 sectors in excess"
        " (3 instructions; Accesses)."
    )
    assert found.sentence.replace("\N{NO-BREAK SPACE}", " ") == wanted
    (all_of_it,) = kernels.worst(replace(view("executed"), unit="warps"))
    assert "of 10 warps (1 instruction" in all_of_it.sentence.replace("\N{NO-BREAK SPACE}", " ")


def test_fits_a_narrow_terminal_and_says_what_is_missing(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    paper = Paper(width=60)
    write_rankings(
        paper, "gather", kernels.worst(view("sectors", ideal="ideal")), "advisor collect"
    )
    text = paper.text()
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "300 of 460 sectors in 3 instructions" in text
    assert "+0x0010" in text
    assert "8.0×" in text
    assert "at 0x100" in text.replace("\n", " ")


def test_names_the_command_where_nothing_was_measured() -> None:
    paper = Paper()
    write_rankings(paper, "gather", [], "advisor collect r1 --kernel v1")
    assert "  advisor collect r1 --kernel v1" in paper.text().splitlines()


def test_ships_views_whose_counters_are_kept() -> None:
    files = read_counter_files([data_dir("rules") / "counters"], "ncu")
    views = load_instruction_views([data_dir("rules") / "counters"])
    assert len(views) >= 4
    for each in views:
        assert each.counters.keys() <= set(files.instructions)
        assert each.ideal is None or each.ideal in files.instructions


SAID = (
    "Worst instructions: 75 % at +0x0110, 25 % at +0x0250, of 400 "
    "sectors in excess (9 instructions;"
)


@pytest.fixture
def telling(report: Report) -> Report:
    worst = tuple(
        Instruction(address=0x1000 + at, offset=at, value=value, ideal=0, excess=value, share=share)
        for at, value, share in ((0x110, 300.0, 0.75), (0x250, 100.0, 0.25))
    )
    ranking = Ranking(
        title="<b>", about="", unit="sectors", value=500, excess=400, count=9, worst=worst
    )
    kernel, *others = report.kernels
    finding = RuleResult(
        outcome="fires",
        rule_id="a/b",
        title="A title",
        severity="note",
        text="",
        gain=None,
        instructions=ranking,
    )
    action, *actions = report.actions
    return replace(
        report,
        kernels=(replace(kernel, results=(finding,)), *others),
        actions=(replace(action, instructions=ranking), *actions),
    )


def plain(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_stands_in_cards_and_findings_of_every_page_and_escapes(telling: Report) -> None:
    page = plain(render.html(telling))
    assert page.count(f"{SAID} &lt;b&gt;).") == 2
    assert plain(render.markdown(telling, None)).replace("\\", "").count(SAID) == 2
    assert plain(report_text(telling)).count(SAID) == 1
    assert plain(kernel_text(telling, telling.kernels[:1])).count(SAID) == 1


def test_gives_offsets_and_shares_to_programs(telling: Report) -> None:
    document = json.loads(json_text(telling))
    for said in (document["actions"][0], document["kernels"][0]["findings"][0]):
        first = said["instructions"]["worst"][0]
        assert (first["address"], first["offset"], first["share"]) == (0x1110, 0x110, 0.75)
        assert (said["instructions"]["excess"], said["instructions"]["unit"]) == (400, "sectors")


def test_says_of_how_many_launches_the_values_are(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.sample(16, 697)
    (ranking,) = kernels.worst(view("sectors", ideal="ideal"))
    said = ranking.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert "(3 instructions of 16 of 697 launches; Accesses)" in said


def test_does_not_count_launches_where_all_were_read(kernels: Kernels) -> None:
    kernels.add(SECTORS)
    kernels.sample(5, 5)
    (ranking,) = kernels.worst(view("sectors", ideal="ideal"))
    assert ranking.sample == ""


def test_says_long_counts_in_words_and_lists_them_in_full(telling: Report) -> None:
    (action, *_) = telling.actions
    assert action.instructions is not None
    (first, *_) = action.instructions.worst
    long = replace(
        action.instructions, excess=8.1e13, worst=(replace(first, value=81_013_639_074_374.0),)
    )
    assert "of 81.0 trillion sectors" in long.sentence.replace("\N{NO-BREAK SPACE}", " ")
    paper = Paper(width=100, ascii_only=False)
    write_rankings(paper, "copy", [long], "")
    assert "81,013,639,074,374" in paper.text()
