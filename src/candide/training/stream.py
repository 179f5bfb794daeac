"""Training batch by batch, for commands that show progress and write checkpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..model.accumulator import Accumulator, is_worth_adding
from ..model.classifier import Classifier
from ..model.model import Model, completed, first_state
from ..specs import Spec


class StreamTrainer:
    """Trains a model on one batch after the other, within the memory of the model.

    ``model`` may lack the latest rows until ``flush`` is called. What is estimated from the training rows kept is
    fitted by ``finish`` alone. After an error the trainer must not be used any more.

    >>> from candide.specs.discrete import MultinomialSpec
    >>> trainer = StreamTrainer(MultinomialSpec())
    >>> for _ in range(3):
    ...     trainer.learn([[2, 0], [0, 1]], ["a", "b"])
    >>> trainer.finish().class_count
    array([3., 3.])
    """

    def __init__(self, spec: Spec, model: Model | None = None) -> None:
        self.spec = spec
        self.model = model
        self._recent: Accumulator | None = None

    def learn(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Learn further rows."""
        if self.model is None:
            schema, bound, state = first_state(self.spec, X, y, sample_weight)
            classifier = Classifier(bound, state)
            self.spec.check_classes(bound, len(classifier.classes))
            # Without training rows kept, what is estimated from rows is fitted on the first ones.
            classifier = completed(self.spec, classifier) if self.spec.keep_sample is False else classifier
            self.model = Model(self.spec, schema, classifier)
            return
        _, self._schema, self._bound, batch = self.model.count(X, y, sample_weight)
        self._recent = self._recent or Accumulator()
        self._recent.add(batch)
        if is_worth_adding(self._recent.n_sparse_cells, self.model.state):
            self.flush()

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Forget rows that were learned."""
        assert self.model is not None
        self.model = self.flush().forget(X, y, sample_weight)

    def flush(self) -> Model:
        """Return the model of all rows so far, to which more may be added."""
        assert self.model is not None
        if self._recent is not None:
            classifier = self.model.classifier
            bound = replace(self._bound, target=classifier.bound_spec.target)
            after = classifier.learn(self._recent.total(), bound, in_place=True)
            self.spec.check_classes(bound, len(after.classes))
            self.model = replace(
                self.model, schema=self._schema, classifier=after, provenance=None, has_given_parameters=False
            )
            self._recent = None
        return self.model

    def finish(self) -> Model:
        """Return the model of all rows with everything fitted."""
        model = self.flush()
        self.model = replace(model, classifier=completed(self.spec, model.classifier))
        return self.model
