"""The commands of the profiler that a page quotes: which of them ran the same.

People profile a kernel bit by bit, a section or a few counters by each command, and keep the line
that names it of the first only. What stands below the next command is of the same launch where that
ran the same program with the same arguments and kernel; of another one otherwise.
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
    all.
    """

    text: str = ""
    ran: str | None = None
    calls: dict[str, str] = field(default_factory=dict)
    quoted: int = 0

    def take(self, line: str) -> bool:
        """Take a line; return whether it ends a command that ran another thing than the last.

        >>> commands = Commands()
        >>> [commands.take(line) for line in ("ncu --set basic \\\\", "  ./app 4", "4 blocks")]
        [False, True, False]
        >>> [commands.take(line) for line in ("$ sudo /bin/ncu -c 1 ./app 4", "ncu ./app 5")]
        [False, True]
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
        kernel, program = _ran(call)
        self.ran = f"{kernel} {program}"
        if program and len(self.calls) < _MOST:
            self.calls.setdefault(program, call)
        return self.ran != before


def runs_profiler(line: str) -> bool:
    """Return whether a line is a command that runs the profiler, and nothing else.

    >>> runs_profiler("$ sudo ncu --set full ./a.out"), runs_profiler("see what ncu tells here")
    (True, False)
    """
    is_short = "ncu" in line and len(line) <= _LONGEST
    return is_short and load_words().kernels.runs.fullmatch(line) is not None


def _ran(call: str) -> tuple[str, str]:
    """Return the kernel of a call, and the program with its arguments; "" where none is told."""
    words = load_words().kernels
    kernel, program = words.profiled.search(call), words.program.fullmatch(call)
    return kernel["name"] if kernel else "", program["program"] if program else ""
