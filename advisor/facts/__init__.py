"""From counters to quantities to facts: YAML compiled to SQL, and the views made of it.

``mapping`` turns counters into quantities; it is not imported here, for only ingest needs it.
"""

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
