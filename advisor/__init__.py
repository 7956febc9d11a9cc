"""From a GPU kernel profile to ranked, sourced advice; every run kept in a database."""

from advisor.analysis import roofline_analysis

__all__ = ["__version__", "roofline_analysis"]

__version__ = "0.1.0"
