"""Worked examples whose numbers stand in print, computed anew."""

from __future__ import annotations

import numpy as np

from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

# Manning, Raghavan & Schütze, Introduction to Information Retrieval (2008), examples 13.1 and 13.2.
WORDS = ["Chinese", "Beijing", "Shanghai", "Macao", "Tokyo", "Japan"]
TEXTS = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
TEST = "Chinese Chinese Chinese Tokyo Japan"

# Quinlan's weather data (1986) as Mitchell, Machine Learning (1997), section 6.9.1 has it: outlook, temperature,
# humidity, wind, and whether to play.
WEATHER = """sunny hot high weak no;sunny hot high strong no;overcast hot high weak yes;rain mild high weak yes
rain cool normal weak yes;rain cool normal strong no;overcast cool normal strong yes;sunny mild high weak no
sunny cool normal weak yes;rain mild normal weak yes;sunny mild normal strong yes;overcast mild high strong yes
overcast hot normal weak yes;rain mild high strong no"""


def counts(texts: list[str]) -> np.ndarray:
    return np.array([[text.split().count(word) for word in WORDS] for text in texts])


def test_multinomial_example_13_1() -> None:
    model = MultinomialNB().fit(counts(TEXTS), ["China"] * 3 + ["not"])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[:, 0]), [6 / 14, 2 / 9])
    joint = np.exp(model.predict_joint_log_proba(counts([TEST])))[0]
    np.testing.assert_allclose(joint, [0.0003, 0.0001], atol=5e-5)
    np.testing.assert_allclose(joint, [3 / 4 * (3 / 7) ** 3 / 14**2, 1 / 4 * (2 / 9) ** 5], rtol=1e-12)


def test_bernoulli_example_13_2() -> None:
    model = BernoulliNB().fit(counts(TEXTS), ["China"] * 3 + ["not"])
    joint = np.exp(model.predict_joint_log_proba(counts([TEST])))[0]
    np.testing.assert_allclose(joint, [0.005, 0.022], atol=5e-4)
    assert model.predict(counts([TEST])).tolist() == ["not"]


def test_play_tennis() -> None:
    *rows, labels = zip(*(row.split() for row in WEATHER.replace("\n", ";").split(";")), strict=True)
    model = CategoricalNB(alpha=0).fit(np.array(rows, dtype=object).T, list(labels))
    day = [["sunny", "cool", "high", "strong"]]
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(day))[0], [0.0206, 0.0053], atol=5e-5)
    np.testing.assert_allclose(model.predict_proba(day)[0, 0], 0.795, atol=5e-4)


def test_fisher_iris_means() -> None:
    """Class means of Fisher (1936), table 2: sepal length and width, petal length and width."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    published = [[5.006, 3.428, 1.462, 0.246], [5.936, 2.770, 4.260, 1.326], [6.588, 2.974, 5.552, 2.026]]
    np.testing.assert_allclose(GaussianNB().fit(X, y).theta_, published, atol=5e-4)
