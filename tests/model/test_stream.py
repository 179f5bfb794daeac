"""A stream in small batches gives the model of all rows at once."""

import numpy as np
import pytest
from scipy.sparse import issparse

from candide import GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.estimators import from_model
from candide.model.accumulator import Accumulator
from candide.model.train import train
from candide.sources.open_source import ChunkSource


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"word{i}" for i in range(400)])
    labels = np.array(list("abcde"))[rng.integers(0, 5, n)]
    return [" ".join(rng.choice(words, 8)) + f" only{label}" for label in labels], labels


def stream_of(estimator, X, y, size):
    """Return the model of chunks of so many rows."""
    chunks = ((X[i : i + size], y[i : i + size]) for i in range(0, len(y), size))
    return train(estimator._spec(), ChunkSource(chunks))


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("model", ["auto", "multinomial", "bernoulli"])
def test_texts(model, size):
    X, y = texts(120)
    stream = stream_of(TextNB(model), X, y, size)
    once = TextNB(model).fit(X, y)
    np.testing.assert_array_equal(stream.predict_proba(X), once.predict_proba(X))
    assert stream.class_count.tolist() == once.class_count_.tolist()


@pytest.mark.parametrize("learner", [GaussianNB, NaiveBayes])
def test_other_rows(learner):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    stream = stream_of(learner(), X, y, 10)
    np.testing.assert_allclose(stream.predict_proba(X), learner().fit(X, y).predict_proba(X), atol=1e-12)


def test_rows_that_are_given_stay_as_they_are():
    first = np.array([[1.0, 0.0], [0.0, 2.0]])
    stream = train(MultinomialNB()._spec(), ChunkSource((first, [0, 1]) for _ in range(3)))
    np.testing.assert_array_equal(first, [[1.0, 0.0], [0.0, 2.0]])
    once = MultinomialNB().fit(first, [0, 1], [3, 3])
    np.testing.assert_array_equal(from_model(stream).feature_log_prob_, once.feature_log_prob_)


def test_small_sums_wait_for_each_other():
    """Else every batch would copy all sums there are."""
    X, y = texts(200)
    states = [TextNB().fit(X[i : i + 5], y[i : i + 5]).model_.classifier.state for i in range(0, 200, 5)]
    assert any(issparse(feature_set.counts.total) for feature_set in states[0].statistics.feature_sets)
    accumulator, main = Accumulator(), []
    for state in states:
        accumulator.add(state)
        main.append(id(accumulator.main))
    assert len(set(main)) < len(states) / 2
    assert accumulator.total().rows.sum() == 200
