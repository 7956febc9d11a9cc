"""What ``rules/relations.yaml`` says between rules: which exclude, and which explain, others."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from advisor.documents import MappingNode, load
from advisor.records import dataclass
from advisor.resources import data_dir

FILE = "relations.yaml"


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    """Where ``found`` is found, rules that match ``patterns`` and none of ``spared`` are not.

    ``voids`` says that the whole profile of the kernel tells nothing, so that not even a counter
    that lacks is worth collecting. ``because`` is a clause.
    """

    found: str
    patterns: tuple[str, ...]
    spared: tuple[str, ...] = ()
    voids: bool = False
    because: str

    def excludes(self, rule_id: str) -> bool:
        """Return whether a rule cannot stand beside ``found``."""
        return (
            rule_id != self.found
            and _matches(rule_id, self.patterns)
            and not _matches(rule_id, self.spared)
        )


@dataclass(frozen=True, kw_only=True)
class FactRelations:
    """The whole file.

    ``causes`` are the symptoms (patterns of ids) that a rule explains; ``enough`` is the share of
    a symptom's gain that a cause must promise to explain it, and ``most`` the share above which
    what is left of it is worth an action. ``changing`` are patterns of rules
    whose advice changes results; they must promise ``like`` times as much to come first.
    """

    exclusions: tuple[Exclusion, ...] = ()
    causes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    enough: float = 1.0
    most: float = 1.0
    changing: tuple[str, ...] = ()
    like: float = 1.0

    def explained_by(self, rule_id: str) -> tuple[str, ...]:
        """Return the rules whose finding explains that of a rule."""
        return tuple(
            cause
            for cause, symptoms in self.causes
            if cause != rule_id and _matches(rule_id, symptoms)
        )

    def voids(self, rule_id: str) -> bool:
        """Return whether a profile tells nothing of a kernel for which a rule is found."""
        return any(each.voids and each.found == rule_id for each in self.exclusions)

    def handicap(self, rule_id: str) -> float:
        """Return by what the expected gain of a rule is divided where findings are ordered."""
        return self.like if _matches(rule_id, self.changing) else 1.0


def load_relations(path: Path | None = None) -> FactRelations:
    """Return what the file says.

    Raises:
        RuleError: it has another form; with its place.
    """
    document = load(path or data_dir("rules") / FILE)
    document.refuse_unknown(("excludes", "explains", "changes_results"))
    explains = document.mapping("explains")
    explains.refuse_unknown(("enough", "most", "causes"))
    changing = document.mapping("changes_results")
    changing.refuse_unknown(("of_like_size", "rules"))
    return FactRelations(
        exclusions=tuple(_exclusion(node.as_mapping()) for node in document.sequence("excludes")),
        causes=tuple(
            (cause, symptoms)
            for node in explains.sequence("causes")
            for causes, symptoms in [_explanation(node.as_mapping())]
            for cause in causes
        ),
        enough=_sourced(explains.mapping("enough")),
        most=_sourced(explains.mapping("most")),
        changing=tuple(changing.sequence("rules").texts()),
        like=_sourced(changing.mapping("of_like_size")),
    )


def _exclusion(node: MappingNode) -> Exclusion:
    node.refuse_unknown(("found", "not", "but", "voids", "because"))
    return Exclusion(
        found=node.text("found"),
        patterns=tuple(node.sequence("not").texts()),
        spared=tuple(node.sequence("but").texts()) if "but" in node else (),
        voids="voids" in node and node.boolean("voids"),
        because=node.text("because"),
    )


def _explanation(node: MappingNode) -> tuple[tuple[str, ...], tuple[str, ...]]:
    node.refuse_unknown(("found", "symptoms"))
    return tuple(node.sequence("found").texts()), tuple(node.sequence("symptoms").texts())


def _sourced(node: MappingNode) -> float:
    node.refuse_unknown(("value", "source"))
    node.text("source")
    return node.number("value")


def _matches(rule_id: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(rule_id, pattern) for pattern in patterns)
