"""The stacked views of a table as tensors: columns, their sum, and views of dependences, each with its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Array, Floats
from ...stacking.binning import ClippedCoordinates, Coordinates, MergedCodes, RankCoordinates, TableBinning
from ...stacking.cell_regression import CellRegression
from ...stacking.covariance import Covariance, marginal_patterns
from ...stacking.dependence import JointSlots, OneDependence, TwoDependence
from ...stacking.fourier_regression import FourierRegression
from ...stacking.stacked_views import StackedViews
from ...stacking.weights import MAX_SCORE, StackingWeights
from .tensor import Cells, Tensor, added, concatenated, cut_places, filled, log_sum
from .terms import TableScores, Unweighted, refuse_texts

# Maximum number of cells of the scale matrices in a graph, and of those that a single row uses.
_MOST_CELLS, _CELLS_OF_ROW = 1 << 17, 1 << 10


def stacked_scores(
    views: StackedViews, likelihood: TableLikelihood, cells: Cells, log_prior: Floats, silent: Callable[[], Tensor]
) -> Tensor:
    """Scores of rows, ``(rows, classes)``; ``silent`` makes those of a model in which nothing has a weight."""
    mixture, partial, single = views.weights, views.weights_for_partial_rows(), views.n_single
    texts = enumerate(views.texts, views.n_views - len(views.texts))
    refuse_texts(likelihood, (text.column for i, text in texts if views.is_used(i)))
    own_views = {j: i for i, j in enumerate(views.columns) if views.is_used(single) or views.is_used(i)}
    columns = TableScores(likelihood, cells, own_views, len(views.columns), views.binning.nulls)
    binned = _BinnedCells(views.binning, cells)
    shares = _Shares.of(views, likelihood, binned, cells)
    weights = mixture.weight, partial.near, partial.far
    parts = [shares.times(i, columns.added_up(_Weights(replace(mixture, weight=own)))) for i, own in enumerate(weights)]
    used = [(i, _of_view(view, binned)) for i, view in enumerate(views.views, single + 1) if views.is_used(i)]
    whole = columns.added_up(Unweighted()) if views.is_used(single) else None
    used += [] if whole is None else [(single, whole)]
    parts += [_shown(mixture, i, scores) * shares.of_rows(*(own[i] for own in weights)) for i, scores in used]
    known = [part for part in parts if part is not None]
    far = partial.biases(np.zeros(1), log_prior)[0]
    scores: Tensor = (added(known) if known else silent()) + shares.of_rows(mixture.bias, partial.bias, far)
    return scores


class _Shares:
    """What the three weights of a view are multiplied by: of complete rows, and of others, where almost all columns are
    given and where almost none is.
    """

    def __init__(self, lacking: Tensor | None, n_columns: int) -> None:
        self._parts: list[Tensor] | None = None
        if lacking is not None:
            whole, share = lacking.equals(np.array(0.0)), lacking / float(n_columns)
            others = (whole.where(0.0, 1.0 - share), whole.where(0.0, share))
            self._parts = [whole.of_type(np.float64), *others]

    @classmethod
    def of(cls, views: StackedViews, likelihood: TableLikelihood, binned: _BinnedCells, cells: Cells) -> _Shares:
        places = views.column_places(likelihood)
        shown, nulls = {column.column for column in views.binning.columns}, views.binning.nulls
        parts = [] if binned.lacks is None else [binned.lacks]
        others = [j for j in places if j not in shown and nulls is not None and not nulls[j]]
        if others:
            parts.append(cells.several(others).is_nan().of_type(np.float64))
        lacking = added([part.sum(1, keep=True) for part in parts]) if parts else None
        return cls(lacking, len(places))

    def times(self, place: int, scores: Tensor | None) -> Tensor | None:
        """Scores by one of the weights, as far as it counts."""
        if self._parts is None:
            return scores if place == 0 else None
        return None if scores is None else scores * self._parts[place]

    def of_rows(self, whole: Floats, near: Floats, far: Floats) -> Any:
        """``(rows, classes)``, or ``(classes,)`` for all rows."""
        if self._parts is None or (np.array_equal(whole, near) and np.array_equal(near, far)):
            return np.asarray(whole)
        return added([part * np.asarray(own) for part, own in zip(self._parts, (whole, near, far), strict=True)])


class _Weights:
    """Each column and block as the mixture weighs it."""

    def __init__(self, mixture: StackingWeights) -> None:
        self._mixture = mixture

    def of_codes(self, place: int, table: Floats) -> Floats | None:
        return self._mixture.weighted(place, table)

    def of_rows(self, place: int, scores: Callable[[], Tensor]) -> Tensor | None:
        weight = np.asarray(self._mixture.weight[place])
        return _shown(self._mixture, place, scores()) * weight if weight.any() else None


def _shown(mixture: StackingWeights, view: int, scores: Tensor) -> Tensor:
    """A view's scores as weights are applied to them: ``StackingWeights.shown``."""
    limit = float(mixture.limit[view])
    known = scores.at_least(-MAX_SCORE).at_most(MAX_SCORE)
    shown = (known - known.mean(1)) / float(mixture.scale[view])
    return shown.at_least(-limit).at_most(limit)


class _BinnedCells:
    """Rows in the form that views read; computed on first use."""

    def __init__(self, binning: TableBinning, cells: Cells) -> None:
        self._columns, self._cells, self._nulls = binning.columns, cells, binning.nulls
        self.number_columns = binning.number_columns

    def with_binning(self, binning: TableBinning) -> _BinnedCells:
        """The same cells with other codes."""
        return _BinnedCells(binning, self._cells)

    @cached_property
    def numbers(self) -> Tensor:
        """``(rows, number columns)``."""
        return self._cells.several([column.column for column in self._columns if column.is_number])

    @cached_property
    def may_lack(self) -> Array:
        """The columns in which nulls are cells that are not given."""
        nulls = self._nulls
        return np.array([nulls is not None and not nulls[c.column] for c in self._columns], dtype=bool)

    @cached_property
    def lacks(self) -> Tensor | None:
        """``(rows, columns)``, 1 where a cell is not given, else 0; None where that cannot be."""
        if not self.may_lack.any():
            return None
        missing = np.array([c.size if lack else -1 for c, lack in zip(self._columns, self.may_lack, strict=True)])
        return self.codes.equals(missing.astype(np.int64)).of_type(np.float64)

    @cached_property
    def codes(self) -> Tensor:
        """``(rows, columns)``: after the codes of a column come those of missing and of unseen cells."""
        parts = [self._cells.places(c.column, c.labels) for c in self._columns if c.labels is not None]
        cuts = [(column.cuts, column.size) for column in self._columns if column.cuts is not None]
        if cuts:
            parts.append(cut_places(self.numbers, *zip(*cuts, strict=True)))
        order = np.argsort([column.is_number for column in self._columns], kind="stable")
        found = concatenated(parts)
        return found if (np.diff(order) > 0).all() else found.columns(np.argsort(order))

    def slots(self, merging: MergedCodes) -> Tensor:
        """``MergedCodes.slots``."""
        slot_of, begins = merging.one_map
        slots = (self.codes.columns(merging.columns) + begins.astype(np.int64)).picks(slot_of.astype(np.int64))
        if not self.may_lack[merging.columns].any():
            return slots
        assert self.lacks is not None
        return (self.lacks.columns(merging.columns) > np.array(0.0)).where(np.int64(-1), slots)

    def points(self, coordinates: Coordinates) -> Tensor:
        """``Coordinates.points``."""
        if isinstance(coordinates, RankCoordinates):
            places, begins = coordinates.joined
            return (self.codes.columns(coordinates.columns) + begins).picks(places)
        assert isinstance(coordinates, ClippedCoordinates)
        numbers = filled(self.numbers.columns(coordinates.columns), coordinates.mean)
        return (numbers.at_least(coordinates.low).at_most(coordinates.high) - coordinates.mean) / coordinates.deviation


def _of_view(view: Any, binned: _BinnedCells) -> Tensor:
    if type(view) not in _VIEWS:
        raise ParameterError(f"the view {view.name!r} is not supported in ONNX; train the model with order=0")
    made: Tensor = _VIEWS[type(view)](view, binned)
    return made


def _one_dependence(view: OneDependence, binned: _BinnedCells) -> Tensor:
    slots, some = binned.slots(view.merged), bool(binned.may_lack[view.merged.columns].any())
    return _joint(slots, slots, len(view.merged.columns), view.log_table, len(view.table.rows), lacking=some)


def _two_dependence(view: TwoDependence, binned: _BinnedCells) -> Tensor:
    slots = binned.slots(view.one.merged)
    some = bool(binned.may_lack[view.one.merged.columns].any())
    parents = _joint_slots(view.joint, slots)
    if some:
        one, other = view.joint.columns.T
        given = (slots.columns(one) >= np.int64(0)) & (slots.columns(other) >= np.int64(0))
        parents = given.where(parents, np.int64(-1))
    return _joint(parents, slots, len(view.joint.columns), view.log_table, len(view.one.table.rows), lacking=some)


def _joint_slots(joint: JointSlots, slots: Tensor) -> Tensor:
    """``JointSlots.of``."""
    one, other = joint.columns.T
    sizes, offsets = joint.merged.sizes, joint.merged.offsets
    begins = np.asarray(joint.offsets[:-1] - offsets[one] * sizes[other] - offsets[other])
    return slots.columns(one) * np.asarray(sizes[other]) + slots.columns(other) + begins


def _joint(parents: Tensor, slots: Tensor, n_parents: int, table: Floats, n_classes: int, *, lacking: bool) -> Tensor:
    """log of the mean over parents of exp of what all columns add beside each; ``lacking``: some may be -1."""
    n_slots, rows = table.shape[1], np.ascontiguousarray(table[:, :, :n_classes]).reshape(-1, n_classes)
    if lacking:
        there = (slots >= np.int64(0)).of_type(np.float64).with_axis(2)
        given = (parents >= np.int64(0)).of_type(np.float64)
        parents, slots = parents.at_least(np.int64(0)), slots.at_least(np.int64(0))
    # Parent by parent: cells of all pairs at once would take a great deal of memory.
    cells = [(parents.columns(_at(u)) * n_slots + slots).picks(rows) for u in range(n_parents)]
    if not lacking:
        sums = [each.sum(1, keep=True) for each in cells]
        return log_sum(concatenated(sums), 1).sum(1) - float(np.log(n_parents))
    sums = [(each * there).sum(1, keep=True) for each in cells]
    known = (given.with_axis(2) > np.array(0.0)).where(concatenated(sums), -np.inf)
    number = given.sum(1, keep=True)
    mean = log_sum(known, 1).sum(1) - number.at_least(1.0).log()
    return (number > np.array(0.0)).where(mean, 0.0)


def _at(place: int) -> Array:
    return np.array([place])


def _covariance(view: Covariance, binned: _BinnedCells) -> Tensor:
    columns = view.coordinates.code_columns(binned.number_columns)
    if binned.may_lack[columns].any():
        return _marginals(view, columns, binned)
    whitening = np.stack([factor.whitening for factor in view.factors])
    away = (binned.points(view.coordinates).with_axis(0) - view.means[:, None, :]) @ whitening
    log_determinant = np.array([factor.log_determinant for factor in view.factors])
    freedom, shrink, constant = map(np.asarray, view.size(view.moments.weight))
    tail = (away.square().sum(2).transposed() * shrink + 1.0).log() * freedom
    return (tail + log_determinant) * -0.5 + constant


def _marginals(view: Covariance, columns: Array, binned: _BinnedCells) -> Tensor:
    """Rows that lack columns have the distribution of the others, for each set of columns that there is room for one of
    its own; other rows have no score, which is NaN.
    """
    n_classes, n_columns = view.means.shape
    max_cells = _MOST_CELLS if n_classes * n_columns**2 <= _CELLS_OF_ROW else 0
    given = np.array(marginal_patterns(view.moments.scatter.size, binned.may_lack[columns], max_cells))
    made = view.marginals(given)
    assert binned.lacks is not None
    absent = binned.lacks.columns(columns)
    at, there = _pattern(absent, given)
    points = binned.points(view.coordinates) * (1.0 - absent)
    means = np.where(given[:, None], view.means, 0.0)
    away = (points.with_axis(1) - at.picks(means)).with_axis(2) @ at.picks(made.whitening)
    sizes = [view.size(view.moments.weight, int(number)) for number in given.sum(axis=1)]
    freedom, shrink, constant = (np.array([np.asarray(part[i]) for part in sizes]) for i in range(3))
    square = away.square().sum(3).sum(2)
    tail = (square * at.picks(shrink) + 1.0).log() * at.picks(freedom)
    scores = (tail + at.picks(made.log_determinant)) * -0.5 + at.picks(constant)
    some = at.picks(given.any(axis=1).astype(np.float64)).with_axis(1)
    known: Tensor = (some > np.array(0.0)).where(scores, 0.0)
    known_of: Tensor = there.where(known, np.nan)
    return known_of


def _pattern(absent: Tensor, given: Array) -> tuple[Tensor, Tensor]:
    """Which of the sets of ``given`` columns a row has, ``(rows,)``; and whether it has one of them, ``(rows, 1)``."""
    wanted = (~given).astype(np.float64)
    apart = absent.sum(1, keep=True) + wanted.sum(axis=1) - absent @ wanted.T * 2.0
    found = apart.equals(np.array(0.0)).of_type(np.float64)
    there: Tensor = found.sum(1, keep=True) > np.array(0.0)
    return found.best(), there


def _fourier_scores(view: FourierRegression, binned: _BinnedCells) -> Tensor:
    angles, log_sizes = _angles(view, binned)
    # In single precision, which every onnxruntime has.
    heights = binned.codes.graph.op("Cos", angles.of_type(np.float32)).of_type(np.float64)
    if log_sizes:
        heights = heights * added(log_sizes).exp()
    scores = heights @ view.slopes - view.sums.mean @ view.slopes
    if not binned.may_lack[view.columns].all():
        return scores
    assert binned.lacks is not None
    none: Tensor = binned.lacks.columns(view.columns).sum(1, keep=True).equals(np.array(float(len(view.columns))))
    return none.where(0.0, scores)


def _angles(view: FourierRegression, binned: _BinnedCells) -> tuple[Tensor, list[Tensor]]:
    """Return the angles of features, and terms of the log modulus for absent columns: see
    ``RandomFourierFeatures.transform``."""
    inputs, frequencies = view.features.inputs, view.features.frequencies
    n_ranks, parts, log_sizes = len(inputs.ranks.columns), [], []
    if n_ranks:
        points = binned.points(inputs.ranks)
        if binned.may_lack[inputs.ranks.columns].any():
            points, log_size = _regressed(view, points, binned)
            log_sizes.append(log_size)
        parts.append(points @ frequencies[:n_ranks])
    columns = inputs.levels.columns
    if len(columns):
        slots = binned.slots(inputs.levels)
        lacking = bool(binned.may_lack[columns].any())
        # One additional slot for absent cells. Column by column, to save memory.
        table = np.vstack([np.zeros((1, view.features.width)), frequencies[n_ranks:]])
        parts += [(slots.columns(_at(j)) + np.int64(1)).picks(table).sum(1) for j in range(len(columns))]
        if lacking:
            assert binned.lacks is not None
            absent, (turn, log_part) = binned.lacks.columns(columns), view.features.level_means()
            parts.append(absent @ turn)
            log_sizes.append(absent @ log_part)
    return added(parts) + view.features.phases, log_sizes


def _regressed(view: FourierRegression, points: Tensor, binned: _BinnedCells) -> tuple[Tensor, Tensor]:
    """Fill absent ranks with their expectation, for each set of absent columns that there is room for; the log modulus
    is NaN for other rows.
    """
    inputs = view.features.inputs
    columns, cells = inputs.ranks.columns, inputs.covariance.size
    max_cells = _MOST_CELLS if cells <= _CELLS_OF_ROW else 0
    patterns = np.array(marginal_patterns(cells + view.features.width, binned.may_lack[columns], max_cells))
    assert binned.lacks is not None
    absent = binned.lacks.columns(columns)
    at, there = _pattern(absent, patterns)
    made = [inputs.regression(given) for given in patterns]
    known = points * (1.0 - absent)
    expected = (known.with_axis(1) @ at.picks(np.array([own.slopes for own in made]))).sum(1)
    log_size = at.picks(np.array([view.features.log_sizes(own.covariance) for own in made]))
    return known + expected, there.where(log_size, np.nan)


def _cell_scores(view: CellRegression, binned: _BinnedCells) -> Tensor:
    codes = binned.with_binning(view.cells).codes
    slots = codes + view.offsets[:-1].astype(np.int64)
    if binned.lacks is not None:
        # One additional slot for absent cells.
        slots = (binned.lacks > np.array(0.0)).where(np.int64(-1), slots)
    table = np.vstack([np.zeros((1, view.tables.shape[2])), view.tables[0]])
    return added([(slots.columns(_at(j)) + np.int64(1)).picks(table).sum(1) for j in range(len(view.cells.columns))])


_VIEWS: dict[type, Any] = {
    OneDependence: _one_dependence,
    TwoDependence: _two_dependence,
    Covariance: _covariance,
    FourierRegression: _fourier_scores,
    CellRegression: _cell_scores,
}
