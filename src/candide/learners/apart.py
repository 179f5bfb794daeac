"""Learning from rows that are elsewhere: on a Dask or Spark cluster."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..clusters import cluster_of
from ..data.arrays import as_array
from ..data.column_selection import Roles
from ..data.labeled_rows import read_weights
from ..engines.growth import Growth
from ..engines.parts import Counted
from ..engines.stream import gathered, learn
from ..exceptions import InputError
from ..families import Family
from ..kernels.layouts import Array
from ..model.classifier import Classifier
from ..model.plan import ClassPrior, Plan
from ..model.state import State
from .chunks import Chunks
from .sourced import cells_of, check_alone, chunks_of, is_source, roles_among, roles_for

if TYPE_CHECKING:
    from ..clusters.rows import Cluster, SpreadRows
    from ..sources import Source

# First rows by which all others are read: they tell columns of names from columns of texts. Few do where all are texts
# or numbers.
_HEAD, _SHORT_HEAD = 10_000, 100

Answer = TypeVar("Answer")


def anywhere(method: Callable[[Any, Any], Answer]) -> Callable[[Any, Any], Answer]:
    """Rows of a cluster are answered where they are, lazily, in the type that they came in; a source in batches."""

    @wraps(method)
    def answered(self: Any, X: Any) -> Any:
        if is_source(X):
            self._require_fitted()
            return np.concatenate([method(self, cells) for cells in cells_of(self, X)])
        cluster = cluster_of(X)
        if cluster is None:
            return method(self, X)
        return cluster.answers(self._answerer(), method.__name__, X)

    return answered


class Apart(Chunks):
    """How an estimator learns from a cluster."""

    #: How many rows were counted when it last learned from a cluster, and in how many partitions.
    counted_: Counted | None = None

    @abstractmethod
    def _summarize(self, X: Any, y: Any, sample_weight: Any, groups: Any = None, *, reset: bool) -> tuple[Plan, State]:
        """The state of rows, wherever they are."""

    @abstractmethod
    def _check_counting(self, family: Family) -> None:
        """What is counted cannot change under a fitted model."""

    @abstractmethod
    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right; of what ``candide.read`` gives, without ``y``."""
        cluster = cluster_of(X)
        if cluster is not None:
            self._fitted()
            return self._spread(cluster, X, y, sample_weight, reset=False).score(self._answerer())
        if is_source(X):
            return self._score_source(X, y, sample_weight)
        X, y, sample_weight = self._scored(X, y, sample_weight)
        right = self.predict(X) == as_array(y, "y").ravel()
        return float(np.average(right, weights=read_weights(sample_weight, len(right))))

    def _scored(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Rows in memory that have a label."""
        X, y, sample_weight = self._with_labels(*self._labelled(X, y), sample_weight, learning=False)
        self._tell_unlabeled()
        return X, y, sample_weight

    def _score_source(self, source: Source, *beside: Any) -> float:
        self._fitted()
        check_alone(*beside)
        right = total = 0.0
        for X, y, weight in chunks_of(self, source, roles_for(self, source, labelled=True), learning=False):
            found = self.predict(X) == as_array(y, "y").ravel()
            own = read_weights(weight, len(found))
            own = np.ones(len(found)) if own is None else own
            right, total = right + float(own[found].sum()), total + float(own.sum())
        self._tell_unlabeled()
        if not total:
            raise InputError("the source has no rows with a label, and nothing can be scored; pass a source with rows")
        return right / total

    def count(self, chunks: Iterable[Any]) -> State | None:
        """The sums of rows that are read as those that this learner has seen; None if there are none."""
        growth, kernels = Growth(), self._kernels()
        for group in gathered(self._read_chunks(chunks, first=False), self.group_bytes):
            learn(growth, self._model.plan, group, kernels)
            group.clear()
        return growth.whole() if growth.main is not None else None

    def roles_among(self, names: list[str]) -> Roles:
        """Which of the columns of these names the model looks at."""
        return roles_among(self, names)

    def _summarize_apart(
        self, cluster: Cluster, X: Any, y: Any, sample_weight: Any, groups: Any = None, *, reset: bool
    ) -> tuple[Plan, State]:
        if groups is not None:
            raise InputError(
                "groups is given for rows on a cluster; expected rows in memory or chunks; collect the rows, or leave "
                "groups out"
            )
        rows = self._spread(cluster, X, y, sample_weight, reset)
        if not reset:
            plan = self._plan(self.n_features_in_, first=False)
            self._check_counting(plan.family)
            return plan, self._counted(rows, plan)
        n_first = _SHORT_HEAD if self.reads_texts or rows.are_numbers else _HEAD
        plan, state = self._summarize(*rows.head(n_first), reset=True)
        self.roles_ = rows.roles
        # What is believed of the classes may speak of some that are elsewhere.
        self._model = Classifier(replace(plan, prior=ClassPrior()), state)
        state = self._counted(rows, self._model.plan)
        self._model = Classifier(self._model.plan, state)
        # Settings of columns may speak of kinds that other rows than the first told.
        final = self._plan(self.n_features_in_, first=False)
        return replace(final, sample_bytes=plan.sample_bytes), state

    def _spread(self, cluster: Cluster, X: Any, y: Any, sample_weight: Any, reset: bool) -> SpreadRows:
        return cluster.rows(X, y, sample_weight, partial(self._roles_of, reset))

    def _roles_of(self, reset: bool, names: list[Any], label: str | None, weight: str | None) -> Roles:
        """What columns are for: all of a new table are learned from; later, those that the model knows."""
        others = [name for name in names if name not in (label, weight)]
        if not reset:
            return roles_among(self, others, label=label or "")._replace(weight=weight)
        if self.reads_texts and len(others) != 1:
            raise InputError(
                f"{type(self).__name__} learns from one column of texts, and beside the labels X has "
                f"{', '.join(map(str, others))}; select the column of texts and that of the labels"
            )
        return Roles(label or "", others[0] if self.reads_texts else None, tuple(others), weight)

    def _counted(self, rows: SpreadRows, plan: Plan) -> State:
        """The sums of all rows, wherever they are."""
        part = rows.count(self._traveller(plan, replace(self._model.state, sample=None)))
        if part.n_without_label:
            self.note_unlabeled(part.n_without_label)
        self._tell_unlabeled()
        if part.state is None:
            raise InputError("there are no rows with a label and a weight, and nothing is learned from nothing")
        self.counted_ = part.counted
        return part.state

    def _answerer(self) -> Any:
        """What answers: without training rows, which nobody needs for that."""
        model = self._fitted()
        return self._traveller(model.plan, replace(model.state, sample=None), model.blend, model.family)

    def _traveller(self, plan: Plan, state: State, blend: Any = None, choices: Any = None) -> Any:
        """This learner with another model, for machines that have a core for each part."""
        out: Any = copy.copy(self)
        out._model, out._origin, out._given = Classifier(plan, state, blend, choices=choices), None, None
        out.n_threads = 1
        # A worker is not asked to take as little memory as can be: it adds up half as often.
        out._group_bytes = 2 * self._group_bytes
        return out
