"""The protobuf messages of Nsight Compute reports, as far as they are read or written here.

Field numbers and wire types decide; names are ours. Every field is optional, enumerations are plain
integers and texts are bytes, so that a newer profiler's values and paths in any encoding still
parse. Of two messages there are raw forms, whose repeated parts are bytes: the hundreds of metrics
of a result and the instances of a metric are read many at once (``columns.py``), and what a
rule says about many launches is read once.

Source: NVIDIA, Nsight Compute Customization Guide, "Report File Format", and the message
descriptions that the tool ships in ``extras/FileFormat``; later fields as observed.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "advisor.ncu"
METRICS = 13
"""The field of a result that holds its metrics; what identifies a kernel stands before it."""

_DELIMITED = 2
_MORE = 0x80  # the bit of a byte after which an integer goes on
_FIXED = {1: 8, 5: 4}  # bytes by wire type
_LAST_MOMENT = 2**33  # seconds since 1970, the year 2242

_SCALARS = {
    "bool": descriptor_pb2.FieldDescriptorProto.TYPE_BOOL,
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
    "f32": descriptor_pb2.FieldDescriptorProto.TYPE_FLOAT,
    "f64": descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE,
    "i32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
    "u32": descriptor_pb2.FieldDescriptorProto.TYPE_UINT32,
    "u64": descriptor_pb2.FieldDescriptorProto.TYPE_UINT64,
}

# One line per field: number, name, type; "*" marks a repeated field, a capital another message.
_SCHEMA = {
    "FileHeader": "1 version u32",
    "BlockHeader": """
        1 num_sources u32
        2 num_results u32
        3 session Session
        4 strings Strings
        5 payload_size u32
        6 process Process
        7 num_ranges u32
    """,
    "Strings": "1 texts *bytes",
    "Process": """
        1 pid u32
        2 host bytes
        3 name bytes
    """,
    "Session": """
        1 pid u32
        2 created u64
        3 host System
        4 target System
        5 properties Properties
        6 devices *Device
        7 comments bytes
        8 versions *Pair
        9 executable Executable
        10 settings Settings
        11 command_line bytes
    """,
    "Pair": """
        1 key bytes
        2 value bytes
    """,
    "Properties": "1 pairs *Pair",
    "System": """
        1 name bytes
        2 build bytes
        3 processor bytes
        4 architecture bytes
        5 computer bytes
        6 platform i32
    """,
    "Device": """
        1 id u32
        2 name bytes
        3 attributes *Attribute
    """,
    "Attribute": """
        1 name bytes
        2 value Value
    """,
    "Executable": """
        1 path bytes
        2 directory bytes
        3 arguments bytes
    """,
    "Settings": """
        8 clock_control bytes
        11 replay_mode bytes
    """,
    "Value": """
        1 text bytes
        2 f32 f32
        3 f64 f64
        4 u32 u32
        5 u64 u64
    """,
    "Metric": """
        1 name_id u32
        2 value Value
    """,
    "InstancedMetric": """
        1 name_id u32
        2 value Value
        3 instances *Instance
    """,
    "Instance": """
        1 key Value
        2 value Value
    """,
    "Dim3": """
        1 x u64
        2 y u64
        3 z u64
    """,
    "Result": """
        1 thread u32
        5 mangled bytes
        6 function bytes
        7 demangled bytes
        10 grid Dim3
        11 block Dim3
        13 metrics *Metric
        14 created u64
        15 source Source
        19 rules *RuleResult
        21 nvtx Nvtx
        22 context u32
        23 stream u32
        25 clock Clock
    """,
    "ResultIdentity": """
        1 thread u32
        5 mangled bytes
        6 function bytes
        7 demangled bytes
        10 grid bytes
        11 block bytes
        21 nvtx Nvtx
    """,
    "Source": """
        1 reference u64
        4 code bytes
        6 revision u32
    """,
    "Clock": """
        1 requested bool
        2 executed bool
    """,
    "RuleResult": """
        1 identifier bytes
        2 name bytes
        3 body RuleBody
        4 section bytes
    """,
    "RuleBody": "1 items *Item",
    "Item": """
        1 message Message
        8 focus *Focus
        10 speedup Speedup
    """,
    "Message": """
        1 text bytes
        2 kind i32
        3 id i32
        4 title bytes
    """,
    "Focus": """
        1 message i32
        2 metric bytes
        3 value f64
    """,
    "Speedup": """
        1 kind i32
        2 percent f64
    """,
    "Nvtx": """
        1 domains *NvtxDomain
        2 threads *NvtxThread
    """,
    "NvtxDomain": """
        1 id u64
        2 name bytes
        3 registered *NvtxRegistered
    """,
    "NvtxRegistered": """
        1 id u64
        2 text bytes
    """,
    "NvtxThread": """
        1 id u32
        2 stacks *NvtxStack
    """,
    "NvtxStack": """
        1 domain u64
        3 ranges *NvtxRange
    """,
    "NvtxRange": """
        1 name bytes
        2 attributes NvtxAttributes
    """,
    "NvtxAttributes": "5 message NvtxMessage",
    "NvtxMessage": """
        2 text bytes
        3 handle u64
    """,
}
_SCHEMA["RawResult"] = re.sub(r"\*(Metric|RuleResult)\b", "*bytes", _SCHEMA["Result"])
_SCHEMA["RawMetric"] = "3 instances *bytes"


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="advisor_ncu.proto", package=_PACKAGE, syntax="proto2"
    )
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        if name == "Value":
            message.oneof_decl.add(name="kind")
        for line in fields.strip().splitlines():
            number, field, kind = line.split()
            _declare(message, int(number), field, kind)
    return file


def _declare(message: descriptor_pb2.DescriptorProto, number: int, name: str, kind: str) -> None:
    base = kind.removeprefix("*")
    field = message.field.add(name=name, number=number)
    if message.name == "Value":
        field.oneof_index = 0
    field.label = field.LABEL_REPEATED if kind != base else field.LABEL_OPTIONAL
    if base in _SCALARS:
        field.type = _SCALARS[base]
    else:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{base}"


def _classes() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _SCHEMA
    }


# The classes are made while the program runs, so a type checker cannot know their fields.
_CLASSES = _classes()
Attribute = _CLASSES["Attribute"]
BlockHeader = _CLASSES["BlockHeader"]
Device = _CLASSES["Device"]
Dim3 = _CLASSES["Dim3"]
FileHeader = _CLASSES["FileHeader"]
InstancedMetric = _CLASSES["InstancedMetric"]
Instance = _CLASSES["Instance"]
Item = _CLASSES["Item"]
Message = _CLASSES["Message"]
Metric = _CLASSES["Metric"]
Pair = _CLASSES["Pair"]
Process = _CLASSES["Process"]
Properties = _CLASSES["Properties"]
RawMetric = _CLASSES["RawMetric"]
RawResult = _CLASSES["RawResult"]
Result = _CLASSES["Result"]
ResultIdentity = _CLASSES["ResultIdentity"]
RuleResult = _CLASSES["RuleResult"]
Session = _CLASSES["Session"]
Source = _CLASSES["Source"]
Value = _CLASSES["Value"]


def size_before(data: bytes, number: int) -> int | None:
    """Return the size of the fields before the first one of ``number``; None where there is none.

    ``data`` is the beginning of a message. Wire types: 0 an integer of any length, 1 and 5 eight
    and four bytes, 2 a length and so many bytes.

    Source: Protocol Buffers, "Encoding".
    """
    at = 0
    with contextlib.suppress(IndexError):  # the data end within a field
        while at < len(data):
            begin, tag = at, data[at]
            at += 1
            if tag & _MORE:
                tag, at = _integer(data, begin)
            if tag >> 3 == number:
                return begin
            kind = tag & 7
            if kind == _DELIMITED:
                size, at = _integer(data, at) if data[at] & _MORE else (data[at], at + 1)
                at += size
            elif kind in _FIXED:
                at += _FIXED[kind]
            elif kind == 0:
                while data[at] & _MORE:
                    at += 1
                at += 1
            else:
                return None
    return None


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at a place, of seven bits in each byte, and where it ends."""
    value = shift = 0
    while data[at] & _MORE:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1


def text(data: bytes) -> str:
    """Return ``data`` as text; bytes that are no UTF-8 become escapes, NUL is dropped.

    Windows paths come with a NUL at their end, and no database takes one.
    """
    return data.decode("utf-8", "backslashreplace").replace("\0", "")


def value_of(value: Any) -> float | str | None:
    """Return the number or text of a ``Value``, None where it has neither.

    Presence decides, not truth: a stored zero is a value.
    """
    kind = value.WhichOneof("kind")
    if kind is None:
        return None
    content = getattr(value, kind)
    return text(content) if kind == "text" else float(content)


def moment(seconds: int) -> float | None:
    """Return a time in seconds since 1970, None where it is absent or no date of this age."""
    return float(seconds) if 0 < seconds < _LAST_MOMENT else None
