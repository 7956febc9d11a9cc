"""What each profiler can collect, how one asks for it, and what it can never know."""

from advisor.profilers.files import (
    Never,
    Offer,
    Options,
    Profiler,
    Section,
    load_profiler,
    load_profilers,
    version_key,
)

__all__ = [
    "Never",
    "Offer",
    "Options",
    "Profiler",
    "Section",
    "load_profiler",
    "load_profilers",
    "version_key",
]
