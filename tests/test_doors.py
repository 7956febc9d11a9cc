"""SQL that names tables stands behind few doors; everything else asks these, or reads relations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.database.tables import metadata

PACKAGE = Path(__file__).parent.parent / "advisor"
# The database package, and the devices that come with the program.
DOORS = ("database/", "hardware/seeding.py")

TABLES = "|".join(sorted(metadata().tables, key=len, reverse=True))
NAMED = re.compile(
    rf'\b(?:from|join|into|update|table)\s+(?:"?main"?\.)?"?(?:{TABLES})\b(?!\s*\()'
    rf"|\bmain\.(?:{TABLES})\b",
    re.IGNORECASE,
)


def modules() -> list[Path]:
    found = sorted(PACKAGE.rglob("*.py"))
    return [path for path in found if not is_door(path.relative_to(PACKAGE).as_posix())]


def is_door(name: str) -> bool:
    return any(name == door or (door.endswith("/") and name.startswith(door)) for door in DOORS)


def statements(code: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of what may be SQL: strings with a word that begins a clause."""
    tree = ast.parse(code)
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in prose else None
        if isinstance(text, str) and NAMED.search(text) and is_sql(text):
            yield node.lineno, text.strip()[:60]


def is_sql(text: str) -> bool:
    """Tell SQL from English: its clauses are in capitals, or it names the schema."""
    return (
        "main." in text or re.search(r"\b(FROM|JOIN|INTO|UPDATE|TABLE|SELECT)\b", text) is not None
    )


def test_no_other_module_names_a_table_in_sql() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in modules()
        for line, text in statements(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        'x = "SELECT * FROM launch"',
        'x = f"select {a} from main.launch"',
        'x = ("SELECT 1", "FROM run WHERE run_id = ?")',
        'x = """\n    UPDATE launch SET a = 1\n"""',
        'x = "INSERT INTO finding BY NAME"',
    ],
)
def test_sees_a_table_in_sql(code: str) -> None:
    assert list(statements(code))


def test_pastes_no_sql_together() -> None:
    """A statement is one string, which a reader and the linter see whole."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and pastes_sql(node)
    ]
    assert found == []


def pastes_sql(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "join" or not call.args:
        return False
    pieces = call.args[0].elts if isinstance(call.args[0], ast.Tuple | ast.List) else []
    texts = [piece.value for piece in pieces if isinstance(piece, ast.Constant)]
    return any(re.match(r"(SELECT|FROM|DELETE|CREATE)\b", str(text), re.I) for text in texts)


def test_sees_sql_that_is_pasted_together() -> None:
    (pasted,) = ast.parse('" ".join(("select", names, "from", table))').body
    assert isinstance(pasted, ast.Expr)
    assert isinstance(pasted.value, ast.Call)
    assert pastes_sql(pasted.value)


def test_takes_no_prose_for_sql() -> None:
    assert not list(
        statements('"""Read values from launch to launch."""\nx = "a value from run 3"')
    )


def test_the_doors_are_there() -> None:
    assert [door for door in DOORS if not (PACKAGE / door).exists()] == []
