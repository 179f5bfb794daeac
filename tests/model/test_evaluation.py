"""Reports: scikit-learn's numbers where it has them, and what a report must not depend on."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from candide.exceptions import InputError
from candide.kernels.layouts import Floats, Positions
from candide.model.evaluation import Evaluation, RowScores
from candide.stacking.calibration import log_softmax

LABELS = np.array(["ant", "bee", "cat"])


def drawn(n_rows: int, seed: int = 0, sure: float = 1.0) -> tuple[Floats, Positions, Floats]:
    rng = np.random.default_rng(seed)
    posterior = log_softmax(1.5 * rng.normal(size=(n_rows, 3)))
    classes = (posterior + rng.gumbel(size=posterior.shape)).argmax(axis=1).astype(np.int32)
    return log_softmax(sure * posterior), classes, rng.integers(1, 4, n_rows).astype(float)


def test_measures_are_those_of_scikit_learn() -> None:
    log_probability, classes, weight = drawn(400)
    report = Evaluation.of(log_probability, classes, weight, LABELS)
    probability, answer = np.exp(log_probability), log_probability.argmax(axis=1)
    truth = np.eye(3)[classes]
    assert report.accuracy == pytest.approx(metrics.accuracy_score(classes, answer, sample_weight=weight))
    assert report.log_loss == pytest.approx(metrics.log_loss(classes, probability, sample_weight=weight))
    assert report.brier == pytest.approx(np.average(((probability - truth) ** 2).sum(axis=1), weights=weight))
    np.testing.assert_allclose(
        [report.per_class[name] for name in ("precision", "recall", "f1", "weight")],
        metrics.precision_recall_fscore_support(classes, answer, sample_weight=weight),
    )
    np.testing.assert_array_equal(report.confusion, metrics.confusion_matrix(classes, answer, sample_weight=weight))
    assert report.n_rows == 400


def test_brier_of_two_classes_is_twice_the_one_sided_score() -> None:
    probability = np.random.default_rng(0).random(50)
    classes = (np.arange(50) % 2).astype(np.int32)
    report = Evaluation.of(np.log(np.column_stack([1 - probability, probability])), classes, np.ones(50), LABELS[:2])
    assert report.brier == pytest.approx(2.0 * metrics.brier_score_loss(classes, probability))


def test_standard_errors_are_those_of_a_mean() -> None:
    log_probability, classes, _ = drawn(500)
    report = Evaluation.of(log_probability, classes, np.full(500, 0.1), LABELS)
    losses = -log_probability[np.arange(500), classes]
    assert report.log_loss_error == pytest.approx(losses.std(ddof=1) / np.sqrt(500))
    right = log_probability.argmax(axis=1) == classes
    assert report.accuracy_error == pytest.approx(right.std(ddof=1) / np.sqrt(500))


def test_calibration_error_tells_right_from_too_sure() -> None:
    assert Evaluation.of(*drawn(20_000), LABELS).ece < 0.015
    report = Evaluation.of(*drawn(20_000, sure=3.0), LABELS)
    assert report.ece > 0.1
    assert report.reliability.n_rows == 15
    shares = report.reliability["weight"] / report.reliability["weight"].sum()
    np.testing.assert_allclose(shares, 1 / 15, rtol=0.01)
    gap = np.abs(report.reliability["confidence"] - report.reliability["accuracy"])
    assert report.ece == pytest.approx(shares @ gap)


@pytest.mark.parametrize("n_rows", [100, 1_000])
def test_calibration_error_by_chance(n_rows: int) -> None:
    """Labels that are drawn with the given probabilities have a calibration error too."""
    rng = np.random.default_rng(n_rows)
    perfect, overconfident = [], []
    for _ in range(100):
        p = rng.uniform(0.02, 0.98, n_rows)
        classes = (rng.random(n_rows) < p).astype(np.int32)
        for found, slope in ((perfect, 1.0), (overconfident, 3.0)):
            odds = slope * np.log(p / (1.0 - p))
            log_probability = -np.logaddexp(0.0, np.column_stack([odds, -odds]))
            found.append(Evaluation.of(log_probability, classes, np.ones(n_rows), LABELS[:2]))
    by_chance = np.mean([one.ece_by_chance for one in perfect])
    assert np.mean([one.ece for one in perfect]) == pytest.approx(by_chance, rel=0.1)
    assert np.mean([one.is_miscalibrated for one in perfect]) <= 0.02
    if n_rows == 1_000:
        assert all(one.is_miscalibrated for one in overconfident)


def test_risk_by_coverage() -> None:
    log_probability, classes, weight = drawn(1000)
    report = Evaluation.of(log_probability, classes, weight, LABELS)
    curve = report.risk_coverage
    assert curve.n_rows == 200
    assert curve["coverage"][-1] == 1.0
    assert curve["risk"][-1] == pytest.approx(1.0 - report.accuracy)
    order = np.argsort(-log_probability.max(axis=1))
    wrong, heavy = (log_probability.argmax(axis=1) != classes)[order], weight[order]
    risk = np.cumsum(wrong * heavy) / np.cumsum(heavy)
    assert report.aurc == pytest.approx(np.average(risk, weights=heavy))
    assert report.aurc < 1.0 - report.accuracy


@given(st.integers(0, 20), st.integers(0, 20))
def test_the_order_of_rows_does_not_matter_even_with_ties(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    log_probability = log_softmax(rng.integers(0, 2, size=(n_rows + 1, 3)).astype(float))
    classes = rng.integers(0, 3, n_rows + 1).astype(np.int32)
    weight, order = rng.integers(1, 3, n_rows + 1).astype(float), rng.permutation(n_rows + 1)
    report = Evaluation.of(log_probability, classes, weight, LABELS)
    mixed = Evaluation.of(log_probability[order], classes[order], weight[order], LABELS)
    for name in ("accuracy", "log_loss", "brier", "ece", "aurc"):
        assert getattr(report, name) == pytest.approx(getattr(mixed, name))


def test_a_probability_of_0_for_the_truth_is_an_infinite_loss() -> None:
    log_probability = np.array([[0.0, -np.inf, -np.inf], [0.0, -np.inf, -np.inf]])
    report = Evaluation.of(log_probability, np.array([0, 1], dtype=np.int32), np.ones(2), LABELS)
    assert report.log_loss == report.log_loss_error == np.inf
    assert "inf ± inf" in repr(report)
    ignored = Evaluation.of(log_probability, np.array([0, 1], dtype=np.int32), np.array([1.0, 0.0]), LABELS)
    assert ignored.log_loss == 0.0
    assert ignored.n_rows == 1
    assert np.isnan(ignored.per_class["precision"][1:]).all()


def test_the_area_under_the_curve_is_that_of_scikit_learn() -> None:
    for sure in (0.3, 1.0, 40.0):
        log_probability, classes, weight = drawn(500, sure=sure)
        found = Evaluation.of(log_probability, classes, weight, LABELS).per_class["auc"]
        with np.errstate(divide="ignore"):
            odds = np.nan_to_num(log_probability - np.log(-np.expm1(log_probability)))
        expected = [metrics.roc_auc_score(classes == k, odds[:, k], sample_weight=weight) for k in range(3)]
        np.testing.assert_allclose(found, expected, atol=2e-4)


def test_parts_of_rows_give_the_area_of_all() -> None:
    log_probability, classes, weight = drawn(300)
    parts = [RowScores.of(*(part[i::3] for part in (log_probability, classes, weight))) for i in range(3)]
    parts = [part._replace(plain=part) for part in parts]
    joined, whole = Evaluation.from_row_scores(parts, LABELS), Evaluation.of(log_probability, classes, weight, LABELS)
    np.testing.assert_allclose(joined.per_class["auc"], whole.per_class["auc"])
    assert joined.plain is not None
    assert joined.plain.accuracy == pytest.approx(whole.accuracy)


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(InputError, match="found no rows with a positive weight; expected at least one"):
        Evaluation.of(*drawn(3)[:2], np.zeros(3), LABELS)


def test_the_optimistic_figure_stands_beside() -> None:
    report = Evaluation.of(*drawn(50), LABELS)
    both = replace(report, optimistic=Evaluation.of(*drawn(50, seed=1), LABELS))
    assert "optimistic" not in repr(report)
    head = repr(both).splitlines()[1]
    assert head.split() == ["metric", "value", "optimistic"]
    assert "<th>optimistic</th>" in both._repr_html_()
    assert list(both.scoreboard()["metric"]) == ["accuracy", "log_loss", "brier", "ece", "aurc"]


def test_machines_can_read_it() -> None:
    report = Evaluation.of(*drawn(50), LABELS)
    read = json.loads(json.dumps(replace(report, optimistic=report).as_dict()))
    assert read["accuracy"] == report.accuracy
    assert read["per_class"]["class"] == LABELS.tolist()
    assert np.array(read["confusion"]).shape == (3, 3)
    assert read["optimistic"]["log_loss"] == report.log_loss
    assert read["optimistic"]["optimistic"] is None
