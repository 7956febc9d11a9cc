"""From counters to quantities to facts: YAML compiled to SQL, and the views made of it.

``mapping`` turns counters into quantities; it is not imported here, for only ingest needs it. What
is here is imported when it is first used: operations are read where no database is.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.facts.kernels import kernels_select
    from advisor.facts.stored import current, variant_statements
    from advisor.facts.view import create_views
    from advisor.facts.vocabulary import Fact, Vocabulary, load_vocabulary

__all__ = [
    "Fact",
    "Vocabulary",
    "create_views",
    "current",
    "kernels_select",
    "load_vocabulary",
    "variant_statements",
]

_MODULES = {
    "Fact": "vocabulary",
    "Vocabulary": "vocabulary",
    "create_views": "view",
    "current": "stored",
    "kernels_select": "kernels",
    "load_vocabulary": "vocabulary",
    "variant_statements": "stored",
}


def __getattr__(name: str) -> Any:
    """Import a name of this package when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
