"""The project keeps its own promises: data in data, layers, sizes, and a wheel that works."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from advisor.hardware.devices import load_devices
from advisor.rules.language.load import NOT_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "advisor"
MODULES = sorted(PACKAGE.rglob("*.py"))
# Readers name the counters, sections and fields of their formats; that is their job.
OUTSIDE_READERS = [path for path in MODULES if "readers" not in path.relative_to(PACKAGE).parts]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def trees() -> Iterator[None]:
    """Hold the trees of all modules no longer than these tests need them."""
    yield
    tree_of.cache_clear()


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string that is not a docstring."""
    tree = tree_of(path)
    documentation = {id(node.value) for node in ast.walk(tree) if is_docstring(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documentation:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


# -- data stay in data -----------------------------------------------------------------------


COUNTER = re.compile(r"(?<![\w])[a-z][a-z0-9]*__[a-z][a-z0-9_]*")


def test_names_no_counter_in_python() -> None:
    found = [
        f"{name_of(path)}: {match.group()}"
        for path in OUTSIDE_READERS
        for match in COUNTER.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_search_for_counters_would_find_one() -> None:
    assert COUNTER.search('row["dram__bytes_read.sum"]')
    assert not COUNTER.search("if __name__ == '__main__': self.__init__()")


def device_names() -> re.Pattern[str]:
    """Return what matches any name, alias or chip of the seed data as a whole word."""
    names = {
        name
        for device in load_devices()
        for name in (device.name, device.chip, *device.aliases)
        if not name.isdigit()
    }
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(?![\w-])")


def test_names_no_device_in_python() -> None:
    pattern = device_names()
    found = [
        f"{name_of(path)}: {match.group()}"
        for path in MODULES
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_search_for_devices_would_find_one() -> None:
    assert device_names().search("if name == 'NVIDIA H100 PCIe':")


# Numbers in comparisons that decide nothing about a kernel, by module, and what they do decide.
# Everything else is a threshold and belongs into rules/, with its source.
ALLOWED: dict[str, tuple[str, set[float]]] = {
    "advisor/cli/ingest.py": ("how many names a line holds", {6}),
    "advisor/api/agent_limits.py": ("how many bytes an answer takes", {8000}),
    "advisor/api/agents.py": ("how many rows an answer has", {100}),
    "advisor/api/matching.py": ("how many digits of an id name a series", {4}),
    "advisor/database/read.py": ("how many digits of a commit name it, and runs a line", {4, 5}),
    "advisor/cli/history_text.py": ("of how many series all nights are listed", {3}),
    "advisor/database/lake/write.py": ("from how many columns on a table is wide", {100}),
    "advisor/database/draft.py": ("how many launches are copied at once", {4096}),
    "advisor/reports/write/comparison.py": ("which parts of a change round to 0.0 %", {0.0005}),
    "advisor/reports/write/gate.py": ("how many lines of a kind are shown", {10}),
    "advisor/cli/output.py": ("how often progress is drawn [s]", {0.1}),
    "advisor/expression/calculate.py": ("how a number is rounded", {0.5}),
    "advisor/modelling/needs.py": ("what is no count of results", {1e-9}),
    "advisor/modelling/operations.py": ("what a float holds with room to spare", {1e250}),
    "advisor/modelling/ranges.py": ("how many points a sweep may have", {100_000}),
    "advisor/modelling/transformer.py": ("how large a number may be", {1e18}),
    "advisor/reports/modelled/characters.py": ("how many lines a drawing has", {14}),
    "advisor/reports/modelled/text.py": ("how many rows of a sweep are shown", {24}),
    "advisor/expression/plain.py": ("what is left to the whole language", {60, 8}),
    "advisor/expression/check.py": ("how high a power may be", {9}),
    "advisor/expression/parse.py": ("how long and deep a text may be", {8000, 1500, 16, 60}),
    "advisor/expression/sql.py": ("how long the SQL of a text may be", {100_000}),
    "advisor/ingest/batches.py": ("how many profiles share a transaction", {64}),
    "advisor/ingest/records.py": ("how long a label and how many tags may be", {100, 4096}),
    "advisor/ingest/store.py": ("how much is held in memory", {1024, 1_000_000}),
    "advisor/database/lake/views.py": ("how much is held in memory", {200_000}),
    "advisor/database/few.py": ("how many kernels are few to SQLite", {64}),
    "advisor/database/launches.py": ("how much is held in memory", {4096, 100_000}),
    "advisor/database/planning.py": ("how many launches are few to plan for", {2000}),
    "advisor/database/waiting.py": ("how long a command line is shown", {120}),
    "advisor/database/write.py": ("after how many runs row groups are merged", {32}),
    "advisor/rules/language/lint.py": ("how many words a title may have", {8}),
    "advisor/rules/language/templates.py": ("how long a sentence may be", {2000}),
    "advisor/documents/load.py": ("how big a YAML file may be", {2_000_000}),
    "advisor/reports/record/instructions.py": ("which shares a sentence leaves out", {0.01}),
    "advisor/reports/charts/bars.py": ("how many labelled steps fit an axis", {4}),
    "advisor/reports/charts/labels.py": (
        "which characters are wide, how long a name may be, how many may cover a mark",
        {0x2E7F, 3},
    ),
    "advisor/wording.py": ("how many digits are shown", {-5, 14, 1e-4, 0.995, 9.95, 1e7, 1e15}),
    "advisor/reports/write/render.py": (
        "how long Markdown may be [B], how many rows are open, which details are printed",
        {900_000, 50, 0.01},
    ),
    "advisor/reports/charts/roofline.py": ("from where the axis labels fewer decades", {6.0}),
    "advisor/reports/charts/roofs.py": ("when two lines of the drawing are one", {0.02, 8.0}),
    "advisor/reports/write/terminal.py": ("how wide a terminal holds all columns", {72}),
    "advisor/reports/charts/scales.py": ("from where the axis labels fewer decades", {1.6}),
}


def number_of(node: ast.UnaryOp | ast.Constant) -> object:
    """Return the value of a constant, also of one with a sign; None of any other expression."""
    with contextlib.suppress(ValueError):
        return ast.literal_eval(node)
    return None


def compared_numbers(path: Path) -> Iterator[tuple[int, float]]:
    """Yield line and value of numbers in comparisons, also by way of a constant of the module."""
    tree = tree_of(path)
    constants = {
        target.id: number_of(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.UnaryOp | ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                value = constants.get(side.id) if isinstance(side, ast.Name) else None
                if isinstance(side, ast.UnaryOp | ast.Constant):
                    value = number_of(side)
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    yield node.lineno, value


def test_compares_with_no_threshold_in_python() -> None:
    found = [
        f"{name_of(path)}:{line}: {value}"
        for path in OUTSIDE_READERS
        for line, value in compared_numbers(path)
        if value not in {-1, 0, 1, 2} | ALLOWED.get(name_of(path), ("", set()))[1]
    ]
    assert found == []


def test_allows_only_numbers_that_are_there() -> None:
    stale = {
        name: gone
        for name, (_, values) in ALLOWED.items()
        if (gone := values - {value for _, value in compared_numbers(ROOT / name)})
    }
    assert stale == {}


# What an engineer is told to do begins a sentence; the same words name facts in labels.
ADVICE = re.compile(
    r"(^|[.;:] )(coalesce (?!\()|unroll|vectori[sz]e|prefetch|swizzle|fuse|quanti[sz]e|tile|batch|"
    r"pad|align|(reduce|increase|raise|lower) (the )?(block|grid|occupancy|registers|precision)|"
    r"use (more|fewer|shared|tensor|wider|vector))\b|launch bounds|__restrict__|register pressure",
    re.IGNORECASE,
)


def test_gives_no_advice_in_python() -> None:
    found = [
        f"{name_of(path)}:{line}: {text}"
        for path in MODULES
        for line, text in texts_of(path)
        if " " in text and ADVICE.search(text)  # a word alone is a key or an option
    ]
    assert found == []


# -- shape -----------------------------------------------------------------------------------


def test_keeps_modules_short() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {name for name, n in lengths.items() if n >= 400} == set()


def test_the_search_for_advice_would_find_some() -> None:
    assert ADVICE.search("Too many sectors: coalesce the loads.")
    assert not ADVICE.search("sectors that coalescing would save")


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_keeps_functions_short() -> None:
    declarations = PACKAGE / "database" / "tables.py"  # a table is one statement
    found = []
    for path in set(MODULES) - {declarations}:
        for function in functions_of(path):
            body = function.body[1:] if is_docstring(function.body[0]) else function.body
            lines = (function.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines >= 40:
                found.append(f"{name_of(path)}: {function.name} has {lines} lines")
    assert found == []


def test_gives_functions_few_arguments() -> None:
    """What needs eight takes a context; the arguments of a command are its options."""
    found = []
    for path in MODULES:
        for function in functions_of(path):
            given = function.args
            names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            count = len(names) - (names[:1] in (["self"], ["cls"]))
            if count >= 8 and not any(is_command(each) for each in function.decorator_list):
                found.append(f"{name_of(path)}: {function.name} has {count} arguments")
    assert found == []


def is_command(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in {"command", "group"}


def public_classes() -> Iterator[tuple[str, str]]:
    """Yield the name of each public class, and the module that has it."""
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, name_of(path)


def test_gives_no_two_public_classes_one_name() -> None:
    places: dict[str, list[str]] = {}
    for name, module in public_classes():
        places.setdefault(name, []).append(module)
    assert len(places) > 300
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_documents_every_public_function() -> None:
    found = [
        f"{name_of(path)}: {node.name}"
        for path in MODULES
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert found == []


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_names_no_path_of_one_machine() -> None:
    place = re.compile(r"(?<![\w.])/(work|home|root|Users|mnt)/\w+")
    samples = re.compile(r"/home/(me|user)\b")  # made-up paths in made-up profiles
    found = []
    for path in tracked_files():
        if path != Path(__file__) and path.is_file() and b"\0" not in (data := path.read_bytes()):
            text = samples.sub("", data.decode())
            found += [f"{name_of(path)}: {match.group()}" for match in place.finditer(text)]
    assert found == []


WRITTEN = ("benchmarks", "docs", "studies", "tests")


def test_has_no_unfinished_marks() -> None:
    marks = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X)\b|# ?n[o]qa|type: ?i[g]nore")
    found = [
        f"{name_of(path)}: {match.group()}"
        for path in (*MODULES, *(p for name in WRITTEN for p in (ROOT / name).rglob("*.py")))
        for match in marks.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_imports_point_downwards_only() -> None:
    linter = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(
        [*linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# -- the wheel -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs' folder of a clean environment that has the wheel, and no checkout.

    Nothing is downloaded: the dependencies are those of the environment that runs the tests.
    """
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    place = folder / "environment"
    venv.create(place, with_pip=False, symlinks=True)
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / Path(sys.executable).name
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet",
        "--no-deps", "--no-index", wheel,
    )  # fmt: skip
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return scripts


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_carries_its_data(installed: Path, tmp_path: Path) -> None:
    program = (
        "import advisor, sys\n"
        "from advisor.resources import data_dir\n"
        "for name in ('rules', 'templates', 'migrations', 'seed'):\n"
        "    assert any(data_dir(name).iterdir()), name\n"
        "    assert '_data' in data_dir(name).parts, name\n"
        "print(advisor.__version__, sys.prefix in advisor.__file__)\n"
    )
    python = installed / Path(sys.executable).name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert run(python, "-c", program, cwd=tmp_path).split() == [project["version"], "True"]


@pytest.mark.slow
def test_the_wheel_loads_every_rule(installed: Path, tmp_path: Path) -> None:
    listed = run(installed / "advisor", "rules", "list", "--format", "csv", cwd=tmp_path)
    files = [
        path for path in (ROOT / "rules").glob("*/*.yaml") if path.parent.name not in NOT_RULES
    ]
    assert len(listed.splitlines()) == len(files) + 1


@pytest.mark.slow
def test_the_wheel_makes_a_report_from_the_example_runs(installed: Path, tmp_path: Path) -> None:
    place = "from advisor.resources import data_dir; print(data_dir('seed'))"
    python = installed / Path(sys.executable).name
    nights = Path(run(python, "-c", place, cwd=tmp_path).strip()) / "runs" / "nightly"
    shipped = {path.name for path in (ROOT / "seed" / "runs" / "nightly").iterdir()}
    assert {path.name for path in nights.iterdir()} == shipped
    keep_nights(nights / "runs.yaml", 2)  # all thirty take half a minute, and tell no more
    run(installed / "advisor", "--db", "demo.duckdb", "demo", "--output", "demo", cwd=tmp_path)
    pages = [
        page
        for page in (tmp_path / "demo").rglob("*.html")
        if "rules" not in page.parent.parts and page.name != "glossary.html"  # of no run
    ]
    assert pages
    assert all("simulated" in page.read_text(encoding="utf-8") for page in pages)


def keep_nights(index: Path, count: int) -> None:
    """Leave the first nights in the list of the example runs."""
    assert not index.resolve().is_relative_to(ROOT / "seed")
    told = yaml.safe_load(index.read_text(encoding="utf-8"))
    told["runs"] = told["runs"][:count]
    index.write_text(yaml.safe_dump(told), encoding="utf-8")


def test_architecture_names_modules_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    trips = text.partition("## The longest trips")[2].partition("\n## ")[0]
    named = re.findall(r"`([a-z_]+/[a-z_/]+)`", trips)
    missing = [
        name
        for name in named
        if not (ROOT / "advisor" / f"{name}.py").is_file()
        and not (ROOT / "advisor" / name).is_dir()
    ]
    assert len(named) > 40
    assert missing == []


def test_make_names_tests_that_exist() -> None:
    named = re.findall(r"tests/[\w/.]+", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []


PIN = re.compile(
    r"^([\w.-]+)==([\w.]+)(?: ; (.+?))? \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)


def pins_of(file: str) -> dict[str, list[str]]:
    """Return the versions of each package in a lock file, which may differ by Python."""
    text = (ROOT / file).read_text(encoding="utf-8")
    rest = PIN.sub("", text)
    assert [line for line in rest.splitlines() if not line.startswith("#")] == []
    assert "://" not in text
    found: dict[str, list[str]] = {}
    for name, version, *_ in PIN.findall(text):
        found.setdefault(name, []).append(version)
    return found


def project_asks_for(*groups: str) -> list[Requirement]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    texts = [*document["project"]["dependencies"]]
    for group in groups:
        texts += document["dependency-groups"].get(group, [])
        texts += document["project"]["optional-dependencies"].get(group, [])
    return [Requirement(text) for text in texts]


def test_what_is_developed_with_is_locked_with_hashes() -> None:
    pins = pins_of("requirements-dev.txt")
    asked = project_asks_for("dev")
    assert len(asked) > 20
    for each in asked:
        assert all(each.specifier.contains(version) for version in pins[each.name]), each


def test_the_lowest_versions_are_those_that_the_project_allows() -> None:
    pins = pins_of("requirements-lowest.txt")
    for each in project_asks_for("mcp"):
        (bound,) = [Version(one.version) for one in each.specifier if one.operator == ">="]
        (version,) = map(Version, pins[each.name])
        assert version.release[: len(bound.release)] == bound.release, each


@pytest.mark.skipif(os.name == "nt", reason="the system has no such shell")
@pytest.mark.parametrize(("pages", "tests", "status"), [(0, 0, 0), (2, 0, 2), (0, 1, 1), (2, 1, 1)])
def test_ci_fails_where_pages_or_tests_do_and_ends_with_the_summary(
    tmp_path: Path, pages: int, tests: int, status: int
) -> None:
    script = tmp_path / "project" / ".ci" / "run"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", script)
    summary = "===== 2 passed in 0.10s ====="
    make = tmp_path / "make"
    first = f"[ $1 = generated ] && exit {pages}"
    make.write_text(f"#!/bin/sh\n{first}\necho '{summary}'\necho other\nexit {tests}\n")
    make.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(script)], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert done.stdout.splitlines()[-1] == summary
