"""From counters to quantities to facts: YAML compiled to SQL, and the views made of it."""

from advisor.facts.mapping import Mapping, load_mapping, quantity_rows
from advisor.facts.view import create_views
from advisor.facts.vocabulary import Fact, Vocabulary, load_vocabulary

__all__ = [
    "Fact",
    "Mapping",
    "Vocabulary",
    "create_views",
    "load_mapping",
    "load_vocabulary",
    "quantity_rows",
]
