"""Do what CONTRIBUTING.md says, word for word, in a copy of the project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from advisor.cli.application import application

ROOT = Path(__file__).parents[2]
COPIED = ("advisor", "rules", "migrations")
LINKED = ("docs", "seed", "templates", "pyproject.toml")
PROGRAMS = {"advisor": [sys.executable, "-m", "advisor"], "python": [sys.executable]}

SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(
    r"([Ww]rite|[Aa]dd\s+to)\s+`(?P<path>[^`]+)`(?:,\s+after\s+`(?P<after>[^`]+)`)?\s*\Z"
)
# Prints the quantities and facts for which a reader has no words.
NAMELESS = (
    "from advisor.knowledge.load import load_knowledge;"
    "known = load_knowledge();"
    "names = known.settings.vendors.default.names;"
    "print(sorted({*known.vocabulary.symbols, *known.settings.run.symbols} - names.keys()))"
)
NEW_RULE = "advisor rules new memory/padded-rows --dir 'our rules'"


def recipes() -> dict[str, str]:
    """Return the sections of CONTRIBUTING.md by their titles."""
    _, *parts = SECTION.split((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


@dataclass(frozen=True)
class Project:
    """A copy of the project."""

    folder: Path

    def put(self, said: str, text: str) -> None:
        """Write a block to the place that the words before it name."""
        place = PLACE.search(said)
        assert place is not None, f"where does this go? {said[-100:]!r}"
        path = self.folder / place["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if place["after"] is None:
            assert not path.exists(), f"{path} exists"
            path.write_text(text, encoding="utf-8")
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (at,) = [n for n, line in enumerate(lines) if line.strip() == place["after"]]
        path.write_text("".join([*lines[: at + 1], text, *lines[at + 1 :]]), encoding="utf-8")

    def run(self, command: str) -> str:
        """Return what a command prints, which must end well."""
        program, *words = shlex.split(command)
        home = str(self.folder / "home")
        done = subprocess.run(
            [*PROGRAMS[program], *words],
            cwd=self.folder,
            env={**with_own_bytecode(), "PYTHONPATH": str(self.folder), "XDG_CACHE_HOME": home},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def console(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a block and the lines that stand below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *expected = part.splitlines()
        yield command, expected


def with_own_bytecode() -> dict[str, str]:
    """Return an environment in which compiled modules lie beside their source, as in a copy."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONPYCACHEPREFIX"}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what every copy of the project has, with its modules compiled."""
    folder = tmp_path_factory.mktemp("copied")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    command = [sys.executable, "-m", "compileall", "-q", str(folder / "advisor")]
    subprocess.run(command, env=with_own_bytecode(), check=True)
    return folder


@pytest.fixture
def project(tmp_path: Path, copied: Path) -> Project:
    folder = Path(shutil.copytree(copied, tmp_path / "project"))
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    released = Path("tests") / "database" / "released"
    shutil.copytree(ROOT / released, folder / released)
    return Project(folder)


@pytest.mark.slow
@pytest.mark.parametrize("title", recipes())
def test_works_as_it_is_written(title: str, project: Project) -> None:
    text, end, commands = recipes()[title], 0, 0
    for block in BLOCK.finditer(text):
        if block["kind"] == "console":
            for command, expected in console(block["text"]):
                printed = project.run(command)
                commands += 1
                for line in expected:
                    assert line in printed, f"$ {command}\n{printed}"
        else:
            project.put(text[end : block.start()], block["text"])
        end = block.end()
    assert commands >= 3
    if "rules/facts/" in text or "rules/quantities/" in text:
        assert project.run(f"python -c {shlex.quote(NAMELESS)}") == "[]\n"


def test_works_with_what_a_new_rule_says_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(application, shlex.split(NEW_RULE)[1:])
    following = [
        line.removeprefix("next: ")
        for line in made.output.splitlines()
        if line.startswith("next: ")
    ]
    commands = [shlex.split(line) for line in following]
    assert [program for program, *_ in commands] == ["advisor", "advisor"]
    linted, tested = (CliRunner().invoke(application, words) for _, *words in commands)
    assert (made.exit_code, linted.exit_code, tested.exit_code) == (0, 0, 0)
    assert "0 errors" in linted.output
    assert "FILL IN" in linted.output
    assert tested.output == "4 of 4 examples as expected\n"


def test_there_are_six() -> None:
    assert [title.split()[-1] for title in recipes()] == [
        "rule", "fact", "quantity", "reader", "table", "verb",
    ]  # fmt: skip
