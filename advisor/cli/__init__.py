"""The command line: parse, call ``advisor.api``, print. Results go to stdout, the rest to stderr."""

from advisor.cli.application import application, main

__all__ = ["application", "main"]
