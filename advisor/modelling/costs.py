"""Cost analyses of compilers: what they estimate of a program, as FLOP and bytes.

Source: XLA, ``HloCostAnalysis``: ``flops`` and ``bytes accessed`` of a module.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import Location, UsageError
from advisor.modelling.json_files import read_json
from advisor.modelling.scenario import Costs

if TYPE_CHECKING:
    from advisor.modelling.defaults import Defaults

MOST_BYTES = 50_000_000


def read_costs(path: Path, defaults: Defaults) -> dict[str, Costs]:
    """Return the estimates of a JSON file by name: one, a list of them, or one for each name.

    Raises:
        UsageError: the file cannot be read or is too large, or an estimate is missing or negative.
    """
    at = Location(name=str(path))
    content = read_json(path, MOST_BYTES)
    found = dict(_named(content, path.stem, at, defaults))
    if not found:
        raise UsageError("there is no estimate in it", at=at, hint=_wanted(defaults))
    return found


def _named(
    content: object, name: str, at: Location, defaults: Defaults
) -> Iterator[tuple[str, Costs]]:
    if isinstance(content, list):
        for number, each in enumerate(content, start=1):
            own = each.get("name") if isinstance(each, dict) else None
            counted = f"{name} {number}" if len(content) > 1 else name
            yield own if isinstance(own, str) else counted, costs_of(each, at, defaults)
    elif isinstance(content, dict) and _is_nested(content):
        for key, each in content.items():
            yield key, costs_of(each[0] if isinstance(each, list) and each else each, at, defaults)
    else:
        yield name, costs_of(content, at, defaults)


def _is_nested(content: Mapping[str, object]) -> bool:
    return bool(content) and all(isinstance(each, dict | list) for each in content.values())


def costs_of(content: object, at: Location, defaults: Defaults) -> Costs:
    """Return one estimate.

    Raises:
        UsageError: a key is missing, or a value is negative or no number.
    """
    if not isinstance(content, dict):
        raise UsageError("an estimate is a mapping", at=at, hint=_wanted(defaults))
    values = [
        _value(content, key, at, defaults) for key in (defaults.cost_flops, defaults.cost_bytes)
    ]
    return Costs(flops=values[0], bytes=values[1])


def _value(content: Mapping[str, object], key: str, at: Location, defaults: Defaults) -> float:
    if key not in content:
        raise UsageError(f"the estimate has no {key!r}", at=at, hint=_wanted(defaults))
    value = content[key]
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise UsageError(f"{key!r} is too large", at=at)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{key!r} is no number: {value!r}", at=at)
    if value < 0:
        hint = "the compiler writes a negative number where it does not know"
        raise UsageError(f"{key!r} is negative: {value:.10g}", at=at, hint=hint)
    return float(value)


def _wanted(defaults: Defaults) -> str:
    return f"give {defaults.cost_flops!r} and {defaults.cost_bytes!r}"
