"""Commands that are killed leave whole runs, and the next one completes and tidies up.

``python -m studies.kills`` does it two hundred times.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from advisor.api import runs
from advisor.api.runs import prune_runs
from tests.support.killing import COMMANDS, killed

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot fork")
def test_killed_commands_leave_whole_runs_and_nothing_else(tmp_path: Path) -> None:
    seen = killed(tmp_path, len(COMMANDS))
    assert seen.total() == len(COMMANDS)


def test_a_prune_that_was_killed_before_it_gave_room_back_does_so_the_next_time(
    stored: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.write_bytes(stored.read_bytes())

    def prune() -> runs.Pruned:
        return prune_runs(str(database), keep=1, older_than=None, dry_run=False, wait=0)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "compact", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            prune()
    again = prune()
    assert again.runs == ()
    assert again.after < again.before
    last = prune()
    assert (last.before, last.after) == (again.after, again.after)
