"""Class priors by hand: shares of rows, given probabilities, and class weights as factors."""

import numpy as np
import pytest
from tiers import every

from candide.data.index import Index
from candide.exceptions import ParameterError
from candide.specs.class_prior import ClassPrior

CLASSES = Index(np.array(["a", "b", "c"]))
ROWS = np.array([3.0, 0.0, 1.0])


@every("prior,expected", [
    (ClassPrior(), [3 / 4, 0, 1 / 4]),
    (ClassPrior(pseudo=1.0), [4 / 7, 1 / 7, 2 / 7]),
    (ClassPrior(pseudo=np.array([0.0, 1.0, 0.0])), [3 / 5, 1 / 5, 1 / 5]),
    (ClassPrior(fitted=False), [1 / 3, 1 / 3, 1 / 3]),
    (ClassPrior(given=np.array([0.0, 0.25, 0.75])), [0, 1 / 4, 3 / 4]),
    (ClassPrior(given={"c": 0.5, "a": 0.125, "b": 0.375}), [1 / 8, 3 / 8, 1 / 2]),
    (ClassPrior(class_weight={"c": 3.0}), [1 / 2, 0, 1 / 2]),
    (ClassPrior(class_weight={"a": 0.0}), [0, 0, 1]),
    (ClassPrior(fitted=False, class_weight={"c": 3.0}), [1 / 5, 1 / 5, 3 / 5]),
    (ClassPrior(class_weight="balanced"), [1 / 2, 0, 1 / 2]),
])  # fmt: skip
def test_probability(prior, expected):
    np.testing.assert_allclose(prior.probability(CLASSES, ROWS), expected, rtol=1e-15)
    # Several states at once: the same numbers for each.
    several = prior.probability(CLASSES, np.stack([ROWS, 2 * ROWS, ROWS]))
    np.testing.assert_allclose(several[[0, 2]], [expected, expected], rtol=1e-15)


def test_no_rows_give_even_shares():
    both = ClassPrior().probability(CLASSES, np.array([[0.0, 0.0, 0.0], [0.25, 0.75, 0.0]]))
    np.testing.assert_array_equal(both, [[1 / 3, 1 / 3, 1 / 3], [0.25, 0.75, 0.0]])


@every("setting,expected", [
    (None, [1.0, 1.0, 1.0]),
    ({"b": 5.0, "c": 0}, [1.0, 5.0, 0.0]),
    ("balanced", [2 / 3, 1.0, 2.0]),  # the mean of the classes that have rows, by the rows of each
])  # fmt: skip
def test_weights_of_the_classes(setting, expected):
    np.testing.assert_allclose(ClassPrior(class_weight=setting).weight(CLASSES, ROWS), expected, rtol=1e-15)


def test_balanced_weights_of_no_rows_are_one():
    np.testing.assert_array_equal(ClassPrior(class_weight="balanced").weight(CLASSES, np.zeros(3)), np.ones(3))


@every("given,message", [
    (np.array([0.5, 0.5]), "2 priors for 3 classes"),
    (np.array([[0.5, 0.25, 0.25]]), "must match number of classes"),
    (np.array([-0.25, 0.5, 0.75]), "non-negative"),
    (np.array([np.nan, 0.5, 0.5]), "non-negative"),
    (np.array([0.5, 0.5, 0.5]), r"sum to 1\.5"),
    ({"a": 0.5, "b": 0.5}, "expected the classes 'a', 'b', 'c'"),
    ({"a": 0.5, "b": 0.25, "c": 0.25, "d": 0.0}, "expected the classes"),
])  # fmt: skip
def test_given_probabilities_that_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        ClassPrior(given=given).probability(CLASSES, ROWS)


def test_weights_must_leave_a_class_in_every_state():
    prior = ClassPrior(class_weight={"a": 0.0})
    with pytest.raises(ParameterError, match="every class has probability 0"):
        prior.probability(CLASSES, np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]))
