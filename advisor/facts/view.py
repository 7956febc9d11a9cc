"""The views that people, rules and reports read: runs, launches, kernels, findings and so on.

They are TEMP views of a connection, so they follow the vocabulary of the command and work on files
opened for reading. ``kernels`` has one row per run and variant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from advisor.database.relations import STORED, Relations
from advisor.facts.devices import devices_select
from advisor.facts.kernels import kernels_select
from advisor.facts.layers import select
from advisor.facts.stored import current
from advisor.facts.variants import measured_launches
from advisor.facts.vocabulary import Vocabulary

if TYPE_CHECKING:
    import duckdb

VIEWS = frozenset(
    {
        "ceilings",
        "devices",
        "findings",
        "kernels",
        "launches",
        "measured_launches",
        "runs",
        "variants",
    }
)
"""What the views are called."""

_OF_VARIANT = "run_id, variant_id, kernel_id, launch_shape"


def create_views(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    names: Collection[str] | None = None,
    relations: Relations = STORED,
) -> None:
    """Make the views, or some, on a driver connection; they last as long as the connection."""
    if names is None or "kernels" in names:
        relations = current(connection, vocabulary, relations=relations)
    for name, query in view_selects(vocabulary, relations, names).items():
        connection.execute(f"create or replace temp view {name} as {query}")


def view_selects(
    vocabulary: Vocabulary, relations: Relations = STORED, names: Collection[str] | None = None
) -> dict[str, str]:
    """Return the SELECT of every view by its name, or of some, in an order to make them in.

    That of launches reads measured launches, which it brings.
    """
    if names is not None and "launches" in names:
        names = {*names, "measured_launches"}
    selects: dict[str, Callable[[], str]] = {
        "runs": lambda: select("*", relations.item("run")),
        "devices": lambda: devices_select(vocabulary, relations),
        "ceilings": lambda: _ceilings(relations),
        "measured_launches": lambda: _measured_launches(vocabulary, relations),
        "launches": lambda: _launches(relations),
        "kernels": lambda: kernels_select(vocabulary, relations=relations),
        "findings": lambda: _findings(relations),
    }
    if relations.variant is not None:
        selects["variants"] = lambda: select("*", relations.item("variant"))
    return {name: make() for name, make in selects.items() if names is None or name in names}


def _ceilings(relations: Relations) -> str:
    joined = f"{relations.item('ceiling')} join {relations.item('device')} using (device_id)"
    return select("ceiling.*, device.name", joined)


def _findings(relations: Relations) -> str:
    variants = relations.item("variant")
    if relations.variant is None:
        variants = f"({select(f'distinct {_OF_VARIANT}', relations.item('launch'))}) as variant"
    return select(
        "finding.*, variant.kernel_id, kernel.name as kernel_name, variant.launch_shape",
        relations.item("finding"),
        f"left join {variants} using (run_id, variant_id)",
        f"left join {relations.item('kernel')} using (kernel_id)",
    )


def _launches(relations: Relations) -> str:
    """One row per launch: what is measured, and the raw counters and texts as maps."""
    columns = (
        "measured_launches.* exclude (counter_keys, counter_values, text_set)",
        "map(coalesce(key_set.keys, []), coalesce(counter_values, [])) as counters",
        "coalesce(text_set.texts, map([]::varchar[], []::varchar[])) as texts",
    )
    return select(
        ", ".join(columns),
        "measured_launches",
        f"left join {relations.item('key_set')} on key_set.key_set = counter_keys",
        f"left join {relations.item('text_set')} on text_set.text_set = measured_launches.text_set",
    )


def _measured_launches(vocabulary: Vocabulary, relations: Relations) -> str:
    launches = measured_launches(vocabulary, relations, "launch.*")
    return select(
        "measured.*, kernel.name as kernel_name, kernel.short_name",
        f"({launches}) as measured",
        f"left join {relations.item('kernel')} using (kernel_id)",
    )
