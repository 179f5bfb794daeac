"""Answers from probabilities: costs, abstaining, label sets, and shares of classes that have changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import every

from candide.exceptions import ParameterError
from candide.kernels.layouts import Array, Floats, Positions
from candide.model.decisions import adapt_prior, conformal_threshold, label_set, least_cost, read_costs
from candide.stacking.calibration import log_softmax

LABELS = np.array(["a", "b", "c"])


def drawn(n_rows: int, n_classes: int, seed: int, noise: float = 1.0) -> tuple[Floats, Positions]:
    """Log posteriors and classes drawn from them; ``noise`` below 1 makes the posteriors too sure."""
    rng = np.random.default_rng(seed)
    posterior = log_softmax(2.0 * rng.normal(size=(n_rows, n_classes)) + 0.7 * np.arange(n_classes))
    classes = (posterior + rng.gumbel(size=posterior.shape)).argmax(axis=1).astype(np.int32)
    return log_softmax(posterior / noise), classes


def test_mistakes_of_one_price_ask_for_the_most_probable_class() -> None:
    probability = np.exp(drawn(500, 4, 0)[0])
    best = probability.argmax(axis=1)
    np.testing.assert_array_equal(least_cost(probability), best)
    np.testing.assert_array_equal(least_cost(probability, 1.0 - np.eye(4)), best)
    unsure = least_cost(probability, abstain=0.6)
    np.testing.assert_array_equal(unsure == -1, probability.max(axis=1) < 0.6)
    np.testing.assert_array_equal(unsure, least_cost(probability, 1.0 - np.eye(4), abstain=0.4))


@given(
    st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=1, max_size=5),
    st.lists(st.floats(-5, 5), min_size=9, max_size=9),
    st.floats(-1, 5),
)
def test_no_answer_is_cheaper(weights: list[list[float]], costs: list[float], abstain: float) -> None:
    probability = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    table = np.array(costs).reshape(3, 3)
    for row, answer in zip(probability, least_cost(probability, table, abstain), strict=True):
        expected = [float(row @ table[:, decided]) for decided in range(3)]
        price = abstain if answer == -1 else expected[answer]
        assert price <= min([*expected, abstain]) + 1e-12


def test_equal_costs_take_the_first_and_answer() -> None:
    assert least_cost(np.array([[0.5, 0.5]]), abstain=0.5).tolist() == [0]
    assert least_cost(np.array([[0.5, 0.5]]), np.array([[0.0, 1.0], [1.0, 0.0]]), abstain=0.5).tolist() == [0]


@every("abstain", [-0.1, 1.1, np.nan, "half"])
def test_a_least_probability_is_a_probability(abstain: Any) -> None:
    with pytest.raises(
        ParameterError, match=r"abstain is .*; without costs, expected the minimum probability of a prediction"
    ):
        least_cost(np.ones((1, 1)), abstain=abstain)


@pytest.mark.parametrize("abstain", [np.nan, "cheap"])
def test_a_price_is_a_number(abstain: Any) -> None:
    with pytest.raises(ParameterError, match=r"abstain is .*; with costs, expected a number, the cost of abstaining"):
        least_cost(np.ones((1, 1)), np.zeros((1, 1)), abstain)


def test_costs_are_read_from_arrays_and_pairs() -> None:
    assert read_costs(None, LABELS) is None
    table = read_costs({("a", "b"): 5, ("c", "c"): -1.0}, LABELS)
    np.testing.assert_array_equal(table, [[0, 5, 1], [1, 0, 1], [1, 1, -1]])
    np.testing.assert_array_equal(read_costs([[0, 1, 2]] * 3, LABELS), [[0, 1, 2]] * 3)
    given_array = np.eye(3)
    read = read_costs(given_array, LABELS)
    given_array[0, 0] = 7.0
    np.testing.assert_array_equal(read, np.eye(3))
    np.testing.assert_array_equal(read_costs({(0, 1): 2}, np.array([0, 1])), [[0, 2], [1, 0]])


@every(
    "costs,message",
    [
        ([[0, 1], [1, 0]], r"costs has shape \(2, 2\) for 3 classes; pass one row per true class"),
        ("none", "costs has shape|costs is not numeric"),
        ([["x"] * 3] * 3, "costs is not numeric"),
        (
            {("a", "d"): 1},
            r"costs has the key 'd', which is not a class \('a', 'b', 'c'\); use the labels in y",
        ),
        ({"ab": 1}, r"costs has the key 'ab'; expected pairs of labels, \(true, predicted\)"),
        ({("a", "b"): "much"}, r"the cost of \('a', 'b'\) is 'much'; expected a number"),
        ({("a", "b"): np.inf}, "costs has inf for true class 'a' and prediction 'b'; expected a finite number"),
        (np.full((3, 3), np.nan), "costs has nan for true class 'a' and prediction 'a'"),
    ],
)
def test_costs_that_mean_nothing_are_refused(costs: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_costs(costs, LABELS)


def covered(coverage: float, by_class: bool, n_rows: int, noise: float) -> tuple[Array, Array]:
    """Over many small samples: whether the sets of fresh rows hold the truth, and the truths."""
    hits, truths = [], []
    for seed in range(300):
        log_probability, classes = drawn(n_rows + 40, 3, seed, noise)
        own = log_probability[np.arange(n_rows), classes[:n_rows]]
        thresholds = conformal_threshold(own, classes[:n_rows], np.ones(n_rows), coverage, by_class, 3)
        sets = label_set(log_probability[n_rows:], thresholds)
        hits.append(sets[np.arange(40), classes[n_rows:]])
        truths.append(classes[n_rows:])
    return np.concatenate(hits), np.concatenate(truths)


@every("noise", [1.0, 0.2])
@every("coverage", [0.75, 0.9])
def test_label_sets_hold_the_truth_as_often_as_they_say(coverage: float, noise: float) -> None:
    """Also for probabilities that are much too sure, and from few rows."""
    hits, _ = covered(coverage, False, 30, noise)
    assert coverage - 0.01 < hits.mean() < coverage + 0.07


def test_label_sets_hold_the_truth_in_every_class() -> None:
    hits, truths = covered(0.8, True, 60, 0.2)
    overall, _ = covered(0.8, False, 60, 0.2)
    shares = [hits[truths == c].mean() for c in range(3)]
    assert min(shares) > 0.79
    assert min(overall[truths == c].mean() for c in range(3)) < 0.75


def test_too_few_rows_let_every_class_in() -> None:
    own, classes = np.log(np.full(8, 0.9)), np.zeros(8, dtype=np.int32)
    assert np.isneginf(conformal_threshold(own, classes, np.ones(8), 0.9, False, 2)).all()
    assert np.isneginf(conformal_threshold(own, classes, np.ones(8), 1.0, True, 2)).all()
    by_class = conformal_threshold(own, classes, np.ones(8), 0.8, True, 2)
    assert np.isfinite(by_class[0])
    assert np.isneginf(by_class[1])
    assert label_set(np.log([[0.99, 0.01]]), np.full(2, -np.inf)).all()


def test_exactly_enough_rows() -> None:
    own = np.log(np.arange(1, 10) / 10)
    thresholds = conformal_threshold(own, np.zeros(9, dtype=np.int32), np.ones(9), 0.9, False, 1)
    assert thresholds.tolist() == [own[0]]


def test_rows_of_weight_0_do_not_count_and_only_proportions_do() -> None:
    log_probability, classes = drawn(200, 3, 1)
    own = log_probability[np.arange(200), classes]
    weight = np.random.default_rng(2).integers(0, 3, 200).astype(float)
    kept = weight > 0
    expected = conformal_threshold(own[kept], classes[kept], weight[kept], 0.8, True, 3)
    np.testing.assert_array_equal(conformal_threshold(own, classes, weight, 0.8, True, 3), expected)
    np.testing.assert_array_equal(conformal_threshold(own, classes, 1e-3 * weight, 0.8, True, 3), expected)


def test_the_best_class_is_in_every_set() -> None:
    assert label_set(np.log([[0.6, 0.4]]), np.zeros(2)).tolist() == [[True, False]]


@every("coverage", [0.0, 1.1, -1.0, np.nan])
def test_a_coverage_is_a_share(coverage: float) -> None:
    with pytest.raises(ParameterError, match=r"coverage is .*; expected a probability above 0 and at most 1"):
        conformal_threshold(np.zeros(3), np.zeros(3, dtype=np.int32), np.ones(3), coverage, False, 2)


def test_adapting_finds_the_shares_of_new_rows() -> None:
    rng = np.random.default_rng(0)
    old, new = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])
    classes = rng.choice(3, size=50_000, p=new)
    x = rng.normal(loc=1.5 * np.arange(3)[classes])
    log_likelihood = -0.5 * (x[:, None] - 1.5 * np.arange(3)) ** 2
    found = adapt_prior(np.exp(log_softmax(log_likelihood + np.log(old))), old)
    np.testing.assert_allclose(found, new, atol=0.02)
    np.testing.assert_allclose(adapt_prior(np.exp(log_softmax(log_likelihood + np.log(new))), new), found, atol=1e-4)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), max_size=6), st.sampled_from([0.0, 0.2, 1.0]))
def test_adapted_shares_are_shares(rows: list[list[float]], first: float) -> None:
    probability = np.array([row for row in rows if sum(row) > 1e-9]).reshape(-1, 3)
    probability /= probability.sum(axis=1, keepdims=True)
    prior = np.array([first, 1.0 - first, 0.0])
    found = adapt_prior(probability, prior)
    assert (found >= 0).all()
    assert (found[prior == 0] == 0).all()
    np.testing.assert_allclose(found.sum(), 1.0)


def test_adapting_to_rows_as_expected_changes_nothing() -> None:
    prior = np.array([0.3, 0.7])
    np.testing.assert_allclose(adapt_prior(np.tile(prior, (5, 1)), prior), prior)
    np.testing.assert_allclose(adapt_prior(np.zeros((0, 2)), prior), prior)
