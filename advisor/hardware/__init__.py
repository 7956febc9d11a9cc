"""Devices: what they are, what they can do, and which one a profile came from."""

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
from advisor.hardware.seeding import seed_database, store_device

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
    "seed_database",
    "store_device",
]
