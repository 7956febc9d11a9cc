"""Operations: what comes out for sizes, and what files and packs may say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.documents import load
from advisor.errors import RuleError
from advisor.facts.operations import (
    Operation,
    least,
    load_operations,
    read_operation,
    run_operation_examples,
)
from advisor.resources import data_dir
from advisor.rules.language.lint import lint

Pack = Callable[[str, str], Path]

OPERATION = """\
id: sample
title: A sample
sizes:
  n: {about: elements}
  element: {unit: B, about: an element}
  out_element: {unit: B, default: element, about: what is written}
constants:
  one: {value: 1, unit: FLOP, source: a document}
flops: n * one
bytes: n * (element + out_element)
references: [none]
tests:
  - {name: by hand, sizes: {n: 10, element: 4}, flops: 10, bytes: 80}
"""


@pytest.fixture(scope="module")
def shipped() -> dict[str, Operation]:
    return load_operations()


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Write a file of operations below a directory, which is returned."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / "pack" / "operations" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path / "pack"

    return write


def needs(operation: Operation, **sizes: float) -> tuple[float | None, float | None]:
    (found,) = least([(operation, sizes)])
    return found


def intensity(operation: Operation, **sizes: float) -> float:
    flops, moved = needs(operation, **sizes)
    assert flops is not None
    assert moved
    return flops / moved


def test_every_shipped_one_comes_to_what_its_tests_say(shipped: dict[str, Operation]) -> None:
    results = list(run_operation_examples(shipped.values()))
    assert {operation.id for operation, _, _ in results} == set(shipped)
    assert [(each.id, example.name, wrong) for each, example, wrong in results if wrong] == []


# -- figures of the documents that started the project ------------------------------------------


@pytest.mark.parametrize(
    ("size", "flops", "moved", "printed"),
    [
        (64, 524_288, 24_576, 21.3),
        (256, 33_554_432, 393_216, 85.3),
        (1024, 2_147_483_648, 6_291_456, 341.3),
        (4096, 137_438_953_472, 100_663_296, 1365.3),
        (16384, 8_796_093_022_208, 1_610_612_736, 5461.3),
    ],
)
def test_square_products_of_16_bit(
    shipped: dict[str, Operation], size: float, flops: float, moved: float, printed: float
) -> None:
    product = shipped["matrix-product"]
    assert needs(product, m=size, n=size, k=size, element=2) == (flops, moved)
    found = intensity(product, m=size, n=size, k=size, element=2)
    assert found == pytest.approx(printed, abs=0.05)


@pytest.mark.parametrize(
    ("m", "n", "k", "printed"),
    [
        (64, 11008, 4096, 62.7),  # gate projection of Llama-2 7B, 64 tokens
        (256, 11008, 4096, 235.8),  # the same, 256 tokens
        (1, 4096, 4096, 1.0),
        (32 * 32, 2048, 128, 107.8),
        (600, 600, 600, 200.0),
        (32 * 2048, 16384, 4096, 3120.8),
    ],
)
def test_printed_intensities_of_products(
    shipped: dict[str, Operation], m: float, n: float, k: float, printed: float
) -> None:
    found = intensity(shipped["matrix-product"], m=m, n=n, k=k, element=2)
    assert found == pytest.approx(printed, abs=0.06)


@pytest.mark.parametrize(
    ("element", "c_element", "moved", "printed"),
    # The compiler's cost model counts the accumulator, 4 bytes or 2, beside what is written.
    [(2, 2 + 4, 41_943_040, 409.6), (1, 1 + 2, 20_971_520, 819.2)],
)
def test_the_compilers_bytes_of_a_product(
    shipped: dict[str, Operation], element: float, c_element: float, moved: float, printed: float
) -> None:
    sizes = {"m": 2048, "n": 2048, "k": 2048, "element": element, "c_element": c_element}
    assert needs(shipped["matrix-product"], **sizes) == (17_179_869_184, moved)
    assert intensity(shipped["matrix-product"], **sizes) == pytest.approx(printed)


@pytest.mark.parametrize(
    ("operation", "sizes", "printed"),
    [
        ("layer-norm", {"rows": 65536, "hidden": 4096, "work": 10, "reads": 2}, 1.67),
        ("layer-norm", {"rows": 65536, "hidden": 4096}, 1.25),
        ("softmax", {"rows": 4096, "columns": 4096}, 1.25),
        ("element-wise", {"n": 4096, "work": 2}, 0.5),  # SiLU
        ("rope", {"n": 4096, "work": 8}, 2),
        ("rope", {"n": 4096, "work": 16}, 4),
        # One query: 2/e but for the query and the result, an N-th of keys and values.
        *(
            ("attention", {"batch": 1, "heads": 32, "queries": 1, "keys": 4096, **of}, printed)
            for of, printed in [
                ({"dimension": 128}, 1),
                ({"dimension": 128, "kv_element": 1}, 2),
                ({"dimension": 128, "kv_heads": 8}, 4),
            ]
        ),
        # As many queries as keys: N/e.
        *(
            ("attention", {"batch": 1, "heads": 1, "queries": n, "keys": n, "dimension": 64}, n / 2)
            for n in (128, 2048)
        ),
    ],
)
def test_printed_intensities_at_16_bit(
    shipped: dict[str, Operation], operation: str, sizes: dict[str, float], printed: float
) -> None:
    found = intensity(shipped[operation], **{"element": 2, **sizes})
    assert found == pytest.approx(printed, rel=3e-3)


def test_fusing_four_operations_divides_the_bytes_by_four(shipped: dict[str, Operation]) -> None:
    each = {"n": 268_435_456, "element": 2}
    apart = [needs(shipped["element-wise"], work=work, **each) for work in (10, 8, 1, 1)]
    flops, moved = needs(shipped["element-wise"], work=20, **each)
    assert sum(one[0] or 0 for one in apart) == flops == 5_368_709_120
    assert sum(one[1] or 0 for one in apart) == 4 * 1_073_741_824
    assert moved == 1_073_741_824


# -- packs ------------------------------------------------------------------------------------


def test_adds_one_and_changes_one(pack: Pack, shipped: dict[str, Operation]) -> None:
    pack("sample", OPERATION)
    change = (
        "id: rms-norm\nextends: rms-norm\nsizes:\n  work: {unit: FLOP, default: 5, about: ours}\n"
    )
    tests = "tests: [{name: ours, sizes: {rows: 1, hidden: 2, element: 4}, flops: 10, bytes: 24}]\n"
    found = load_operations([pack("rms-norm", change + tests)])
    assert set(found) - set(shipped) == {"sample"}
    assert needs(found["sample"], n=3, element=8, out_element=2) == (3, 30)
    changed = found["rms-norm"]
    assert needs(changed, rows=1, hidden=2, element=4) == (10, 24)
    assert list(changed.sizes) == list(shipped["rms-norm"].sizes)
    assert [
        wrong for *_, wrong in run_operation_examples([changed, found["sample"]]) if wrong
    ] == []


def test_refuses_one_that_is_there(pack: Pack) -> None:
    with pytest.raises(RuleError, match="the operation 'copy' exists") as caught:
        load_operations([pack("copy", OPERATION.replace("id: sample", "id: copy"))])
    assert "pack/operations/copy.yaml:1:5" in str(caught.value.at)
    assert "extends: copy" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("change", "problem", "key"),
    [
        (
            "sizes: {more: {unit: B, about: x}}\nbytes: n * (element + out_element) + more",
            "needs the size",
            "tests",
        ),
        ("bytes: 2 * n * element", "'out_element' is not used", "sizes"),
    ],
)
def test_blames_the_file_that_extends(pack: Pack, change: str, problem: str, key: str) -> None:
    with pytest.raises(RuleError, match=problem) as caught:
        load_operations([pack("copy", f"id: copy\nextends: copy\n{change}\n")])
    assert str(caught.value.at).endswith("pack/operations/copy.yaml:1:1")
    shipped = data_dir("rules") / "operations" / "copy.yaml"
    lines = shipped.read_text().splitlines()
    assert f"from {shipped}:" in (caught.value.hint or "")
    line = int((caught.value.hint or "").rsplit(":", 2)[1])
    assert line > lines.index(f"{key}:")


@pytest.mark.parametrize(
    ("old", "new", "place", "problem", "hint"),
    [
        ("id: sample", "id: other", "1:5", "the path says 'sample'", "write id: sample"),
        ("title:", "titel:", "2:1", "unknown key 'titel'", "did you mean 'title'?"),
        ("title: A sample\n", "", "1:1", "the key 'title' is missing", ""),
        ("{about: elements}", "{abuot: elements}", "4:7", "unknown key 'abuot'", "'about'"),
        ("{about: elements}", "{}", "4:6", "the key 'about' is missing", ""),
        ("unit: B, about", "unit: kB, about", "5:19", "sizes are in SI units", ""),
        ("unit: B, about", "unit: beans, about", "5:19", "'beans' is not a unit", ""),
        ("default: element", "default: elemnt", "6:35", "there is no 'elemnt'", "'element'"),
        ("default: element", "default: n", "6:35", "declared in B, but this is in 1", ""),
        ("default: element", "default: -1", "6:35", "a size, 0 or more", ""),
        ("one: {", "n: {", "8:3", "'n' is a size", ""),
        ("one: {", "two: {", "9:12", "there is no 'one'", ""),
        ("flops: n * one", "flops: n * 2", "9:8", "declared in FLOP, but this is in 1", ""),
        ("flops: n * one", "flops: n", "9:8", "declared in FLOP, but this is in 1", ""),
        ("flops: n * one", 'flops: "0"', "8:3", "'one' is not used", "use it or remove it"),
        ("bytes: n * (", "bytes: n + (", "10:13", "do not go together", ""),
        ("bytes: n * (", "bytes: n * duration * (", "10:12", "there is no 'duration'", ""),
        ("sizes: {n: 10, ", "sizes: {m: 10, ", "13:5", "sample has no size 'm'", "sizes are n"),
        ("sizes: {n: 10, ", "sizes: {", "13:5", "sample needs the size 'n'", "n: elements"),
        ("{n: 10,", "{n: -10,", "13:32", "a size, 0 or more", ""),
        ("  - {name: by hand", "  - {nam: by hand", "13:6", "unknown key 'nam'", "'name'"),
    ],
)  # fmt: skip
def test_refuses_what_is_wrong_and_says_where(
    old: str, new: str, place: str, problem: str, hint: str, pack: Pack
) -> None:
    assert OPERATION.count(old) == 1
    directory = pack("sample", OPERATION.replace(old, new))
    with pytest.raises(RuleError) as caught:
        load_operations([directory])
    assert problem in caught.value.problem
    assert str(caught.value.at).endswith(f"sample.yaml:{place}")
    assert hint in (caught.value.hint or "")
    (remark,) = lint(directory)
    assert (remark.kind, remark.problem) == ("error", caught.value.problem)


def test_refuses_one_without_tests(pack: Pack) -> None:
    text = OPERATION[: OPERATION.index("tests:")] + "tests: []\n"
    with pytest.raises(RuleError, match="the operation has no test") as caught:
        load_operations([pack("sample", text)])
    assert str(caught.value.at).endswith("sample.yaml:12:8")


def test_names_what_a_test_expects_and_what_came() -> None:
    text = OPERATION.replace("flops: 10, bytes: 80", "flops: 11, bytes: 80")
    ((_, _, problems),) = run_operation_examples([read_operation(load(text))])
    assert problems == ("expected flops 11 FLOP, found 10",)
    divided = text.replace("flops: n * one", "flops: n / (n - n) * one")
    ((_, _, problems),) = run_operation_examples([read_operation(load(divided))])
    assert problems == ("expected flops 11 FLOP, found nothing",)


@pytest.mark.parametrize(
    "text",
    [
        "read_text('/etc/passwd')",
        "(select 1)",
        "getenv('HOME')",
        "n * one; drop table launch",
        "n * one -- and so on",
        "list_sum(range(1000000000))",
        "sum(n) over ()",
        "?",
        "(" * 500_000 + "n" + ")" * 500_000,
        "n * one" + " + n * one" * 100_000,
    ],
)
def test_refuses_a_formula_that_reaches_out(text: str, pack: Pack) -> None:
    directory = pack("sample", OPERATION.replace("flops: n * one", f'flops: "{text}"'))
    with pytest.raises(RuleError) as caught:
        load_operations([directory])
    assert "sample.yaml:9:" in str(caught.value.at)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &a [x]\nb: *a\n", "aliases are not allowed"),
        ("a: !!python/object/apply:os.system [id]\n", "the YAML tag"),
        ("a: " + "[" * 10_000 + "]" * 10_000, "nested deeper than"),
        ("a: " + "x" * 3_000_000, "larger than"),
    ],
)
def test_refuses_a_bomb_of_yaml(text: str, problem: str, pack: Pack) -> None:
    with pytest.raises(RuleError, match=problem):
        load_operations([pack("sample", text)])


def test_reports_a_place_to_fill(pack: Pack) -> None:
    (remark,) = lint(pack("sample", OPERATION.replace("A sample", "FILL IN")))
    assert (remark.kind, str(remark.at)[-4:]) == ("warning", ":2:8")


def test_takes_the_example_of_the_documentation(pack: Pack) -> None:
    page = (Path(__file__).parents[2] / "docs" / "writing-rules.md").read_text(encoding="utf-8")
    text = page.split("operations/bias-gelu.yaml\n")[1].split("```")[0]
    directory = pack("bias-gelu", text)
    example = load_operations([directory])["bias-gelu"]
    assert [wrong for *_, wrong in run_operation_examples([example])] == [()]
    assert lint(directory) == []
