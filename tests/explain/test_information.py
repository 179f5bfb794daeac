"""Information and telling values, against sums and integrals done by other means."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, poisson

from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    diagnostics,
)
from candide.exceptions import ParameterError


@pytest.fixture
def made():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 400)
    return rng, y


def mutual(joint):
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / outer[seen])).sum())


def test_categories_and_presence(made):
    rng, y = made
    X = np.column_stack([(y + (rng.random(400) < 0.3)) % 3, rng.integers(0, 4, 400)])
    found = diagnostics.information(CategoricalNB(alpha=0).fit(X, y))
    expected = [mutual(np.array([[np.mean((X[:, j] == v) & (y == c)) for v in range(4)] for c in range(3)]))
                for j in range(2)]  # fmt: skip
    assert found["column"].tolist() == ["x0", "x1"]
    np.testing.assert_allclose(found["bits"], expected, rtol=1e-9)
    on = X[:, [0]] > 0
    share = mutual(np.array([[np.mean((on[:, 0] == v) & (y == c)) for v in (0, 1)] for c in range(3)]))
    np.testing.assert_allclose(diagnostics.information(BernoulliNB(alpha=0).fit(on, y))["bits"], [share], rtol=1e-9)


def test_measurements(made):
    rng, y = made
    model = GaussianNB().fit((rng.normal(size=400) + y)[:, None], y)
    center, deviation, share = model.theta_[:, 0], np.sqrt(model.var_[:, 0]), model.class_prior_

    def gain(x):
        density = norm.pdf(x, center, deviation)
        return float((share * density * np.log2(density / (share @ density))).sum())

    assert diagnostics.information(model)["bits"][0] == pytest.approx(quad(gain, -15, 15)[0], abs=1e-3)


def test_events(made):
    rng, y = made
    model = PoissonNB().fit(rng.poisson(1.0 + y)[:, None], y)
    rate = model.parameters()["rate"]
    joint = model.class_prior_[:, None] * poisson.pmf(np.arange(60), rate[:, None])
    assert diagnostics.information(model)["bits"][0] == pytest.approx(mutual(joint), rel=1e-9)


def test_words_add_up_to_the_information_of_a_draw(made):
    rng, y = made
    model = MultinomialNB().fit(rng.poisson(1.0 + y[:, None] * [0, 1, 2]), y)
    joint = model.class_prior_[:, None] * np.exp(model.feature_log_prob_)
    assert diagnostics.information(model)["bits"].sum() == pytest.approx(mutual(joint), rel=1e-9)


def test_tables_and_what_has_no_probabilities(made):
    rng, y = made
    table = {"noise": rng.normal(size=400), "size": rng.normal(size=400) + 2 * y, "kind": np.array(["p", "q", "r"])[y]}
    model = NaiveBayes().fit(table, y)
    assert diagnostics.information(model)["column"].tolist() == ["kind", "size", "noise"]
    told = diagnostics.top_features(model, 1)
    assert told["class"].tolist() == [0, 1, 2]
    assert told["value"].tolist() == ["p", "q", "r"]
    with pytest.raises(ParameterError, match="not probabilities"):
        diagnostics.information(ComplementNB().fit([[1, 2], [2, 1]], [0, 1]))
    with pytest.raises(ParameterError, match="measurements"):
        diagnostics.top_features(GaussianNB().fit([[1.0], [2.0]], [0, 1]))


def test_confusions(made):
    rng, y = made
    model = GaussianNB(compute_loo=True).fit((rng.normal(size=400) + y)[:, None], y)
    found, confusion = model.loo_.confusions(2), model.loo_.confusion
    wrong = confusion - np.diag(np.diag(confusion))
    assert found["weight"][0] == wrong.max()
    assert wrong[found["class"][0], found["answer"][0]] == wrong.max()
    assert found.n_rows == 2


def test_a_class_without_variance_has_no_number():
    X, y = [[1.0, 5.0], [1.0, 6.0], [2.0, 9.0], [3.0, 8.0]], [0, 0, 1, 1]
    found = diagnostics.information(GaussianNB(var_smoothing=0, estimate="mle").fit(X, y))
    assert found["column"].tolist() == ["x1", "x0"]
    assert np.isnan(found["bits"]).tolist() == [False, True]
