"""The worked problems of the textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

VOCABULARY = 50


def reviews() -> tuple[np.ndarray, list[str]]:
    """200 words of the positive class, 5 of them "excellent" (column 0); column 1 is a word it lacks."""
    positive = np.zeros(VOCABULARY)
    positive[[0, 2]] = 5, 195
    negative = np.ones(VOCABULARY)
    return np.array([positive, negative]), ["positive", "negative"]


def test_excellent() -> None:
    """5 of 200 words: MLE 5/200; smoothed (5+1)/(200+V); unseen 1/(200+V)."""
    X, y = reviews()
    exact, smoothed = (np.exp(MultinomialNB(alpha=a).fit(X, y).feature_log_prob_[1]) for a in (0, 1))
    assert exact[0] == pytest.approx(5 / 200)
    assert exact[1] == 0
    assert smoothed[0] == pytest.approx(6 / (200 + VOCABULARY))
    assert smoothed[1] == pytest.approx(1 / (200 + VOCABULARY))
    assert smoothed.sum() == pytest.approx(1)


def test_unseen_word_is_nought_by_nought() -> None:
    """An unseen word makes p(x | y) = 0 in every class; the limit of small alphas decides."""
    X = np.array([[3, 1, 0], [1, 3, 0]])
    found = MultinomialNB(alpha=0).fit(X, [0, 1]).predict_proba([[2, 0, 1], [0, 0, 1]])
    np.testing.assert_allclose(found, [[0.9, 0.1], [0.5, 0.5]])


def test_repetition_amplifies_only_the_multinomial() -> None:
    """A mail with "win" 5 times and "free" 3 times: 5 log p(win) + 3 log p(free), or each once and the absent words."""
    X = np.array([[1, 1, 0, 2], [2, 0, 1, 1], [0, 0, 3, 1], [0, 1, 2, 2]])
    y = ["spam", "spam", "ham", "ham"]
    mail, once = np.array([[5, 3, 0, 0]]), np.array([[1, 1, 0, 0]])
    counts, presence = MultinomialNB().fit(X, y), BernoulliNB().fit(X, y)
    log_share = counts.feature_log_prob_
    expected = counts.class_log_prior_ + 5 * log_share[:, 0] + 3 * log_share[:, 1]
    np.testing.assert_allclose(counts.predict_joint_log_proba(mail)[0], expected)
    phi = np.exp(presence.feature_log_prob_)
    expected = presence.class_log_prior_ + np.log(phi[:, :2]).sum(axis=1) + np.log(1 - phi[:, 2:]).sum(axis=1)
    np.testing.assert_allclose(presence.predict_joint_log_proba(mail)[0], expected)
    np.testing.assert_array_equal(presence.predict_proba(mail), presence.predict_proba(once))
    assert counts.predict_proba(mail)[0, 1] > counts.predict_proba(once)[0, 1]


def test_six_points_by_hand() -> None:
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 3.0], [6.0, 5.0], [8.0, 9.0], [7.0, 7.0]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.theta_, [[2, 3], [7, 7]])
    np.testing.assert_allclose(model.var_, [[2 / 3, 2 / 3], [2 / 3, 8 / 3]])
    np.testing.assert_allclose(model.class_prior_, [0.5, 0.5])
    x = np.array([4.0, 4.0])
    by_hand = [
        np.log(0.5) - np.log(2 * np.pi * 2 / 3) - (4 + 1) / (2 * 2 / 3),
        np.log(0.5) - np.log(2 * np.pi) - 0.5 * np.log(2 / 3 * 8 / 3) - 9 / (2 * 2 / 3) - 9 / (2 * 8 / 3),
    ]
    np.testing.assert_allclose(model.predict_joint_log_proba([x])[0], by_hand)
    assert model.predict([x]) == [0]


def test_coin() -> None:
    """40 heads in 100: θ = 0.4."""
    X, y = np.repeat([[1], [0]], [40, 60], axis=0), np.zeros(100)
    assert np.exp(BernoulliNB(alpha=0).fit(X, y).feature_log_prob_) == pytest.approx(0.4)
    np.testing.assert_allclose(np.exp(CategoricalNB(alpha=0).fit(X, y).feature_log_prob_[0]), [[0.6, 0.4]])
    assert np.exp(BernoulliNB(alpha=1).fit(X, y).feature_log_prob_) == pytest.approx(41 / 102)


def test_maximum_likelihood_of_two_classes() -> None:
    """φ_y = N_1 / N, and φ_{j|c} = #{x_j = 1 and y = c} / #{y = c}."""
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (50, 4)), random.integers(0, 2, 50)
    model = BernoulliNB(alpha=0).fit(X, y)
    assert model.class_prior_[1] == y.mean()
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [X[y == c].mean(axis=0) for c in (0, 1)])


def test_share_of_each_value() -> None:
    """(count + α) / (N_c + α S_j), where S_j is the number of values seen."""
    X = [["red"], ["red"], ["green"], ["blue"]]
    model = CategoricalNB(alpha=0.5, categories="seen").fit(X, [0, 0, 0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0][0]), np.array([0.5, 1.5, 2.5]) / (3 + 1.5))


def test_log_odds_of_words_are_linear() -> None:
    """Multinomial naive Bayes is a linear classifier whose weights have a closed form."""
    random = np.random.default_rng(0)
    X, y = random.integers(0, 5, (30, 4)), np.arange(30) % 2
    model = MultinomialNB().fit(X, y)
    weights = np.diff(model.feature_log_prob_, axis=0)[0]
    found = np.diff(model.predict_log_proba(X), axis=1)[:, 0]
    np.testing.assert_allclose(found, X @ weights + np.diff(model.class_log_prior_)[0])


def test_copied_features_spoil_probabilities_but_not_decisions() -> None:
    """A feature told ten times counts ten times: accuracy stays, log-loss explodes."""
    X, y = load_iris(return_X_y=True)
    plain, copied = X[:, [1]], np.repeat(X[:, [1]], 10, axis=1)
    a, b = GaussianNB().fit(plain, y), GaussianNB().fit(copied, y)
    assert abs(a.score(plain, y) - b.score(copied, y)) < 0.05
    assert log_loss(y, b.predict_proba(copied)) > 3 * log_loss(y, a.predict_proba(plain))
