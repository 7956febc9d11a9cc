"""Profiles → runs: read, derive, judge and store, all of a run or nothing of it."""

from advisor.ingest.knowledge import Knowledge
from advisor.ingest.records import Labels, Profile, Stored, content_hash
from advisor.ingest.store import check_profile, store_profiles

__all__ = [
    "Knowledge",
    "Labels",
    "Profile",
    "Stored",
    "check_profile",
    "content_hash",
    "store_profiles",
]
