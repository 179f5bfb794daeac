"""A learner that goes through a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engines.growth import Growth, is_worth_adding
from ..model.classifier import Classifier

if TYPE_CHECKING:
    from .base import BaseNB


class Growing:
    """Learns as ``partial_fit`` does, in the memory that the model has: for a learner that nobody else holds.

    Until ``settle``, the learner may lack the latest rows. What looks at rows again is fitted by ``finish`` alone.
    After an error the learner must not be used any more.

    >>> from candide.learners import MultinomialNB
    >>> growing = Growing(MultinomialNB())
    >>> for _ in range(3):
    ...     growing.learn([[2, 0], [0, 1]], ["a", "b"])
    >>> growing.finish().class_count_
    array([3., 3.])
    """

    def __init__(self, learner: BaseNB) -> None:
        self.learner = learner
        self._recent: Growth | None = None

    def learn(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Further rows."""
        learner = self.learner
        if not learner.is_fitted:
            plan, state = learner._summarize(X, y, sample_weight, reset=True)
            # Without training rows kept, what looks at rows again is fitted on the first ones, while they are there.
            (learner._become if learner.keep_sample is False else learner._hold)(Classifier(plan, state))
            return
        self._plan, batch = learner._summarize(X, y, sample_weight, reset=False)
        self._recent = self._recent or Growth()
        self._recent.add(batch)
        if is_worth_adding(self._recent.whole_size, learner._model.state):
            self.settle()

    def settle(self) -> BaseNB:
        """The learner with all rows, to which more may come."""
        learner = self.learner
        if self._recent is not None:
            plan = replace(self._plan, target=learner._model.plan.target)
            learner._hold(learner._model.learn(self._recent.whole(), plan, in_place=True))
            self._recent = None
        return learner

    def finish(self) -> BaseNB:
        """The learner with all rows and all that is fitted on them."""
        learner = self.settle()
        return learner._become(learner._model)
