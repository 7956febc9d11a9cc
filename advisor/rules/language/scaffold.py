"""A new rule file to fill in: complete, valid, its tests passing."""

from __future__ import annotations

import re
from pathlib import Path

from advisor.errors import UsageError
from advisor.resources import data_dir
from advisor.rules.language.load import NOT_RULES

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def write_scaffold(rule_id: str, directory: Path) -> Path:
    """Write ``directory/FAMILY/SLUG.yaml`` and return its path.

    Raises:
        UsageError: the id has another form, the file exists, or it cannot be written.
    """
    family, _, slug = rule_id.partition("/")
    if not _NAME.fullmatch(family) or not _NAME.fullmatch(slug) or family in NOT_RULES:
        hint = "write FAMILY/SLUG in small letters, such as memory/uncoalesced-loads"
        raise UsageError(f"{rule_id!r} is no id of a rule", hint=hint)
    text = (data_dir("templates") / "rule.yaml").read_text(encoding="utf-8")
    text = text.replace("FAMILY/SLUG", rule_id).replace("SLUG", slug)
    path = directory / family / f"{slug}.yaml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists", hint="choose another name, or edit it") from error
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return path
