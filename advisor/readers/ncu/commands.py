"""The commands of the profiler that a page quotes: which of them ran the same.

People profile a kernel bit by bit, a section or a few counters by each command, and keep the line
that names it of the first only. What stands below the next command is of the same launch where that
ran the same program with the same arguments and kernel under the same clocks, or printed the same
launches of the same report; of another one otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from advisor.readers.ncu.words import load_words

_LONGEST = 5_000  # characters of a command, over all of its lines
_MOST = 16  # programs that are remembered
_GOES_ON = "\\"


@dataclass(kw_only=True)
class Commands:
    """The command that was quoted last, or is being quoted, and what it ran.

    ``calls`` are the first commands that ran each program with its arguments, and ``quoted`` counts
    all. ``report`` is the one that the last command prints, "" where it ran a program;
    ``clock_locked`` is False where it let clocks be, None where it tells nothing. ``headers``
    counts the lines of kernels below it, ``shown`` those below the one before that ran the same.
    """

    text: str = ""
    ran: str | None = None
    calls: dict[str, str] = field(default_factory=dict)
    quoted: int = 0
    report: str = ""
    clock_locked: bool | None = None
    headers: int = 0
    shown: int = 0

    @property
    def shows_again(self) -> bool:
        """Whether the next launch is the one that the same report showed above, its only one."""
        return self.report != "" and (self.shown, self.headers) == (1, 0)

    def take(self, line: str) -> bool:
        """Take a line; return whether it ends a command that ran another thing than the last.

        >>> commands = Commands()
        >>> [commands.take(line) for line in ("ncu --set basic \\\\", "  ./app 4", "4 blocks")]
        [False, True, False]
        >>> [commands.take(f"ncu --import a.ncu-rep {more}") for more in ("", "--page raw", "-s 1")]
        [True, False, True]
        >>> [commands.take(line) for line in ("$ sudo /bin/ncu -c 1 ./app 4", "ncu ./app 4")]
        [True, False]
        """
        if not self.text and not runs_profiler(line):
            return False
        self.text += f" {line.strip().removesuffix(_GOES_ON)}"
        if line.rstrip().endswith(_GOES_ON) and len(self.text) < _LONGEST:
            return False
        before, command, self.text = self.ran, " ".join(self.text.split()), ""
        self.quoted += 1
        called = load_words().kernels.runs.fullmatch(command)
        call = called["call"].rstrip("` ") if called else ""
        kernel, program, self.report, skipped = _ran(call)
        unlocked = load_words().kernels.unlocked.search(call)
        self.clock_locked = False if unlocked else None
        self.ran = f"{kernel} {program}{self.report} {skipped} {bool(unlocked)}"
        if program and len(self.calls) < _MOST:
            self.calls.setdefault(program, call)
        is_other = self.ran != before
        self.shown = 0 if is_other else self.headers or self.shown
        self.headers = 0
        return is_other


def runs_profiler(line: str) -> bool:
    """Return whether a line is a command that runs the profiler, and nothing else.

    >>> runs_profiler("$ sudo ncu --set full ./a.out"), runs_profiler("see what ncu tells here")
    (True, False)
    """
    is_short = "ncu" in line and len(line) <= _LONGEST
    return is_short and load_words().kernels.runs.fullmatch(line) is not None


def _ran(call: str) -> tuple[str, str, str, str]:
    """Return the kernel of a call, the program with its arguments, the report, what is skipped.

    Each is "" where it is not told.
    """
    words = load_words().kernels
    kernel, imported = words.profiled.search(call), words.imported.search(call)
    program = None if imported else words.program.fullmatch(call)
    return (
        kernel["name"] if kernel else "",
        program["program"] if program else "",
        imported["report"] if imported else "",
        "".join(words.skipped.findall(call)),
    )
