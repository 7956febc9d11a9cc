"""What rules can be about: a module per subject, and the registry that names them.

A new subject is a module with a ``SubjectKind`` and its entry here; facts of its own come with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.rules.language.subjects import change, kernel, run
from advisor.rules.language.subjects.kind import Relation, SubjectKind

__all__ = ["CHANGE", "KERNEL", "RUN", "SUBJECTS", "Relation", "SubjectKind", "Subjects"]

Subjects = Mapping[str, SubjectKind]

SUBJECTS: Subjects = {each.name: each for each in (kernel.KIND, run.KIND, change.KIND)}
KERNEL: str = kernel.KIND.name
RUN: str = run.KIND.name
CHANGE: str = change.KIND.name
