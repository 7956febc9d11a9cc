"""Ids, made by the application so that every database agrees on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_DIGITS = 12
_SEPARATOR = "\x1f"  # between parts of a key: "a", "bc" and "ab", "c" are two keys


def run_id(content_hash: str, part: int = 0) -> str:
    """Return the id of a run: of a file's SHA-256, and which of the runs in the file it is.

    >>> run_id("0123456789abcdef", 2)
    '0123456789ab-2'
    """
    return content_hash[:_DIGITS] + (f"-{part}" if part else "")


def kernel_id(normalised_name: str) -> str:
    """Return the id of a kernel, the same in every run."""
    return key_id("kernel", normalised_name)


def series_id(
    kernel: str, problem_key: str, device_name: str | None, configuration: str | None
) -> str:
    """Return the id of a series: a kernel over runs, on one device model and configuration."""
    return key_id("series", kernel, problem_key, device_name or "", configuration or "")


def ranges_key(ranges: Iterable[str]) -> str:
    """Return the problem key of launches within ranges, outermost first, where no label says it."""
    return "/".join(ranges)


def variant_id(
    run: str, kernel: str, ranges: str, device_name: str | None, launch_shape: str, build: str = ""
) -> str:
    """Return the id of the launches of a kernel with one launch shape in one run.

    What the user calls the run is no part of it: a new label gives no new variants. ``build`` tells
    code that was compiled otherwise from the first of the run, which has none.
    """
    series = series_id(kernel, ranges, device_name, None)
    return key_id("variant", run, series, launch_shape, *filter(None, [build]))


def key_id(*parts: str) -> str:
    """Return 12 hex digits of BLAKE2b over the parts of a key."""
    key = _SEPARATOR.join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(key, digest_size=_DIGITS // 2).hexdigest()
