"""From a GPU kernel profile to ranked, sourced advice; every run kept in a database."""

__version__ = "0.1.0"
