"""The blend of a table: columns, all of them added up, and views past independence, each with its weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.table_likelihood import TableLikelihood
from ...kernels.data import Array, Floats
from ...model.views.blended import Blended
from ...model.views.coordinates import ClippedCoordinates, Coordinates, RankCoordinates
from ...model.views.covariance import Covariance
from ...model.views.dependence import OneDependence
from ...model.views.look import Look
from ...model.views.merging import Merging
from ...model.views.mixture import HUGE, Mixture
from ...model.views.two_dependence import JointSlots, TwoDependence
from ...model.views.waves import Waves
from .columns import AsTheyAre, TableScores, refuse_texts
from .rows import Cells, cut_places
from .tensor import Tensor, added, concatenated, filled, log_sum


def blended(views: Blended, likelihood: TableLikelihood, cells: Cells) -> Tensor | None:
    """Scores of rows, ``(rows, classes)``, without the biases; None if nothing has a weight."""
    mixture, single = views.mixture, views.n_single
    texts = enumerate(views.texts, views.n_views - len(views.texts))
    refuse_texts(likelihood, (text.column for i, text in texts if mixture.weight[i].any()))
    together = mixture.weight[single].any()
    heard = {j: i for i, j in enumerate(views.columns) if together or mixture.weight[i].any()}
    columns = TableScores(likelihood, cells, heard, len(views.columns))
    parts = [columns.added_up(_Weights(mixture))]
    if together:
        whole = columns.added_up(AsTheyAre())
        parts.append(None if whole is None else _part(mixture, single, whole))
    looked = _Looked(views.look, cells)
    used = [(i, view) for i, view in enumerate(views.views, single + 1) if mixture.weight[i].any()]
    parts += [_part(mixture, i, _of_view(view, looked)) for i, view in used]
    known = [part for part in parts if part is not None]
    return added(known) if known else None


class _Weights:
    """Each column and block as the mixture weighs it."""

    def __init__(self, mixture: Mixture) -> None:
        self._mixture = mixture

    def of_codes(self, place: int, table: Floats) -> Floats | None:
        return self._mixture.part(place, table)

    def of_rows(self, place: int, scores: Callable[[], Tensor]) -> Tensor | None:
        return _part(self._mixture, place, scores()) if self._mixture.weight[place].any() else None


def _part(mixture: Mixture, view: int, scores: Tensor) -> Tensor:
    """What a view's scores add: ``Mixture.part``."""
    limit, weight = float(mixture.limit[view]), np.asarray(mixture.weight[view])
    known = scores.at_least(-HUGE).at_most(HUGE)
    shown = (known - known.mean(1)) / float(mixture.size[view])
    return shown.at_least(-limit).at_most(limit) * weight


class _Looked:
    """Rows as views see them; made when first asked for."""

    def __init__(self, look: Look, cells: Cells) -> None:
        self._columns, self._cells = look.columns, cells

    @cached_property
    def numbers(self) -> Tensor:
        """``(rows, number columns)``."""
        return self._cells.several([column.column for column in self._columns if column.is_number])

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

    def slots(self, merging: Merging) -> Tensor:
        """``Merging.slots``."""
        slot_of, begins = merging.one_map
        return (self.codes.columns(merging.columns) + begins.astype(np.int64)).picks(slot_of.astype(np.int64))

    def points(self, coordinates: Coordinates) -> Tensor:
        """``Coordinates.points``."""
        if isinstance(coordinates, RankCoordinates):
            places, begins = coordinates.joined
            return (self.codes.columns(coordinates.columns) + begins).picks(places)
        assert isinstance(coordinates, ClippedCoordinates)
        numbers = filled(self.numbers.columns(coordinates.columns), coordinates.mean)
        return (numbers.at_least(coordinates.low).at_most(coordinates.high) - coordinates.mean) / coordinates.deviation


def _of_view(view: Any, looked: _Looked) -> Tensor:
    if type(view) not in _VIEWS:
        raise ParameterError(f"the view {view.name!r} has no graph of ONNX; train the model with order=0")
    made: Tensor = _VIEWS[type(view)](view, looked)
    return made


def _one_dependence(view: OneDependence, looked: _Looked) -> Tensor:
    slots = looked.slots(view.merging)
    return _joint(slots, slots, len(view.merging.columns), view.log_table, len(view.table.rows))


def _two_dependence(view: TwoDependence, looked: _Looked) -> Tensor:
    slots = looked.slots(view.one.merging)
    parents = _joint_slots(view.joint, slots)
    return _joint(parents, slots, len(view.joint.columns), view.log_table, len(view.one.table.rows))


def _joint_slots(joint: JointSlots, slots: Tensor) -> Tensor:
    """``JointSlots.of``."""
    one, other = joint.columns.T
    sizes, offsets = joint.merging.sizes, joint.merging.offsets
    begins = np.asarray(joint.offsets[:-1] - offsets[one] * sizes[other] - offsets[other])
    return slots.columns(one) * np.asarray(sizes[other]) + slots.columns(other) + begins


def _joint(parents: Tensor, slots: Tensor, n_parents: int, table: Floats, n_classes: int) -> Tensor:
    """log of the mean over parents of exp of what all columns add beside each."""
    n_slots, rows = table.shape[1], np.ascontiguousarray(table[:, :, :n_classes]).reshape(-1, n_classes)
    # Parent by parent: cells of all pairs at once would take a great deal of memory.
    sums = [(parents.columns(_at(u)) * n_slots + slots).picks(rows).sum(1, keep=True) for u in range(n_parents)]
    return log_sum(concatenated(sums), 1).sum(1) - float(np.log(n_parents))


def _at(place: int) -> Array:
    return np.array([place])


def _covariance(view: Covariance, looked: _Looked) -> Tensor:
    whitening = np.stack([factor.whitening for factor in view.factors])
    away = (looked.points(view.coordinates).with_axis(0) - view.means[:, None, :]) @ whitening
    log_determinant = np.array([factor.log_determinant for factor in view.factors])
    freedom, shrink, constant = map(np.asarray, view.size(view.moments.weight))
    tail = (away.square().sum(2).transposed() * shrink + 1.0).log() * freedom
    return (tail + log_determinant) * -0.5 + constant


def _waves(view: Waves, looked: _Looked) -> Tensor:
    # In single precision, which every onnxruntime has.
    heights = looked.codes.graph.op("Cos", _angles(view, looked).of_type(np.float32)).of_type(np.float64)
    return heights @ view.slopes - view.sums.mean @ view.slopes


def _angles(view: Waves, looked: _Looked) -> Tensor:
    inputs, frequencies = view.cosines.inputs, view.cosines.frequencies
    n_ranks, parts = len(inputs.ranks.columns), []
    if n_ranks:
        parts.append(looked.points(inputs.ranks) @ frequencies[:n_ranks])
    if len(inputs.levels.columns):
        slots = looked.slots(inputs.levels)
        # Column by column, for the memory.
        levels = range(len(inputs.levels.columns))
        parts += [slots.columns(_at(j)).picks(frequencies[n_ranks:]).sum(1) for j in levels]
    return added(parts) + view.cosines.phases


_VIEWS: dict[type, Any] = {
    OneDependence: _one_dependence,
    TwoDependence: _two_dependence,
    Covariance: _covariance,
    Waves: _waves,
}
