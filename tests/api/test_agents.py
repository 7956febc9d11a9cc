"""The answers for agents: small, harmless, each with the call that comes next."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from advisor.api import reporting
from advisor.api.agent_limits import LARGEST, bounded, size
from advisor.api.agents import Answers
from advisor.cli.application import application
from advisor.configuration import DEFAULTS
from advisor.errors import AdvisorError, UsageError
from advisor.reports.record.records import Report
from advisor.resources import data_dir
from advisor.wording import one_line
from tests.api.test_publishing import demo
from tests.trust.test_forging import HOSTILE, acted_on

__all__ = ["demo"]

NIGHTS = data_dir("seed") / "runs" / "nightly"
READS = {"report", "show", "explain", "compare", "collect", "query"}


@pytest.fixture(scope="module", autouse=True)
def reports_once() -> Iterator[None]:
    """Make each report once: nobody writes to the databases of which two are asked."""
    made: dict[str, Report] = {}
    load = reporting.load_report

    def load_once(*arguments: Any, **more: Any) -> Report:
        asked = repr((arguments, sorted(more.items())))
        if asked not in made:
            made[asked] = load(*arguments, **more)
        return made[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reporting, "load_report", load_once)
        yield


@pytest.fixture
def answers(demo: str) -> Answers:
    """Return what may be asked of the simulated nights."""
    return Answers(demo, wait=0, configuration=DEFAULTS)


def followed(ask: Callable[[str, dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers from ``report`` on, each by the ``next`` of the one before."""
    found = [ask("report", {})]
    while (following := found[-1]["next"]) is not None:
        assert len(found) < 6
        found.append(ask(following["tool"], following["arguments"]))
    return found


def first_action(database: str) -> str:
    """Return the title of the first action of ``advisor report``."""
    return reporting.load_report(database, "latest", wait=0).actions[0].title


def test_following_next_ends_with_the_first_action(answers: Answers, demo: str) -> None:
    found = followed(lambda tool, arguments: getattr(answers, tool)(**arguments))
    assert found[-1]["action"]["title"] == first_action(demo)
    assert found[-1]["action"]["steps"]
    assert found[-1]["outcome"] == "fires"


def test_every_answer_is_small_and_names_what_comes_next(answers: Answers) -> None:
    given = [
        answers.report(),
        answers.show("layer_norm"),
        answers.show("kernel"),
        answers.explain("memory/uncoalesced-loads", "gather"),
        answers.compare("latest~18", "latest~17"),
        answers.collect(),
        answers.query("select * from kernels"),
        answers.query("select repeat('x', 1000000) as long from range(50)"),
    ]
    assert [each for each in given if size(each) > LARGEST] == []
    assert all("next" in each for each in given)
    assert given[4]["moved"][0]["kernel"] == "layer_norm_kernel"
    assert given[2]["others"]


def test_a_query_says_that_there_is_more(answers: Answers) -> None:
    found = answers.query("select i from range(500) as r(i)")
    assert (found["rows"][:2], len(found["rows"])) == ([[0], [1]], 100)
    assert found["has_more"] is True
    with pytest.raises(UsageError):
        answers.query("drop table run")


@pytest.mark.parametrize("name", [*HOSTILE, "x" * 4000])
def test_names_are_stripped_and_shortened(name: str) -> None:
    found = bounded({"kernels": [{"name": name}] * 300, name: name}, None)
    assert size(found) <= LARGEST
    text = json.dumps(found, ensure_ascii=False)
    assert acted_on(text) == []
    assert found["kernels_left_out"] + len(found["kernels"]) == 300


def test_nothing_is_ingested_unless_it_is_allowed(answers: Answers) -> None:
    with pytest.raises(UsageError, match="nothing may be ingested"):
        answers.ingest(str(NIGHTS / "night-01.ncu-rep"))


def test_ingest_stays_below_its_directory_links_resolved(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    for folder in (inside, outside):
        shutil.copy(NIGHTS / "night-01.ncu-rep", folder / "night.ncu-rep")
    (inside / "link.ncu-rep").symlink_to(outside / "night.ncu-rep")
    (inside / "folder").symlink_to(outside)
    database = str(tmp_path / "new.duckdb")
    answers = Answers(database, wait=0, configuration=DEFAULTS, ingest_below=inside)
    for path in (
        "../outside/night.ncu-rep", str(outside / "night.ncu-rep"), "link.ncu-rep", "folder",
        "folder/night.ncu-rep", "*.ncu-rep", "-", "missing", "a\0b", "/etc/passwd",
    ):  # fmt: skip
        with pytest.raises(AdvisorError):
            answers.ingest(path)
    assert not Path(database).exists()
    found = answers.ingest("night.ncu-rep")
    assert found["results"][0]["status"] == "new"
    assert found["next"] == {"tool": "report", "arguments": {"run": found["results"][0]["run"]}}


@pytest.mark.real
def test_real_profiles_end_with_their_first_action(real_database: Path) -> None:
    answers = Answers(str(real_database), wait=0, configuration=DEFAULTS)
    for (run,) in answers.query("select run_id from runs order by run_id limit 5")["rows"]:
        history = reporting.HistoryAsked(since=None)
        report = reporting.load_report(
            str(real_database), run, kernel=None, history=history, wait=0, configuration=DEFAULTS
        )
        answer = answers.report(run)
        while (following := answer["next"]) is not None:
            answer = getattr(answers, following["tool"])(**following["arguments"])
            assert size(answer) <= LARGEST
        if report.actions and report.actions[0].kernels:
            assert answer["action"]["title"] == one_line(report.actions[0].title)


# -- the server, asked by a client of the SDK ------------------------------------------------


def asked(server: Any, talk: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Let a client talk with a server."""
    client = pytest.importorskip("mcp.client.client", reason="the SDK (advisor[mcp]) is missing")
    anyio = pytest.importorskip("anyio")

    async def run() -> None:
        async with client.Client(server) as connected:
            await talk(connected)

    anyio.run(run)


def server_of(answers: Answers, *, may_ingest: bool = False) -> Any:
    """Return a server; skip where the SDK is not installed."""
    pytest.importorskip("mcp", reason="the SDK (advisor[mcp]) is not installed")
    from advisor.api.agent_server import make_server

    return make_server(answers, may_ingest=may_ingest)


def test_a_client_follows_next_to_the_first_action(answers: Answers, demo: str) -> None:
    async def talk(client: Any) -> None:
        tool: str | None = "report"
        arguments: dict[str, Any] = {}
        answer: dict[str, Any] = {}
        while tool is not None:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error
            answer = result.structured_content
            assert json.loads(result.content[0].text) == answer
            assert len(result.content[0].text.encode()) <= LARGEST
            following = answer["next"] or {"tool": None, "arguments": {}}
            tool, arguments = following["tool"], following["arguments"]
        assert answer["action"]["title"] == first_action(demo)

    asked(server_of(answers), talk)


def test_without_the_sdk_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("advisor.cli.mcp.find_spec", lambda _: None)
    runner = CliRunner()
    result = runner.invoke(application, ["mcp"])
    assert isinstance(result.exception, UsageError)
    assert result.exception.hint == 'pip install "advisor[mcp]"'


@pytest.mark.parametrize("may_ingest", [False, True])
def test_ingest_is_a_tool_only_where_it_is_allowed(answers: Answers, may_ingest: bool) -> None:
    async def talk(client: Any) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == READS | ({"ingest"} if may_ingest else set())

    asked(server_of(answers, may_ingest=may_ingest), talk)


def test_a_client_reads_rules_and_is_told_what_is_wrong(answers: Answers) -> None:
    async def talk(client: Any) -> None:
        found = await client.read_resource("advisor://rules/memory/uncoalesced-loads")
        assert "Coalesce the global loads" in found.contents[0].text
        with pytest.raises(Exception, match="no-such-rule"):
            await client.read_resource("advisor://rules/memory/no-such-rule")
        wrong = await client.call_tool("report", {"run": "no-such-run"})
        assert wrong.is_error
        assert "advisor runs list" in wrong.content[0].text

    asked(server_of(answers), talk)


def test_the_command_serves_on_standard_input_and_output(demo: str, tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the SDK (advisor[mcp]) is not installed")
    import sys

    from mcp.client.stdio import stdio_client

    async def talk(client: Any) -> None:
        answer = (await client.call_tool("report", {})).structured_content
        assert answer["actions"][0]["title"] == first_action(demo)

    parameters = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "advisor", "--db", demo, "mcp"], cwd=str(tmp_path)
    )
    asked(stdio_client(parameters), talk)
