"""Names of kernels: short ones for people, normalised ones to match runs.

A demangled C++ name is ``return type``, scopes, template arguments, parameters, qualifiers. Which
of the first and last are printed, and how types are spelled, differs between demanglers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from advisor.cache import remembered
from advisor.documents import DocumentNode, load
from advisor.model import UNNAMED
from advisor.records import dataclass
from advisor.resources import data_dir

_FILE = "names.yaml"
_OPEN = {"(": ")", "<": ">", "[": "]", "{": "}"}
_OPERATOR = re.compile(
    r"\boperator\s*(?:\(\)|\[\]|<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>|,|[-+*/%^&|~!=]+)"
)
_HIDDEN = re.compile(r"operator\x00(\d+)\x00")
# Nsight Compute prints names without outer scopes, and takes one bracket too many with them:
# ``at::native::<unnamed>::f`` becomes ``unnamed>::f``.
_ANONYMOUS = re.compile(
    r"\(anonymous namespace\)|\{anonymous\}|<unnamed>|\bunnamed>(?=::)|_GLOBAL__N_\w*"
)
_NAMELESS = "{anonymous}"
_AFTER_PARAMETERS = re.compile(r"(?:\s|const|volatile|noexcept|&|\[clone [^\]]*\])*")
_SPACES = re.compile(r"\s+")
_LOOSE_SPACES = re.compile(r"\s*([<>(),*&:\[\]{}])\s*")
_CAST = re.compile(r"\((?:unsigned|signed|long|short|char|int|bool|\s)+\)(?=-?\d)")
_LITERAL_SUFFIX = re.compile(r"\b(\d+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])\b")


@dataclass(frozen=True, kw_only=True)
class NamePatterns:
    """What ``rules/names.yaml`` says: pairs of a pattern and what is put in its place.

    ``alike`` is the share of characters that names which are nearly the same have in common. What
    tells names apart has at most ``characters``, and is looked for in so many ``levels``.
    """

    spellings: tuple[tuple[re.Pattern[str], str], ...]
    suffixes: tuple[tuple[re.Pattern[str], str], ...]
    alike: float
    characters: int
    levels: int


@lru_cache(maxsize=1)
def load_names() -> NamePatterns:
    """Return the patterns by which names are normalised.

    Raises:
        RuleError: an entry is missing, unknown or wrong; with its place.
    """
    path = data_dir("rules") / _FILE
    return remembered("kernel names", [path], "", lambda: _read(path))


def _read(path: Path) -> NamePatterns:
    document = load(path)
    document.refuse_unknown(("spellings", "suffixes", "alike", "characters", "levels"))
    return NamePatterns(
        spellings=tuple(map(_pattern, document.sequence("spellings"))),
        suffixes=tuple(map(_pattern, document.sequence("suffixes"))),
        alike=document.mapping("alike").number("value"),
        characters=int(document.mapping("characters").number("value")),
        levels=int(document.mapping("levels").number("value")),
    )


def _pattern(node: DocumentNode) -> tuple[re.Pattern[str], str]:
    entry = node.as_mapping()
    entry.refuse_unknown(("pattern", "with", "about", "example", "becomes"))
    try:
        return re.compile(entry.text("pattern")), entry.text("with") if "with" in entry else ""
    except re.error as error:
        raise entry["pattern"].unexpected("a regular expression") from error


def short_name(name: str) -> str:
    """Return the function's name with the innermost scope, without arguments and return type.

    >>> short_name("void at::native::reduce_kernel<(int)512, float>(T1 *, int)")
    'native::reduce_kernel'
    >>> short_name("triton_poi_fused_add_0")
    'triton_poi_fused_add_0'
    """
    if name == UNNAMED:
        return name
    text, operators = _prepared(name)
    named = [scope for scope in _scopes(_qualified(text)) if scope not in ("", _NAMELESS)]
    short = _show_operators("::".join(named[-2:]), operators)
    return short or name


def normalised_name(name: str) -> str:
    """Return the name by which a kernel is the same in another run.

    Scopes and template arguments stay; return type, parameters and differences of spelling go.

    >>> normalised_name("void scale<(unsigned int)4, float >(T2 *)")
    'scale<4,float>'
    """
    text, operators = _prepared(name)
    text = _qualified(text)
    patterns = load_names()
    for spelling, meant in patterns.spellings:
        text = spelling.sub(meant, text)
    text = _LITERAL_SUFFIX.sub(r"\1", _CAST.sub("", text))
    text = _LOOSE_SPACES.sub(r"\1", _SPACES.sub(" ", text)).strip()
    for suffix, meant in patterns.suffixes:
        text = suffix.sub(meant, text)
    return _show_operators(text, operators) or name


def distinguished(names: Sequence[str]) -> list[str]:
    """Return of each name the first template arguments that not all of them have.

    Short ones come before long ones, cut in the middle; nothing where they differ otherwise.

    >>> distinguished(["f<A<Tile<(int)64, (int)32>>>", "f<A<Tile<(int)64, (int)64>>>"])
    ['Tile<64, 32>', 'Tile<64, 64>']
    >>> distinguished(["void a::f<(int)4, c10::Half>(T1*)", "void a::f<(int)4, float>(T1*)"])
    ['<4, Half>', '<4, float>']
    """
    templates = [list(_templates(name)) for name in names]
    shared = set(templates[0]).intersection(*templates[1:])
    return [_telling([part for part in parts if part not in shared]) for parts in templates]


def _telling(parts: Sequence[str]) -> str:
    most = load_names().characters
    found = next((part for part in parts if len(part) <= most), "".join(parts[:1]))
    half = most // 2
    return found if len(found) <= most else f"{found[: half - 1]}…{found[-half:]}"


def _templates(name: str) -> Iterator[str]:
    """Yield each template in a name with its arguments, in which others have none themselves."""
    text, operators = _prepared(name)
    waiting = [(_qualified(text), 0)]
    while waiting:
        text, depth = waiting.pop()
        inner = []
        for start, stop in _groups(text):
            if text[start] != "<":
                continue
            arguments = _split(text[start + 1 : stop - 1], ",")
            shown = ", ".join(_bare(each) for each in arguments)
            template = _bare(text[:start]) if depth else ""  # the kernel's own name is known
            yield _show_operators(f"{template}<{shown}>", operators)
            inner += arguments
        if depth < load_names().levels:
            waiting += [(each, depth + 1) for each in reversed(inner)]


def _bare(argument: str) -> str:
    """Return a type or value without scopes, arguments and casts."""
    text = _CAST.sub("", argument).strip()
    start = next((start for start, _ in _groups(text) if text[start] == "<"), len(text))
    return text[:start].rpartition("::")[2].strip()


def _prepared(name: str) -> tuple[str, list[str]]:
    """Put tokens without brackets in the place of operators, which are returned in order."""
    operators: list[str] = []

    def hide(match: re.Match[str]) -> str:
        operators.append(_SPACES.sub("", match[0]))
        return f"operator\0{len(operators) - 1}\0"

    text = _ANONYMOUS.sub(_NAMELESS, name.replace("\0", ""))
    return re.sub(r" +<", "<", _OPERATOR.sub(hide, text)), operators


def _show_operators(name: str, operators: list[str]) -> str:
    return _HIDDEN.sub(lambda match: operators[int(match[1])], name)


def _qualified(name: str) -> str:
    """Return scopes, name and template arguments: without return type and parameters."""
    end = len(name)
    for start, stop in _groups(name):
        if name[start] == "(" and _AFTER_PARAMETERS.fullmatch(name, stop):
            end = start
            break
    name = name[:end].rstrip()
    begin = place = 0
    for start, stop in (*_groups(name), (len(name), len(name))):
        begin = max(begin, name.rfind(" ", place, start) + 1)
        place = stop
    return name[begin:]


def _split(text: str, by: str) -> list[str]:
    """Return the parts between commas, say, that stand in no bracket."""
    parts = [""]
    place = 0
    for start, stop in (*_groups(text), (len(text), len(text))):
        first, *others = text[place:start].split(by)
        parts[-1] += first
        parts += others
        parts[-1] += text[start:stop]
        place = stop
    return parts


def _scopes(name: str) -> list[str]:
    """Return the parts between ``::``, without arguments; what a lambda is called stays."""
    scopes = [""]
    place = 0
    for start, stop in (*_groups(name), (len(name), len(name))):
        first, *others = name[place:start].split("::")
        scopes[-1] += first
        scopes += others
        if name[start:stop].startswith("{"):
            scopes[-1] += name[start:stop]
        place = stop
    return scopes


def _groups(name: str) -> Iterator[tuple[int, int]]:
    """Yield where outermost brackets begin and end.

    One that never closes ends with the name; one that was never opened is no bracket.
    """
    expected: list[str] = []
    missing = dict.fromkeys(_OPEN.values(), 0)  # how many of each are expected
    start = 0
    for place, character in enumerate(name):
        if character in _OPEN:
            if not expected:
                start = place
            expected.append(_OPEN[character])
            missing[_OPEN[character]] += 1
        elif missing.get(character):
            while character != ">" and expected[-1] == ">":  # it was "less than"
                missing[expected.pop()] -= 1
            if expected[-1] == character:
                missing[expected.pop()] -= 1
            if not expected:
                yield start, place + 1
    if expected:
        yield start, len(name)
