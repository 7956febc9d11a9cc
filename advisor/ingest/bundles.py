"""A bundle: a profile, packed with its labels.

It is a zip file named after the SHA-256 of the profile in it: the profile's bytes and a manifest.
Anybody may have written it, so nothing in it is believed before it was checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import reprlib
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import IO, Any

from advisor.database.connect import put
from advisor.errors import InputError, Location, UsageError
from advisor.ingest.batches import temporary_files
from advisor.ingest.detail import DETAILS, Detail
from advisor.ingest.records import HELD, LARGEST_RANK, LONGEST_TEXT, Profile, RunLabels
from advisor.readers import Source, reader_of
from advisor.records import dataclass
from advisor.scratch import scratch_folder
from advisor.version import __version__

SUFFIX = ".bundle"

_VERSION = 1
_MANIFEST = "manifest.json"
_PROFILE = "profile"
_CHUNK = 1024 * 1024
_LARGEST = 16 * 1024 * 1024  # bytes of a manifest: more than a command line can say
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, RuntimeError)
_LABELS: dict[str, tuple[type, ...]] = {
    "label": (str, NoneType),
    "configuration": (str, NoneType),
    "commit": (str, NoneType),
    "branch": (str, NoneType),
    "note": (str, NoneType),
    "compiler": (str, NoneType),
    "group": (str, NoneType),
    "rank": (int, NoneType),
    "tags": (list,),
    "step_time": (float, int, NoneType),
    "at": (str, NoneType),
}


def place(target: Path, fill: Callable[[IO[bytes]], object], *, replace: bool) -> None:
    """Fill a file beside its place, bring it to the disk, and give it its place.

    Without ``replace``, what is there by then stays.

    Raises:
        OSError: the disk does not take it; nothing is left of it.
    """
    with scratch_folder(target.parent) as folder:
        part = folder / target.name
        with part.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            part.replace(target)
        else:
            put(part, target)
    _sync_directory(target.parent)


def pack(file: IO[bytes], profile: Profile) -> None:
    """Write the profile into ``file`` as a bundle.

    Raises:
        InputError: the profile cannot be read, or was written meanwhile.
    """
    labels = asdict(profile.labels)
    labels["at"] = None if profile.labels.at is None else profile.labels.at.isoformat()
    manifest = {
        "version": _VERSION,
        "content_hash": profile.digest,
        "size": profile.size,
        "name": profile.source.name,
        "format": profile.reader.FORMAT,
        "allow_truncated": profile.allow_truncated,
        "detail": profile.detail,
        "labels": labels,
        "spooled_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "advisor_version": __version__,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
        with profile.source.open() as source, archive.open(_PROFILE, "w", force_zip64=True) as to:
            shutil.copyfileobj(source, to, _CHUNK)
    profile.check_unchanged()


def unpack(bundle: Path, scratch: Path) -> Profile:
    """Return the profile in a bundle, compared with what its manifest says.

    A large one is unpacked into the file ``scratch``.

    Raises:
        InputError: the bundle is damaged, or of a newer version.
        DatabaseError: there is no room for the file.
    """
    with _opened(bundle) as (manifest, packed):
        content = _unpacked(packed, manifest, scratch)
        return Profile(
            source=Source(name=manifest.name, content=content),
            reader=reader_of(manifest.format),
            digest=manifest.content_hash,
            labels=manifest.labels,
            allow_truncated=manifest.allow_truncated,
            detail=manifest.detail,
            lasting=isinstance(content, bytes),
        )


def read_wishes(bundle: Path) -> tuple[RunLabels, Detail]:
    """Return the labels of the profile in a bundle, and the detail that was asked for.

    Raises:
        InputError: the bundle is damaged, or of a newer version.
    """
    with _opened(bundle) as (manifest, _):
        return manifest.labels, manifest.detail


@contextlib.contextmanager
def _opened(bundle: Path) -> Iterator[tuple[_Manifest, IO[bytes]]]:
    """Give the manifest and the packed profile; what is wrong with them is the bundle's fault."""
    try:
        if not stat.S_ISREG(bundle.stat().st_mode):
            raise ValueError("it is no regular file")
        with zipfile.ZipFile(bundle) as archive:
            manifest = _Manifest.parse(_entry(archive, _MANIFEST).read(_LARGEST + 1))
            if f"{manifest.content_hash}{SUFFIX}" != bundle.name:
                raise ValueError("it is named after another profile")
            yield manifest, _entry(archive, _PROFILE)
    except UsageError as error:
        hint = "load it with the version of advisor that wrote it, or a newer one"
        raise _refused(bundle, error.problem, hint) from error
    except _DAMAGE as error:
        raise _refused(bundle, str(error)) from error
    except OSError as error:
        raise _refused(bundle, error.strerror or str(error)) from error


def _entry(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    entry = archive.getinfo(name)
    if entry.compress_type not in _PACKED:  # others can ask for any amount of memory
        raise ValueError(f"{name} is packed in a way that is not used here")
    return archive.open(entry)


@dataclass(frozen=True, kw_only=True)
class _Manifest:
    content_hash: str
    size: int
    name: str
    format: str
    allow_truncated: bool
    detail: Detail
    labels: RunLabels

    @classmethod
    def parse(cls, text: bytes) -> _Manifest:
        """Return the manifest; raise ValueError where it is none, UsageError for a newer one."""
        if len(text) > _LARGEST:
            raise ValueError(f"its manifest has more than {_LARGEST:,} bytes")
        manifest = json.loads(text)
        version = _checked(manifest, "version", int)
        if version != _VERSION:
            raise UsageError(f"version {version} of bundles is not known")
        size = _checked(manifest, "size", int)
        if size < 0:
            raise ValueError(f"its manifest says that the size is {size}")
        return cls(
            content_hash=_checked(manifest, "content_hash", str),
            size=size,
            name=_name(_checked(manifest, "name", str)),
            format=_checked(manifest, "format", str),
            allow_truncated=_checked(manifest, "allow_truncated", bool),
            detail=_detail(_checked(manifest, "detail", str)),
            labels=_parsed(_checked(manifest, "labels", dict)),
        )


def _name(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"its manifest gives a name of {len(text):,} characters")
    return text


def _detail(text: str) -> Detail:
    for detail in DETAILS:
        if text == detail:
            return detail
    raise ValueError(f"its manifest says that detail is {reprlib.repr(text)}")


def _parsed(record: dict[str, Any]) -> RunLabels:
    labels = {name: _checked(record, name, *kinds) for name, kinds in _LABELS.items()}
    if more := sorted(record.keys() - labels.keys()):
        raise ValueError(f"its manifest has labels that are not known: {reprlib.repr(more)}")
    labels["tags"] = tuple(_checked({"a tag": tag}, "a tag", str) for tag in labels["tags"])
    if labels["at"] is not None:
        labels["at"] = datetime.fromisoformat(labels["at"])
        if labels["at"].tzinfo is not None:
            raise ValueError("its manifest gives a time with a zone, which is to be UTC without")
    step_time = labels["step_time"]
    if step_time is not None and not 0 < step_time <= sys.float_info.max:
        raise ValueError(f"its manifest says that step_time is {reprlib.repr(step_time)}")
    if labels["rank"] is not None and not 0 <= labels["rank"] <= LARGEST_RANK:
        raise ValueError(f"its manifest says that rank is {reprlib.repr(labels['rank'])}")
    try:
        return RunLabels(**labels)
    except UsageError as error:
        raise ValueError(f"its manifest says too much: {error.problem}") from error


def _checked(record: object, name: str, *kinds: type) -> Any:
    """Return what the record has under the name: a value of one of those types, no subtype."""
    if not isinstance(record, dict) or name not in record:
        raise ValueError(f"its manifest does not record {name}")
    if type(record[name]) not in kinds:
        raise ValueError(f"its manifest says that {name} is {reprlib.repr(record[name])}")
    return record[name]


def _unpacked(packed: IO[bytes], manifest: _Manifest, scratch: Path) -> bytes | Path:
    """Return the profile's bytes, or the file that they are in; they are what was spooled."""
    digest, left, held = hashlib.sha256(), manifest.size, bytearray()
    small = manifest.size <= HELD
    with temporary_files(str(scratch)), scratch.open("wb") as file:
        while chunk := _piece(packed, min(_CHUNK, left + 1)):
            left -= len(chunk)
            digest.update(chunk)
            if small:
                held += chunk
            else:
                file.write(chunk)
            if left < 0:
                break
    if left or digest.hexdigest() != manifest.content_hash:
        raise ValueError("it holds other bytes than were spooled")
    return bytes(held) if small else scratch


def _piece(packed: IO[bytes], most: int) -> bytes:
    """Return at most so many bytes more; not being able to read is no fault of the scratch file."""
    try:
        return packed.read(most)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error


def _refused(
    bundle: Path, why: str, hint: str = "spool the profile again, or remove the bundle"
) -> InputError:
    return InputError(f"the bundle cannot be read: {why}", at=Location(name=str(bundle)), hint=hint)


def _sync_directory(directory: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):  # elsewhere a directory cannot be opened
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
