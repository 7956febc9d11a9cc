"""Files, layers and suppressions of the configuration; expectations are written by hand."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from advisor.cli.report import report
from advisor.configuration import (
    DEFAULTS,
    Configuration,
    Layer,
    Setting,
    Suppression,
    load_configuration,
    merge,
)
from advisor.configuration.read import REPORT_FORMATS
from advisor.errors import ConfigError, Location

FULL = """\
database: perf.duckdb
wait: 2.5
report: {format: html}
rules: [team]
thresholds:
  memory/uncoalesced-loads: {wasted: 0.3, sector: {value: 0.064, unit: kB}}
disable: [scheduling/wait]
severity: {memory/l2-misses: note}
suppress:
  - rule: memory/*
    kernel: gather_*
    reason: irregular by design
    expires: 2026-12-01
    owner: Ada
operations:
  - kernel: sgemm*
    shape: (8, 8, 1)x*
    operation: matrix-product
    sizes: {m: 512, element: 4}
"""

FULL_TOML = """\
[project]
name = "program"

[tool.advisor]
database = "perf.duckdb"
wait = 2.5
report.format = "html"
rules = ["team"]
disable = ["scheduling/wait"]

[tool.advisor.thresholds]
"memory/uncoalesced-loads" = {wasted = 0.3, sector = {value = 0.064, unit = "kB"}}

[tool.advisor.severity]
"memory/l2-misses" = "note"

[[tool.advisor.suppress]]
rule = "memory/*"
kernel = "gather_*"
reason = "irregular by design"
expires = 2026-12-01
owner = "Ada"

[[tool.advisor.operations]]
kernel = "sgemm*"
shape = "(8, 8, 1)x*"
operation = "matrix-product"
sizes = {m = 512, element = 4}
"""


def load(
    folder: Path, *, chosen: Path | None = None, command: Layer | None = None
) -> Configuration:
    """Load as a command in ``folder`` does, with a home of its own."""
    environment = {"XDG_CONFIG_HOME": str(folder.parent / "home")}
    return load_configuration(
        directory=folder, environment=environment, chosen=chosen, command=command
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "team").mkdir(parents=True)
    return folder


def write_user_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "home" / "advisor" / "advisor.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_is_the_defaults_where_nothing_is_configured(project: Path) -> None:
    assert load(project) == DEFAULTS
    assert (DEFAULTS.database.value, DEFAULTS.wait.value) == ("advisor.duckdb", 30.0)


@pytest.mark.parametrize(("name", "text"), [("advisor.yaml", FULL), ("pyproject.toml", FULL_TOML)])
def test_reads_every_key_of_either_file(project: Path, name: str, text: str) -> None:
    (project / name).write_text(text)
    found = load(project)
    assert found.files == (project / name,)
    assert found.database.value == str(project / "perf.duckdb")
    assert (found.wait.value, found.report_format.value) == (2.5, "html")
    assert found.rule_dirs == (project / "team",)
    thresholds = found.thresholds["memory/uncoalesced-loads"]
    assert {name: (t.value, t.unit) for name, t in thresholds.items()} == {
        "wasted": (0.3, None),
        "sector": (0.064, "kB"),
    }
    assert list(found.disable) == ["scheduling/wait"]
    assert found.severity["memory/l2-misses"].value == "note"
    (suppression,) = found.suppress
    assert (suppression.rule, suppression.kernel) == ("memory/*", "gather_*")
    assert (suppression.reason, suppression.owner) == ("irregular by design", "Ada")
    assert suppression.expires == date(2026, 12, 1)
    (said,) = found.operations
    assert (said.kernel, said.shape) == ("sgemm*", "(8, 8, 1)x*")
    assert said.operation.value == "matrix-product"
    assert {name: size.value for name, size in said.sizes.items()} == {"m": 512.0, "element": 4.0}


@pytest.mark.parametrize("written", ["(8, 8, 1)x*", "(8,8,1)x*", " ( 8, 8,1 ) x * "])
def test_spaces_shapes_as_they_are_stored(project: Path, written: str) -> None:
    (project / "advisor.yaml").write_text(FULL.replace("(8, 8, 1)x*", f"'{written}'"))
    (said,) = load(project).operations
    assert said.shape == "(8, 8, 1)x*"


def test_says_where_each_value_stands(project: Path) -> None:
    path = project / "advisor.yaml"
    path.write_text(FULL)
    found = load(project)
    assert found.database.origin == f"{path}:1:11"
    assert found.report_format.origin == f"{path}:3:18"
    assert str(found.thresholds["memory/uncoalesced-loads"]["wasted"].at) == f"{path}:6:38"
    assert str(found.disable["scheduling/wait"]) == f"{path}:7:11"
    (said,) = found.operations
    assert (str(said.at), said.operation.origin) == (f"{path}:16:5", f"{path}:18:16")
    assert said.sizes["element"].origin == f"{path}:19:30"


def test_says_where_the_keys_of_toml_stand(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text(FULL_TOML)
    found = load(project)
    assert found.database.origin == f"{path}:5:1"
    assert found.report_format.origin == f"{path}:7:1"
    assert str(found.thresholds["memory/uncoalesced-loads"]["wasted"].at) == f"{path}:12:1"
    assert str(found.suppress[0].at) == f"{path}:17:3"


def test_finds_the_nearest_file_above(project: Path) -> None:
    (project / "advisor.yaml").write_text("wait: 1")
    deep = project / "src" / "kernels"
    deep.mkdir(parents=True)
    (project / "src" / "pyproject.toml").write_text('[project]\nname = "advisor-plugin"\n')
    assert load(deep).wait.value == 1.0
    (project / "src" / "advisor.yaml").write_text("wait: 2")
    assert load(deep).wait.value == 2.0


def test_puts_flag_over_project_over_user_over_default(tmp_path: Path, project: Path) -> None:
    write_user_file(tmp_path, "wait: 1\ndatabase: mine.duckdb\nreport: {format: json}")
    (project / "advisor.yaml").write_text("wait: 2\ndatabase: ours.duckdb")
    flag = Layer(wait=Setting(value=3.0, origin="--wait"))
    found = load(project, command=flag)
    assert (found.wait.value, found.wait.origin) == (3.0, "--wait")
    assert found.database.value == str(project / "ours.duckdb")
    assert found.report_format.value == "json"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert load(elsewhere).wait.value == 1.0


def test_adds_lists_up_and_lets_the_highest_say_a_threshold(tmp_path: Path, project: Path) -> None:
    mine = "{a/x: {low: 1, high: 2}}"
    write_user_file(tmp_path, f"thresholds: {mine}\ndisable: [a/y]")
    (project / "advisor.yaml").write_text("thresholds: {a/x: {high: 5}}\ndisable: [a/z]\n")
    found = load(project)
    assert {name: t.value for name, t in found.thresholds["a/x"].items()} == {"low": 1, "high": 5}
    assert set(found.disable) == {"a/y", "a/z"}


def test_puts_the_operations_of_the_project_before_those_of_the_user(
    tmp_path: Path, project: Path
) -> None:
    line = "{{kernel: {}, operation: copy, sizes: {{n: 1, element: 4}}}}"
    write_user_file(tmp_path, f"operations: [{line.format('mine')}]")
    (project / "advisor.yaml").write_text(
        f"operations: [{line.format('first')}, {line.format('second')}]"
    )
    assert [said.kernel for said in load(project).operations] == ["first", "second", "mine"]


def test_reads_a_chosen_file_in_the_place_of_the_projects(tmp_path: Path, project: Path) -> None:
    (project / "advisor.yaml").write_text("wait: 2\ndisable: [a/x]")
    chosen = tmp_path / "nightly.yaml"
    chosen.write_text("wait: 9")
    found = load(project, chosen=chosen)
    assert (found.wait.value, dict(found.disable), found.files) == (9.0, {}, (chosen,))


def test_names_a_directory_of_rules_once(project: Path) -> None:
    (project / "advisor.yaml").write_text("rules: [team]")
    flag = Layer(rules=(Setting(value=project / "team", origin="--rules"),))
    (pack,) = load(project, command=flag).rules
    assert pack.origin == f"{project / 'advisor.yaml'}:1:9"


@pytest.mark.parametrize(
    ("text", "place", "problem", "hint"),
    [
        ("databas: x", ":1:1", "unknown key 'databas'", "did you mean 'database'?"),
        ("wait: soon", ":1:7", "expected a number", ""),
        ("wait: -1", ":1:7", "expected seconds, 0 or more", ""),
        ("report: {format: pdf}", ":1:18", "expected 'text' or 'html'", ""),
        ("report: {style: html}", ":1:10", "unknown key 'style'", ""),
        ("rules: [nowhere]", ":1:9", "there is no directory", "relative to the directory"),
        ("rules: team", ":1:8", "expected a list", ""),
        ("thresholds: {a/x: 1}", ":1:19", "expected a mapping", ""),
        ("thresholds: {a/x: {low: 2e-1}}", ":1:25", "expected a number", "write 0.2"),
        ("thresholds: {a/x: {low: {vale: 1}}}", ":1:26", "unknown key 'vale'", "'value'"),
        ("severity: {a/x: loud}", ":1:17", "expected 'error' or 'warning' or 'note'", ""),
        ("disable: [1]", ":1:11", "expected a text", ""),
        ("operations: [{kernel: x}]", ":1:14", "the key 'operation' is missing", ""),
        ("operations: [{kernel: x, operation: copy}]", ":1:14", "the key 'sizes' is missing", ""),
        ("operations: [{kernl: x}]", ":1:15", "unknown key 'kernl'", "did you mean 'kernel'?"),
        (
            "operations: [{kernel: x, operation: copy, sizes: {n: -1}}]",
            ":1:54", "expected a size, 0 or more", "",
        ),
        (
            "operations: [{kernel: x, operation: copy, sizes: {n: many}}]",
            ":1:54", "expected a number", "",
        ),
        ("operations: {kernel: x}", ":1:13", "expected a list", ""),
        # As reports abbreviate it, and without a block, no stored shape would ever match.
        (
            "operations: [{kernel: x, shape: (32·32) × 256, operation: copy, sizes: {}}]",
            ":1:33", "expected grid and block such as (32, 32, 1)x(256, 1, 1)", "",
        ),
        (
            "operations: [{kernel: x, shape: '(32, 32, 1)', operation: copy, sizes: {}}]",
            ":1:33", "expected grid and block such as (32, 32, 1)x(256, 1, 1)", "",
        ),
        (
            'operations: [{kernel: "a\\0b", operation: copy, sizes: {}}]',
            ":1:23", "a name without the character 0", "",
        ),
        ("suppress: [{rule: a/x}]", ":1:12", "the key 'reason' is missing", ""),
        ("suppress: [{rule: a/x, reason: ' '}]", ":1:32", "expected some text", ""),
        ("suppress: [{reason: fine}]", ":1:12", "the key 'rule' is missing", ""),
        ("suppress: [{rule: a/x, reason: y, expires: soon}]", ":1:44", "such as 2026-12-31", ""),
        ("suppress: [{rule: a/x, reason: y, expire: 2027-01-01}]", ":1:35", "'expire'", "expires"),
        ("wait: 1\nwait: 2", ":2:1", "given twice", "line 1"),
        ("wait: [1", ":2:1", "not YAML", ""),
    ],
)  # fmt: skip
def test_refuses_what_is_wrong_and_says_where(
    project: Path, text: str, place: str, problem: str, hint: str
) -> None:
    path = project / "advisor.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(project)
    assert problem in caught.value.problem
    assert hint in (caught.value.hint or "")
    assert str(caught.value.at).startswith(f"{path}{place}")


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("[tool.advisor]\n\nwiat = 3\n", ":3:1", "unknown key 'wiat'"),
        ("[tool.advisor]\nwait = 'soon'\n", ":2:1", "expected a number"),
        ("[tool.advisor]\nwait = = 1\n", ":2:8", "not TOML"),
        ("[tool.advisor]\nwait = nan\n", ":2:1", "expected a number, found the text 'nan'"),
        ("[tool.advisor]\nwait = 2026-01-01\n", ":2:1", "expected a number"),
        ("[tool]\nadvisor = 3\n", ":2:1", "expected a mapping"),
        (f"[tool.advisor]\nrules = {'[' * 100_000}", "", "nested too deep"),
        ("[tool]\nadvisor.report.format = 'pdf'\n", ":2:1", "expected 'text' or"),
        (
            '[[tool.advisor.suppress]]\nrule = "a/x"\nreason = "y"\n'
            '[[tool.advisor.suppress]]\nrule = "a/x"\nreason = ""\n',
            ":6:1",
            "expected some text",
        ),
    ],
)
def test_refuses_what_is_wrong_in_toml_and_says_where(
    project: Path, text: str, place: str, problem: str
) -> None:
    path = project / "pyproject.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(project)
    assert problem in caught.value.problem
    assert str(caught.value.at) == f"{path}{place}"


def test_passes_over_a_file_that_configures_other_tools(project: Path) -> None:
    (project / "pyproject.toml").write_text("tool = 3  # not that of advisor\n")
    assert load(project) == DEFAULTS


def test_refuses_two_files_in_one_directory(project: Path) -> None:
    (project / "advisor.yaml").write_text("wait: 1")
    (project / "pyproject.toml").write_text("[tool.advisor]\nwait = 2\n")
    with pytest.raises(ConfigError, match=re.escape("beside an advisor.yaml")):
        load(project)


def test_refuses_a_chosen_file_that_configures_nothing(tmp_path: Path, project: Path) -> None:
    chosen = tmp_path / "pyproject.toml"
    chosen.write_text("[project]\nname = 'advisor-plugin'\n")
    with pytest.raises(ConfigError, match=re.escape("no [tool.advisor] in it")):
        load(project, chosen=chosen)


def suppression(**values: str | date) -> Suppression:
    given = {"rule": "memory/*", "kernel": "*", "reason": "r", "expires": None, "owner": None}
    return Suppression(**{**given, **values}, at=Location(name="advisor.yaml"))


def test_expires_when_its_last_day_is_over() -> None:
    entry = suppression(expires=date(2026, 12, 1))
    assert not entry.expired(date(2026, 12, 1))
    assert entry.expired(date(2026, 12, 2))
    assert not suppression().expired(date(2999, 1, 1))


@pytest.mark.parametrize(
    ("rule", "kernel", "rule_id", "names", "covered"),
    [
        ("memory/*", "*", "memory/l2-misses", (), True),
        ("memory/*", "*", "launch/tail-wave", (), False),
        ("memory/l2", "*", "memory/l2-misses", (), False),
        ("*", "gather_*", "a/x", ("void gather_rows<float>(float*)", "gather_rows"), True),
        ("*", "gather_*", "a/x", ("void gather_rows<float>(float*)",), False),
        ("*", "*<float, [4]>*", "a/x", ("void k<float, [4]>(int)",), True),
        ("*", "k?", "a/x", ("k1",), False),
        ("*", "gather_*", "a/x", (), False),
    ],
)
def test_covers_a_rule_and_a_kernel_by_pattern(
    rule: str, kernel: str, rule_id: str, names: tuple[str, ...], covered: bool
) -> None:
    assert suppression(rule=rule, kernel=kernel).covers(rule_id, names) is covered


def test_merges_nothing_into_the_defaults() -> None:
    assert merge([]) == DEFAULTS
    assert merge([Layer(), Layer()]) == DEFAULTS


def test_a_report_may_have_every_format_that_the_command_takes() -> None:
    (choice,) = (each.type for each in report.params if each.opts == ["--format"])
    assert tuple(choice.to_info_dict()["choices"]) == REPORT_FORMATS
