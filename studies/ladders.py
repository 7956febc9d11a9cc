"""``python -m studies.ladders``: known changes to kernels, and what was advised before them.

For each pair of ``ladders.yaml``: was the change among the first three pieces of advice for the
kernel before, and does the gain lie inside the range that was promised? Writes
``docs/ladders.md``. Estimators may be calibrated on every other ladder only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from studies.advised import ABSENT, DATA, Advised, Step, advised
from studies.judged import load_ideas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "ladders.md"
PAIRS = Path(__file__).with_name("ladders.yaml")
WORTH = 0.05  # of the time before: a change that gains less should not have been advised
USES = ("calibrate", "keep apart")  # ladders in turn

Place = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A change: the launch before and after, what was done, and the rules that ask for it."""

    ladder: str
    use: str
    debug: bool
    before: Place
    after: Place
    change: str
    rules: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a change: ``gain`` as share of the time before; the step that named it."""

    pair: Pair
    gain: float
    said: tuple[Step, ...]
    named: Step | None

    @property
    def paid(self) -> bool:
        """Whether the change gained enough to be worth advising."""
        return self.gain >= WORTH

    @property
    def inside(self) -> bool:
        """Whether the gain lies inside the range of the step that named the change."""
        step = self.named
        if step is None or step.low is None or step.high is None:
            return False
        return step.low <= self.gain <= step.high


def load_pairs() -> list[Pair]:
    """Return every pair, in the order of the file."""
    ideas = load_ideas()
    ladders = yaml.safe_load(PAIRS.read_text("utf-8"))["ladders"]
    return [
        _pair(ladder, USES[position % 2], entry, ideas)
        for position, ladder in enumerate(ladders)
        for entry in ladder["pairs"]
    ]


def _pair(
    ladder: Mapping[str, Any],
    use: str,
    entry: Mapping[str, Any],
    ideas: Mapping[str, frozenset[str]],
) -> Pair:
    rules = [frozenset([word]) if "/" in word else ideas[word] for word in entry["ideas"]]
    return Pair(
        ladder=ladder["name"],
        use=use,
        debug=ladder.get("debug", False),
        before=(entry["before"]["file"], entry["before"]["launch"]),
        after=(entry["after"]["file"], entry["after"]["launch"]),
        change=entry["change"],
        rules=frozenset().union(*rules),
    )


def outcome(pair: Pair, before: Advised, after: Advised) -> Outcome | None:
    """Return what came of a pair; None where one of the times is not known."""
    if not before.duration or not after.duration:
        return None
    first = before.steps[:3]
    shown = (each for step in first for each in (step, *step.beside))
    named = (each for each in shown if each.rule in pair.rules)
    return Outcome(
        pair=pair,
        gain=1 - after.duration / before.duration,
        said=first,
        named=next(named, None),
    )


def outcomes() -> list[Outcome]:
    """Return what came of every pair."""
    pairs = load_pairs()
    said = advised({place[0] for pair in pairs for place in (pair.before, pair.after)})
    found = (outcome(pair, said[pair.before], said[pair.after]) for pair in pairs)
    return [each for each in found if each is not None]


def page(found: Sequence[Outcome]) -> str:
    """Return ``docs/ladders.md``."""
    counted = [each for each in found if not each.pair.debug]
    return "\n".join([*_head(found, counted), *_summary(counted), *_rows(found), "", *_left_out()])


def _head(found: Sequence[Outcome], counted: Sequence[Outcome]) -> Iterator[str]:
    yield "# Ladders: what was advised before known changes"
    yield ""
    yield (
        f"{len(found)} pairs of launches in public profiles: the same kernel before and after a "
        f"change that its name, its launch or its public source tells. "
        f"{len(found) - len(counted)} of them are debug builds, where no advice but to build "
        "otherwise is right; they are listed, and not counted."
    )
    yield ""
    yield (
        "*Named*: a rule that asks for the change was among the first three actions for the kernel "
        "before (or a finding beside one). *Inside*: the gain lies in the range of that finding. "
        "A change that gained less than 5 % should not have been named. Made by "
        "`python -m studies.ladders` from `studies/ladders.yaml`. Estimators may be calibrated on "
        "the ladders marked so, the others are kept apart. Launches of one kernel and shape in one "
        "file are advised together."
    )
    yield ""


def _summary(counted: Sequence[Outcome]) -> Iterator[str]:
    yield "| ladders | gained 5 % or more | named | inside, of named | gained less | not named |"
    yield "|---|---|---|---|---|---|"
    for use in (*USES, "all"):
        paid = [each for each in counted if use in (each.pair.use, "all") and each.paid]
        rest = [each for each in counted if use in (each.pair.use, "all") and not each.paid]
        named = [each for each in paid if each.named]
        inside = sum(each.inside for each in named)
        silent = sum(each.named is None for each in rest)
        cells = [
            use, len(paid), _share(len(named), len(paid)), _share(inside, len(named)),
            len(rest), _share(silent, len(rest)),
        ]  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"
    first = yaml.safe_load(PAIRS.read_text("utf-8"))["first_run"]
    yield (
        f"| all, at the first run | | {first['named']} | {first['inside']} | | {first['silent']} |"
    )


def _left_out() -> Iterator[str]:
    yield "## Left out\n"
    for each in yaml.safe_load(PAIRS.read_text("utf-8"))["left_out"]:
        yield f"* {each}"
    yield ""


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}, {part / whole:.0%}" if whole else "none"


def _rows(found: Sequence[Outcome]) -> Iterator[str]:
    ladder = None
    for each in found:
        if each.pair.ladder != ladder:
            ladder = each.pair.ladder
            yield f"\n## {ladder} ({'not counted' if each.pair.debug else each.pair.use})\n"
            yield "| before → after | what was changed | gained | advised before | named | range |"
            yield "|---|---|---|---|---|---|"
        yield _row(each)


def _row(each: Outcome) -> str:
    pair = each.pair
    (file, launch), (other, second) = pair.before, pair.after
    place = f"{file} {launch} → {second if other == file else f'{other} {second}'}"
    steps = ", ".join(step.rule for step in each.said) or "nothing"
    verdict = {
        (True, True): "yes", (True, False): "**no**", (False, True): "**yes**",
        (False, False): "no",
    }[each.paid, each.named is not None]  # fmt: skip
    cells = [place, pair.change, f"{each.gain:.0%}", steps, verdict, _range(each)]
    return f"| {' | '.join(cells)} |"


def _range(each: Outcome) -> str:
    step = each.named
    if step is None:
        return ""
    if step.low is None or step.high is None:
        return "none given"
    text = f"{step.low:.0%} to {step.high:.0%}"
    return text if each.inside or not each.paid else f"**{text}**"


def main() -> None:
    """Write the page."""
    if not DATA.is_dir():
        print(ABSENT)
        return
    found = outcomes()
    PAGE.write_text(page(found), encoding="utf-8")
    print("\n".join(_summary([each for each in found if not each.pair.debug])))


if __name__ == "__main__":
    main()
