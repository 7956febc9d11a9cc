"""``python -m studies.kills [COUNT] [COMMAND …]``: kill commands at random moments, 200 by default.

Stops with an error where anything but whole runs is left, where the same command does not complete
afterwards, or where files remain then that nobody asked for.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.support.killing import COMMANDS, killed

COUNT = 200


def main(count: int, names: list[str]) -> None:
    """Kill ``count`` times and print where the commands were."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        seen = killed(Path(folder), count, {name: COMMANDS[name] for name in names or COMMANDS})
    for where, number in sorted(seen.items()):
        print(f"{number:>5}  {where}")
    print(f"{seen.total():,} kills in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    parser.add_argument("commands", nargs="*", help=", ".join(COMMANDS))
    arguments = parser.parse_args()
    if unknown := set(arguments.commands) - COMMANDS.keys():
        parser.error(f"no command is called {', '.join(sorted(unknown))}")
    main(arguments.count, arguments.commands)
