"""What rules can be about, as a declaration: one entry says all that the engine needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from advisor.database.relations import Relations
from advisor.expression import Symbol
from advisor.facts.vocabulary import Vocabulary
from advisor.records import dataclass
from advisor.rules.language.settings import EvaluationSettings, SharedGuard


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Where the facts of a subject come from, as a SELECT over a table of kernels.

    ``select`` gives one row per subject, with its key and ``run_id``, from the name of the table,
    the relations that it came from, and what tells whether the answer to a query is true;
    ``reads`` are the columns that the table must have.
    """

    select: Callable[[EvaluationSettings, str, Relations, Callable[[str], bool]], str]
    reads: Callable[[EvaluationSettings], frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class SubjectKind:
    """One kind of subject.

    ``name`` is what a rule file says, ``about`` what that means. ``key`` is the column that
    identifies a subject; ``stored_in`` the column of ``finding`` that holds it, None where
    ``run_id`` says it all. ``vocabulary`` are the facts that its rules may name. ``relation`` says
    where they come from: None where every kernel is a subject. ``counted`` are the settings by
    which time is counted: the fact that is the subject's time, its floors, and the factors of
    confidence. ``counts`` are facts that no rule assumes: they say which launches there are.
    ``guards`` are those that protect many rules, ``instructions`` the names of what
    shows a symptom in single instructions. ``is_part_of_run`` is whether subjects are judged
    when their run is stored.

    All functions are named ones of a module, so that compiled rules can be cached.
    """

    name: str
    about: str
    key: str
    vocabulary: Callable[[Vocabulary, EvaluationSettings], Mapping[str, Symbol]]
    counted: Callable[[EvaluationSettings], EvaluationSettings]
    relation: Relation | None = None
    stored_in: str | None = None
    counts: frozenset[str] = frozenset()
    guards: Callable[[EvaluationSettings], tuple[SharedGuard, ...]] | None = None
    instructions: Callable[[EvaluationSettings], frozenset[str]] | None = None
    is_part_of_run: bool = True
