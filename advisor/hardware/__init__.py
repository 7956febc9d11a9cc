"""Devices: what they are, what they can do, and which one a profile came from.

``seeding`` brings them into a database; it is not imported here, for models need none. What is here
is imported when it is first used: a name is looked up where no device is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.late import imported_late

if TYPE_CHECKING:
    from advisor.hardware.describe import (
        DeviceDescription,
        RidgePoint,
        describe_device,
        list_devices,
    )
    from advisor.hardware.devices import Ceiling
    from advisor.hardware.matching import identify_device
    from advisor.hardware.part import model_of, partition_of

__all__ = [
    "Ceiling",
    "DeviceDescription",
    "RidgePoint",
    "describe_device",
    "identify_device",
    "list_devices",
    "model_of",
    "partition_of",
]

__getattr__ = imported_late(
    __name__,
    {
        "Ceiling": "devices",
        "DeviceDescription": "describe",
        "RidgePoint": "describe",
        "describe_device": "describe",
        "identify_device": "matching",
        "list_devices": "describe",
        "model_of": "part",
        "partition_of": "part",
    },
)
