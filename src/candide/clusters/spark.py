"""Spark's data frames: each partition comes as Arrow and is counted by its Python worker; sums meet in few of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from ..data.arrow_batches import needed
from ..data.column_selection import Roles
from ..exceptions import InputError, MissingPackage
from ..model.accumulator import PartialState, merge_partial_states
from . import spark_tasks as tasks
from .rows import Answerer, ArrowRows, Casting, Chunk, Counter, SpreadRows, check_name, column_names
from .spark_tasks import PACKED, answer_type, loaded
from .work import share_right

# Sums that one worker adds, and bytes of sums that the driver takes.
_FAN_IN = 16
_AT_ONCE = 1 << 27


class SparkRows(ArrowRows, SpreadRows):
    """The rows of a data frame that have a label."""

    roles: Roles

    def __init__(self, frame: Any, roles: Roles) -> None:
        self.roles = roles
        self._frame = CLUSTER.selected(frame, needed(roles))

    @property
    def are_numbers(self) -> bool:
        others = (self.roles.label, self.roles.weight)
        return all(_is_number(field.dataType) for field in self._frame.schema if field.name not in others)

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        frame = self._frame.where(f"{_quoted(self.roles.label)} IS NOT NULL")
        if self.roles.weight is not None:
            frame = frame.where(f"{_quoted(self.roles.weight)} <> 0")
        if having:
            frame = frame.where(" OR ".join(f"{_quoted(name)} IS NOT NULL" for name in having))
        batches = _first_rows(frame, n).combine_chunks().to_batches()
        return tasks.labelled(batches[0], self.roles).chunk if batches else None

    def count(self, counter: Counter) -> PartialState:
        parts = _mapped(self._frame, partial(tasks.packed, partial(tasks.count, counter, self.roles)), PACKED)
        with ExitStack() as held:
            n_parts, n_bytes = _held(parts, held)
            while n_parts > 1 and n_bytes > _AT_ONCE:
                # Not by coalesce(): what was lost would be counted again under the number of the task that asks for it.
                together = parts.repartition(-(-n_parts // _FAN_IN), "place")
                parts = _mapped(together, partial(tasks.packed, tasks.add), PACKED)
                n_parts, n_bytes = _held(parts, held)
            return merge_partial_states(_unpacked(parts))

    def score(self, model: Answerer) -> float:
        parts = _mapped(self._frame, partial(tasks.packed, partial(tasks.score, model, self.roles)), PACKED)
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
        if not _is_like_pandas(X):
            return _answered(model, verb, _frame(X))
        index = [f"__index_{level}__" for level in range(X.index.nlevels)]
        return _answered(model, verb, X.to_spark(index)).pandas_api(index).rename_axis(X.index.names)

    def head(self, X: Any, n: int) -> Any:
        return _first_rows(X, n)

    def selected(self, X: Any, names: list[str]) -> Any:
        return X.select(*map(_quoted, names))


CLUSTER = Spark()


def _is_like_pandas(X: Any) -> bool:
    """Whether it is a data frame in the manner of pandas, which has one of SQL inside."""
    return type(X).__module__.startswith("pyspark.pandas") and hasattr(X, "to_spark")


def _frame(X: Any) -> Any:
    """A data frame of SQL."""
    if hasattr(X, "mapInArrow"):
        return X
    if _is_like_pandas(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the index is lost, which nobody learns from
            return X.to_spark()
    raise InputError(
        f"X is a {type(X).__name__} of Spark; pass a data frame: an RDD makes one with toDF(), a series with to_frame()"
    )


def _answered(model: Answerer, verb: str, frame: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    added, roles = column_names(model, verb), model.roles_in(frame.columns)
    kind = from_arrow_type(answer_type(model, verb))
    kept = [field for field in frame.schema.fields if field.name not in added]
    schema = StructType([*kept, *(StructField(name, kind) for name in added)])
    return _mapped(frame, partial(tasks.beside, model, verb, roles), schema)


def _check_name(name: Any, what: str, names: list[str]) -> None:
    if name is None and what == "sample_weight":
        return
    if not isinstance(name, str):
        raise InputError(
            f"{what} is {name!r:.60}; with a data frame of Spark it is the name of one of its columns, "
            f"{', '.join(names)}; pass one of these"
        )
    check_name(name, what, names)


def _is_number(kind: Any) -> bool:
    """Whether cells of this type are numbers, or arrays of them."""
    from pyspark.sql.types import ArrayType, BooleanType, NumericType

    if isinstance(kind, ArrayType):
        return _is_number(kind.elementType)
    return isinstance(kind, (BooleanType, NumericType))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _mapped(frame: Any, task: Callable[..., Any], schema: Any) -> Any:
    """``mapInArrow`` of a frame whose names may hold dots and backticks, which it takes for something else."""
    plain = [f"_{place}" for place in range(len(frame.columns))]
    return frame.toDF(*plain).mapInArrow(sent_to_workers(partial(tasks.named, frame.columns, task)), schema)


def sent_to_workers(task: Callable[..., Any]) -> Callable[..., Any]:
    """A task in a form that a Python worker without candide can load, to say what is wrong."""
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
                "or send an environment that has it: spark.archives"
            ) from None
        return pickle.loads(pickled)(batches)

    return run


@contextmanager
def _workers_checked() -> Iterator[None]:
    """What a worker lacks is said here without the stack traces of three languages."""
    from pyspark.errors import PythonException

    try:
        yield
    except PythonException as error:
        found = re.search(r"ModuleNotFoundError: (candide is not installed .*)", str(error))
        if found is None:
            raise
        raise MissingPackage(found[1].strip()) from error


def _first_rows(frame: Any, n: int) -> Any:
    """As a table of Arrow."""
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
    """Whether cells of this type are the same in Python, in Arrow and in Spark."""
    return kind.typeName() in ("boolean", "byte", "short", "integer", "long", "float", "double", "string")


def _held(parts: Any, held: ExitStack) -> tuple[int, int]:
    """How many there are and how many bytes. They are made now, and stay where they are for the next to ask."""
    held.callback(parts.persist().unpersist)
    with _workers_checked():
        n_parts, n_bytes = parts.selectExpr("count(*)", "sum(length(packed))").first()
    return n_parts, n_bytes or 0


def _unpacked(parts: Any) -> list[Any]:
    # As Arrow: rows of Python's would take three times as long.
    with _workers_checked():
        column = parts.select("packed").toArrow().column("packed")
    return loaded(part.as_buffer() for part in column)
