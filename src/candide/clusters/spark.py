"""Spark's data frames: each partition comes as Arrow and is counted by its Python worker; sums meet in few of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from ..encoding.roles import Roles
from ..engines.batches import Groups, cells, labelled_cells, needed
from ..engines.parts import Part, merged
from ..exceptions import CandideError, InputError
from .answers import column_names, columns
from .matrices import as_matrix
from .rows import Answerer, Casting, Chunk, Counter, SpreadRows, check_name
from .work import Labelled, Share, counted, scored, share_right

# Sums that one worker adds, and bytes of sums that the driver takes.
_FAN_IN = 16
_AT_ONCE = 1 << 26
# How many more partitions are looked at where the ones before had too few rows.
_FURTHER = 8
# What comes from a worker: the number of its partition, and anything, pickled.
_PACKED = "place int, packed binary"


class SparkRows(SpreadRows):
    """The rows of a data frame that have a label."""

    roles: Roles

    def __init__(self, frame: Any, roles: Roles) -> None:
        self.roles = roles
        self._frame = CLUSTER.selected(frame, needed(roles))

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        frame = self._frame.where(f"{_quoted(self.roles.label)} IS NOT NULL")
        if self.roles.weight is not None:
            frame = frame.where(f"{_quoted(self.roles.weight)} <> 0")
        if having:
            frame = frame.where(" OR ".join(f"{_quoted(name)} IS NOT NULL" for name in having))
        batches = _first_rows(frame, n)
        return self._joined([_labelled(batch, self.roles).chunk for batch in batches]) if batches else None

    def _empty(self, X: Any) -> list[str]:
        import pyarrow as pa

        columns = X.column_names if isinstance(X, pa.Table) else []
        return [name for name in columns if X.column(name).null_count == X.num_rows]

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        X, y, weight = (_end_to_end([chunk[i] for chunk in chunks]) for i in range(3))
        return X, y, weight

    def count(self, counter: Counter) -> Part:
        parts = self._frame.mapInArrow(partial(_packed, partial(_counted, counter, self.roles)), _PACKED)
        with ExitStack() as held:
            n_parts, n_bytes = _held(parts, held)
            while n_parts > 1 and n_bytes > _AT_ONCE:
                # Not by coalesce(): what was lost would be counted again under the number of the task that asks for it.
                together = parts.repartition(-(-n_parts // _FAN_IN), "place")
                parts = together.mapInArrow(partial(_packed, _added), _PACKED)
                n_parts, n_bytes = _held(parts, held)
            return merged(_unpacked(parts))

    def score(self, model: Answerer) -> float:
        parts = self._frame.mapInArrow(partial(_packed, partial(_scored, model, self.roles)), _PACKED)
        return share_right(_unpacked(parts))


class Spark:
    """Rows of Spark."""

    def rows(self, X: Any, y: Any, sample_weight: Any, casting: Casting) -> SpreadRows:
        frame = _frame(X)
        for name, what in ((y, "y"), (sample_weight, "sample_weight")):
            _check_name(name, what, frame.columns)
        return SparkRows(frame, casting(frame.columns, y, sample_weight))

    def answers(self, model: Answerer, verb: str, X: Any) -> Any:
        """The data frame with the columns of the answer."""
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        frame, added = _frame(X), column_names(model, verb)
        roles = model.roles_among(frame.columns)
        kind = from_arrow_type(_answer_type(model, verb))
        kept = [field for field in frame.schema.fields if field.name not in added]
        schema = StructType([*kept, *(StructField(name, kind) for name in added)])
        return frame.mapInArrow(partial(_beside, model, verb, roles), schema)

    def head(self, X: Any, n: int) -> Any:
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        batches = _first_rows(_frame(X), n)
        return pa.Table.from_batches(batches) if batches else to_arrow_schema(X.schema).empty_table()

    def selected(self, X: Any, names: list[str]) -> Any:
        return X.select(*map(_quoted, names))


CLUSTER = Spark()


def _frame(X: Any) -> Any:
    """A data frame of SQL; those in the manner of pandas have one inside."""
    if hasattr(X, "mapInArrow"):
        return X
    if hasattr(X, "to_spark"):
        return X.to_spark()
    raise InputError(f"X is a {type(X).__name__} of Spark; pass a data frame: an RDD makes one with toDF()")


def _check_name(name: Any, what: str, names: list[str]) -> None:
    if name is None and what == "sample_weight":
        return
    if not isinstance(name, str):
        raise InputError(
            f"{what} is {name!r:.60}; with a data frame of Spark it is the name of one of its columns, "
            f"{', '.join(names)}; pass one of these"
        )
    check_name(name, what, names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _first_rows(frame: Any, n: int) -> list[Any]:
    """Batches of first rows, from as few partitions as have so many. (``limit(n)`` takes as many from each.)"""
    packed = frame.mapInArrow(partial(_packed, partial(_few, n)), _PACKED)
    n_parts = 1
    while True:
        found = _loaded(packed.take(n_parts))
        batches = [batch for part in found for batch in part]
        if sum(batch.num_rows for batch in batches) >= n or len(found) < n_parts:
            return batches
        n_parts *= _FURTHER


def _held(parts: Any, held: ExitStack) -> tuple[int, int]:
    """How many there are and how many bytes. They are made now, and stay where they are for the next to ask."""
    held.callback(parts.persist().unpersist)
    n_parts, n_bytes = parts.selectExpr("count(*)", "sum(length(packed))").first()
    return n_parts, n_bytes or 0


def _unpacked(parts: Any) -> list[Any]:
    return _loaded(parts.collect())


def _loaded(rows: list[Any]) -> list[Any]:
    """What workers made; an error that one of them met is raised here."""
    found = [pickle.loads(row.packed) for row in rows]
    for one in found:
        if isinstance(one, CandideError):
            raise one
    return found


def _end_to_end(pieces: list[Any]) -> Any:
    import pyarrow as pa

    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return pa.concat_tables(pieces) if isinstance(pieces[0], pa.Table) else pa.concat_arrays(pieces)


def _answer_type(model: Answerer, verb: str) -> Any:
    import pyarrow as pa

    return pa.array(model.classes_.tolist()).type if verb == "predict" else pa.float64()


# What workers do.


def _packed(make: Callable[[Iterator[Any]], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """One row: what is made of a partition. So is an error in the rows: raised, it would be tried three times again."""
    import pyarrow as pa

    try:
        made = make(batches)
    except CandideError as error:
        made = error
    types = pa.schema([("place", pa.int32()), ("packed", pa.binary())])
    yield pa.record_batch([[_place()], [pickle.dumps(made, protocol=5)]], schema=types)


def _few(n: int, batches: Iterator[Any]) -> list[Any]:
    found = []
    for batch in batches:
        found.append(batch.slice(0, n))
        n -= found[-1].num_rows
        if n <= 0:
            break
    return found


def _counted(counter: Counter, roles: Roles, batches: Iterator[Any]) -> Part:
    groups = Groups(counter.group_bytes).of(batches)
    return counted(counter, _place(), (_labelled(batch, roles) for batch in groups))


def _added(batches: Iterator[Any]) -> Part:
    parts = [pickle.loads(packed.as_py()) for batch in batches for packed in batch.column("packed")]
    for one in parts:
        if isinstance(one, CandideError):
            raise one
    return merged(parts)


def _scored(model: Answerer, roles: Roles, batches: Iterator[Any]) -> Share:
    return scored(model, (_labelled(batch, roles) for batch in batches))


def _place() -> int:
    """The number of the partition, which all attempts at a task share."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _labelled(batch: Any, roles: Roles) -> Labelled:
    rows = labelled_cells(batch, roles)
    return Labelled((as_matrix(rows.X), rows.y, rows.weight), batch.num_rows - rows.n_rows)


def _beside(model: Answerer, verb: str, roles: Roles, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    kind = _answer_type(model, verb)
    for batch in batches:
        made = columns(model, verb, as_matrix(cells(batch, roles)), batch.num_rows)
        kept = dict(zip(batch.schema.names, batch.columns, strict=True))
        answers = {name: pa.array(column.tolist(), kind) for name, column in made.items()}
        yield pa.record_batch({name: column for name, column in kept.items() if name not in made} | answers)
