"""Answers worked out by hand are those of the model."""

from fractions import Fraction

import numpy as np
import pytest
from tiers import every

from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, TextNB
from candide.exceptions import ParameterError

DAYS = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "cool"], ["cloud", "hot"], ["rain", None]]
PLAYED = ["yes", "yes", "no", "no", "yes", "yes"]


def same(model, X):
    for worked, answer in zip(model.explain(X, style="fractions"), model.predict_proba(X), strict=True):
        np.testing.assert_allclose([float(share) for share in worked.probabilities], answer, rtol=1e-12)


@every("alpha", [0.5, 1, 2])
def test_fractions_are_the_probabilities(alpha):
    same(CategoricalNB(alpha=alpha).fit(DAYS, PLAYED), [["sun", "cool"], [None, "hot"], ["snow", "hot"]])
    X, y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, np.nan]]), ["a", "b", "a", "b"]
    same(BernoulliNB(alpha=alpha).fit(X, y), X)
    counts = [[5, 3, 0], [1, 0, 2], [0, 4, 1]]
    same(MultinomialNB(alpha=alpha).fit(counts, ["a", "b", "b"]), counts)
    texts = ["win win free", "see you", "free lunch"]
    same(TextNB("multinomial", alpha=alpha, calibrate=None).fit(texts, ["spam", "ham", "ham"]), texts)


def test_a_table_by_hand():
    model = CategoricalNB(alpha=0).fit(DAYS, PLAYED)
    found = model.explain([["rain", "mild"]], style="fractions")[0]
    assert found.products == [Fraction(2, 6) * 1 * Fraction(1, 2), Fraction(4, 6) * Fraction(1, 4) * Fraction(1, 3)]
    assert repr(found).splitlines()[:2] == ["no:  2/6 × 2/2 × 1/2 = 1/6", "yes: 4/6 × 1/4 × 1/3 = 1/18"]
    assert "p(no | x) = 1/6 / (1/6 + 1/18) = 3/4 = 0.7500" in repr(found)


def test_nothing_over_nothing_is_said():
    model = CategoricalNB(alpha=0).fit([["a", "x"], ["b", "y"]], [0, 1])
    found = model.explain([["a", "y"]], style="fractions")[0]
    assert found.probabilities is None
    assert "0/0" in repr(found)


def test_other_models_say_which_can():
    with pytest.raises(ParameterError, match="ratios of counts"):
        GaussianNB().fit([[1.0], [2.0]], [0, 1]).explain([[1.0]], style="fractions")
    calibrated = CategoricalNB(calibrate="temperature").fit(DAYS * 3, PLAYED * 3)
    with pytest.raises(ParameterError, match="calibrate=None"):
        calibrated.explain(DAYS, style="fractions")
    with pytest.raises(ParameterError, match="'terms' or 'fractions'"):
        calibrated.explain(DAYS, style="counts")


def test_what_says_nothing_is_named():
    found = CategoricalNB().fit(DAYS, PLAYED).explain([["snow", None]], style="fractions")[0]
    assert found.left_out == ("x0 = snow (never seen)", "x1 (missing)")
    assert "left out: x0 = snow (never seen), x1 (missing)" in repr(found)
    assert "<pre>" in found._repr_html_()


def test_a_class_that_saw_nothing_shares_evenly():
    model = CategoricalNB(alpha=0).partial_fit([["sun"], ["rain"], ["rain"]], ["a", "a", "b"], classes=["a", "b", "c"])
    found = model.explain([["rain"]], style="fractions")[0]
    assert found.factors[1].written(2) == "1/2"
    np.testing.assert_allclose([float(p) for p in found.probabilities], model.predict_proba([["rain"]])[0])


def test_cells_between_on_and_off_are_refused():
    model = BernoulliNB(binarize=None).fit([[0.0], [1.0]], [0, 1])
    found = model.explain([[np.nan]], style="fractions")[0]
    assert found.left_out == ("x0 (missing)",)
    with pytest.raises(ParameterError, match="binary columns, but x0 contains"):
        model.explain([[0.5]], style="fractions")
