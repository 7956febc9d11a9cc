"""What the program says of launches: limiter, and the actions for their kernel in order."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.database.connect import open_for_reading
from advisor.facts.view import create_views
from advisor.ingest.batches import Ingested, ProfileWriter
from advisor.ingest.profiles import RunLabels, read_profiles
from advisor.knowledge.load import load_knowledge
from advisor.rules import rank
from advisor.rules.engine.compiled import compile_rules
from advisor.rules.engine.evaluate import evaluate_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from advisor.readers.base import Reader
    from advisor.rules import Action, Evaluation
    from advisor.rules.engine.gains import Seconds, Share

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
ABSENT = "the folder of real profiles, ../shared/data, is absent: nothing to compare with"

_LAUNCHES = """
    select runs.name, launch_index, run_id, variant_id, limiter, kernels.duration,
        launches.duration
    from launches join runs using (run_id) join kernels using (run_id, variant_id)
"""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action, and the findings that stand beside it.

    The gains are shares of the time of the kernel's launches; None where there is no estimate.
    """

    rule: str
    low: float | None
    likely: float | None
    high: float | None
    beside: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Advised:
    """What is said of one launch: ``duration`` in s, the kernel's steps, first things first.

    ``total`` is the time of all launches of the kernel, in s; ``run``, what is said of its run, in
    shares of the time of its kernels.
    """

    limiter: str
    duration: float | None
    steps: tuple[Step, ...]
    total: float | None = None
    run: tuple[Step, ...] = ()


def advised(
    files: Iterable[str],
    *,
    under: Path = DATA,
    stored: str | None = None,
    through: Callable[[Reader], Reader] = lambda reader: reader,
) -> dict[tuple[str, int], Advised]:
    """Return what is said of each launch of the files, by path below ``under`` and position.

    ``stored`` is a database that holds some of them already, under their paths. The others are read
    ``through`` a reader of what their own reads.
    """
    wanted = {str(under / file) for file in files}
    found = {} if stored is None else _read(stored, wanted, under)
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "advised.duckdb")
        paths = sorted(wanted - {str(under / file) for file, _ in found})
        profiles = (
            each if isinstance(each, Ingested) else replace(each, reader=through(each.reader))
            for each in read_profiles(paths, labels=RunLabels())
        )
        for _ in ProfileWriter(database, load_knowledge(), wait=0).store(profiles):
            pass
        return found | _read(database, wanted, under)


def _read(database: str, wanted: Collection[str], under: Path) -> dict[tuple[str, int], Advised]:
    known = load_knowledge()
    vocabulary, settings = known.vocabulary, known.settings
    rules = compile_rules(known.rules, vocabulary=vocabulary, settings=settings)
    with open_for_reading(database, wait=0) as connection:
        create_views(connection, vocabulary)
        rows = [row for row in connection.execute(_LAUNCHES).fetchall() if row[0] in wanted]
        runs = sorted({run for _, _, run, *_ in rows})
        actions = _actions(evaluate_runs(connection, rules, runs))
    kernels = {(run, variant): total or 0.0 for _, _, run, variant, _, total, _ in rows}
    whole: dict[str, float] = defaultdict(float)
    for (run, _), total in kernels.items():
        whole[run] += total
    return {
        (str(Path(name).relative_to(under)), int(index)): Advised(
            limiter=limiter or "unknown",
            duration=duration,
            steps=tuple(_step(action, total) for action in actions.get((run, variant), ())),
            total=total,
            run=tuple(_step(action, whole[run]) for action in actions.get((run, run), ())),
        )
        for name, index, run, variant, limiter, total, duration in rows
    }


def _actions(
    evaluations: Mapping[str, Iterable[Evaluation]],
) -> dict[tuple[str, str], list[Action]]:
    kernels: dict[tuple[str, str], list[Evaluation]] = {}
    for run, found in evaluations.items():
        for each in found:
            kernels.setdefault((run, each.variant_id), []).append(each)
    return {kernel: rank(found) for kernel, found in kernels.items()}


def _step(action: Action, duration: float | None) -> Step:
    beside = (_finding(each.rule.id, each.gain, each.share, duration) for each in action.also)
    first = _finding(action.evaluation.rule.id, action.gain, action.share, duration)
    return replace(first, beside=tuple(beside))


def _finding(rule: str, gain: Seconds | None, share: Share | None, duration: float | None) -> Step:
    if share is not None:
        return Step(rule=rule, low=share.low, likely=share.likely, high=share.high)
    if gain is None or not duration:
        return Step(rule=rule, low=None, likely=None, high=None)
    low, likely, high = gain.low / duration, gain.likely / duration, gain.high / duration
    return Step(rule=rule, low=low, likely=likely, high=high)
