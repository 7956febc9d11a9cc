"""``python -m studies.sections FOLDER``: which versions of Nsight Compute have which sections.

Reports embed the sections that they were made with. Printed per section: the first and the last
version in which a report below FOLDER holds it, how many reports do, and what
``rules/profilers/ncu.yaml`` says. Ends with an error where a report contradicts that file.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from advisor.errors import InputError
from advisor.profilers import Profiler, load_profiler, version_key
from advisor.readers import Source
from advisor.readers.ncu.container import MAGIC, Container
from advisor.readers.ncu.messages import text
from advisor.readers.ncu.session import SessionPieces

OLDEST = "2019.5"  # reports that do not tell their version are of 2019 or early 2020


def sections_of(path: Path) -> tuple[str, frozenset[str]] | None:
    """Return the version that made a report, and its sections; None for what is no report."""
    source = Source.from_path(path)
    if source.head(len(MAGIC)) != MAGIC:
        return None
    pieces, found = SessionPieces(), set()
    message = _result_with_sections()
    with source.open() as file:
        container = Container(file, name=source.name, size=source.size)
        for block in container.blocks():
            pieces.add(block.header)
            for entry in container.entries(block):
                if entry.kind == "result":
                    file.seek(entry.start)
                    result = message.FromString(file.read(entry.size))
                    found |= {text(section.identifier) for section in result.sections}
    version = pieces.session().profiler_version or OLDEST
    return ".".join(version.split(".")[:2]), frozenset(found)


def seen_in(folder: Path) -> dict[str, list[str]]:
    """Return the versions of the reports that hold each section, one per report, ascending."""
    seen: dict[str, list[str]] = defaultdict(list)
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        try:
            found = sections_of(path)
        except InputError:
            continue
        for section in found[1] if found else ():
            seen[section].append(found[0] if found else "")
    return {name: sorted(versions, key=version_key) for name, versions in sorted(seen.items())}


def contradicted(profiler: Profiler, seen: dict[str, list[str]]) -> list[str]:
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
    seen = seen_in(folder)
    known = {section.name for section in profiler.sections}
    for name, versions in seen.items():
        mark = " " if name in known else "-"
        print(f"{mark} {name:48} {versions[0]:8} {versions[-1]:8} {len(versions):4} reports")
    wrong = contradicted(profiler, seen)
    print("\n".join(wrong) or "rules/profilers/ncu.yaml agrees with all of them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
