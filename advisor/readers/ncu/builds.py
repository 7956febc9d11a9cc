"""Which launches of a printed page ran other code than those of one name and shape before them.

Registers and static shared memory tell builds apart where both launches have them. People paste
what several versions of a program printed below each other, a section or two of each. There a
launch without them is of a known build only if nothing speaks against it: one that was captured
otherwise, by another process or command or below another heading, and whose values are mostly far
from those of each launch of a build, ran other code. Launches of one capture differ by their data.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace

from advisor.model import Launch
from advisor.readers.ncu.values import is_far

_PROOF = 3  # values that must be far apart
_MOST = 1000  # launches with which others are compared


@dataclass(kw_only=True)
class _Group:
    """The launches of one number, and the captures that they are of."""

    captures: set[Hashable] = field(default_factory=set)
    launches: list[Mapping[str, float]] = field(default_factory=list)


@dataclass(kw_only=True)
class Builds:
    """The launches of a page by name and shape; ``told_by`` are the counters that tell builds."""

    told_by: Collection[str] = ()
    groups: dict[tuple[str, int | None, int | None], list[_Group]] = field(default_factory=dict)

    def numbered(self, launch: Launch, capture: Hashable) -> Launch:
        """Return a launch with the number of its build among those that only its values tell."""
        who = launch.kernel_name, launch.grid_size, launch.block_size
        known = self.groups.setdefault(who, [])
        found = next((group for group in known if capture in group.captures), None)
        found = found or next((group for group in known if self._may_be(group, launch)), None)
        if found is None:
            known.append(found := _Group())
        found.captures.add(capture)
        if len(found.launches) < _MOST:
            found.launches.append(launch.counters)
        number = next(at for at, group in enumerate(known) if group is found)
        return replace(launch, build=number) if number else launch

    def has_others(self, name: str) -> bool:
        """Return whether the page has shown a kernel of another name."""
        return any(each != name for each, *_ in self.groups)

    def _may_be(self, group: _Group, launch: Launch) -> bool:
        """Return whether nothing that a launch has speaks against a build."""
        mine = launch.counters
        return not all(
            self._is_untold(mine, each) and _is_far(mine, each) for each in group.launches
        )

    def _is_untold(self, one: Mapping[str, float], other: Mapping[str, float]) -> bool:
        return not any(name in one and name in other for name in self.told_by)


def _is_far(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether most values that two launches have are far apart."""
    far = [is_far(one[name], other[name]) for name in one.keys() & other.keys()]
    return sum(far) >= _PROOF and 2 * sum(far) > len(far)
