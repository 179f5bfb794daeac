"""A column by a family of distributions with few parameters, such as the normal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...data.columns import Column
from ...kernels import Kernels
from ...kernels.layouts import Array, Dense, Floats, Positions
from ...lazy_dataclass import dataclass
from ...statistics import Counts, Moments
from ...statistics.grid import Cells
from ..base import CELLS, Batch
from ..gaussian import Gaussian
from ..poisson import Poisson
from .changes import Change, Same, moments_of
from .losses import log_rest, loss_of_nothing, size_kept, weighted_losses
from .stretches import Numbers, middles, seen_of


@dataclass(frozen=True, eq=False)
class ParametricColumn:
    """log p(x | class) of a settled ``Gaussian`` or ``Poisson`` of numbers on a changed scale, as a density of x.

    Cells stand for their middles where rows are asked one by one: in ``class_loss``, and in the parameters on a scale
    that is not the numbers' own. Numbers that the scale does not allow say nothing, as missing ones.
    """

    family: str
    source: Gaussian | Poisson
    change: Change
    cells: Cells
    moments: Moments  # on the numbers' own scale
    ignored: Floats  # (classes,) weight of missing cells

    @cached_property
    def statistics(self) -> Moments | Counts:
        """What the family reads."""
        if isinstance(self.source, Poisson):
            weight = self.moments.weight
            return Counts(weight[:, 0], np.maximum(weight * self.moments.mean, 0.0), None)
        return self.moments if isinstance(self.change, Same) else moments_of(self._middles, self.cells.count)

    @cached_property
    def _middles(self) -> Floats:
        return self.change(middles(self.cells))

    @cached_property
    def likelihood(self) -> Any:
        return self.source.likelihood(self.statistics)  # type: ignore[arg-type]

    @property
    def n_parameters(self) -> int:
        return self.source.n_parameters(self.statistics)  # type: ignore[arg-type]

    def describe(self) -> str:
        name, values = ("rate", self.likelihood.rate) if self.family == "poisson" else ("mean", self.likelihood.mean)
        shape = f"power {self.change.power:.2g}, " if self.family == "power" else ""  # type: ignore[attr-defined]
        return f"{shape}{name} {np.nanmin(values):.3g} … {np.nanmax(values):.3g}"

    def scores(self, column: Column) -> Floats:
        x = _numbers(column)
        data = self._changed(x)
        return np.asarray(self.likelihood.scores(data, np.zeros(len(self.ignored)), Kernels()) + self._base(x, data))

    def left_out(self, column: Column, classes: Positions, weight: Floats | None, *, keep_size: bool = False) -> Floats:
        x, n_classes, out = _numbers(column), len(self.ignored), np.zeros(len(column.values))
        data = self._changed(x)
        known = np.flatnonzero(~np.isnan(data.floats()[:, 0]))
        batch = Batch(data, classes, weight, n_classes)
        for begin, end in _stretches(len(known), n_classes):
            rows = known[begin:end]
            part = batch.take(rows)
            out[rows] = self._left_out(part, np.zeros(n_classes))[np.arange(len(rows)), part.classes]
        if keep_size:
            own = self.cells.count.sum(axis=0)[classes[known]]
            out[known] += size_kept(own, 1.0 if weight is None else weight[known])
        return out + self._base(x, data)[:, 0]

    def _changed(self, x: Floats) -> Dense:
        return Dense(self.change(x)[:, None], len(x), 1)

    def _base(self, x: Floats, data: Dense) -> Floats:
        """What is the same for all classes, ``(rows, 1)``."""
        base = self.likelihood.log_base(data) + self.change.log_slope(x)
        return np.where(np.isnan(data.floats()), 0.0, base[:, None])

    def _left_out(self, batch: Batch, offset: Floats) -> Floats:
        return self.source.left_out(batch, self.statistics, self.likelihood, offset, Kernels()).finite  # type: ignore[arg-type]

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        weight = self.cells.count.sum() + self.ignored.sum()
        own_prior = log_prior + size_kept(self.cells.count.sum(axis=0), row)
        whole = self.loss_of_known(log_prior, own_prior, row) + loss_of_nothing(self.ignored, log_prior)
        return whole / max(float(weight), 1e-300)

    def loss_of_known(self, log_prior: Floats, own_prior: Floats, row: float | Floats) -> float:
        """The summed loss of all known cells; ``own_prior`` is what the prior of a row's own class is without it."""
        at, classes = np.nonzero(self.cells.count)
        weight, x = self.cells.count[at, classes], self._middles[at]
        gone = np.minimum(self.cells.count, row)[at, classes]
        total = 0.0
        for begin, end in _stretches(len(at), len(log_prior)):
            own = classes[begin:end].astype(np.int32)
            rows = np.arange(end - begin), own
            some = weight[begin:end]
            one = gone[begin:end]
            batch = Batch(
                Dense(x[begin:end, None], end - begin, 1), own, None if (one == 1.0).all() else one, len(log_prior)
            )
            joint = self._left_out(batch, log_prior)
            joint[rows] += (own_prior - log_prior)[own]
            total += float(weighted_losses(log_rest(joint, own), joint[rows], some).sum())
        return total

    def again(self, **parts: Any) -> Self:
        seen = seen_of(**parts)
        assert isinstance(seen, Numbers)
        return replace(self, cells=seen.cells, moments=known_moments(seen), ignored=seen.missing)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        return self.change.inverse(self.likelihood.sample(classes, rng)[:, 0])

    def expected(self, posterior: Floats) -> Array:
        """The mean of the numbers themselves, whatever the scale."""
        mean, seen = self.moments.mean[:, 0], self.moments.weight[:, 0] > 0
        return np.asarray(posterior @ np.where(seen, mean, self.moments.pooled()[1]))

    def parameters(self) -> dict[str, Array]:
        return dict(self.likelihood.parameters())


def known_moments(seen: Numbers) -> Moments:
    """The moments of a column as if its missing cells were no rows."""
    return replace(seen.moments, rows=seen.moments.weight[:, 0])


def _numbers(column: Column) -> Floats:
    if column.kind == "category":
        return np.full(len(column.values), np.nan)
    return np.asarray(column.values, dtype=np.float64)


def _stretches(n_rows: int, n_classes: int) -> Iterator[tuple[int, int]]:
    """Rows whose scores under all classes fit into memory."""
    step = max(1, CELLS // max(1, n_classes))
    return ((begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step))
