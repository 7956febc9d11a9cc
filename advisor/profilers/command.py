"""A call of a profiler: read from a profile, and made from the parts that its file gives.

The call that some profiles hold is one line of text. On Windows it is as it was typed; elsewhere it
is split as a shell would. What cannot be split is left out, and reported.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PureWindowsPath

from advisor.profilers.files import Options, Profiler
from advisor.records import dataclass

PROGRAM = "<program>"
ARGUMENTS = "<arguments>"

_PLACE = re.compile(r"\{(\w+)\}")
_EACH = {"section": "sections", "function": "functions"}
_PROGRAM = "program"
_TYPED = re.compile(r'(?:"[^"]*"|[^\s"])+')
_PLAIN = re.compile(r"[\w+=:,./\\@-]+", re.ASCII)


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

    ``options`` are repeated, ``functions`` are the kernels to profile (none: all), ``launches``
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


@dataclass(frozen=True, kw_only=True)
class Profiled:
    """The program and its arguments, and the options of the profiler's call to repeat.

    ``words`` are empty where a profile does not name its program. With ``is_complete`` they are all
    of it, else arguments may be missing. ``options`` are those that hold for the next call too;
    with ``chooses_launches`` they say which launches to profile. ``unsplit`` is a command line that
    no shell would take.
    """

    words: tuple[str, ...] = ()
    is_complete: bool = False
    options: tuple[str, ...] = ()
    chooses_launches: bool = False
    windows: bool = False
    unsplit: str | None = None

    def command(self, before: Iterable[str], after: Iterable[str] = ()) -> str:
        """Return the profiler's call of the program as one types it, with words around it.

        What the profile does not record has a name in angle brackets, which no shell runs.
        """
        line = [self._quoted(word) for word in (*before, *self.words)]
        missing = [] if self.is_complete else [ARGUMENTS if self.words else PROGRAM]
        return " ".join([*line, *missing, *map(self._quoted, after)])

    def _quoted(self, word: str) -> str:
        if not self.windows:
            return shlex.quote(word)
        return word if _PLAIN.fullmatch(word) else '"' + word.replace('"', "") + '"'


def profiled(call: str | None, program: str | None, known: Options) -> Profiled:
    """Return a profile's program and arguments, by the profiler's ``call`` and the program's name.

    A call that does not begin with the profiler is the program's own. ``known`` are the profiler's
    options.
    """
    windows = any(_is_of_windows(text) for text in (call, program) if text)
    words = _words(call or "", windows)
    if words and PureWindowsPath(words[0]).stem not in known.programs:
        return Profiled(words=tuple(words), is_complete=True, windows=windows)
    options, rest = _options((words or [])[1:], known.flags)
    if not rest:
        named = (program,) if program else ()
        return Profiled(words=named, windows=windows, unsplit=call if words is None else None)
    chosen = [option for option in options if _name(option) in known.chooses]
    kept = [option for option in options if _name(option) in known.chooses | known.keeps]
    return Profiled(
        words=tuple(rest),
        is_complete=True,
        options=tuple(word for option in kept for word in option),
        chooses_launches=bool(chosen),
        windows=windows,
    )


def _is_of_windows(text: str) -> bool:
    return PureWindowsPath(text.removeprefix('"')).is_absolute()


def _words(line: str, windows: bool) -> list[str] | None:
    """Return the words of a command line; None where it cannot be split."""
    if windows:
        return [word.replace('"', "") for word in _TYPED.findall(line)]
    try:
        return shlex.split(line)
    except ValueError:  # a quote that is never closed
        return None


def _options(words: list[str], flags: frozenset[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the options that begin a call, each with its value, and what follows them."""
    options: list[tuple[str, ...]] = []
    place = 0
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        alone = "=" in word or _name((word,)) in flags or _has_value_attached(word)
        options.append(tuple(words[place : place + (1 if alone else 2)]))
        place += len(options[-1])
    return options, words[place:]


def _has_value_attached(word: str) -> bool:
    return not word.startswith("--") and len(word) > len("-c")


def _name(option: tuple[str, ...]) -> str:
    """Return how an option is called: ``launch-count``, or ``c`` where that was written."""
    word = option[0].partition("=")[0]
    return word.removeprefix("--") if word.startswith("--") else word[1:2]
