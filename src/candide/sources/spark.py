"""Spark's data frames: Python workers count the partitions, which come as Arrow, and merge states."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from ..data.arrow_batches import Groups, cells, labeled_cells, needed
from ..data.column_selection import Roles
from ..exceptions import CandideError, InputError, MissingPackage
from ..model.accumulator import PartialState, merge_partial_states
from ..model.model import Model
from ..model.source import BATCH_BYTES, Chunk
from ..model.train import Summarize
from .engine_source import EngineSource, check_name, prediction_names, predictions

# Number of states that one worker merges, and bytes of states that the driver collects.
_FAN_IN = 16
_AT_ONCE = 1 << 27
# Number of first rows if all columns are numeric, because fetching first rows is slow.
_SHORT_HEAD = 100
# What a worker returns: the number of its partition, and a pickled object.
_PACKED = "partition int, packed binary"


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
        parts = _mapped(self._frame, partial(_packed, partial(_count, task.for_workers(), self.roles)), _PACKED)
        with ExitStack() as held:
            n_parts, n_bytes = _held(parts, held)
            while n_parts > 1 and n_bytes > _AT_ONCE:
                # Not by coalesce(): what was lost would be counted again under the number of the task that asks for it.
                together = parts.repartition(-(-n_parts // _FAN_IN), "partition")
                parts = _mapped(together, partial(_packed, _merge), _PACKED)
                n_parts, n_bytes = _held(parts, held)
            yield merge_partial_states(_unpacked(parts))

    def map(self, task: Any) -> Iterator[Any]:
        parts = _mapped(self._frame, partial(_packed, partial(_apply, task.for_workers(), self.roles)), _PACKED)
        for results in _unpacked(parts):
            yield from results

    def predict(self, model: Model, method: str) -> Any:
        """Return the data frame with the columns of predictions."""
        X, model = self._X, model.for_workers()
        if not _is_like_pandas(X):
            return _with_predictions(model, method, X)
        index = [f"__index_{level}__" for level in range(X.index.nlevels)]
        return _with_predictions(model, method, X.to_spark(index)).pandas_api(index).rename_axis(X.index.names)


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


def _with_predictions(model: Model, method: str, frame: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    added, roles = prediction_names(model, method), model.roles_in(frame.columns)
    kind = from_arrow_type(_prediction_type(model, method))
    kept = [field for field in frame.schema.fields if field.name not in added]
    schema = StructType([*kept, *(StructField(name, kind) for name in added)])
    return _mapped(frame, partial(_predict, model, method, roles), schema)


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
    return isinstance(kind, (BooleanType, NumericType))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _mapped(frame: Any, task: Callable[..., Any], schema: Any) -> Any:
    """Return ``mapInArrow`` of a frame whose names may hold dots and backticks, which it takes for something else."""
    plain = [f"_{number}" for number in range(len(frame.columns))]
    return frame.toDF(*plain).mapInArrow(sent_to_workers(partial(_named, frame.columns, task)), schema)


def sent_to_workers(task: Callable[..., Any]) -> Callable[..., Any]:
    """Return a task in a form that a Python worker without candide can load, to say what is wrong."""
    from pyspark import cloudpickle

    pickled = cloudpickle.dumps(task)

    # pyspark sends a function within a function as it is, whereas the task is a name that workers import.
    def run(batches: Any) -> Any:
        import pickle
        import sys

        try:
            import candide  # noqa: F401
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"candide is not installed for Spark's Python workers ({sys.executable}); install it on every worker, "
                "or ship an environment that includes it with spark.archives"
            ) from None
        return pickle.loads(pickled)(batches)

    return run


@contextmanager
def _workers_checked() -> Iterator[None]:
    """Raise what a worker lacks as one message, without the stack traces of three languages."""
    from pyspark.errors import PythonException

    try:
        yield
    except PythonException as error:
        found = re.search(r"ModuleNotFoundError: (candide is not installed .*)", str(error))
        if found is None:
            raise
        raise MissingPackage(found[1].strip()) from error


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
    with _workers_checked():
        n_parts, n_bytes = parts.selectExpr("count(*)", "sum(length(packed))").first()
    return n_parts, n_bytes or 0


def _unpacked(parts: Any) -> list[Any]:
    # As Arrow: rows of Python's would take three times as long.
    with _workers_checked():
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
    yield pa.record_batch([[_partition()], [pickle.dumps(made, protocol=5)]], schema=types)


def _loaded(packed: Iterable[Any]) -> list[Any]:
    """Return the results of the workers; an error in a worker is raised here."""
    found = [pickle.loads(one) for one in packed]
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


def _predict(model: Model, method: str, roles: Roles, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with the columns of predictions."""
    import pyarrow as pa

    kind = _prediction_type(model, method)
    for batch in batches:
        made = predictions(model, method, as_matrix(cells(batch, roles)), batch.num_rows)
        kept = dict(zip(batch.schema.names, batch.columns, strict=True))
        found = {name: pa.array(column.tolist(), kind) for name, column in made.items()}
        yield pa.record_batch({name: column for name, column in kept.items() if name not in made} | found)


def _prediction_type(model: Model, method: str) -> Any:
    """Return the type of a column of predictions."""
    import pyarrow as pa

    return pa.array(model.classes.tolist()).type if method == "predict" else pa.float64()


def as_matrix(X: Any) -> Any:
    """Return one column of lists of equal length, as features often come, as a matrix; all else as it is.

    >>> import pyarrow as pa
    >>> as_matrix(pa.table({"features": [[1.0, 2.0], [3.0, None]]}))
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    import pyarrow as pa

    if not isinstance(X, pa.Table) or X.num_columns != 1:
        return X
    name, kind = X.column_names[0], X.schema.types[0]
    if pa.types.is_struct(kind) and "values" in [field.name for field in kind]:
        raise InputError(
            f"column {name!r} contains Spark ML vectors; convert them to arrays with "
            f"pyspark.ml.functions.vector_to_array({name!r})"
        )
    return _stacked(X.column(0).combine_chunks(), name) if pa.types.is_list(kind) or pa.types.is_large_list(kind) else X


def _stacked(lists: Any, name: str) -> Any:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(lists)
    shortest, longest = pc.min_max(lengths).values() if len(lists) else (None, None)
    if lists.null_count or shortest != longest:
        found = "a null" if lists.null_count else f"lists of lengths {shortest} and {longest}"
        raise InputError(f"column {name!r} contains {found}; expected a list of the same length in every row")
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
