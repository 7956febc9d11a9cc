"""Counters of profilers become quantities: YAML files compiled to SQL over staged arrays."""
