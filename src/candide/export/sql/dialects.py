"""The SQL dialects of the scoring queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import ClassVar

from ...data.column_selection import did_you_mean
from ...exceptions import MissingPackage, ParameterError
from ...kernels.layouts import Array
from ...sources.duckdb_engine import identifier, literal

# Significant digits of the numbers of tables, whose scores are rarely above 100.
_DIGITS = 13
# Maximum number of arguments of a function call that all databases accept.
_MOST_ARGUMENTS = 100


class Dialect:
    """DuckDB's dialect, which the others modify."""

    name: str = "duckdb"
    number_type: ClassVar[str] = "DOUBLE"
    text_type: ClassVar[str] = "VARCHAR"
    greatest_name: ClassVar[str] = "GREATEST"
    least_name: ClassVar[str] = "LEAST"
    # Materializes steps that are read several times, so that they are not computed again.
    fence: ClassVar[str] = ""
    # The same for steps whose rows have numbers, which must stay.
    fence_once: ClassVar[str] = " MATERIALIZED"
    # Keeps the optimizer from inlining the expressions of a subquery.
    barrier: ClassVar[str] = ""
    # Whether a table row can be passed through as one value, and whether rows have numbers.
    has_records: ClassVar[bool] = True
    has_row_numbers: ClassVar[bool] = False
    # Whether the cells of a table can be collected in a list, and selected from it by their places.
    has_lists: ClassVar[bool] = True
    # Whether numbers are looked up in arrays that stand in expressions, rather than joined.
    has_arrays: ClassVar[bool] = False
    # Whether rows are joined by running sums at no higher cost than by stored numbers.
    indexes_sums: ClassVar[bool] = True
    # Whether a query can check the type of a column, and raise an error.
    checks_types: ClassVar[bool] = True
    # The function that returns the type of a cell.
    type_function: ClassVar[str] = "TYPEOF"
    # The suffix of a number that makes it a double instead of a decimal.
    exponent: ClassVar[str] = "e0"

    def name_of(self, name: str) -> str:
        """Return a quoted name."""
        return identifier(name)

    def text(self, value: str) -> str:
        """Return a quoted string."""
        return literal(value)

    def number(self, value: float) -> str:
        """Return a number with all digits."""
        digits = repr(float(value))
        digits = digits if "e" in digits else f"{digits}{self.exponent}"
        return f"({digits})" if digits.startswith("-") else digits

    def first_number(self, value: float) -> str:
        """Return a number with an explicit type, which determines the type of its column."""
        return self.number(value)

    def greatest(self, values: list[str]) -> str:
        """Return the maximum of some numbers."""
        return _called(self.greatest_name, values)

    def least(self, values: list[str]) -> str:
        """Return the minimum of some numbers."""
        return _called(self.least_name, values)

    def as_number(self, cell: str) -> str:
        """Return a cell of any numeric type as a double; NaN is NULL."""
        return f"NULLIF(CAST({cell} AS {self.number_type}), CAST('NaN' AS {self.number_type}))"

    def flag_as_number(self, cell: str) -> str:
        """Return a number or boolean as a double."""
        return self.as_number(cell)

    def as_text(self, cell: str) -> str:
        """Return a cell as a string."""
        return f"CAST({cell} AS {self.text_type})"

    def as_label(self, cell: str, name: str, labels: Sequence[str]) -> str:
        """Return a cell as a string, if the column may contain these labels; DuckDB reads yes and no as booleans."""
        if not self.checks_types or {"true", "false"} & set(labels):
            return self.as_text(cell)
        problem = (
            f"column {name!r} contains booleans, but the model was trained on strings such as {labels[0]!r}; pass "
            "strings, for example with read_csv(..., all_varchar = true)"
        )
        error = f"error({self.text(problem)})"
        return f"CASE WHEN typeof({cell}) = 'BOOLEAN' THEN {error} ELSE {self.as_text(cell)} END"

    def in_zone(self, cell: str, zone: tzinfo) -> str:
        """Return a timestamp with time zone as local time of a zone; one without is local time already."""
        aware = f"UPPER(CAST({self.type_function}({cell}) AS {self.text_type})) = 'TIMESTAMP WITH TIME ZONE'"
        local = self._local(f"CAST({cell} AS TIMESTAMPTZ)", zone)
        return f"CASE WHEN {aware} THEN {local} ELSE CAST({cell} AS TIMESTAMP) END"

    def _local(self, cell: str, zone: tzinfo) -> str:
        """Return a timestamp with time zone as local time of a zone."""
        offset = zone.utcoffset(None)
        if not offset:
            return f"{cell} AT TIME ZONE {self.text(str(zone))}"
        # PostgreSQL would take +05:00 for a zone to the west.
        return f"({cell} AT TIME ZONE 'UTC' + INTERVAL '{int(offset.total_seconds())}' SECOND)"

    def days(self, cell: str) -> str:
        """Return the days since 1970."""
        return f"CAST(EXTRACT(EPOCH FROM CAST({cell} AS TIMESTAMP)) AS {self.number_type}) / 86400.0"

    def month(self, cell: str) -> str:
        """1 to 12."""
        return f"EXTRACT(MONTH FROM CAST({cell} AS TIMESTAMP))"

    def hour(self, cell: str) -> str:
        """0 to 23."""
        return f"EXTRACT(HOUR FROM CAST({cell} AS TIMESTAMP))"

    def seconds(self, cell: str) -> str:
        """Return the seconds of a duration, or since midnight."""
        return f"CAST(EXTRACT(EPOCH FROM {cell}) AS {self.number_type})"

    def record(self, table: str) -> str:
        """Return all columns of a table as one value, or a row identifier."""
        return table

    def spread(self, record: str) -> str:
        """Return the columns of a value of ``record``."""
        return f"{record}.*"

    def truth(self, value: bool) -> str:
        """Return a boolean literal."""
        return "TRUE" if value else "FALSE"

    def values(self, rows: str, names: Sequence[str]) -> str:
        """Return a query for a table of literal rows."""
        return f"SELECT * FROM (VALUES {rows}) AS listed({', '.join(names)})"

    def array(self, values: Array) -> str:
        """Return an array of numbers."""
        kind = "INTEGER" if values.dtype.kind == "i" else self.number_type
        return f"CAST(STRING_SPLIT('{','.join(_shortened(values))}', ',') AS {kind}[])"

    def entry(self, values: Array, place: str) -> str:
        """Return the number at a place of an array, from 0."""
        return f"LIST_EXTRACT({self.array(values)}, {place} + 1)"

    def row_number(self, key: str) -> str:
        """Return a number for each row of a step, or its key where such steps may be computed twice."""
        return "ROW_NUMBER() OVER ()"

    def collected(self, number: str, order: str) -> str:
        """Return all cells of a column as a list."""
        return f"ARRAY_AGG({number} ORDER BY {order})"

    def places(self, places: Sequence[str]) -> str:
        """Return a list of places in lists, which start at 0 and may be NULL."""
        return f"[{', '.join(f'COALESCE({place} + 1, 0)' for place in places)}]"  # there is no place 0

    def cell(self, numbers: str, place: str, names: Mapping[int, str]) -> str:
        """Return the number at a place of a list, or the column with it; 0 for other places."""
        if self.has_lists:
            return f"COALESCE({numbers}[{place} + 1], 0.0)"
        known = " ".join(f"WHEN {i} THEN {name}" for i, name in names.items())
        return f"CASE {place} {known} ELSE {self.first_number(0)} END"

    def sum_at(self, lists: str, place: str, places: str) -> str:
        """Return the sum of the numbers at some ``places`` of one of several lists."""
        return f"LIST_SUM(LIST_SELECT({lists}[{place} + 1], {places}))"

    def table(self, integers: Mapping[str, Array], numbers: Mapping[str, Array]) -> str:
        """Return a query for a table of integers and doubles, and ``place``, the number of a row from 0.

        The numbers are in a few long strings, because a query with tens of thousands of literals takes seconds to plan.
        """
        columns = {**integers, **numbers}
        n_rows = len(next(iter(columns.values())))
        lists = [*_lists(integers, "INTEGER[]", "[]"), *_lists(numbers, f"{self.number_type}[]", "[]")]
        return ", ".join(
            [f"SELECT UNNEST(RANGE({n_rows})) AS place", *(f"UNNEST({part}) AS {name}" for name, part in lists)]
        )


class Postgres(Dialect):
    """PostgreSQL: number literals are decimals unless they are combined with a double."""

    name = "postgres"
    number_type = "DOUBLE PRECISION"
    text_type = "TEXT"
    fence = " MATERIALIZED"
    has_lists = False
    checks_types = False
    type_function = "PG_TYPEOF"
    exponent = ""
    barrier = " OFFSET 0"

    def first_number(self, value: float) -> str:
        return f"CAST({self.number(value)} AS {self.number_type})"

    def flag_as_number(self, cell: str) -> str:
        # Only a cast to text works for both booleans and numbers.
        known = self.as_text(cell)
        return (
            f"CASE {known} WHEN 'true' THEN {self.first_number(1)} WHEN 'false' THEN 0 ELSE {self.as_number(known)} END"
        )

    def spread(self, record: str) -> str:
        return f"({record}).*"

    def table(self, integers: Mapping[str, Array], numbers: Mapping[str, Array]) -> str:
        lists = dict([*_lists(integers, "INTEGER[]", "{}"), *_lists(numbers, f"{self.number_type}[]", "{}")])
        listed = f"UNNEST({', '.join(lists.values())}) WITH ORDINALITY AS listed({', '.join(lists)}, row)"
        return f"SELECT CAST(row - 1 AS INTEGER) AS place, {', '.join(lists)} FROM {listed}"


class SQLite(Dialect):
    """SQLite: no date type, no NaN; rows are identified by their number."""

    name = "sqlite"
    number_type = "REAL"
    text_type = "TEXT"
    greatest_name = "MAX"
    least_name = "MIN"
    fence = " MATERIALIZED"
    indexes_sums = False
    has_lists = False
    checks_types = False
    exponent = ""
    barrier = " LIMIT -1 OFFSET 0"
    has_records = False
    has_row_numbers = True

    def as_number(self, cell: str) -> str:
        return f"CAST({cell} AS REAL)"

    def days(self, cell: str) -> str:
        fraction = f"(CAST(STRFTIME('%f', {cell}) AS REAL) - CAST(STRFTIME('%S', {cell}) AS REAL))"
        return f"(CAST(STRFTIME('%s', {cell}) AS REAL) + {fraction}) / 86400.0"

    def month(self, cell: str) -> str:
        return f"CAST(STRFTIME('%m', {cell}) AS REAL)"

    def hour(self, cell: str) -> str:
        return f"CAST(STRFTIME('%H', {cell}) AS REAL)"

    def in_zone(self, cell: str, zone: tzinfo) -> str:
        if str(zone) != "UTC":
            raise _no_zones("SQLite", zone)
        return cell  # its functions return UTC

    def seconds(self, cell: str) -> str:
        raise ParameterError(
            "SQLite has no type for durations and times of day, but a column of this model contains them; convert the "
            "column to seconds before training, or choose another dialect"
        )

    def record(self, table: str) -> str:
        return f"{table}._rowid_"

    def truth(self, value: bool) -> str:
        return str(int(value))

    def values(self, rows: str, names: Sequence[str]) -> str:
        named = ", ".join(f"column{i} AS {name}" for i, name in enumerate(names, 1))
        return f"SELECT {named} FROM (VALUES {rows})"

    def table(self, integers: Mapping[str, Array], numbers: Mapping[str, Array]) -> str:
        columns = {**integers, **numbers}
        rows = zip(*map(_shortened, columns.values()), strict=True)
        listed = ",".join(f"[{','.join(row)}]" for row in rows)
        cells = "".join(f", JSON_EXTRACT(value, '$[{i}]') AS {name}" for i, name in enumerate(columns))
        return f"SELECT key AS place{cells} FROM JSON_EACH('[{listed}]')"


# Dialects in which sqlglot translates AT TIME ZONE to the same; in others, it leaves it out or as it is.
_HAS_ZONES = ("athena", "bigquery", "oracle", "presto", "redshift", "snowflake", "trino")


class Translated(Dialect):
    """Queries that sqlglot translates from DuckDB's dialect."""

    has_lists = False
    checks_types = False
    fence_once = ""

    def row_number(self, key: str) -> str:
        return key

    def in_zone(self, cell: str, zone: tzinfo) -> str:
        if self.name not in _HAS_ZONES:
            raise _no_zones(self.name, zone)
        return self._local(cell, zone)

    def table(self, integers: Mapping[str, Array], numbers: Mapping[str, Array]) -> str:
        doubles = [[self.number(value) for value in column.tolist()] for column in numbers.values()]
        columns = [*map(_shortened, integers.values()), *doubles]
        rows = zip(map(str, range(len(columns[0]))), *columns, strict=True)
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        return self.values(listed, ["place", *integers, *numbers])


class Spark(Translated):
    """Spark SQL, with functions that sqlglot does not support.

    A join costs it more than reading a table of a million rows, so that numbers are looked up in arrays instead.
    """

    name = "spark"
    has_lists = True
    has_arrays = True

    def in_zone(self, cell: str, zone: tzinfo) -> str:
        # sqlglot's translation of AT TIME ZONE is wrong unless the time zone of the session is UTC.
        return f"CONVERT_TIMEZONE({self.text(str(zone))}, {cell})"

    def days(self, cell: str) -> str:
        return _clock_days(cell)

    def record(self, table: str) -> str:
        return f"STRUCT({table}.*)"

    def entry(self, values: Array, place: str) -> str:
        return f"GET({self.array(values)}, {place})"

    def collected(self, number: str, order: str) -> str:
        # There is no order within aggregates.
        return f"TRANSFORM(ARRAY_SORT(COLLECT_LIST(STRUCT({order}, {number}))), x -> x.{number})"

    def places(self, places: Sequence[str]) -> str:
        return f"[{', '.join(places)}]"

    def sum_at(self, lists: str, place: str, places: str) -> str:
        added = f"AGGREGATE({places}, 0e0, (a, i) -> a + COALESCE(GET(GET({lists}, {place}), i), 0e0))"
        return f"CASE WHEN {place} IS NOT NULL THEN {added} END"

    def cell(self, numbers: str, place: str, names: Mapping[int, str]) -> str:
        return f"CASE WHEN {place} >= 0 THEN GET({numbers}, {place}) ELSE 0e0 END"

    def table(self, integers: Mapping[str, Array], numbers: Mapping[str, Array]) -> str:
        columns = {**integers, **numbers}
        n_rows = len(next(iter(columns.values())))
        cells = "".join(f", {self.entry(own, 'place')} AS {name}" for name, own in columns.items())
        return f"SELECT place{cells} FROM (SELECT EXPLODE(SEQUENCE(0, {n_rows - 1})) AS place) AS listed"


class BigQuery(Translated):
    """BigQuery: NaN is not equal to itself."""

    name = "bigquery"

    def as_number(self, cell: str) -> str:
        number = f"CAST({cell} AS DOUBLE)"
        return f"CASE WHEN NOT ISNAN({number}) THEN {number} END"

    def days(self, cell: str) -> str:
        return f"{_clock_days(cell)} + EXTRACT(MICROSECOND FROM CAST({cell} AS TIMESTAMP)) / 86400e6"


class Other(Translated):
    """Any other dialect that sqlglot supports."""

    has_records = False

    def __init__(self, name: str) -> None:
        self.name = name


def _no_zones(name: str, zone: tzinfo) -> ParameterError:
    return ParameterError(
        f"a column of this model contains dates with the time zone {zone}, and the query for {name} cannot convert "
        "dates to it; train on local time without a zone, as in pandas with dt.tz_localize(None), and pass a table "
        "with the same local time, or choose another dialect"
    )


def _clock_days(cell: str) -> str:
    """Return the days since 1970 in local time."""
    hour, minute, second = (f"EXTRACT({part} FROM CAST({cell} AS TIMESTAMP))" for part in ("HOUR", "MINUTE", "SECOND"))
    return f"(UNIX_DATE(CAST({cell} AS DATE)) + ({hour} * 3600e0 + {minute} * 60e0 + {second}) / 86400e0)"


def _called(function: str, values: list[str]) -> str:
    if len(values) == 1:
        return values[0]
    if len(values) > _MOST_ARGUMENTS:
        parts = [values[i : i + _MOST_ARGUMENTS] for i in range(0, len(values), _MOST_ARGUMENTS)]
        return _called(function, [_called(function, part) for part in parts])
    return f"{function}({', '.join(values)})"


def _lists(columns: Mapping[str, Array], kind: str, ends: str) -> Iterator[tuple[str, str]]:
    for name, values in columns.items():
        yield name, f"CAST('{ends[0]}{','.join(_shortened(values))}{ends[1]}' AS {kind})"


def _shortened(values: Array) -> list[str]:
    """Return numbers with enough digits for sums of many to be right to 1e-10."""
    return [f"{value:.{_DIGITS}g}" for value in values.tolist()]


_WRITTEN: dict[str, type[Dialect]] = {"duckdb": Dialect, "postgres": Postgres, "postgresql": Postgres, "sqlite": SQLite}
_BY_DUCKDB: dict[str, type[Dialect]] = {"spark": Spark, "databricks": Spark, "bigquery": BigQuery}


def dialect_named(name: str) -> Dialect:
    """Return the SQL dialect of a database."""
    if name in _WRITTEN:
        return _WRITTEN[name]()
    _refuse_unknown(name)
    return _BY_DUCKDB[name]() if name in _BY_DUCKDB else Other(name)


def transpiled(query: str, name: str) -> str:
    """Return a query in another dialect, translated from DuckDB unless the dialect is supported natively."""
    if name in _WRITTEN:
        return query
    import sqlglot

    return f"{sqlglot.transpile(query, read='duckdb', write=name, pretty=True)[0]}\n"


def _refuse_unknown(name: str) -> None:
    try:
        from sqlglot.dialects.dialect import Dialect as Known
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"dialect {name!r} requires the package sqlglot, which is not installed; install it with pip install "
            "'candide[sql]', or choose duckdb, postgres or sqlite"
        ) from error
    if not name or Known.get(name) is None:
        known = sorted({*_WRITTEN, *(each for each in Known.classes if each)})
        hint = did_you_mean(name, known, "pass one of these")
        raise ParameterError(f"dialect is {name!r}; expected one of {', '.join(known)}; {hint}")
