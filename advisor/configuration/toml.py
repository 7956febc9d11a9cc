"""``[tool.advisor]`` of a ``pyproject.toml`` as nodes.

The parser of the standard library tells no places, so keys are looked for in the text: a value is
placed at its key, and what stands within an inline table or list at the key of that.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from advisor.documents import MAX_BYTES, DocumentNode, MappingNode, ScalarNode, SequenceNode
from advisor.errors import ConfigError, Location

_TABLE = ("tool", "advisor")
_WORD = r"""(?:"[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_WORD}(?:[ \t]*\.[ \t]*{_WORD})*"
_LINE = re.compile(
    rf"[ \t]*(?:\[\[[ \t]*(?P<item>{_DOTTED})[ \t]*\]\]"
    rf"|\[[ \t]*(?P<table>{_DOTTED})[ \t]*\]"
    rf"|(?P<key>{_DOTTED})[ \t]*=)"
)
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")

Key = tuple[str | int, ...]
Places = dict[Key, Location]


def load_table(path: Path) -> MappingNode | None:
    """Return the table ``[tool.advisor]``, or None where the file has none.

    Raises:
        ConfigError: the file cannot be read or is no TOML; with its place.
    """
    name = str(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"larger than {MAX_BYTES:,} bytes", at=Location(name=name))
        text = data.decode("utf-8")
        if _TABLE[-1] not in text:
            return None
        tools = tomllib.loads(text).get(_TABLE[0])
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", at=Location(name=name)) from error
    except UnicodeDecodeError as error:
        at = Location(name=name, offset=error.start)
        raise ConfigError("not UTF-8 text", at=at) from error
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(error, name) from error
    except RecursionError as error:
        raise ConfigError("nested too deep", at=Location(name=name)) from error
    table = tools.get(_TABLE[1]) if isinstance(tools, dict) else None
    if table is None:
        return None
    places = {(): Location(name=name), **dict(_places(text, name))}
    return _node(table, _TABLE, places).as_mapping()


def _not_toml(error: tomllib.TOMLDecodeError, name: str) -> ConfigError:
    found = _PLACE.search(str(error))
    line, column = (int(found[1]), int(found[2])) if found else (None, None)
    problem = _PLACE.sub("", str(error)).strip()
    return ConfigError(f"not TOML: {problem}", at=Location(name=name, line=line, column=column))


def _places(text: str, name: str) -> Iterator[tuple[Key, Location]]:
    """Yield keys with their places; tables in lists have numbers in their keys."""
    table: Key = ()
    counts: dict[Key, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.match(line)
        if found is None:
            continue
        kind = found.lastgroup or "key"
        path = tuple(word.strip("\"'") for word in re.findall(_WORD, found[kind]))
        if kind == "item":
            counts[path] = counts.get(path, -1) + 1
            key: Key = (*path, counts[path])
        else:
            key = path if kind == "table" else (*table, *path)
        if kind != "key":
            table = key
        yield key, Location(name=name, line=number, column=found.start(kind) + 1)


def _place(key: Key, places: Places) -> Location:
    """Return the place of the key, or of the nearest one that holds it."""
    return next(places[key[:size]] for size in range(len(key), -1, -1) if key[:size] in places)


def _node(value: object, key: Key, places: Places) -> DocumentNode:
    at = _place(key, places)
    if isinstance(value, dict):
        return MappingNode(
            at=at,
            nodes={name: _node(item, (*key, name), places) for name, item in value.items()},
            places={name: _place((*key, name), places) for name in value},
        )
    if isinstance(value, list):
        items = (_node(item, (*key, number), places) for number, item in enumerate(value))
        return SequenceNode(at=at, nodes=tuple(items))
    if isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return ScalarNode(at=at, text=str(value), value=value)
    text = value.isoformat() if isinstance(value, date) else str(value)
    return ScalarNode(at=at, text=text, value=text)
