"""The command line: parse, call the api, print; results on stdout, the rest on stderr."""

from advisor.cli.application import application, main

__all__ = ["application", "main"]
