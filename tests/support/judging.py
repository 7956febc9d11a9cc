"""What may become of a damaged profile: refused, or read without a value that its bytes lack."""

from __future__ import annotations

import codecs
import math
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from advisor.errors import InputError
from advisor.model import Launch, Record, Session
from advisor.readers import Reader, ReadOptions, Source

LONGEST = 5.0  # seconds of processor time that reading one mutant may take
_OPTIONS = ReadOptions(keyed=frozenset({"opcodes"}), instructions=frozenset({"inst_executed"}))
_NUMBER = re.compile(r"[0-9](?:[0-9.,]*[0-9])?(?:[eE][-+]?[0-9]+)?")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DIGITS = 14

Values = Callable[[float], bool]


def judge(reader: Reader, data: bytes, values: Values) -> bool:
    """Read ``data`` as it is and taking what is whole; return whether it was accepted.

    ``values`` is whether a number is found in the bytes.

    Raises:
        AssertionError: an accepted mutant has a value that no reader of the bytes would find.
    """
    whole = _read(reader, data, _OPTIONS)
    part = _read(reader, data, replace(_OPTIONS, allow_truncated=True))
    for records in (whole, part):
        if records is not None:
            _check(records, values)
    if whole is not None:
        assert part is not None
        assert repr(whole) == repr(part), "the same file is read in two ways"
    return whole is not None


def _read(reader: Reader, data: bytes, options: ReadOptions) -> list[Record] | None:
    try:
        return list(reader.read(Source(name="mutant", content=data), options))
    except InputError as refused:
        error = refused
    assert error.problem
    assert error.at is not None
    return None


def _check(records: list[Record], values: Values) -> None:
    assert [type(record) for record in records].count(Session) == 1
    assert Session in map(type, (records[0], records[-1]))
    launches = [record for record in records if isinstance(record, Launch)]
    assert [launch.index for launch in launches] == list(range(len(launches)))
    for launch in launches:
        _check_launch(launch, values)


def _check_launch(launch: Launch, values: Values) -> None:
    lists = [keyed.values for keyed in launch.keyed.values()]
    lists += [tuple(values.values()) for values in launch.instructions.values()]
    numbers = [*launch.counters.values(), *(value for values in lists for value in values)]
    assert all(math.isfinite(number) for number in numbers)
    absent = [number for number in numbers if not values(number)]
    assert not absent, f"{absent} are not in the bytes"
    sizes = [*(launch.grid or ()), *(launch.block or ()), launch.device or 0]
    assert all(0 <= size < 2**32 for size in sizes)
    texts = [launch.kernel_name, *launch.texts.values(), *launch.texts, *launch.counters]
    assert all("\0" not in text and text.encode() is not None for text in texts)
    assert launch.kernel_name
    for finding in launch.reference_findings:
        assert finding.estimate is None or 0 <= finding.estimate <= 1


def in_report(data: bytes) -> Values:
    """Return the test whether a number stands in a report's bytes in one of the stored forms."""

    def found(number: float) -> bool:
        if struct.pack("<d", number) in data:
            return True
        if math.isfinite(number) and abs(number) < 3e38 and struct.pack("<f", number) in data:
            return True
        return number == int(number) and 0 <= number < 2**64 and _varint_in(int(number), data)

    return found


def _varint_in(number: int, data: bytes) -> bool:
    """Return whether a varint of ``number``, or one that a double rounds to it, is in ``data``."""
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits) in data or len(digits) > 7


def in_page(data: bytes) -> Values:
    """Return the test whether a number's digits stand in a page, whole, at any power of ten.

    Every unit of the pages is a power of ten; digits that are only part of a printed number do
    not count.
    """
    encoding = _MARKS.get(data[:2], "utf-8")
    text = data.decode(encoding, errors="replace").replace("\0", "")
    tokens = {_digits(token) for token in _NUMBER.findall(text)}
    parts = {_digits(part) for token in _NUMBER.findall(text) for part in re.split("[.,]", token)}

    def found(number: float) -> bool:
        digits = _digits(repr(abs(number)))
        # A compute capability (8.6) and a shape (64, 2, 1) are printed as several numbers in one.
        return digits in tokens or (number == int(number) < 100 and digits in parts)

    return found


def _digits(token: str) -> str:
    """Return the significant digits of a printed number, without its decimal mark or exponent."""
    mantissa = re.split("[eE]", token)[0].replace(".", "").replace(",", "").strip("0")
    if len(mantissa) > _DIGITS:
        mantissa = str(
            Decimal(mantissa[:40]).scaleb(_DIGITS - len(mantissa[:40])).to_integral_value()
        )
    return mantissa.rstrip("0")
