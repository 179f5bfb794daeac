"""Spark's data frames: Python workers count the partitions, which come as Arrow, and merge states."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any
from weakref import WeakSet

import candide

from ..data.arrow_batches import Groups, cells, labeled_cells, needed
from ..data.column_selection import Roles
from ..data.vectors import as_matrix
from ..exceptions import CandideError, InputError, MissingPackage
from ..model.accumulator import PartialState, merge_partial_states
from ..model.model import Model
from ..model.source import BATCH_BYTES, Chunk
from ..model.train import Summarize
from .cluster_files import save_frame
from .engine_source import EngineSource, check_name, prediction_names, predictions

# Number of states that one worker merges, and bytes of states that the driver collects.
_FAN_IN = 16
_AT_ONCE = 1 << 27
# Number of first rows if all columns are numeric, because fetching first rows is slow.
_SHORT_HEAD = 100
# What a worker returns: the number of its partition, and a pickled object.
_PACKED = "partition int, packed binary"
# Bytes of the size before compression, which come first.
_SIZE = 8
# Makes further columns of a batch: the rows that a model reads, and their number.
Columns = Callable[[Any, int], dict[str, Any]]


def open_frame(X: Any, y: Any = None, sample_weight: Any = None) -> SparkSource:
    """Return a data frame of Spark as a source; labels and weights are names of columns."""
    frame = _sql_frame(X)
    for name, what in ((y, "y"), (sample_weight, "sample_weight")):
        _check_name(name, what, frame.columns)
    others = tuple(name for name in frame.columns if name not in (y, sample_weight))
    return SparkSource(X, Roles(y or "", None, others, sample_weight))


class SparkSource(EngineSource):
    """The rows of a data frame that have a label."""

    roles: Roles

    def __init__(self, X: Any, roles: Roles) -> None:
        self.roles = roles
        self._X = X
        self.names = list(_sql_frame(X).columns)

    def with_roles(self, roles: Roles) -> SparkSource:
        return SparkSource(self._X, roles)

    @property
    def _frame(self) -> Any:
        """The columns that are read."""
        if not self.roles.label:
            raise _no_name_error(None, "y", list(self.names or ()))
        return _sql_frame(self._X).select(*map(_quoted, needed(self.roles)))

    def head(self, n: int) -> Chunk:
        others = (self.roles.label, self.roles.weight)
        are_numbers = all(_is_number(field.dataType) for field in self._frame.schema if field.name not in others)
        return super().head(min(n, _SHORT_HEAD) if are_numbers else n)

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        frame = self._frame.where(f"{_quoted(self.roles.label)} IS NOT NULL")
        if self.roles.weight is not None:
            frame = frame.where(f"{_quoted(self.roles.weight)} <> 0")
        if having:
            frame = frame.where(" OR ".join(f"{_quoted(name)} IS NOT NULL" for name in having))
        batches = first_rows(frame, n).combine_chunks().to_batches()
        return _labeled(batches[0], self.roles)._replace(n_unlabeled=0) if batches else None

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        for batch in Groups(n_bytes).of(iter(self._frame.toArrow().to_batches())):
            yield _labeled(batch, self.roles)

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        parts = self._parts(partial(_count, task.for_workers(), self.roles))
        with ExitStack() as held:
            n_parts, n_bytes = _held(parts, held)
            while n_parts > 1 and n_bytes > _AT_ONCE:
                # Not by coalesce(): what was lost would be counted again under the number of the task that asks for it.
                together = parts.repartition(-(-n_parts // _FAN_IN), "partition")
                parts = _mapped(together, partial(_packed, _merge), _PACKED)
                n_parts, n_bytes = _held(parts, held)
            yield merge_partial_states(_unpacked(parts))

    def map(self, task: Any) -> Iterator[Any]:
        for results in _unpacked(self._parts(partial(_apply, task.for_workers(), self.roles))):
            yield from results

    def _parts(self, make: Callable[[Iterator[Any]], Any]) -> Any:
        """Return what is made of each partition, packed."""
        check_workers(self._frame.sparkSession)
        return _mapped(self._frame, partial(_packed, make), _PACKED)

    def predict(self, model: Model, method: str) -> Any:
        """Return the data frame with the columns of predictions."""
        import pyarrow as pa

        kind = pa.array(model.classes.tolist()).type if method == "predict" else pa.float64()
        added = pa.schema([(name, kind) for name in prediction_names(model, method)])
        task = partial(_predictions, model.for_workers(), method)
        X = self._X
        if not _is_like_pandas(X):
            return self.with_columns(model, task, added)
        index = [f"__index_{level}__" for level in range(X.index.nlevels)]
        found = SparkSource(X.to_spark(index), self.roles).with_columns(model, task, added)
        return found.pandas_api(index).rename_axis(X.index.names)

    def with_columns(self, model: Model, task: Columns, added: Any, kept: list[str] | None = None) -> Any:
        """Return the data frame with the columns that a task makes of what a model reads.

        They replace columns of their names. ``added``: their names and types, a schema of Arrow. ``kept``: which other
        columns the data frame has; all by default.
        """
        frame = _sql_frame(self._X)
        check_workers(frame.sparkSession)
        roles = model.roles_in(frame.columns)
        kept = [name for name in (frame.columns if kept is None else kept) if name not in added.names]
        read = [name for name in frame.columns if name in kept or name in roles.columns]
        return _mapped(
            frame.select(*map(_quoted, read)), partial(_append, task, added, roles, kept), _schema(frame, kept, added)
        )

    def save_with_columns(self, model: Model, task: Columns, added: Any, kept: list[str], address: str) -> int:
        """Write what ``with_columns`` returns to a new table or to new files; return the number of rows."""
        from pyspark.sql import Observation, functions

        seen = Observation()
        frame = self.with_columns(model, task, added, kept)
        save_frame(frame.observe(seen, functions.count(functions.lit(1)).alias("rows")), address)
        return int(seen.get["rows"])


def _is_like_pandas(X: Any) -> bool:
    """Return whether it is a data frame of ``pyspark.pandas``, which has one of SQL inside."""
    return type(X).__module__.startswith("pyspark.pandas") and hasattr(X, "to_spark")


def _sql_frame(X: Any) -> Any:
    """Return a data frame of SQL."""
    if hasattr(X, "mapInArrow"):
        return X
    if _is_like_pandas(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warns that the index is lost, which is not a column of the model
            return X.to_spark()
    raise InputError(
        f"X is a Spark {type(X).__name__}; expected a data frame; convert an RDD with toDF(), or a series with "
        "to_frame()"
    )


def _schema(frame: Any, kept: list[str], added: Any) -> Any:
    """Return the schema of some columns of a data frame, and of further columns."""
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    fields = [frame.schema[name] for name in kept]
    return StructType([*fields, *(StructField(one.name, from_arrow_type(one.type)) for one in added)])


def _check_name(name: Any, what: str, names: list[str]) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise _no_name_error(name, what, names)
    check_name(name, what, names)


def _no_name_error(name: Any, what: str, names: list[str]) -> InputError:
    return InputError(
        f"{what} is {name!r:.60}; with a Spark data frame, expected one of its column names: {', '.join(names)}"
    )


def _is_number(kind: Any) -> bool:
    """Return whether cells of this type are numbers, or arrays of them."""
    from pyspark.sql.types import ArrayType, BooleanType, NumericType

    if isinstance(kind, ArrayType):
        return _is_number(kind.elementType)
    return isinstance(kind, (BooleanType, NumericType)) or kind.simpleString() == "vector"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _mapped(frame: Any, task: Callable[..., Any], schema: Any) -> Any:
    """Return ``mapInArrow`` of a frame whose names may hold dots and backticks, which it takes for something else."""
    plain = [f"_{number}" for number in range(len(frame.columns))]
    return frame.toDF(*plain).mapInArrow(partial(_named, frame.columns, task), schema)


# Sessions whose workers have the same version of candide.
_checked: WeakSet[Any] = WeakSet()
# Number of tasks that look for it, which several workers run.
_N_CHECKS = 8


def check_workers(session: Any) -> None:
    """Raise an error if Python workers lack candide, or have another version.

    Spark would start a failing task several times, and show the stack traces of three languages.
    """
    if session in _checked:
        return
    from pyspark.sql.functions import udf

    installed = udf(_finding_version(), "string", useArrow=False)  # a worker without candide may lack Arrow too
    for row in session.range(0, _N_CHECKS, 1, _N_CHECKS).select(installed("id").alias("found")).distinct().collect():
        version, _, executable = row.found.partition(" ")
        if not version:
            raise MissingPackage(
                f"candide is not installed for Spark's Python workers ({executable}); install it on every worker, or "
                "ship an environment that includes it with spark.archives"
            )
        if version != candide.__version__:
            raise MissingPackage(
                f"Spark's Python workers ({executable}) have candide {version}, but this process has "
                f"{candide.__version__}; install the same version on every worker, or ship an environment that "
                "includes it with spark.archives"
            )
    _checked.add(session)


def _finding_version() -> Callable[[int], str]:
    """Return a function that workers can load without candide."""

    # pyspark sends a function within a function as it is, whereas others are names that workers import.
    def version(_: int) -> str:
        import sys

        try:
            import candide
        except ImportError:
            return f" {sys.executable}"
        return f"{candide.__version__} {sys.executable}"

    return version


def first_rows(frame: Any, n: int) -> Any:
    """Return first rows as a table of Arrow."""
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        return frame.limit(n).toArrow()
    # toArrow() would take so many rows from each partition, collect() looks at no more of them than it must.
    rows = frame.limit(n).collect()
    if not all(_is_plain(field.dataType) for field in frame.schema):
        return frame.sparkSession.createDataFrame(rows, frame.schema, verifySchema=False).toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    types = to_arrow_schema(frame.schema)
    return pa.table([pa.array([row[j] for row in rows], kind) for j, kind in enumerate(types.types)], schema=types)


def _is_plain(kind: Any) -> bool:
    """Return whether cells of this type are the same in Python, in Arrow and in Spark."""
    return kind.typeName() in ("boolean", "byte", "short", "integer", "long", "float", "double", "string")


def _held(parts: Any, held: ExitStack) -> tuple[int, int]:
    """Compute parts, which stay where they are for the next query; return their number and their bytes."""
    held.callback(parts.persist().unpersist)
    n_parts, n_bytes = parts.selectExpr("count(*)", "sum(length(packed))").first()
    return n_parts, n_bytes or 0


def _unpacked(parts: Any) -> list[Any]:
    # As Arrow: rows of Python's would take three times as long.
    column = parts.select("packed").toArrow().column("packed")
    return _loaded(part.as_buffer() for part in column)


# What Spark's Python workers do with a partition: batches of Arrow.


def _named(names: list[str], task: Callable[[Iterator[Any]], Iterator[Any]], batches: Iterator[Any]) -> Iterator[Any]:
    """Run a task on batches whose columns get the names that they had."""
    return task(batch.rename_columns(names) for batch in batches)


def _packed(make: Callable[[Iterator[Any]], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield one row: what is made of a partition, or the error in its rows. Raised, it would be tried three times."""
    import pyarrow as pa

    try:
        made = make(batches)
    except CandideError as error:
        made = error
    types = pa.schema([("partition", pa.int32()), ("packed", pa.binary())])
    yield pa.record_batch([[_partition()], [_dumped(made)]], schema=types)


def _dumped(made: Any) -> bytes:
    """Return what is sent to the driver or to another worker: counts become a fifth of their size."""
    import pyarrow as pa

    pickled = pickle.dumps(made, protocol=5)
    compressed: bytes = pa.Codec("zstd", compression_level=1).compress(pickled, asbytes=True)
    return len(pickled).to_bytes(_SIZE, "little") + compressed


def _loaded(packed: Iterable[Any]) -> list[Any]:
    """Return the results of the workers; an error in a worker is raised here."""
    import pyarrow as pa

    zstd = pa.Codec("zstd")
    buffers = (memoryview(one) for one in packed)
    found = [pickle.loads(zstd.decompress(one[_SIZE:], int.from_bytes(one[:_SIZE], "little"))) for one in buffers]
    for one in found:
        if isinstance(one, CandideError):
            raise one
    return found


def _count(task: Summarize, roles: Roles, batches: Iterator[Any]) -> PartialState:
    """Return the state of a partition."""
    return task.whole((_labeled(batch, roles) for batch in Groups(task.group_bytes).of(batches)), _partition())


def _merge(batches: Iterator[Any]) -> PartialState:
    """Return the merged states of partitions."""
    return merge_partial_states(_loaded(packed.as_buffer() for batch in batches for packed in batch.column("packed")))


def _apply(task: Callable[[Chunk], Any], roles: Roles, batches: Iterator[Any]) -> list[Any]:
    """Return what a task returns for the batches of a partition."""
    name = f"partition {_partition()}"
    return [task(_labeled(batch, roles)._replace(name=name)) for batch in Groups(BATCH_BYTES).of(batches)]


def _partition() -> int:
    """Return the number of the partition, which all attempts at a task share."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _labeled(batch: Any, roles: Roles) -> Chunk:
    """Return the rows that have a label."""
    rows = labeled_cells(batch, roles)
    return Chunk(as_matrix(rows.X), rows.y, rows.weight, n_unlabeled=batch.num_rows - rows.n_rows, may_be_empty=True)


def _predictions(model: Model, method: str, X: Any, n_rows: int) -> dict[str, Any]:
    """Return columns of predictions, as lists."""
    return {name: column.tolist() for name, column in predictions(model, method, X, n_rows).items()}


def _append(task: Columns, added: Any, roles: Roles, kept: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with the columns that a task makes."""
    import pyarrow as pa

    for batch in batches:
        made = task(as_matrix(cells(batch, roles)), batch.num_rows)
        columns = {name: batch.column(name) for name in kept}
        for field in added:
            one = made[field.name]
            columns[field.name] = one if isinstance(one, pa.Array) else pa.array(one, field.type)
        yield pa.record_batch(columns)
