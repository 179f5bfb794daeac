"""Likelihood of a table: scores by column, or their sum in one pass over the codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.columns import Column, Columns, Kind
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..kernels.tables import PickTable
from ..kernels.vocabulary import Vocabulary
from ..lazy import dataclass
from .base import Batch, Scores
from .columns import CodedColumn, ColumnModel
from .score_terms import REST, Parts
from .text_likelihood import TextLikelihood

if TYPE_CHECKING:
    from ..statistics.table import TableStatistics
    from .table import TableFamily

_SHRINK = 2.0**-600

# A function that changes the scores of a column or block, given its position: ``(rows or codes, classes)``.
Change = Callable[[int, Floats], "Floats | None"]


@dataclass(frozen=True)
class TableLikelihood:
    """log p(row | class) = Σ log p(cell | class) over columns, blocks of columns and texts."""

    statistics: TableStatistics
    family: TableFamily
    models: tuple[ColumnModel | None, ...]
    blocks: tuple[Any, ...]
    texts: dict[int, TextLikelihood]  # by column

    is_limit = False

    @cached_property
    def shown(self) -> list[int]:
        """Positions of the columns that have a model."""
        return [j for j, model in enumerate(self.models) if model is not None]

    @cached_property
    def places(self) -> list[int]:
        """Return the columns that contribute: single columns, blocks and texts."""
        blocks = {j for block in self.family.blocks for j in block.columns}
        return sorted({*self.shown, *self.texts, *blocks} - self.family.not_given)

    @cached_property
    def _coded(self) -> list[tuple[int, CodedColumn]]:
        return [(j, model) for j, model in enumerate(self.models) if isinstance(model, CodedColumn)]

    @cached_property
    def _others(self) -> list[tuple[int, ColumnModel]]:
        pairs = ((j, model) for j, model in enumerate(self.models) if not isinstance(model, CodedColumn))
        return [(j, model) for j, model in pairs if model is not None]

    def scores(self, data: Columns, offset: Floats, kernels: Kernels) -> Floats:
        """Return the scores of rows, ``(rows, classes)``."""
        scores = self.added_up(data, lambda _, own: own, kernels)
        scores += offset
        for j, text in self.texts.items():
            scores += text.scores(data.texts_at(j), np.zeros_like(offset), kernels)
        return scores

    def added_up(self, data: Columns, change: Change, kernels: Kernels, columns: Sequence[int] | None = None) -> Floats:
        """Return the sum of ``change(place, scores)`` over columns and blocks, without those for which it is None.

        Places are positions in ``each_column``. The scores of a coded column are changed once per code, not once per
        row.
        """
        place = {j: i for i, j in enumerate(self.shown if columns is None else columns)}
        pairs = [(j, model, change(place[j], model.log_density())) for j, model in self._coded if j in place]
        used = [(j, model, table) for j, model, table in pairs if table is not None]
        out = _sum_of_tables(data, used, len(self.statistics.rows), kernels)
        for j, model in ((j, model) for j, model in self._others if j in place):
            _add(out, change(place[j], column_scores(model, data.columns[j])))
        for i, likelihood in enumerate(self.blocks):
            _add(out, change(len(place) + i, self._block_scores(i, likelihood, data, kernels)))
        return out

    def _block_scores(self, i: int, likelihood: Any, data: Columns, kernels: Kernels) -> Floats:
        from .table import block_data

        none = np.zeros(len(self.statistics.rows))
        return np.asarray(likelihood.scores(block_data(data, self.family.blocks[i]), none, kernels))

    def each_column(self, data: Columns, columns: Sequence[int], kernels: Kernels) -> Floats:
        """Return the scores of some columns, then of all blocks, ``(columns, rows, classes)``; 0 without a model."""
        out = np.zeros((len(columns) + len(self.blocks), data.n_rows, len(self.statistics.rows)))
        for scores, j in zip(out, columns, strict=False):
            model = self.models[j]
            if model is not None:
                scores[:] = column_scores(model, data.columns[j])
        for i, block in enumerate(self.blocks):
            out[len(columns) + i] = self._block_scores(i, block, data, kernels)
        return out

    def each_left_out(self, batch: Batch, columns: Sequence[int], kernels: Kernels) -> Floats:
        """Return ``each_column`` of training rows, each left out; class sizes stay fixed (``own_kept``)."""
        out = self.each_column(batch.data, columns, kernels)
        none = np.zeros(batch.n_classes)
        for scores, j in zip(out, columns, strict=False):
            model = self.models[j]
            if model is not None:
                own = _left_out(model, j, batch, keep_size=True)
                kernels.put_own(scores, batch.classes, batch.weight, own, none)
        for i in range(len(self.blocks)):
            out[len(columns) + i] = self._block_left_out(i, batch, kernels)
        return out

    def _block_left_out(self, i: int, batch: Batch, kernels: Kernels) -> Floats:
        from .table import block_data

        block, part = self.family.blocks[i], self.statistics.blocks[i]
        rows = batch._replace(data=block_data(batch.data, block))
        return block.family.left_out(rows, part, self.blocks[i], np.zeros(batch.n_classes), kernels).finite

    def own_left_out(self, batch: Batch, keep_sizes: bool, kernels: Kernels) -> Floats:
        """Return the left-out score of each row under its own class, ``(rows,)``; class sizes may stay fixed."""
        own = np.zeros(batch.data.n_rows)
        for j in self.shown:
            own += _left_out(self._model(j), j, batch, keep_size=keep_sizes)
        for i in range(len(self.blocks)):
            own += self._block_left_out(i, batch, kernels)[np.arange(len(own)), batch.classes]
        for j in self.texts:
            own += self._text_left_out(j, batch, kernels)[np.arange(len(own)), batch.classes]
        return own

    def _text_left_out(self, j: int, batch: Batch, kernels: Kernels) -> Floats:
        text, rows = self.texts[j], batch._replace(data=batch.data.texts_at(j))
        return text.family.left_out(rows, text.statistics, text, np.zeros(batch.n_classes), kernels).finite

    def _model(self, j: int) -> ColumnModel:
        model = self.models[j]
        assert model is not None
        return model

    def limits(self, data: Columns, kernels: Kernels) -> list[Floats]:
        return []

    def parts(self, data: Columns, kernels: Kernels) -> Parts:
        """Return the contributions of columns and blocks to the scores of one row; texts are explained by tokens."""
        from .table import block_data

        columns, finite = [np.array(self.shown, dtype=np.int64)], [self.each_column(data, self.shown, kernels)[:, 0]]
        finite[0] = finite[0][: len(self.shown)]
        for block, likelihood in zip(self.family.blocks, self.blocks, strict=True):
            found = likelihood.parts(block_data(data, block), kernels)
            columns.append(np.append(block.columns, REST)[found.columns])
            finite.append(found.finite)
        return Parts(np.concatenate(columns), np.concatenate(finite))

    def shrunk(self, data: Columns, kernels: Kernels) -> Floats:
        return self.scores(data, np.zeros(len(self.statistics.rows)), kernels) * _SHRINK

    def each(self, data: Columns, kernels: Kernels) -> Scores:
        """Return the score of row ``i`` under class ``i``."""
        scores = self.scores(data, np.zeros(len(self.statistics.rows)), kernels)
        return Scores(scores[np.arange(data.n_rows), np.arange(data.n_rows)])

    def log_base(self, data: Columns) -> Floats:
        return np.zeros(data.n_rows)

    def sample(self, classes: Positions, rng: np.random.Generator) -> list[Array]:
        """Return sampled cells of each column; columns without a model are missing."""
        columns = [_no_cells(kind, len(classes)) for kind in self.statistics.kinds]
        for j in self.shown:
            columns[j] = self._model(j).sample(classes, rng)
        for block, likelihood in zip(self.family.blocks, self.blocks, strict=True):
            for j, values in zip(block.columns, likelihood.sample(classes, rng).T, strict=True):
                columns[j] = values
        for j, text in self.texts.items():
            columns[j] = text.sample(classes, rng)
        return columns

    def expected(self, data: Columns, posterior: Floats) -> list[Array | None]:
        """Return the most likely content of the missing cells of each column; None for columns without any value."""
        guesses = []
        for j, model in enumerate(self.models):
            guesses.append(self._expected_without_model(j, posterior) if model is None else model.expected(posterior))
        return guesses

    def _expected_without_model(self, j: int, posterior: Floats) -> Array | None:
        """Return the expected content of a column without a separate model: dropped, or in a block."""
        kind, place = self.statistics.kinds[j], self.statistics.place(j)
        observed = self.statistics.observed(j)
        if not observed.any() or kind == "text":
            return None
        if kind == "category":
            share = self.statistics.categories.column(place) / np.maximum(observed, 1e-300)[:, None]
            return np.asarray(self.statistics.categories.labels[place][(posterior @ share).argmax(axis=1)])
        mean = self.statistics.moments.mean[:, place]
        usual = mean[observed.argmax()]
        return np.asarray(usual + posterior @ np.where(observed > 0, mean - usual, 0.0))

    def parameters(self) -> dict[str, Array]:
        parts = [(self._model(j).parameters(), np.array([j])) for j in self.shown]
        own = zip(self.family.blocks, self.blocks, strict=True)
        parts += [(likelihood.parameters(), np.array(block.columns)) for block, likelihood in own]
        parts += [(_named_tokens(text), np.array([j])) for j, text in self.texts.items()]
        tables = [{**table, "column": places[table["column"]]} for table, places in parts]
        none = {"class": np.zeros(0, dtype=np.int64), "column": np.zeros(0, dtype=np.int64)}
        names = list(dict.fromkeys(name for table in (none, *tables) for name in table))
        return {name: np.concatenate([_column(table, name) for table in (none, *tables)]) for name in names}


def _named_tokens(text: TextLikelihood) -> dict[str, Array]:
    """Return the parameters of one text column, with tokens as values."""
    found, coding = dict(text.parameters()), text.known.coding
    assert isinstance(coding, Vocabulary)
    tokens = np.array(coding.tokens(), dtype=object)[found["column"]]
    return found | {"column": np.zeros(len(tokens), dtype=np.int64), "value": tokens}


def _no_cells(kind: Kind, n_rows: int) -> Array:
    labels = kind in ("category", "text")
    return np.full(n_rows, None if labels else np.nan, dtype=object if labels else np.float64)


def column_scores(model: ColumnModel, column: Column) -> Floats:
    """Return scores, ``(rows, classes)``; 0 for cells that are not given, also if nulls are a value of the column."""
    scores = model.scores(column)
    return scores if column.absent is None else np.where(column.absent[:, None], 0.0, scores)


def _left_out(model: ColumnModel, j: int, batch: Batch, *, keep_size: bool) -> Floats:
    column = batch.data.columns[j]
    own = model.left_out(column, batch.classes, batch.weight, keep_size=keep_size)
    return own if column.absent is None else np.where(column.absent, 0.0, own)


def _sum_of_tables(
    data: Columns, used: list[tuple[int, CodedColumn, Floats]], n_classes: int, kernels: Kernels
) -> Floats:
    """Return the sum of the table rows selected by the codes of the columns."""
    if not used:
        return np.zeros((data.n_rows, n_classes))
    # One additional row for skipped cells.
    nothing = np.zeros((1, n_classes))
    parts = np.concatenate([part for _, _, table in used for part in (table, nothing)])
    offsets = np.concatenate([[0], np.cumsum([len(table) + 1 for _, _, table in used])]).astype(np.int64)
    codes = coded(data, [(j, model) for j, model, _ in used], kernels)
    return kernels.code_scores(codes, offsets, PickTable(parts), np.zeros(n_classes))


def _add(total: Floats, part: Floats | None) -> None:
    if part is not None:
        total += part


def coded(data: Columns, used: list[tuple[int, CodedColumn]], kernels: Kernels) -> Dense:
    """Return the codes of some columns; negative for cells without a code."""
    codes = np.empty((data.n_rows, len(used)), dtype=np.int32)
    numbers = [(i, j, model) for i, (j, model) in enumerate(used) if model.cuts is not None]
    if numbers:
        cells = Dense.of(tuple(data.columns[j].values for _, j, _ in numbers))
        found = kernels.cell_codes(cells, [cuts for _, _, model in numbers if (cuts := model.cuts) is not None])
        for k, (i, _, model) in enumerate(numbers):
            missing = -1 if model.missing is None else model.missing
            codes[:, i] = np.where(found[:, k] < 0, missing, found[:, k])
    for i, (j, model) in enumerate(used):
        if model.cuts is None:
            codes[:, i] = model.codes(data.columns[j])
    for i, (j, _) in enumerate(used):
        if (absent := data.columns[j].absent) is not None:
            codes[absent, i] = -1
    return Dense.of(codes)


def _column(part: dict[str, Array], name: str) -> Array:
    n = len(part["class"])
    return part[name] if name in part else np.full(n, np.nan)
