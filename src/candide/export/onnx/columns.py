"""What the columns of a table say, each by its own model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from ...exceptions import ParameterError
from ...families.columns import CodedColumn
from ...families.columns.changes import BoxCox, Change, Same, YeoJohnson
from ...families.columns.holes import WithHoles
from ...families.columns.parametric import ParametricColumn
from ...families.table_likelihood import TableLikelihood, log_table
from ...kernels.layouts import Array, Floats
from .likelihoods import scored
from .rows import Cells, cut_places, number_places
from .tensor import Tensor, added, concatenated

# Powers beyond these are left alone: their squares would overflow.
_LARGEST_LOG = 300.0


class Weighing(Protocol):
    """What becomes of the scores of a column or block, known by its place; None: nothing."""

    def of_codes(self, place: int, table: Floats) -> Floats | None:
        """Of a table over codes, ``(codes, classes)``."""

    def of_rows(self, place: int, scores: Callable[[], Tensor]) -> Tensor | None:
        """Of ``(rows, classes)``, which are made when they are asked for."""


class AsTheyAre:
    """Every column counts once."""

    def of_codes(self, place: int, table: Floats) -> Floats | None:
        return table

    def of_rows(self, place: int, scores: Callable[[], Tensor]) -> Tensor | None:
        return scores()


class TableScores:
    """The scores of some columns and of all blocks; codes are made once, however often they are asked.

    ``places`` are those by which weights know the columns; blocks come from ``first_block`` on. ``nulls``: of which
    columns nulls are values, where the model says something of them; None: of all.
    """

    def __init__(
        self,
        likelihood: TableLikelihood,
        cells: Cells,
        places: dict[int, int],
        first_block: int,
        nulls: Array | None = None,
    ) -> None:
        self._nulls = nulls
        self._likelihood, self._cells, self._places, self._first_block = likelihood, cells, places, first_block
        pairs = [(j, likelihood.models[j]) for j in places]
        self._coded = [(j, model) for j, model in pairs if isinstance(model, CodedColumn)]
        # Numbers first: their codes are made together.
        self._coded.sort(key=lambda pair: pair[1].cuts is None)
        self._others = [(j, model) for j, model in pairs if not isinstance(model, CodedColumn) and model is not None]

    def added_up(self, weighing: Weighing) -> Tensor | None:
        """Of all of them, as ``weighing`` makes them; None if nothing is left."""
        parts = [weighing.of_rows(self._places[j], partial(self._scores, j, model)) for j, model in self._others]
        blocks = range(len(self._likelihood.blocks))
        parts += [weighing.of_rows(self._first_block + i, partial(self._block, i)) for i in blocks]
        parts.append(self._picked([weighing.of_codes(self._places[j], log_table(model)) for j, model in self._coded]))
        known = [part for part in parts if part is not None]
        return added(known) if known else None

    def _picked(self, tables: list[Floats | None]) -> Tensor | None:
        """The rows of tables that codes pick, added up."""
        if all(table is None for table in tables):
            return None
        n_classes = len(self._likelihood.statistics.rows)
        sizes = [len(model.count) + 1 for _, model in self._coded]
        offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        whole = np.zeros((sum(sizes), n_classes))
        for begin, table in zip(offsets.tolist(), tables, strict=True):
            if table is not None:
                whole[begin : begin + len(table)] = table
        return (self._codes + offsets).picks(whole).sum(1)

    @cached_property
    def _codes(self) -> Tensor:
        """``(rows, columns)``; after the last code that of cells that say nothing."""
        cut = [(j, model) for j, model in self._coded if model.cuts is not None]
        parts = []
        if cut:
            cuts = [model.cuts for _, model in cut if model.cuts is not None]
            numbers = self._cells.several([j for j, _ in cut])
            parts.append(cut_places(numbers, cuts, [self._missing(j, model) for j, model in cut]))
        parts += [self._label_codes(j, model) for j, model in self._coded[len(cut) :]]
        return concatenated(parts)

    def _knows_nulls(self, j: int) -> bool:
        return self._nulls is None or bool(self._nulls[j])

    def _missing(self, j: int, model: CodedColumn) -> int:
        return _code(model, model.missing if self._knows_nulls(j) else None)

    def _label_codes(self, j: int, model: CodedColumn) -> Tensor:
        mine = np.zeros(0) if model.labels is None else model.labels
        missing, unseen = self._missing(j, model), _code(model, model.unseen)
        statistics = self._likelihood.statistics
        if statistics.kinds[j] != "category":
            keys = np.asarray(mine, dtype=np.float64)
            return number_places(self._cells.numbers(j), keys, np.arange(len(keys)), missing, unseen)
        labels = statistics.categories.labels[statistics.place(j)]
        place = {label: i for i, label in enumerate(mine.tolist())}
        codes = [place.get(label, unseen) for label in labels.tolist()]
        return self._cells.places(j, labels).picks(np.array([*codes, missing, unseen], dtype=np.int64))

    def _scores(self, j: int, model: Any) -> Tensor:
        x = self._cells.numbers(j)
        if isinstance(model, WithHoles):
            known, missing = model.presence.table()
            missing = missing if self._knows_nulls(j) else np.zeros_like(missing)
            return _parametric(model.inner, x) + x.is_nan().where(missing, known)
        if not isinstance(model, ParametricColumn):
            raise ParameterError(f"a column modelled by {type(model).__name__} has no graph of ONNX; ignore it")
        return _parametric(model, x)

    def _block(self, i: int) -> Tensor:
        columns = self._likelihood.family.blocks[i].columns
        return scored(self._likelihood.blocks[i], self._cells.several(columns)).finite


def refuse_texts(likelihood: TableLikelihood, columns: Iterable[int]) -> None:
    """Raises if there are columns of texts among those that a model listens to."""
    name = next((likelihood.family.names[j] for j in columns), None)
    if name is not None:
        raise ParameterError(
            f"column {name!r} holds texts, and onnxruntime cannot cut texts into tokens as candide does; train without "
            f"it (columns={{{name!r}: 'ignore'}}), or run the model in candide"
        )


def _code(model: CodedColumn, code: int | None) -> int:
    return len(model.count) if code is None else code


def _parametric(model: ParametricColumn, x: Tensor) -> Tensor:
    return scored(model.likelihood, _changed(model.change, x)).finite


def _changed(change: Change, x: Tensor) -> Tensor:
    """Numbers on another scale; NaN outside of what it allows."""
    if isinstance(change, Same):
        return x if change.least == -np.inf else (x >= change.least).where(x, np.nan)
    if isinstance(change, BoxCox):
        return _power_of((x > 0.0).where(x, np.nan).log() - change.log_unit, change.power)
    assert isinstance(change, YeoJohnson)
    z = (x - change.center) / change.unit
    log = (z.abs() + 1.0).log()
    return (z < 0.0).where(-_power_of(log, 2.0 - change.power), _power_of(log, change.power))


def _power_of(log: Tensor, power: float) -> Tensor:
    if abs(power) < 1e-12:
        return log
    return ((log * power).at_least(-_LARGEST_LOG).at_most(_LARGEST_LOG).exp() - 1.0) / power
