"""refine=True: better where words depend on each other, honest, and remembering nothing forgotten after a refit."""

import pickle

import numpy as np
import pytest

from candide import TextNB
from candide.exceptions import ForgetError, ParameterError

# Fitting a refinement reads all buckets in every fold.
pytestmark = pytest.mark.usefixtures("few_buckets")
WORDS = np.array([f"word{i}" for i in range(40)])


def redundant(n: int, seed: int, *, noise: bool = False) -> tuple[list[str], np.ndarray]:
    """One topic said in many words at once, and a quieter one against it: naive Bayes counts the loud one too often."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    loud = rng.random(n) < np.where(labels == 1, 0.7, 0.3)
    texts = []
    for label, is_loud in zip(labels, loud, strict=True):
        quiet = rng.random(12) < (0.6 if label else 0.4)
        spoken = [f"quiet{j}" for j in np.flatnonzero(quiet)] + [f"loud{j}" for j in range(15) if is_loud]
        texts.append(" ".join(rng.permutation([*spoken, *rng.choice(WORDS, 5)])))
    return texts, rng.permutation(labels) if noise else labels


def loss(model: TextNB, texts: list[str], labels: np.ndarray) -> float:
    return float(-model.predict_log_proba(texts)[np.arange(len(labels)), labels].mean())


@pytest.mark.slow
def test_better_than_the_blend_and_as_good_as_it_says() -> None:
    texts, labels = redundant(800, seed=0)
    new, truth = redundant(2000, seed=1)
    plain, refined = TextNB().fit(texts, labels), TextNB(refine=True).fit(texts, labels)
    assert loss(refined, new, truth) < loss(plain, new, truth)
    assert abs(refined.loo_.log_loss - loss(refined, new, truth)) < 0.05


@pytest.mark.slow
def test_few_texts_are_not_told_too_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # in few buckets, tokens that share one make a difference
    gaps = []
    for seed in range(3):
        model = TextNB(refine=True).fit(*redundant(150, seed=seed))
        gaps.append(model.loo_.log_loss - loss(model, *redundant(1000, seed=100 + seed)))
    assert np.mean(gaps) > -0.02


@pytest.mark.slow
def test_noise_is_told_as_noise() -> None:
    texts, labels = redundant(400, seed=2, noise=True)
    model = TextNB(refine=True).fit(texts, labels)
    assert model.loo_.log_loss > 0.67
    assert model.loo_.optimistic is not None
    assert model.loo_.optimistic.log_loss < model.loo_.log_loss


@pytest.mark.slow
def test_merged_parts_equal_one_pass() -> None:
    texts, labels = redundant(120, seed=3)
    whole = TextNB(refine=True).fit(texts, labels)
    a = TextNB(refine=True).fit(texts[:50], labels[:50])
    b = TextNB(refine=True).fit(texts[50:], labels[50:])
    assert np.allclose(a.merge(b).predict_proba(texts), whole.predict_proba(texts), atol=1e-6)


def test_forgotten_texts_leave_the_refinement_with_the_next_refit() -> None:
    texts, labels = redundant(80, seed=4)
    model = TextNB(refine=True).fit(texts, labels)
    fitted = model.model_.classifier.fitted
    model.forget(texts[:3], labels[:3])
    assert model.staleness_ == 3 / 80
    assert model.model_.classifier.fitted.refinement is fitted.refinement
    model.refit()
    never = TextNB(refine=True).fit(texts[3:], labels[3:])
    assert np.allclose(model.predict_proba(texts), never.predict_proba(texts), rtol=0, atol=1e-9)
    assert model.staleness_ == 0.0


@pytest.mark.slow
def test_a_refinement_is_fitted_again_once_a_tenth_is_forgotten() -> None:
    texts, labels = redundant(300, seed=4)
    model = TextNB(refine=True).fit(texts, labels)
    model.forget(texts[:30], labels[:30])
    assert model.staleness_ == 0.1
    model.forget(texts[30:31], labels[30:31])
    assert model.staleness_ == 0.0
    never = TextNB(refine=True).fit(texts[31:], labels[31:])
    assert np.allclose(model.predict_proba(texts), never.predict_proba(texts), rtol=0, atol=1e-9)


@pytest.mark.slow
def test_without_texts_it_refuses_to_forget() -> None:
    texts, labels = redundant(100, seed=5)
    model = TextNB(refine=True, subsample=0).fit(texts, labels)
    before = model.predict_proba(texts)
    with pytest.raises(ForgetError, match="rows requires refitting the"):
        model.forget(texts[:1], labels[:1])
    assert (model.predict_proba(texts) == before).all()


def test_several_classes_repeats_weights_and_texts_without_tokens() -> None:
    texts, labels = redundant(80, seed=6)
    texts, labels = [*texts, *texts[:20], "", "...", ""], np.append(labels, [*labels[:20], 2, 2, 2])
    model = TextNB(refine=True).fit(texts, labels, sample_weight=np.linspace(0.5, 2.0, len(texts)))
    assert np.allclose(model.predict_proba([*texts[:5], "", "unheard"]).sum(axis=1), 1.0)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(texts) == model.predict_proba(texts)).all()


@pytest.mark.slow
def test_blocks_are_refined_without_each_other() -> None:
    texts, labels = redundant(200, seed=7)
    model = TextNB(refine=True).fit(texts, labels)
    folds = np.arange(200) % 4
    out = model.cross_val_log_proba(texts, labels, folds)
    others = [text for text, fold in zip(texts, folds, strict=True) if fold]
    rest = TextNB(refine=True).fit(others, labels[folds > 0])
    mine = [text for text, fold in zip(texts, folds, strict=True) if fold == 0]
    assert np.allclose(out[folds == 0], rest.predict_log_proba(mine), atol=1e-6)


def test_the_summary_says_that_a_regression_has_a_part() -> None:
    texts, labels = redundant(50, seed=9)
    summary = TextNB(refine=True).fit(texts, labels).summary()
    assert [str(by) for by in summary["by"]].count("a regression") == 2
    assert "a regression" not in TextNB().fit(texts, labels).summary()["by"].tolist()


def test_it_learns_from_words_whatever_looks_are_taken() -> None:
    texts, labels = redundant(50, seed=10)
    model = TextNB(refine=True, feature_sets=["words", "places", "4 or 5 characters"]).fit(texts, labels)
    summary = model.summary()
    assert summary["feature_set"][summary["by"] == "a regression"].tolist() == ["words"]
    with pytest.raises(ParameterError, match="refine=True requires words"):
        TextNB(refine=True, feature_sets=["places"]).fit(texts, labels)


def test_what_it_does_not_go_with() -> None:
    texts, labels = redundant(20, seed=8)
    with pytest.raises(ParameterError, match="refine=True requires family='auto'"):
        TextNB("multinomial", refine=True).fit(texts, labels)
    with pytest.raises(ParameterError, match="omit one of the settings"):
        TextNB(refine=True, calibrate="platt").fit(texts, labels)
    with pytest.raises(ParameterError, match="no closed form"):
        TextNB(refine=True).fit(texts, labels).leave_one_out(texts, labels)
