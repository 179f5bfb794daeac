"""Weights of views of texts are fitted on scores by sums without a fold."""

from __future__ import annotations

import numpy as np
import pytest

from candide import TextNB
from candide.families import Batch
from candide.kernels import Kernels
from candide.kernels.layouts import Array
from candide.model.fitted import seen_rows
from candide.stacking.training_rows import contiguous_folds

WORDS = np.array([f"word{i}" for i in range(15)])


def corpus(n_classes: int, n: int = 60) -> tuple[list[str], Array]:
    """Texts that have more of the words of their class."""
    rng = np.random.default_rng(n_classes)
    classes = np.arange(n) % n_classes
    own = np.abs(np.arange(len(WORDS)) - 4 * classes[:, None] - 1.5) < 2.0
    held = rng.random(own.shape) < np.where(own, 0.5, 0.2)
    return [" ".join(rng.permutation(WORDS[row])) for row in held], classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fold_scores_are_those_of_a_model_without_the_fold(n_classes: int) -> None:
    """Where every token is in several folds: one that is in none of the others still counts as a token."""
    texts, labels = corpus(n_classes)
    model = TextNB().fit(texts * 3, np.tile(labels, 3))
    family, statistics = model.model_.classifier.bound_spec.family, model.model_.classifier.state.statistics
    batch = Batch(model.model_.spec.encode(texts * 3), np.tile(labels, 3).astype(np.int32), None, n_classes)
    folds = np.repeat(np.arange(3, dtype=np.int32), len(texts))
    got = model.model_.classifier.likelihood.token_bin_fold_scores(batch, folds, Kernels())
    for fold in range(3):
        part = batch.take(np.flatnonzero(folds == fold))
        rest = family.likelihood(statistics.without(family.observe(part, Kernels())))
        np.testing.assert_allclose(got[:, folds == fold], rest.token_bin_scores(part.data, Kernels()), atol=1e-9)


def test_copies_of_a_text_leave_together() -> None:
    """As one text of their weight does."""
    texts, labels = corpus(3)
    scores = []
    for model in (TextNB().fit(texts * 2, np.tile(labels, 2)), TextNB().fit(texts, labels, np.full(len(texts), 2.0))):
        made = model.model_.classifier
        seen = seen_rows(made.bound_spec, made.state, "a test")
        scores.append(made.fitted.views.left_out_training_scores(made.likelihood, seen, Kernels()))
    np.testing.assert_allclose(*scores, atol=1e-12)


@pytest.mark.parametrize("n_folds", [1, 3, 10])
def test_every_class_is_cut_into_stretches(n_folds: int) -> None:
    classes = np.random.default_rng(0).choice(5, 400, p=[0.5, 0.3, 0.15, 0.03, 0.02])
    folds = contiguous_folds(classes, n_folds)
    for k in range(5):
        n = np.bincount(folds[classes == k], minlength=n_folds)
        assert n.max() - n.min() <= 1
        assert (np.diff(folds[classes == k]) != 0).sum() < n_folds
