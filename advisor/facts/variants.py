"""One row per run and variant, from either of two sources: what was stored, or launches.

Both give the same columns: who the variant is, statistics of its time, aggregated quantities and
facts of launches, and the sums that paired facts read. Facts of kernels are computed over these
(``kernels``), so they need no launch where the variant was stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from advisor.database.relations import Relations
from advisor.expression import Dialect
from advisor.facts.aggregation import (
    COUNTED,
    NO_COVERAGE,
    RAN,
    PairedSum,
    aggregated_columns,
    coverage,
    of_one,
    paired_name,
    paired_sums,
    sums_of,
)
from advisor.facts.devices import with_device
from advisor.facts.formulas import Formula
from advisor.facts.layers import Column, layered, select
from advisor.facts.naming import OfKernel
from advisor.facts.vocabulary import Fact, Vocabulary
from advisor.quoting import literal, quoted
from advisor.records import dataclass

NOTHING_ADDED: Mapping[str, str] = MappingProxyType({})
KEYS = ("run_id", "variant_id")
OF_LAUNCH = ("kernel_id", "series_id", "device_id", "device_name", "launch_shape")
COVERAGE = "coverage"
_COUNTS, _FIRST, _POSITION = "coverage_counts", "first_launch", "position"
_VALID_TIME = "case when launch_valid then duration end"
_STATISTICS = {
    "launch_count": "count(*)",
    "launches_excluded": "count(case when not launch_valid then 1 end)",
    "launches_detailed": "count(case when detailed then 1 end)",
    "duration_min": f"min({_VALID_TIME})",
    "duration_median": f"median({_VALID_TIME})",
    "duration_mean": f"avg({_VALID_TIME})",
    "duration_max": f"max({_VALID_TIME})",
    "duration_first": f"arg_min({_VALID_TIME}, case when launch_valid then launch_index end)",
    "duration_stddev": f"stddev_samp({_VALID_TIME})",
}

_OF_ONE = {  # the same where a variant is a single launch, which is valid
    "launch_count": "1::bigint",
    "launches_excluded": "0::bigint",
    "launches_detailed": "case when detailed then 1::bigint else 0::bigint end",
    "duration_stddev": "null::double",
}


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A column of a variant: its aggregate over launches, and its SQL over a stored variant."""

    name: str
    of_launches: str
    stored: str


def variants_select(
    vocabulary: Vocabulary,
    relations: Relations,
    wanted: Collection[str] | None = None,
    *,
    added: Mapping[str, str] = NOTHING_ADDED,
) -> str:
    """Return the SELECT of variants: all that the vocabulary asks for.

    Of the columns that are no part of the vocabulary it has those ``wanted``, all for None.
    ``added`` are aggregates over launches, by their names, where variants come from launches.
    """
    values = list(_values(vocabulary, wanted, relations))
    values += [_Value(name=name, of_launches=sql, stored="null") for name, sql in added.items()]
    more = [name for name in (_POSITION, COVERAGE) if wanted is None or name in wanted]
    more += relations.named
    parts = []
    if relations.variant is not None:
        parts.append(_of_stored(values, more, relations))
    if relations.variant is None or relations.from_launches:
        parts.append(_of_launches(values, more, vocabulary, relations))
    return " union all ".join(parts)


def variant_columns(vocabulary: Vocabulary, relations: Relations) -> list[str]:
    """Return the names of the columns of variants."""
    values = _values(vocabulary, None, relations)
    return [*(value.name for value in values), _POSITION, COVERAGE, *relations.named]


def single_variants_select(
    vocabulary: Vocabulary, relations: Relations, added: Mapping[str, str]
) -> str:
    """Return what ``variants_select`` says from launches where each is a variant of its own.

    There is nothing to add up, which spares most of the SQL. What it says about a launch that is
    not valid is not so. ``added`` are expressions over launches, by their names.
    """
    times = dict.fromkeys(_STATISTICS, "duration")
    columns = dict.fromkeys((*KEYS, *OF_LAUNCH)) | times | _OF_ONE
    written = {name: sql or name for name, sql in columns.items()}
    written |= {quoted(name): sql for name, sql in aggregated_columns(vocabulary, of_one)}
    written[_POSITION] = "row_number() over (partition by run_id order by launch_index) - 1"
    written[COVERAGE] = NO_COVERAGE
    written |= added
    measured = measured_launches(vocabulary, relations, _launch_columns(vocabulary))
    listed = ", ".join(f"{sql} as {name}" for name, sql in written.items())
    return select(listed, f"({measured}) as measured")


def _values(
    vocabulary: Vocabulary, wanted: Collection[str] | None, relations: Relations
) -> Iterator[_Value]:
    for name in KEYS:
        yield _Value(name=name, of_launches=name, stored=name)
    for name in OF_LAUNCH:
        if wanted is None or name in wanted:
            yield _Value(name=name, of_launches=f"any_value({name})", stored=name)
    for name, sql in _STATISTICS.items():
        if wanted is None or name in wanted:
            yield _Value(name=name, of_launches=sql, stored=name)
    for name, sql in aggregated_columns(vocabulary):
        yield _Value(name=name, of_launches=sql, stored=_stored(name, vocabulary))
    if relations.tracked:
        for name in tracked_facts(vocabulary):
            yield _Value(name=name, of_launches="null", stored=quoted(name))
    for each in () if relations.even else paired_sums(vocabulary):
        yield _Value(name=each.name, of_launches=each.aggregate, stored=_paired(each, vocabulary))


def _stored(name: str, vocabulary: Vocabulary) -> str:
    if _has_column(name, vocabulary):
        return quoted(name)
    kind = vocabulary.facts[name].kind
    return f"cast(null as {kind.column_type})"  # of a run whose launches are gone


def _paired(total: PairedSum, vocabulary: Vocabulary) -> str:
    """Return a sum that is stored, by its name, only where it is not the whole sum."""
    if not all(_has_column(name, vocabulary) for name in total.names):
        return "cast(null as double)"
    stored = f"paired_sums[{literal(total.name)}]"
    return f"case when paired_sums is null then {total.whole} else {stored} end"


def _has_column(name: str, vocabulary: Vocabulary) -> bool:
    fact = vocabulary.facts.get(name)
    return fact is None or fact.stored


def _of_stored(values: Sequence[_Value], more: Sequence[str], relations: Relations) -> str:
    columns = [f"{value.stored} as {quoted(value.name)}" for value in values]
    source = relations.item("variant")
    if not relations.from_launches:
        return select(", ".join((*columns, *more)), source)
    runs = ", ".join(map(literal, relations.from_launches))
    return select(", ".join((*columns, *more)), source, f"where run_id not in ({runs})")


def _of_launches(
    values: Sequence[_Value], more: Sequence[str], vocabulary: Vocabulary, relations: Relations
) -> str:
    columns = [f"{value.of_launches} as {quoted(value.name)}" for value in values]
    outer = [quoted(value.name) for value in values]
    if _POSITION in more:
        columns.append(f"min(launch_index) as {_FIRST}")
        outer.append(f"row_number() over (partition by run_id order by {_FIRST}) - 1 as position")
    if COVERAGE in more:
        counts, covered = coverage(vocabulary)
        columns.append(f"{counts} as {_COUNTS}")
        outer.append(f"{covered} as {COVERAGE}")
    measured = measured_launches(vocabulary, relations, _launch_columns(vocabulary))
    clauses = ["group by run_id, variant_id"]
    if relations.from_launches:
        runs = ", ".join(map(literal, relations.from_launches))
        clauses.insert(0, f"where run_id in ({runs})")
    groups = select(", ".join(columns), f"({_counted(measured, relations)}) as measured", *clauses)
    return select(", ".join(outer), f"({groups}) as grouped")


def _counted(measured: str, relations: Relations) -> str:
    """Return launches that tell which are counted: valid ones, and all where none was timed."""
    times = select(
        "run_id, variant_id, max(duration) as longest",
        relations.item("launch"),
        "group by run_id, variant_id",
    )
    untimed = f"longest is null and {RAN}"
    return select(
        f"*, launch_valid or {untimed} as {COUNTED}",
        f"({measured}) as launches",
        f"left join ({times}) as times using (run_id, variant_id)",
    )


def measured_launches(vocabulary: Vocabulary, relations: Relations, columns: str) -> str:
    """Return the SELECT of launches with the values of their device and the facts of a launch."""
    launches = select(columns, relations.item("launch"))
    facts = [fact for fact in vocabulary.facts.values() if fact.level == "launch"]
    source = with_device(f"({launches}) as launch", vocabulary.quantities.device, relations)
    return layered(source, [column_of(fact, relations) for fact in facts])


def _launch_columns(vocabulary: Vocabulary) -> str:
    names = [*KEYS, *OF_LAUNCH, "launch_index", "detailed"]
    for group in (vocabulary.quantities.launch, vocabulary.quantities.quantities):
        for quantity in group.values():
            names += quantity.columns
    return ", ".join(quoted(name) for name in dict.fromkeys(names))


def tracked_facts(vocabulary: Vocabulary) -> list[str]:
    """Return the facts of kernels that the table ``variant`` has a column for."""
    facts = vocabulary.facts.values()
    return [fact.name for fact in facts if fact.level == "kernel" and fact.stored]


def _is_arithmetic(fact: Fact) -> bool:
    return isinstance(fact.expression, Formula) and fact.expression.is_arithmetic


def column_of(fact: Fact, relations: Relations) -> Column:
    """Return the column that computes a fact; a paired one reads sums by their own names.

    Where no launch lacks what others have, these are the whole sums where all of them are known,
    and as operands of arithmetic simply the whole sums.
    """
    expression = fact.expression
    names = expression.names
    if isinstance(expression, OfKernel):
        names = frozenset(expression.kernel_columns)
    dialect: Dialect = "portable" if relations.dialect == "spark" else "duckdb"
    if not fact.paired or (relations.even and _is_arithmetic(fact)):
        return Column(name=fact.name, sql=fact.expression.sql(None, dialect), names=names)
    if relations.even:
        whole = {each.of: each.whole for each in sums_of(names)}
        return Column(name=fact.name, sql=fact.expression.sql(whole, dialect), names=names)
    sums = {name: quoted(paired_name(name, names)) for name in names}
    read = frozenset(paired_name(name, names) for name in names)
    return Column(name=fact.name, sql=fact.expression.sql(sums, dialect), names=read)
