"""From quantities to facts: YAML compiled to SQL, and the views made of it.

What is here is imported when it is first used: operations are read where no database is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.late import imported_late

if TYPE_CHECKING:
    from advisor.facts.kernels import kernels_select
    from advisor.facts.stored import current, statements_for, variant_statements
    from advisor.facts.view import VIEWS, create_views
    from advisor.facts.vocabulary import Fact, Vocabulary, load_vocabulary

__all__ = [
    "VIEWS",
    "Fact",
    "Vocabulary",
    "create_views",
    "current",
    "kernels_select",
    "load_vocabulary",
    "statements_for",
    "variant_statements",
]

__getattr__ = imported_late(
    __name__,
    {
        "VIEWS": "view",
        "Fact": "vocabulary",
        "Vocabulary": "vocabulary",
        "create_views": "view",
        "current": "stored",
        "kernels_select": "kernels",
        "load_vocabulary": "vocabulary",
        "statements_for": "stored",
        "variant_statements": "stored",
    },
)
