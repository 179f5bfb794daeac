"""Spark's data frames: each partition comes as Arrow and is counted by its Python worker; sums meet in few of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..encoding.roles import Roles
from ..engines.batches import Groups, cells, labelled_cells, needed
from ..engines.parts import Part, merged
from ..exceptions import InputError
from .answers import column_names, columns
from .rows import Answerer, Chunk, Counter, SpreadRows, some

# Sums that one worker adds, and the driver at the end.
_FAN_IN = 16
# Where nobody knows how many partitions there are: as many as a shuffle makes.
_USUAL = 200


class SparkRows:
    """The rows of a data frame that have a label."""

    def __init__(self, frame: Any, roles: Roles) -> None:
        self.roles = roles
        self._frame = frame.select(*map(_quoted, needed(roles)))

    def head(self, n: int) -> Chunk:
        frame = self._frame.where(f"{_quoted(self.roles.label)} IS NOT NULL")
        if self.roles.weight is not None:
            frame = frame.where(f"{_quoted(self.roles.weight)} <> 0")
        batches = frame.limit(n).toArrow().combine_chunks().to_batches()
        if not batches:
            raise InputError("there are no rows with a label and a weight, and nothing is learned from nothing")
        return _chunk(batches[0], self.roles)

    def count(self, counter: Counter) -> Part:
        parts = self._frame.mapInArrow(partial(_counted, counter, self.roles), _SUMS)
        for _ in range(_rounds(self._frame)):
            # By a number that every attempt at a task gives alike, so that one that comes late meets its twin.
            parts = parts.repartition("meeting").mapInArrow(_added, _SUMS)
        return merged(pickle.loads(row.part) for row in parts.select("part").collect())

    def score(self, model: Answerer) -> float:
        """The share of rows that are predicted right."""
        parts = self._frame.mapInArrow(partial(_right, model, self.roles), "right double, whole double").collect()
        right, whole = np.sum([(row.right, row.whole) for row in parts], axis=0)
        return float(right / whole)


class Spark:
    """Rows of Spark."""

    def rows(self, X: Any, y: Any, sample_weight: Any, *, texts: bool) -> SpreadRows:
        frame = _frame(X)
        return SparkRows(frame, _roles(frame.columns, y, sample_weight, texts))

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


CLUSTER = Spark()
_SUMS = "meeting int, part binary"


def _frame(X: Any) -> Any:
    """A data frame of SQL; those in the manner of pandas have one inside."""
    if hasattr(X, "mapInArrow"):
        return X
    if hasattr(X, "to_spark"):
        return X.to_spark()
    raise InputError(f"X is a {type(X).__name__} of Spark; pass a data frame: an RDD makes one with toDF()")


def _roles(names: list[str], y: Any, weight: Any, texts: bool) -> Roles:
    for name, what in ((y, "y"), (weight, "sample_weight")):
        if (name is not None or what == "y") and (not isinstance(name, str) or name not in names):
            raise InputError(
                f"{what} is {name!r:.60}; with a data frame of Spark it is the name of one of its columns: "
                f"{', '.join(names)}"
            )
    found = tuple(name for name in names if name not in (y, weight))
    if texts and len(found) != 1:
        raise InputError(
            f"a model of texts learns from one column, and X has {', '.join(found)}; select it and the labels: "
            f"fit(frame.select('text', {y!r}), {y!r})"
        )
    return Roles(y, found[0] if texts else None, found, weight)


def _rounds(frame: Any) -> int:
    """How often sums meet before those that are left go to the driver."""
    try:
        n_parts = frame.rdd.getNumPartitions()
    except Exception:  # over Spark Connect nobody knows, which it says by one error or another
        n_parts = _USUAL
    return max(0, int(np.ceil(np.log(max(n_parts, 1)) / np.log(_FAN_IN) - 1e-9)) - 1)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _answer_type(model: Answerer, verb: str) -> Any:
    import pyarrow as pa

    return pa.array(model.classes_.tolist()).type if verb == "predict" else pa.float64()


# What workers do.


def _counted(counter: Counter, roles: Roles, batches: Iterator[Any]) -> Iterator[Any]:
    """One row: the sums of a partition."""
    left_out = 0

    def chunks() -> Iterator[Chunk]:
        nonlocal left_out
        for batch in Groups(counter.group_bytes).of(batches):
            chunk = _chunk(batch, roles)
            left_out += batch.num_rows - len(chunk[1])
            yield chunk

    state = counter.count(some(chunks()))
    yield _sums(Part(state, frozenset([_place()]), left_out))


def _added(batches: Iterator[Any]) -> Iterator[Any]:
    found = [pickle.loads(part.as_py()) for batch in batches for part in batch.column("part")]
    if found:
        yield _sums(merged(found))


def _sums(part: Part) -> Any:
    import pyarrow as pa

    meeting = min(part.places) // (_FAN_IN * len(part.places))
    types = pa.schema([("meeting", pa.int32()), ("part", pa.binary())])
    return pa.record_batch([[meeting], [pickle.dumps(part, protocol=5)]], schema=types)


def _place() -> int:
    """The number of the partition, which all attempts at a task share."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _chunk(batch: Any, roles: Roles) -> Chunk:
    rows = labelled_cells(batch, roles)
    return _matrix(rows.X), rows.y, rows.weight


def _matrix(X: Any) -> Any:
    """One column of lists, as Spark's features come, is a table without names."""
    import pyarrow as pa

    if not isinstance(X, pa.Table) or X.num_columns != 1 or not pa.types.is_list(X.schema.types[0]):
        return X
    column = X.column(0).combine_chunks()
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)


def _right(model: Answerer, roles: Roles, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        X, y, weight = _chunk(batch, roles)
        whole = float(len(y) if weight is None else np.sum(weight))
        yield pa.record_batch({"right": [model.score(X, y, weight) * whole if whole else 0.0], "whole": [whole]})


def _beside(model: Answerer, verb: str, roles: Roles, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    kind = _answer_type(model, verb)
    for batch in batches:
        made = columns(model, verb, _matrix(cells(batch, roles)), batch.num_rows)
        kept = dict(zip(batch.schema.names, batch.columns, strict=True))
        answers = {name: pa.array(column.tolist(), kind) for name, column in made.items()}
        yield pa.record_batch({name: column for name, column in kept.items() if name not in made} | answers)
