"""What Spark's Python workers do with a partition: batches of Arrow."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..data.arrow_batches import Groups, cells, labelled_cells
from ..data.column_selection import Roles
from ..exceptions import CandideError, InputError
from ..model.accumulator import PartialState, merge_partial_states
from .rows import Answerer, Counter, columns
from .work import Labelled, Share, counted, scored

# What comes from a worker: the number of its partition, and anything, pickled.
PACKED = "place int, packed binary"


def named(names: list[str], task: Callable[[Iterator[Any]], Iterator[Any]], batches: Iterator[Any]) -> Iterator[Any]:
    """A task on batches whose columns get the names that they had."""
    return task(batch.rename_columns(names) for batch in batches)


def packed(make: Callable[[Iterator[Any]], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """One row: what is made of a partition. So is an error in the rows: raised, it would be tried three times again."""
    import pyarrow as pa

    try:
        made = make(batches)
    except CandideError as error:
        made = error
    types = pa.schema([("place", pa.int32()), ("packed", pa.binary())])
    yield pa.record_batch([[_place()], [pickle.dumps(made, protocol=5)]], schema=types)


def loaded(packed: Iterable[Any]) -> list[Any]:
    """What workers made; an error that one of them met is raised here."""
    found = [pickle.loads(one) for one in packed]
    for one in found:
        if isinstance(one, CandideError):
            raise one
    return found


def count(counter: Counter, roles: Roles, batches: Iterator[Any]) -> PartialState:
    """The sums of a partition."""
    groups = Groups(counter.group_bytes).of(batches)
    return counted(counter, _place(), (labelled(batch, roles) for batch in groups))


def add(batches: Iterator[Any]) -> PartialState:
    """The sum of sums."""
    return merge_partial_states(loaded(packed.as_buffer() for batch in batches for packed in batch.column("packed")))


def score(model: Answerer, roles: Roles, batches: Iterator[Any]) -> Share:
    """How many rows of a partition are predicted right."""
    return scored(model, (labelled(batch, roles) for batch in batches))


def _place() -> int:
    """The number of the partition, which all attempts at a task share."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def labelled(batch: Any, roles: Roles) -> Labelled:
    """The rows that have a label."""
    rows = labelled_cells(batch, roles)
    return Labelled((as_matrix(rows.X), rows.y, rows.weight), batch.num_rows - rows.n_rows)


def beside(model: Answerer, verb: str, roles: Roles, batches: Iterator[Any]) -> Iterator[Any]:
    """Batches with the columns of the answer."""
    import pyarrow as pa

    kind = answer_type(model, verb)
    for batch in batches:
        made = columns(model, verb, as_matrix(cells(batch, roles)), batch.num_rows)
        kept = dict(zip(batch.schema.names, batch.columns, strict=True))
        answers = {name: pa.array(column.tolist(), kind) for name, column in made.items()}
        yield pa.record_batch({name: column for name, column in kept.items() if name not in made} | answers)


def answer_type(model: Answerer, verb: str) -> Any:
    """Of a column of the answer."""
    import pyarrow as pa

    return pa.array(model.classes.tolist()).type if verb == "predict" else pa.float64()


def as_matrix(X: Any) -> Any:
    """One column of equally long lists, as features come, as rows and columns; all else as it is.

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
            f"column {name!r} holds vectors of Spark's machine learning; make arrays of them, with "
            f"pyspark.ml.functions.vector_to_array({name!r})"
        )
    return _stacked(X.column(0).combine_chunks(), name) if pa.types.is_list(kind) or pa.types.is_large_list(kind) else X


def _stacked(lists: Any, name: str) -> Any:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(lists)
    shortest, longest = pc.min_max(lengths).values() if len(lists) else (None, None)
    if lists.null_count or shortest != longest:
        found = "a null" if lists.null_count else f"lists of {shortest} and of {longest}"
        raise InputError(f"column {name!r} holds {found}; give every row a list, and all lists the same length")
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
