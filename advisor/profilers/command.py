"""A call of a profiler, from the parts that its file gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from advisor.profilers.files import Profiler

_PLACE = re.compile(r"\{(\w+)\}")
_EACH = {"section": "sections", "function": "functions"}
_PROGRAM = "program"


def asking_words(profiler: Profiler, sections: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Return the words that ask for sections and for counters by name, and nothing else."""
    values = {"sections": sections, "metrics": metrics}
    asking = [
        part for part in profiler.command if _places(part) & {"section", "sections", "metrics"}
    ]
    return [word for part in asking for word in _filled(part, values)]


def command_words(
    profiler: Profiler,
    *,
    sections: Sequence[str],
    metrics: Sequence[str],
    options: Sequence[str],
    functions: Sequence[str],
    launches: int,
) -> tuple[list[str], list[str]]:
    """Return the words of a call before and after the profiled program and its arguments.

    ``options`` are said again, ``functions`` are the kernels to profile (none: all), ``launches``
    how many of them (0: all). Parts without a value are left out.
    """
    values: dict[str, Sequence[str]] = {
        "sections": sections,
        "metrics": metrics,
        "options": options,
        "functions": functions,
        "launches": [str(launches)] if launches else [],
    }
    has_program = [_PROGRAM in _places(part) for part in profiler.command]
    middle = has_program.index(True) if True in has_program else len(has_program)
    before, after = (
        [word for part in some for word in _filled(part, values)]
        for some in (profiler.command[:middle], profiler.command[middle + 1 :])
    )
    return before, after


def _places(part: str) -> set[str]:
    return set(_PLACE.findall(part))


def _filled(part: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the words of a part; none where a place in it has no value."""
    places = _places(part)
    if part == "{options}":
        yield from values.get("options", ())
        return
    each = next((place for place in places if place in _EACH), None)
    if each is not None:
        for value in values.get(_EACH[each], ()):
            yield from (word.replace(f"{{{each}}}", value) for word in part.split())
        return
    texts = {place: _joined(place, values) for place in places}
    if all(texts.values()):
        for word in part.split():
            yield _PLACE.sub(lambda found: texts[found[1]], word)


def _joined(place: str, values: Mapping[str, Sequence[str]]) -> str:
    if place == "pattern":
        return "|".join(re.escape(name) for name in values.get("functions", ()))
    return ",".join(values.get(place, ()))
