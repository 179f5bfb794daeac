"""Learning from rows that are elsewhere: on a Dask or Spark cluster."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ..clusters import cluster_of
from ..encoding.roles import Roles
from ..engines.growth import Growth
from ..engines.stream import gathered, learn
from ..exceptions import InputError, warn
from ..kernels._core import release_memory
from ..model.classifier import Classifier
from ..model.plan import ClassPrior, Plan
from ..model.state import State
from .chunks import Chunks
from .sourced import roles_among

if TYPE_CHECKING:
    from ..clusters.rows import Cluster

# First rows by which all others are read: they tell columns of names from columns of texts. Texts are texts.
_HEAD, _HEAD_OF_TEXTS = 10_000, 100

Method = TypeVar("Method", bound=Callable[..., Any])


def anywhere(method: Method) -> Method:
    """Rows of a cluster are answered where they are, lazily, in the type that they came in."""

    @wraps(method)
    def answered(self: Any, X: Any) -> Any:
        cluster = cluster_of(X)
        if cluster is None:
            return method(self, X)
        self._fitted()
        return cluster.answers(self._traveller(self._model), method.__name__, X)

    return answered  # type: ignore[return-value]


class Apart(Chunks):
    """How an estimator learns from a cluster."""

    @abstractmethod
    def _summarize(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Plan, State]:
        """The state of rows, wherever they are."""

    def count(self, chunks: Iterable[Any]) -> State | None:
        """The sums of rows that are read as those that this learner has seen; None if there are none."""
        growth, kernels = Growth(), self._kernels()
        for group in gathered(self._read_chunks(chunks, first=False), self.group_bytes):
            learn(growth, self._model.plan, group, kernels)
            group.clear()
            release_memory()
        return growth.whole() if growth.main is not None else None

    def roles_among(self, names: list[str]) -> Roles:
        """Which of the columns of these names the model looks at."""
        return roles_among(self, names)

    def _summarize_apart(self, cluster: Cluster, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Plan, State]:
        rows = cluster.rows(X, y, sample_weight, texts=self.reads_texts)
        if reset:
            n_first = _HEAD_OF_TEXTS if self.reads_texts else _HEAD
            plan, state = self._summarize(*rows.head(n_first), reset=True)
            # What is believed of the classes may speak of some that are elsewhere.
            self._model = Classifier(replace(plan, prior=ClassPrior()), state)
            self.roles_ = rows.roles
        part = rows.count(self._traveller(Classifier(self._model.plan, replace(self._model.state, sample=None))))
        if part.n_without_label:
            warn(f"{part.n_without_label} rows without a label were left out")
        if part.state is None:
            raise InputError("there are no rows with a label and a weight, and nothing is learned from nothing")
        if not reset:
            return self._plan(self.n_features_in_, first=False), part.state
        self._model = Classifier(self._model.plan, part.state)
        # Settings of columns may speak of kinds that other rows than the first told.
        final = self._plan(self.n_features_in_, first=False)
        return replace(final, sample_bytes=plan.sample_bytes), part.state

    def _traveller(self, model: Classifier) -> Any:
        """This learner with another model, for machines that have a core for each part."""
        out = copy.copy(self)
        out._model = model
        if hasattr(out, "n_threads"):
            out.n_threads = 1
        return out
