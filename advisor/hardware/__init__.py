"""Devices: what they are, what they can do, and which one a profile came from.

``seeding`` brings them into a database; it is not imported here, for models need none.
"""

from advisor.hardware.describe import (
    DeviceDescription,
    DeviceSummary,
    RidgePoint,
    describe_device,
    list_devices,
)
from advisor.hardware.devices import Ceiling, DeviceSpec, OccupancyLimits, load_devices
from advisor.hardware.matching import DeviceMatch, identify_device
from advisor.hardware.part import model_of, partition_of

__all__ = [
    "Ceiling",
    "DeviceDescription",
    "DeviceMatch",
    "DeviceSpec",
    "DeviceSummary",
    "OccupancyLimits",
    "RidgePoint",
    "describe_device",
    "identify_device",
    "list_devices",
    "load_devices",
    "model_of",
    "partition_of",
]
