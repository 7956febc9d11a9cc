"""What the name of a kernel tells: labels of a fact, each with patterns of such names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from advisor.documents import MappingNode
from advisor.errors import RuleError
from advisor.expression import Dialect
from advisor.facts.formulas import Columns
from advisor.facts.patterns import read_patterns
from advisor.quoting import literal
from advisor.records import dataclass


class OfKernel(ABC):
    """A value that the names and shape of a kernel tell; it reads no quantity and no fact."""

    names: frozenset[str] = frozenset()
    """The quantities and facts that are read: none."""

    @property
    @abstractmethod
    def kernel_columns(self) -> tuple[str, ...]:
        """Return the columns of a kernel that are looked at."""

    @abstractmethod
    def case(self) -> str:
        """Return the SQL of the value, over those columns."""

    def sql(
        self, columns: Columns | Mapping[str, str] | None = None, dialect: Dialect = "duckdb"
    ) -> str:
        """Return the SQL of the value, as of a formula; it reads none of ``columns``."""
        del columns, dialect
        return self.case()


@dataclass(frozen=True, kw_only=True)
class ByName(OfKernel):
    """The first label of whose patterns one is found in a kernel's name; NULL where none is."""

    patterns: Mapping[str, str]
    kernel_columns = ("kernel_name",)

    def case(self) -> str:
        """Return the SQL: a pattern after the other is looked for."""
        cases = " ".join(
            f"when regexp_matches(kernel_name, {literal(pattern)}) then {literal(label)}"
            for label, pattern in self.patterns.items()
        )
        return f"case {cases} end"


def read_by_name(node: MappingNode) -> ByName:
    """Return the labels and patterns of a fact.

    Raises:
        RuleError: there is none, or one that is empty or no pattern; with its place.
    """
    patterns = read_patterns({label: node[label] for label in node})
    if not patterns:
        raise RuleError("expected labels with patterns of names", at=node.at)
    return ByName(patterns=patterns)
