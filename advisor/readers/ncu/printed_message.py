"""A message of the profiler's rules while its lines are read, wherever people moved them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from advisor.errors import Location
from advisor.model import ReferenceFinding
from advisor.readers.ncu import lines
from advisor.readers.ncu.builds import Builds
from advisor.readers.ncu.lines import Forms, PageLine
from advisor.readers.ncu.outline import is_code, is_fence, speaks_of
from advisor.readers.ncu.printed import Building, finding
from advisor.readers.ncu.values import load_messages
from advisor.readers.ncu.words import unmarked

_MESSAGE = re.compile(r"(INF|OK|OPT|WRN|ERR) {3,4}(\S.*)")
_MARKED = re.compile(
    r"[>\s]*(?P<list>[-+•]\s+)?(?P<mark>\*\*|`|\[)?(?P<kind>INF|OK|OPT|WRN|ERR)(?(mark)(?:\*\*|`|\]))"
    r"(?:\s*\((?P<name>[^()]+(?:\([^()]*\))?)\))?(?::\s*|\s+)(?P<text>\S.*)"
)
_INDENT = 6  # columns of a message's type
_MOST_LINES = 1_000  # of a message
_ENDS = (".", "!", "?", ":")  # what the last line of a message ends with
_OTHERS = ("==", "- ", "|", "</", "<")  # begin what is no sentence


@dataclass(kw_only=True)
class PrintedMessage:
    """The message that is being read, if any, and the ruler above the line that is.

    A message goes on with lines that stand where they are printed, below its words. Where people
    moved them it goes on until a blank line, or a line that is something by itself: behind the end
    of a sentence only with lines that stand further in than its first. It stands ``at`` a place;
    ``under`` are the kernel that the page spoke of where a launch's last row stood, and how many
    commands it had quoted there.
    """

    forms: Forms
    at: Location
    under: tuple[str, int] = ("", 0)
    words: list[str] = field(default_factory=list)
    begun: PageLine | None = None
    kind: str = ""
    ruler: PageLine | None = None

    def begins(self, line: PageLine, *, is_placed: bool) -> bool:
        """Take the first line of a message: one below a title, or one that only the vendor says."""
        found = _MESSAGE.fullmatch(line.text)
        if not (found and is_placed) and not load_messages().alone.match(line.text):
            return False
        self.kind, text = (found[1], found[2]) if found else ("", line.text)
        self.words, self.begun = [text], line
        return True

    def is_of_another(self, launch: Building | None, now: tuple[str, int], builds: Builds) -> bool:
        """Return whether a kernel or a command stands between a launch and what is said now.

        A command shows all that was measured, where that was more than one kernel.
        """
        if launch is None:
            return False
        (name, quoted), (before, quoted_before) = now, self.under
        is_named = name not in {"", before, launch.part} and not speaks_of(name, launch.name)
        return is_named or (quoted != quoted_before and builds.has_others(launch.name))

    def goes_on(self, line: PageLine) -> bool:
        """Take a line of a message. One without a type has blanks there, right below a ruler."""
        begun = self.begun if self.words else self.ruler
        if begun is None or not line.text:
            return False
        indent = line.indent if begun.is_remark else line.margin
        if indent < begun.indent + _INDENT and not self._is_moved(line, indent):
            return False
        if not self.words:
            if lines.is_head(line.text) or self.forms.row(line.text):
                return False
            self.begun = begun
        if len(self.words) < _MOST_LINES:
            self.words.append(line.text if begun.is_remark else line.whole.strip())
        return True

    def _is_moved(self, line: PageLine, indent: int) -> bool:
        """Return whether a line goes on with the message although it stands further left."""
        if not self.words or self.begun is None or line.is_remark != self.begun.is_remark:
            return False
        is_open = not self.words[-1].endswith(_ENDS)
        return (is_open or indent > self.begun.indent) and not self._is_other(line)

    def _is_other(self, line: PageLine) -> bool:
        text, messages = line.text, load_messages()
        return (
            text.startswith(_OTHERS)
            or is_fence(text)
            or text == messages.unlocked
            or lines.title(text) is not None
            or lines.columns(text) is not None
            or lines.is_head(text)
            or _MESSAGE.fullmatch(text) is not None
            or (messages.alone.match(text) is not None and not self._is_worth_alone())
            or self.forms.begins_row(text)
            or self.forms.row(text, written=True) is not None
        )

    def _is_worth_alone(self) -> bool:
        """Return whether nothing was read yet but what the message is worth: its text follows."""
        return load_messages().worth.fullmatch(" ".join(self.words)) is not None

    def end(self, section: str) -> ReferenceFinding | None:
        """Return what the message said, which stood in a section; None where none was read."""
        words, kind = self.words, self.kind
        self.words, self.kind = [], ""
        return finding(" ".join(words), section, kind) if words else None


@dataclass(frozen=True, kw_only=True)
class MarkedMessage:
    """A message that people marked: of which kernel it is, if they say so, its type and text."""

    name: str
    kind: str
    text: str

    @property
    def is_certain(self) -> bool:
        """Whether nothing but a message looks like it."""
        return is_code(self.name) or load_messages().worth.match(self.text) is not None

    def finding(self, section: str) -> ReferenceFinding:
        """Return what it says about a section."""
        return finding(self.text, section, self.kind)


def marked_message(line: str) -> MarkedMessage | None:
    """Return the message that a line is, in bold, in a list, or with a name in brackets.

    >>> marked_message("**OPT** (sum_rows): Few warps run.").name
    'sum_rows'
    >>> marked_message("- OPT   Est. Speedup: 12.5%").text, marked_message("OPT   Few warps run.")
    ('Est. Speedup: 12.5%', None)
    """
    found = _MARKED.fullmatch(line) if len(line) <= lines.WIDEST else None
    if found is None or not (found["list"] or found["mark"] or found["name"]):
        return None
    name = unmarked(found["name"] or "")
    return MarkedMessage(name=name, kind=found["kind"], text=found["text"])
