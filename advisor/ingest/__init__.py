"""Profiles → runs: read, derive, judge and store, all of a run or nothing of it."""
