"""Which kernel a page speaks of where: named in headings, beside "Kernel:", in the command.

A name holds for the part of the page that its heading begins, parts of that part included, until
another one is named. Only what looks like code is a name: with an underscore or a capital inside,
with template arguments, or in backticks.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container

from advisor.model import titled
from advisor.readers.ncu.words import load_words, unmarked

_HEADING = re.compile(r"[>\s]*(?P<level>#{1,6})\s+(?P<text>\S.*)")
_FENCE = re.compile(r"[>\s]*(?:```|~~~)")
_NAME = r"[A-Za-z_][\w:]*(?:<[^`|]*>)?"
_BOLD = re.compile(r"[>\s]*(?:[-+•]\s+)?\*\*(?P<name>[^*:]+):?\*\*:?\s*")
_QUOTED = re.compile(rf"`({_NAME})(?:\([^`]*\))?`")
_SEPARATORS = re.compile(r"\s[-—–]+\s|[—–：]|:(?=\s|$)|[（(].*")
_IS_CODE = re.compile(
    r"\w*[A-Za-z0-9]_[A-Za-z0-9]\w*.*|[a-z]\w*[A-Z].*|\w+<.*>|(?i:\w+kernel|\w*kernel_?\d+)"
)
_DECLARED = re.compile(
    r"[^/#]*\b__global__\b.*?\bvoid\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w*)\s*\(.*"
)
_FUNCTION = re.compile(r"(?P<type>void )?(?P<name>[A-Za-z_][\w:]*)(?:<.*>)?(?P<arguments>\(.*\))?")
_KERNEL = re.compile(r"(?i:kernels?)")
_EMPHASIS = re.compile(r"\*\*")
_WORD = re.compile(r"\w+")
_BLANKS = re.compile(r"\s+")
_CAPABILITY = re.compile(r"CC|sm_|SM_|apability")  # a quick test, for much other text
_SAYS = re.compile(r"[:=：]")
_MOST_PARTS = 3  # of a heading: a name stands near its beginning
_LONGEST = 500  # characters of a line that may name a kernel


@dataclasses.dataclass(kw_only=True)
class _Part:
    """A part of the page: how deep it lies, the names in its heading, and the one that holds.

    It is ``addressed`` to what stood last alone on a line in bold, or in the heading.
    """

    level: int
    heading: str = ""
    names: tuple[str, ...] = ()
    name: str = ""
    is_of_command: bool = False
    addressed: str = ""


@dataclasses.dataclass(kw_only=True)
class Outline:
    """The parts of a page that hold the line which was taken last, the whole page first."""

    parts: list[_Part] = dataclasses.field(default_factory=lambda: [_Part(level=0)])
    is_code: bool = False
    headings: int = 0

    @property
    def name(self) -> str:
        """The kernel that the innermost part with a name speaks of, "" where none does."""
        return next((part.name for part in reversed(self.parts) if part.name), "")

    @property
    def scope(self) -> tuple[str, ...]:
        """All names in the headings around, which tell parts about different kernels apart."""
        return tuple(name for part in self.parts for name in part.names)

    @property
    def addressed(self) -> str:
        """What the lines below are about by the last words in bold on a line, or the heading."""
        return self.parts[-1].addressed

    def section(self, known: Container[str]) -> str:
        """Return the innermost heading that is the name of a known section, "" where none is."""
        return next((part.heading for part in reversed(self.parts) if part.heading in known), "")

    def take(self, line: str) -> None:
        """Take a line of the page that is not one of a table."""
        if len(line) > _LONGEST:
            return
        if "ncu" in line and load_words().kernels.command.search(line):
            self._ran(line)
        elif is_fence(line):
            self.is_code = not self.is_code
        elif self.is_code:
            return
        elif heading := _HEADING.fullmatch(line):
            self._begin(len(heading["level"]), heading["text"])
        elif "**" in line and (bold := _BOLD.fullmatch(line)):
            self.parts[-1].addressed = unmarked(bold["name"])
        elif ("`" in line or "ernel" in line) and (name := self._named(line)):
            self.parts[-1].name, self.parts[-1].names = name, (name,)

    def entitle(self, line: str) -> None:
        """Take the line right above a table, which names its kernel where it is but a name."""
        if is_code(name := line.strip()):
            self.parts[-1].name, self.parts[-1].is_of_command = name, True

    def _ran(self, command: str) -> None:
        """Take a command, which profiled the kernel that it names; one without ends what held."""
        profiled = load_words().kernels.profiled.search(command)
        part = self.parts[-1]
        if profiled and is_code(profiled["name"]):
            part.name, part.is_of_command = profiled["name"], True
        elif part.is_of_command and not command.rstrip().endswith("\\"):
            part.name, part.is_of_command = "", False

    def _begin(self, level: int, text: str) -> None:
        self.headings += 1
        while self.parts[-1].level >= level:
            self.parts.pop()
        names = _names(text)
        is_one = len(names) == 1 and not load_words().kernels.compares.search(text)
        name = names[0] if is_one else ""
        self.parts.append(
            _Part(level=level, heading=text, names=names, name=name, addressed=unmarked(text))
        )

    def _named(self, line: str) -> str:
        """Return the kernel that a line names for what follows."""
        text = _BLANKS.sub(" ", _EMPHASIS.sub("", line.replace(":**", "**:"))).lstrip("> ").rstrip()
        text = text.replace(":", ": ").replace(":  ", ": ") if ": " not in text else text
        words = load_words().kernels
        forms = (*words.lines, *((words.below,) if _KERNEL.search(self.parts[-1].heading) else ()))
        found = next((match for form in forms if (match := form.fullmatch(text))), None)
        name = found["name"].strip("`") if found else ""
        return name if re.fullmatch(_NAME, name) and not words.others.fullmatch(name) else ""


def is_fence(line: str) -> bool:
    """Return whether a line begins or ends a block of code in Markdown."""
    return _FENCE.match(line) is not None


def device_named(line: str) -> str:
    """Return the device that a line says it is about, else "".

    Such as "GPU: …", a heading, a line that speaks of profiling or introduces what follows, and any
    that tells its compute capability behind it.
    """
    if len(line) > _LONGEST:
        return ""
    found = None
    if _SAYS.search(line):
        found = load_words().device.match(unmarked(line).lstrip("->+•# \t"))
    if found is None and (_HEADING.fullmatch(line) or load_words().introduces.search(line)):
        text = unmarked(line)
        compares = load_words().kernels.compares.search(text)
        found = None if compares else load_words().device_of_heading.search(text)
    if found is None and _CAPABILITY.search(line):
        found = load_words().device_described.search(unmarked(line))
    return found["name"] if found else ""


def declared(line: str) -> str:
    """Return the kernel that a line of source declares, "" where it declares none.

    >>> declared("template <int N> __global__ void sum_rows(float *x) {")
    'sum_rows'
    """
    found = _DECLARED.match(line) if "__global__" in line and len(line) <= _LONGEST else None
    return found["name"] if found else ""


def is_code(name: str) -> bool:
    """Return whether a name looks like one of code without standing in backticks.

    >>> is_code("scan_rows"), is_code("scanRows"), is_code("Scan"), is_code("Baseline")
    (True, True, False, False)
    """
    is_name = _IS_CODE.fullmatch(name) is not None and re.fullmatch(_NAME, name) is not None
    return is_name and load_words().kernels.others.fullmatch(name) is None


def speaks_of(name: str, kernel: str) -> bool:
    """Return whether a name that a page tells may be that of a kernel, whose name is longer.

    >>> speaks_of("scan_rows<4>", "void a::scan_rows<4>(int *)"), speaks_of("scan", "scan_rows")
    (True, False)
    """
    return set(_WORD.findall(name.partition("<")[0])) <= set(_WORD.findall(kernel))


def launch_name(title: str, *, is_kernel: bool = False) -> str:
    """Return a title as the name of a launch: in brackets where it is that of no function.

    >>> launch_name("scan_rows<int, 4>(int *)"), launch_name("tuned (half)"), launch_name("fa")
    ('scan_rows<int, 4>(int *)', '[tuned (half)]', '[fa]')
    """
    found = _FUNCTION.fullmatch(title)
    is_name = found is not None and (is_kernel or found["type"] or is_code(found["name"]))
    return title if is_name else titled(title)


def _names(heading: str) -> tuple[str, ...]:
    """Return the names of code in a heading: in backticks, or alone before or behind a dash.

    >>> _names("2.1 Rows (`scan_rows`)"), _names("scanRows - slow"), _names("Results of it")
    (('scan_rows',), ('scanRows',), ())
    """
    words = load_words().kernels
    names = dict.fromkeys(_QUOTED.findall(heading))
    if not names:
        bare = _EMPHASIS.sub("", heading)
        leading = words.numbered.match(bare)
        parts = _SEPARATORS.split(bare[leading.end() if leading else 0 :])
        names = dict.fromkeys(filter(is_code, map(str.strip, parts[:_MOST_PARTS])))
    found = (name.rstrip(":") for name in names)
    return tuple(name for name in found if not words.others.fullmatch(name))
