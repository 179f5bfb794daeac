"""A row of weight 0 is absent, however far it lies: 0 times an infinite square is no number."""

from pathlib import Path

import numpy as np
import pytest
from reference import ReferenceKernels
from scipy.sparse import csr_array
from tiers import every

import candide
from candide import GaussianNB, NaiveBayes
from candide.exceptions import InputError, SourceError
from candide.kernels import Kernels
from candide.kernels.layouts import Dense, Sparse

X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.0], [0.0, 5.0], [3.0, 3.0], [4.0, 1.0], [7.0, 2.0]])
Y = np.array([0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
WEIGHT = np.array([0.0, 1.0, 2.5, 0.0, 1.0, 0.5, 1.0])
USED = WEIGHT > 0


def with_outlier(outlier: float) -> np.ndarray:
    rows = X.copy()
    rows[~USED] = [[outlier, -outlier], [-outlier, outlier]]
    return rows


@every("outlier", [1e155, 1e200, 1.7e308])
@every("gap", [False, True])
def test_moments_do_not_see_rows_of_weight_zero(outlier, gap):
    rows = with_outlier(outlier)
    if gap:
        rows[2, 1] = np.nan
    expected = ReferenceKernels().moments(Dense.of(rows[USED]), Y[USED], WEIGHT[USED], 2)
    for kernels in (Kernels(1), ReferenceKernels()):
        for data in (Dense.of(rows), Sparse.of(csr_array(rows))):
            for found, right in zip(kernels.moments(data, Y, WEIGHT, 2), expected, strict=True):
                np.testing.assert_allclose(found, right, rtol=1e-14, atol=1e-15)


@every("settings", [{}, {"estimate": "predictive"}, {"variance": "shared"},
                    {"estimate": "predictive", "variance": "shared"}])  # fmt: skip
def test_a_model_does_not_see_rows_of_weight_zero(settings):
    rows = with_outlier(1e200)
    model = GaussianNB(**settings).fit(rows, Y, sample_weight=WEIGHT)
    smaller = GaussianNB(**settings).fit(X[USED], Y[USED], sample_weight=WEIGHT[USED])
    np.testing.assert_array_equal(model.predict_proba(X), smaller.predict_proba(X))
    left_out = model.leave_one_out(rows, Y, sample_weight=WEIGHT)[USED]
    expected = smaller.leave_one_out(X[USED], Y[USED], sample_weight=WEIGHT[USED])
    np.testing.assert_allclose(np.exp(left_out), np.exp(expected), rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_infinity_is_refused_with_any_weight(form):
    with pytest.raises(InputError, match="infinite at row 0"):
        GaussianNB().fit(form(with_outlier(np.inf)), Y, sample_weight=WEIGHT)


@pytest.mark.filterwarnings("error")
def test_a_table_model_without_any_weight(tmp_path: Path) -> None:
    """Its prediction is the uniform distribution, it can be saved, and it learns again."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = NaiveBayes().fit(rows, labels).discount(0)
    model.save(tmp_path / "model.candide")
    for one in (model, candide.load(tmp_path / "model.candide")):
        np.testing.assert_array_equal(one.predict_proba(rows[:1]), [[0.5, 0.5]])
    again = model.partial_fit(rows, labels).refit()
    np.testing.assert_allclose(again.predict_proba(rows), NaiveBayes().fit(rows, labels).predict_proba(rows), rtol=1e-9)


def test_columns_of_weights_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "x,who,zero,flag,label\n" + "1,ann,0,true,a\n2,bob,0,false,b\n3,cy,0,true,b\n" * 4
    )

    def fit(weight: str) -> GaussianNB:
        return GaussianNB().fit(candide.read(tmp_path / "rows.csv", label="label", weight=weight, columns=["x"]))

    with pytest.raises(SourceError, match=r"the weight column 'who' contains values of type .*; expected numbers"):
        fit("who")
    with pytest.raises(InputError, match="12 rows without a label or with a weight of 0 in column 'zero'"):
        fit("zero")
    assert fit("flag").class_count_.tolist() == [4.0, 4.0]
