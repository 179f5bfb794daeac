"""The family of a table: one model per column, and joint models of blocks of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data.columns import Column, Columns
from ..data.table import table_of
from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.kernels import single_threaded_blas
from ..kernels.layouts import Array, Dense, Floats
from ..lazy import dataclass
from ..priors import Estimate
from ..statistics import CategoryCounts, Moments
from ..statistics.grid import Grid
from ..statistics.kept_rows import MixedRows, parted
from ..statistics.table import TableStatistics
from ..statistics.texts import TextStatistics
from .base import Batch, Family, Plain, Scores, put_own
from .columns import ColumnModel, candidates_for_categories, candidates_for_numbers, choose, named_column
from .columns.base import in_rows
from .columns.choose import note_on_ranks, reason_to_drop
from .columns.histogram import gain, log_shares
from .table_likelihood import TableLikelihood, column_scores
from .text import TextFamily
from .text_likelihood import TextLikelihood

# The note on a column that is not used because it is absent in the rows to predict.
NOT_GIVEN = "not given"


class ColumnSpec(NamedTuple):
    """The family of one column: "auto", its name, or "ignore"; and its options."""

    family: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()


class Block(NamedTuple):
    """Columns with a joint model."""

    columns: tuple[int, ...]
    family: Family


class Choice(NamedTuple):
    """The model chosen for a column, a note on the reason, and the losses of all families that were tried."""

    model: ColumnModel | None  # None: dropped, or texts
    note: str
    losses: dict[str, float]
    text: TextFamily | None = None
    held_out: Floats | None = None  # losses of all candidates on left-out groups


class HeldOut(NamedTuple):
    """Held-out rows, and the statistics of all other training rows."""

    batch: Batch
    rest: TableStatistics


@dataclass(frozen=True)
class TableFamily(Plain):
    """A family for each column, chosen by exact leave-one-out loss in ``resolve``."""

    names: tuple[Any, ...]
    column_specs: tuple[ColumnSpec, ...]
    blocks: tuple[Block, ...] = ()
    missing: str = "auto"  # or "ignore", "category", "error"
    unseen: str = "ignore"
    alpha: float | None = None
    text: TextFamily | None = None  # the family of text columns, if there are any
    keep_sizes: bool = False  # whether class sizes stay fixed when rows are left out
    # The losses of each column's candidates on left-out groups, if the rows of the groups are no longer kept.
    held_out_losses: tuple[Floats | None, ...] | None = None
    choices: tuple[Choice, ...] | None = None
    source: TableStatistics | None = None  # the statistics that the choices are based on

    statistic: ClassVar[type[TableStatistics]] = TableStatistics
    of_table: ClassVar[bool] = True
    separate: ClassVar[bool] = True
    estimate: ClassVar[Estimate] = "mean"
    prior: ClassVar[None] = None

    def observe(self, batch: Batch, kernels: Kernels) -> TableStatistics:
        data, rows = batch.data, batch.row_weight()
        _refuse_odd_weights(float(rows.sum()))
        if self.missing == "error":
            _refuse_missing(data)
        numbers = [column.values for column in data.columns if column.kind == "number"]
        cells = Dense(tuple(numbers), data.n_rows, len(numbers), data.first_row, _names(data, "number"))
        how = batch.classes, batch.weight, batch.n_classes
        moments = Moments(rows, *kernels.moments(cells, *how)) if numbers else _no_moments(rows)
        grid = Grid.observe(cells, *how, kernels) if numbers else _no_grid(rows)
        blocks = tuple(
            block.family.observe(batch._replace(data=block_data(data, block)), kernels) for block in self.blocks
        )
        kinds = tuple(column.kind for column in data.columns)
        counts, texts = _categories(batch, rows, kernels), tuple(self._observe_texts(batch, kernels))
        return TableStatistics(rows, _squares(batch, rows), self.names, kinds, moments, grid, counts, blocks, texts)

    def _observe_texts(self, batch: Batch, kernels: Kernels) -> Iterator[TextStatistics]:
        for j, texts in batch.data.texts().items():
            assert self.text is not None
            known = np.flatnonzero(~np.isnan(batch.data.columns[j].values))
            yield self.text.observe(batch._replace(data=texts).take(known), kernels)

    def restored(self, data: Dense | MixedRows, statistics: TableStatistics) -> Columns:
        """Return rows of a sample as a table."""
        cells, texts = parted(data)
        assert isinstance(cells, Dense)
        return table_of(cells, statistics.kinds, self.names, texts)

    @single_threaded_blas()
    def resolve(self, statistics: TableStatistics, held_out: Sequence[HeldOut] = ()) -> TableFamily:
        """Return the family with column models chosen by leave-one-out, or by held-out groups."""
        if self.choices is not None:
            return self
        shared = log_shares(statistics.rows), statistics.row_weight, held_out
        choices = tuple(self._choice(statistics, j, *shared) for j in range(len(self.names)))
        blocks = tuple(
            block._replace(family=block.family.resolve(part))
            for block, part in zip(self.blocks, statistics.blocks, strict=True)
        )
        return replace(self, choices=choices, blocks=blocks, source=statistics)

    def for_sums(self, statistics: TableStatistics) -> TableFamily:
        """Return the family with the same choices for updated statistics; text columns are resolved again."""
        if statistics is self.source:
            return self
        assert self.choices is not None
        texts = {j: statistics.texts[statistics.place(j)] for j, kind in enumerate(statistics.kinds) if kind == "text"}

        def now(j: int, choice: Choice) -> Choice:
            if choice.text is not None and self.text is not None:
                return choice._replace(text=self.text.resolve(texts[j]))
            # Models of the updated statistics; those they were chosen from are not kept.
            model = choice.model
            return choice if model is None else choice._replace(model=model.again(**self._parts(statistics, j)))

        return replace(self, choices=tuple(now(j, choice) for j, choice in enumerate(self.choices)), source=statistics)

    def _choice(
        self, statistics: TableStatistics, j: int, log_prior: Floats, row: Floats, held_out: Sequence[HeldOut]
    ) -> Choice:
        column_spec, kind = self.column_specs[j], statistics.kinds[j]
        if any(j in block.columns for block in self.blocks):
            return Choice(None, "in a block", {})
        if column_spec.family == "ignore":
            return Choice(None, "ignored by request", {})
        if kind == "missing" or not statistics.rows.any():
            return Choice(None, "only missing values", {})
        if kind == "text":
            assert self.text is not None
            note = "by request" if column_spec.family == "text" else ""
            return Choice(None, note, {}, self.text.resolve(statistics.texts[statistics.place(j)]))
        if column_spec.family == "auto":
            reason = reason_to_drop(statistics, j)
            dropped = reason and not self._missing_may_be_informative(statistics, j)
            if dropped and kind == "category":
                return Choice(None, reason, {})  # possibly a million values, each in a single row
            best = self._best(statistics, j, log_prior, row, held_out)
            gained = gain(statistics.rows, min(best.losses.values()))
            return Choice(None, reason + note_on_ranks(gained), {}) if dropped else best
        # Options of a column take precedence over settings of the table.
        parts = self._parts(statistics, j) | dict(column_spec.options)
        model = named_column(column_spec.family, **parts, name=self.names[j], log_prior=log_prior, row=row)
        held = self._losses([model], j, log_prior, held_out)
        loss = model.class_loss(log_prior, row) if held is None else held[0]
        return Choice(model, "by request", {column_spec.family: float(loss)}, held_out=held)

    def _missing_may_be_informative(self, statistics: TableStatistics, j: int) -> bool:
        """Return whether missing cells may be informative: some cells are missing and some are not."""
        seen = statistics.observed(j).sum()
        return self.missing in ("auto", "category") and 0 < seen < statistics.rows.sum() * (1 - 1e-12)

    def _best(
        self, statistics: TableStatistics, j: int, log_prior: Floats, row: Floats, held_out: Sequence[HeldOut]
    ) -> Choice:
        make: Any = candidates_for_numbers if statistics.kinds[j] == "number" else candidates_for_categories
        models = make(**self._parts(statistics, j))
        if self.alpha is None:
            # Pseudo-counts are numbers of rows, and the mean weight of a row may differ from 1.
            models = [
                in_rows(model, float(statistics.rows @ row) / max(statistics.rows.sum(), 1e-300)) for model in models
            ]
        held = self._losses(models, j, log_prior, held_out)
        model, losses = choose(models, log_prior, row, held)
        return Choice(model, "", losses, held_out=held)

    def _losses(
        self, models: Sequence[ColumnModel], j: int, log_prior: Floats, held_out: Sequence[HeldOut]
    ) -> Floats | None:
        """Return the class log-loss of models of a column on left-out groups, with fixed cuts and widths.

        None if there are no groups.
        """
        if not held_out:
            known = None if self.held_out_losses is None else self.held_out_losses[j]
            return known if known is not None and len(known) == len(models) else None
        total, weight = np.zeros(len(models)), 0.0
        for batch, rest in held_out:
            parts, column, own = self._parts(rest, j), batch.data.columns[j], batch.classes
            of_row = np.ones(len(own)) if batch.weight is None else batch.weight
            weight += float(of_row.sum())
            for i, model in enumerate(models):
                joint = column_scores(model.again(**parts), column) + log_prior
                total[i] += float(of_row @ (np.logaddexp.reduce(joint, axis=1) - joint[np.arange(len(own)), own]))
        return np.nan_to_num(total / weight, nan=np.inf)

    def _parts(self, statistics: TableStatistics, j: int) -> dict[str, Any]:
        """Return the statistics from which the models of a column are built."""
        place, missing = statistics.place(j), np.maximum(statistics.rows - statistics.observed(j), 0.0)
        how = {"missing": missing, "treat_missing": self.missing, "alpha": self.alpha}
        if statistics.kinds[j] == "number":
            return {"cells": statistics.grid.column(place), "moments": statistics.moments.only(place), **how}
        labels, count = statistics.categories.labels[place], statistics.categories.column(place)
        return {"labels": labels, "count": count, "unseen": self.unseen, **how}

    def likelihood(self, statistics: TableStatistics) -> TableLikelihood:
        resolved = self.resolve(statistics)
        assert resolved.choices is not None
        models = tuple(choice.model for choice in resolved.choices)
        if statistics is not resolved.source:
            again = (model and model.again(**resolved._parts(statistics, j)) for j, model in enumerate(models))
            models = tuple(again)
        blocks = tuple(
            block.family.likelihood(part) for block, part in zip(resolved.blocks, statistics.blocks, strict=True)
        )
        return TableLikelihood(statistics, resolved, models, blocks, resolved._text_likelihoods(statistics))

    def _text_likelihoods(self, statistics: TableStatistics) -> dict[int, TextLikelihood]:
        """Return the likelihoods of the text columns by position."""
        families = ((j, choice.text) for j, choice in enumerate(self.choices or ()))
        return {
            j: family.likelihood(statistics.texts[statistics.place(j)]) for j, family in families if family is not None
        }

    def left_out(
        self, batch: Batch, statistics: TableStatistics, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        finite = likelihood.scores(batch.data, offset, kernels)
        return put_own(
            finite, [], batch, Scores(likelihood.own_left_out(batch, self.keep_sizes, kernels)), offset, kernels
        )

    def with_held_out_losses(self, chosen: TableFamily) -> TableFamily:
        """Return the family with the losses that the choices of ``chosen`` are based on, if its rows were in groups."""
        losses = tuple(choice.held_out for choice in chosen.choices or ())
        return self if all(each is None for each in losses) else replace(self, held_out_losses=losses)

    def without(self, columns: frozenset[int]) -> TableFamily:
        """Return the family without some columns, after models were chosen."""
        assert self.choices is not None
        choices = (Choice(None, NOT_GIVEN, {}) if j in columns else own for j, own in enumerate(self.choices))
        return replace(self, choices=tuple(choices))

    @property
    def not_given(self) -> frozenset[int]:
        """Return the columns with the note ``NOT_GIVEN``."""
        return frozenset(j for j, choice in enumerate(self.choices or ()) if choice.note == NOT_GIVEN)

    def for_choices(self) -> TableFamily:
        return replace(self, keep_sizes=True)

    def only(self, j: int) -> TableFamily:
        choices = None if self.choices is None else (self.choices[j],)
        losses = None if self.held_out_losses is None else (self.held_out_losses[j],)
        return replace(
            self, names=(self.names[j],), column_specs=(self.column_specs[j],), blocks=(), held_out_losses=losses,
            choices=choices, source=None,
        )  # fmt: skip

    def among(self, names: tuple[Any, ...]) -> TableFamily:
        """Return the family of some columns, each modeled separately."""
        column_specs = tuple(self.column_specs[self.names.index(name)] for name in names)
        return replace(
            self, names=names, column_specs=column_specs, blocks=(), held_out_losses=None, choices=None, source=None
        )

    def with_alpha(self, alpha: float | Floats) -> TableFamily:
        return replace(self, alpha=float(np.max(alpha)), choices=None, source=None)

    def for_novelty(self) -> TableFamily:
        column_specs = tuple(
            column_spec._replace(options=tuple(_options_except_unseen(column_spec)))
            for column_spec in self.column_specs
        )
        if self.unseen == "smooth" and column_specs == self.column_specs:
            return self
        return replace(self, unseen="smooth", column_specs=column_specs, choices=None, source=None)

    def intervals(self, statistics: Any, level: float) -> Any:
        raise ParameterError(
            "intervals are not available for a table whose families were selected from the data; use "
            "an estimator with a single family"
        )

    def log_marginal_likelihood(self, statistics: Any) -> Floats:
        raise ParameterError(
            "the marginal likelihood is not available for families selected by leave-one-out; compare models with "
            "loo_ or candide.select"
        )

    def score_variance(self, data: Any, statistics: Any, kernels: Kernels) -> Floats:
        raise ParameterError(
            "the posterior variance is not available for a table whose families were selected from "
            "the data; use an estimator with a single family"
        )

    def n_parameters(self, statistics: TableStatistics) -> int:
        made = self.likelihood(statistics)
        own = sum(model.n_parameters for model in made.models if model is not None)
        own += sum(text.family.n_parameters(text.statistics) for text in made.texts.values())
        return own + sum(
            block.family.n_parameters(part) for block, part in zip(made.family.blocks, statistics.blocks, strict=True)
        )


def _options_except_unseen(column_spec: ColumnSpec) -> Iterator[tuple[str, Any]]:
    return ((option, value) for option, value in column_spec.options if option != "unseen")


def block_data(data: Columns, block: Block) -> Dense:
    """Return the numbers of a block of columns."""
    odd = [(data.name(j), kind) for j in block.columns if (kind := data.columns[j].kind) in ("category", "text")]
    if odd:
        name, kind = odd[0]
        what = "texts" if kind == "text" else "categories"
        raise InputError(f"{name} contains {what}, but is part of a block of numbers; remove it from the block")
    names = tuple(data.columns[j].name for j in block.columns)
    values = tuple(_numbers_given(data.columns[j]) for j in block.columns)
    return Dense(values, data.n_rows, len(values), data.first_row, names)


def _numbers_given(column: Column) -> Array:
    """Return the numbers of a column; NaN for cells that are not given."""
    return column.values if column.absent is None else np.where(column.absent, np.nan, column.values)


def _names(data: Columns, kind: str) -> tuple[Any, ...]:
    return tuple(column.name for column in data.columns if column.kind == kind)


def _squares(batch: Batch, rows: Floats) -> Floats:
    if batch.weight is None:
        return rows
    return np.bincount(batch.classes, batch.weight**2, minlength=batch.n_classes).astype(np.float64, copy=False)


def _no_moments(rows: Floats) -> Moments:
    none = np.zeros((len(rows), 0))
    return Moments(rows, none, none, none)


def _no_grid(rows: Floats) -> Grid:
    from scipy.sparse import csr_array

    none = np.zeros(0, dtype=np.int64)
    return Grid(rows, np.zeros(1, dtype=np.int64), none.astype(np.uint64), none, csr_array((0, len(rows))))


def _categories(batch: Batch, rows: Floats, kernels: Kernels) -> CategoryCounts:
    columns = [column for column in batch.data.columns if column.kind == "category"]
    labels = tuple(column.labels for column in columns)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in labels])]).astype(np.int64)
    if not columns:
        return CategoryCounts(rows, (), np.zeros((len(rows), 0)))
    codes = Dense.of(tuple(column.values for column in columns))
    count = kernels.count_codes(codes, batch.classes, batch.weight, batch.n_classes, offsets)
    return CategoryCounts.of(rows, labels, count)


def _refuse_odd_weights(total: float) -> None:
    # Squares and products of weights must not overflow.
    if total > 0 and not 1e-100 < total < 1e100:
        raise InputError(
            f"the weights of the rows sum to {total:g}; expected a sum between 1e-100 and 1e100; rescale sample_weight"
        )


def _refuse_missing(data: Columns) -> None:
    for j, column in enumerate(data.columns):
        missing = column.values < 0 if column.kind == "category" else np.isnan(column.values.astype(np.float64))
        if missing.any():
            row = data.first_row + int(missing.argmax())
            raise InputError(
                f"{data.name(j)} is missing at row {row}, and missing='error' does not allow that; fill in the value, "
                "or pass missing='auto'"
            )
