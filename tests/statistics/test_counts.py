"""Sums in the arrays that are there already."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from candide import MultinomialNB, TextNB
from candide.statistics import Counts


def counts(total):
    return Counts(np.ones(total.shape[0]), total, None)


@pytest.mark.parametrize("more", [np.array([[0.0, 2.0], [3.0, 0.0]]), csr_array([[0.0, 2.0], [3.0, 0.0]])])
def test_absorbing_is_merging_without_a_copy(more):
    total = np.array([[1.0, 2.0], [3.0, 4.0]])
    merged = counts(total).merge(counts(more))
    absorbed = counts(total).absorb(counts(more))
    np.testing.assert_array_equal(absorbed.total, merged.total)
    np.testing.assert_array_equal(absorbed.rows, merged.rows)
    assert absorbed.total is total


def test_what_may_not_be_written_is_copied():
    total = np.array([[1.0, 2.0]])
    total.flags.writeable = False
    absorbed = counts(total).absorb(counts(np.array([[1.0, 1.0]])))
    np.testing.assert_array_equal(absorbed.total, [[2.0, 3.0]])
    np.testing.assert_array_equal(total, [[1.0, 2.0]])


@pytest.mark.parametrize("model", ["auto", "multinomial", "bernoulli"])
def test_learning_in_place_gives_the_same_model(model):
    texts = [f"{'good fine' if i % 2 else 'bad poor'} word{i % 7} thing{i % 11}" for i in range(60)]
    labels = ["pro" if i % 2 else "con" for i in range(60)]
    once, stream = TextNB(model).fit(texts, labels), TextNB(model)
    for begin in range(0, 60, 20):
        stream.learn_in_place(texts[begin : begin + 20], labels[begin : begin + 20])
    np.testing.assert_array_equal(stream.predict_proba(texts), once.predict_proba(texts))


def test_learning_in_place_leaves_the_chunks_alone():
    first = np.array([[1.0, 0.0], [0.0, 2.0]])
    model = MultinomialNB()
    for _ in range(3):
        model.learn_in_place(first, [0, 1])
    np.testing.assert_array_equal(first, [[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(model.feature_log_prob_, MultinomialNB().fit(first, [0, 1], [3, 3]).feature_log_prob_)
