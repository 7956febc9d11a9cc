"""``python -m studies.sections FOLDER``: which versions of Nsight Compute have which sections.

Reports embed the sections that they were made with, and these name their counters. Printed per
section, and per counter that one may ask for by name: the first and the last version in which a
report below FOLDER holds it, and how many reports do. Ends with an error where a report contradicts
``rules/profilers/ncu.yaml``, or where that file offers a counter to a version before all reports
that hold it.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from advisor.errors import InputError
from advisor.profilers import Profiler, load_profiler, version_key
from advisor.readers import Source
from advisor.readers.ncu.container import MAGIC, Container
from advisor.readers.ncu.messages import text
from advisor.readers.ncu.session import SessionPieces

_COUNTER = re.compile(rb"[a-z0-9]+__[A-Za-z0-9_]+")

Seen = dict[str, list[str]]
"""Versions of reports by what they hold."""

OLDEST = "2019.5"  # reports that do not tell their version are of 2019 or early 2020


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a report holds: the version that made it, its sections, and bases of its counters."""

    version: str
    sections: frozenset[str]
    counters: frozenset[str]


def held_by(path: Path) -> Held | None:
    """Return what a report holds; None for what is no report."""
    source = Source.from_path(path)
    if source.head(len(MAGIC)) != MAGIC:
        return None
    pieces, found, counters = SessionPieces(), set(), set()
    message = _result_with_sections()
    with source.open() as file:
        container = Container(file, name=source.name, size=source.size)
        for block in container.blocks():
            pieces.add(block.header)
            counters |= {base_of(text(name)) for name in block.header.strings.texts}
            for entry in container.entries(block):
                if entry.kind == "result":
                    file.seek(entry.start)
                    content = file.read(entry.size)
                    result = message.FromString(content)
                    found |= {text(section.identifier) for section in result.sections}
                    counters |= {base_of(name.decode()) for name in _COUNTER.findall(content)}
    version = pieces.session().profiler_version or OLDEST
    return Held(
        version=".".join(version.split(".")[:2]),
        sections=frozenset(found),
        counters=frozenset(counters),
    )


def base_of(counter: str) -> str:
    """Return a counter without what is made of it: a sum, a mean, a rate, a share."""
    return counter.partition(".")[0]


def reports_in(folder: Path) -> list[Held]:
    """Return what each report below a folder holds."""
    found = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        with suppress(InputError):
            found.append(held_by(path))
    return [each for each in found if each is not None]


def seen_in(reports: Sequence[Held], names: Callable[[Held], Iterable[str]]) -> Seen:
    """Return the versions of the reports that hold each name, one per report, ascending."""
    seen: dict[str, list[str]] = defaultdict(list)
    for each in reports:
        for name in names(each):
            seen[name].append(each.version)
    return {name: sorted(versions, key=version_key) for name, versions in sorted(seen.items())}


def offered_too_early(profiler: Profiler, seen: Seen) -> list[str]:
    """Return counters that versions may be asked for by name before any report holds them."""
    return [
        f"{counter} from {offer.first or OLDEST}, seen {seen.get(base_of(counter), ['never'])[0]}"
        for offer in profiler.by_name
        for counter in offer.counters
        if not _known_by(offer.first or OLDEST, seen.get(base_of(counter), ()))
    ]


def _known_by(first: str, versions: Sequence[str]) -> bool:
    return bool(versions) and version_key(versions[0]) <= version_key(first)


def contradicted(profiler: Profiler, seen: Seen) -> list[str]:
    """Return the sections that a report of a version holds in which they should not be."""
    known = {section.name for section in profiler.sections}
    return [
        f"{name} in {version}"
        for name in sorted(known & seen.keys())
        for version in dict.fromkeys(seen[name])
        if not profiler.has_section(name, version)
    ]


def _result_with_sections() -> Any:
    """Return the message of a result with what is wanted of its sections."""
    file = descriptor_pb2.FileDescriptorProto(name="sections.proto", syntax="proto2")
    kinds = descriptor_pb2.FieldDescriptorProto
    section = file.message_type.add(name="Section")
    section.field.add(name="identifier", number=1, type=kinds.TYPE_BYTES, label=1)
    result = file.message_type.add(name="Result")
    result.field.add(
        name="sections", number=17, type=kinds.TYPE_MESSAGE, type_name=".Section", label=3
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Result"))


def main(folder: Path) -> None:
    """Print the table."""
    profiler = load_profiler("ncu")
    assert profiler is not None
    reports = reports_in(folder)
    seen = seen_in(reports, lambda each: each.sections)
    counters = seen_in(reports, lambda each: each.counters)
    known = {section.name for section in profiler.sections}
    asked = {base_of(name): () for offer in profiler.by_name for name in offer.counters}
    for name, versions in (*seen.items(), *((name, counters.get(name, ())) for name in asked)):
        mark = " " if name in known or name in asked else "-"
        first, last = (versions[0], versions[-1]) if versions else ("never", "")
        print(f"{mark} {name:64} {first:8} {last:8} {len(versions):4} reports")
    wrong = [*contradicted(profiler, seen), *offered_too_early(profiler, counters)]
    print("\n".join(wrong) or "rules/profilers/ncu.yaml agrees with all of them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
