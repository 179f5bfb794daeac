"""Texts without labels: counted as they should be, and used only where they help."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from candide import TextNB
from candide.data.texts import read_texts
from candide.exceptions import CandideError, InputError, ParameterError
from candide.families import Batch, Multinomial
from candide.families.feature_sets import FeatureSet
from candide.families.text import TextFamily, shared_out, token_by_token
from candide.kernels import Kernels
from candide.kernels.layouts import TextRows
from candide.kernels.tokenizer import TokenizerConfig
from candide.kernels.vocabulary import Buckets, Vocabulary
from candide.priors import Dirichlet

pytestmark = pytest.mark.usefixtures("few_buckets")
# Letters at random, so that words of a topic have nothing in common.
WORDS = ["".join(row) for row in np.random.default_rng(0).choice(list("abcdefghijklmnop"), (210, 6))]
TOPICS, COMMON = [WORDS[:60], WORDS[60:120], WORDS[120:180]], WORDS[180:]


def topical(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Texts of words of their topic, each of which few texts hold, among words of all."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(TOPICS), n)
    texts = [" ".join([*rng.choice(TOPICS[label], 4), *rng.choice(COMMON, 6)]) for label in labels]
    return texts, np.array(["a", "b", "c"])[labels]


def some_labels(n_labelled: int, n_others: int, seed: int) -> tuple[list[str], list[str | None]]:
    texts, labels = topical(n_labelled + n_others, seed)
    return texts, [*labels[:n_labelled].tolist(), *[None] * n_others]


@pytest.mark.parametrize("kind", ["auto", "multinomial"])
def test_many_texts_without_labels_help(kind: str) -> None:
    texts, labels = some_labels(30, 600, seed=0)
    new, truth = topical(500, seed=1)
    alone = TextNB(kind).fit(texts[:30], labels[:30])
    model = TextNB(kind, unlabeled="em").fit(texts, labels)
    assert model.unlabeled_.used
    assert model.unlabeled_.n_texts == 600
    assert model.unlabeled_.log_loss_with < model.unlabeled_.log_loss_without
    assert model.score(new, truth) > alone.score(new, truth)
    loss = -model.predict_log_proba(new)[np.arange(500), np.searchsorted(model.classes_, truth)].mean()
    assert abs(loss - model.loo_.log_loss) < 0.3


def test_texts_of_something_else_are_not_used() -> None:
    rng = np.random.default_rng(2)
    texts, labels = topical(200, seed=3)
    # Words of all topics in every text, so that whatever is made of them misleads.
    mixed = [" ".join(rng.choice(sum(TOPICS, COMMON), 12)) for _ in range(300)]
    model = TextNB(unlabeled="em").fit([*texts, *mixed], [*labels, *[None] * 300])
    with pytest.warns(UserWarning, match="skipped 300 rows without a label"):
        alone = TextNB().fit([*texts, *mixed], [*labels, *[None] * 300])
    only = TextNB().fit(texts, labels)
    assert not model.unlabeled_.used
    assert not hasattr(alone, "unlabeled_")
    assert not hasattr(only, "unlabeled_")
    for other in (alone, only):
        assert np.allclose(model.predict_proba(texts[:20]), other.predict_proba(texts[:20]), atol=1e-9)


def test_one_step_of_expectation_maximisation_by_hand() -> None:
    texts, labels = some_labels(40, 400, seed=4)
    model = TextNB("multinomial", unlabeled="em").fit(texts, labels)
    assert model.unlabeled_.used
    first = TextNB("multinomial").fit(texts[:40], labels[:40])
    share = first.predict_proba(texts[40:])
    share = np.where(share < 1e-3, 0.0, share)
    cut = CountVectorizer(vocabulary=list(model.vocabulary_)).fit(texts)
    own = np.array([[label == name for name in model.classes_] for label in labels[:40]], dtype=float)
    expected = own.T @ cut.transform(texts[:40]).toarray() + share.T @ cut.transform(texts[40:]).toarray()
    found = model.token_count_
    assert np.allclose(found if isinstance(found, np.ndarray) else found.toarray(), expected)
    assert np.allclose(model.class_count_, own.sum(axis=0) + share.sum(axis=0))


def family(presence: bool) -> TextFamily:
    way = "binary" if presence else "count"
    feature_sets = (
        FeatureSet(TokenizerConfig(), Vocabulary(), way),
        FeatureSet(TokenizerConfig(ngrams=(2, 2)), Buckets(12), way, name="pairs"),
        FeatureSet(TokenizerConfig(), Vocabulary.of([WORDS[1], "never", WORDS[61]]), way, fixed=True, name="given"),
    )
    return TextFamily(feature_sets, Multinomial(Dirichlet(1.0)))


def dense(total: object) -> np.ndarray:
    return total if isinstance(total, np.ndarray) else total.toarray()


@pytest.mark.parametrize("presence", [False, True])
def test_a_text_that_is_all_of_one_class_counts_as_if_it_had_its_label(presence: bool) -> None:
    texts, labels = topical(50, seed=5)
    data, classes = TextRows(read_texts(texts)), np.unique(labels, return_inverse=True)[1].astype(np.int32)
    weight = np.linspace(0.5, 3.0, 50)
    whole = family(presence).observe(Batch(data, classes, weight, 3), Kernels())
    shared = shared_out(family(presence), data, np.eye(3)[classes] * weight[:, None], Kernels())
    assert np.allclose(whole.rows, shared.rows)
    for mine, theirs in zip(whole.feature_sets, shared.feature_sets, strict=True):
        assert mine.coding == theirs.coding
        assert np.allclose(dense(mine.counts.total), dense(theirs.counts.total))


@pytest.mark.parametrize("presence", [False, True])
def test_tokens_go_where_those_with_labels_went(presence: bool) -> None:
    texts, labels = topical(40, seed=6)
    classes = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    sums = family(presence).observe(Batch(TextRows(read_texts(texts)), classes, None, 3), Kernels())
    more, _ = topical(30, seed=7)
    added = token_by_token(family(presence), sums, TextRows(read_texts(more)), None, Kernels())
    assert np.allclose(added.rows, sums.rows * 30 / 40)
    for mine, theirs in zip(sums.feature_sets, added.feature_sets, strict=True):
        before, extra = dense(mine.counts.total), dense(theirs.counts.total)
        assert ((extra > 0) <= (before > 0)).all()
        if presence:
            assert (before + extra <= (sums.rows + added.rows)[:, None] + 1e-9).all()
        else:
            assert np.allclose(extra * before.sum(axis=0), before * extra.sum(axis=0))


@pytest.mark.parametrize("kind", ["auto", "multinomial", "bernoulli", "complement", "polya"])
@pytest.mark.parametrize("how", ["em", "sfe"])
def test_every_model_and_way(kind: str, how: str) -> None:
    texts, labels = some_labels(24, 40, seed=8)
    weight = np.linspace(0.5, 2.0, 64)
    calibrate = "temperature" if kind == "complement" else None
    model = TextNB(kind, unlabeled=how, calibrate=calibrate).fit(texts, labels, sample_weight=weight)
    assert np.allclose(model.predict_proba(texts).sum(axis=1), 1.0)
    assert model.partial_fit(texts[:2], ["a", "d"]).predict(texts).shape == (64,)


@pytest.mark.slow
def test_refined_from_what_the_folds_say() -> None:
    texts, labels = some_labels(40, 300, seed=9)
    model = TextNB(refine=True, unlabeled="em").fit(texts, labels)
    assert model.unlabeled_.used
    assert model.score(*topical(300, seed=10)) > 0.7


@pytest.mark.slow
def test_the_figures_of_a_refined_model_are_its_own() -> None:
    texts, labels = some_labels(60, 200, seed=13)
    plain, refined = (TextNB(refine=refine, unlabeled="em").fit(texts, labels) for refine in (False, True))
    assert plain.unlabeled_.log_loss_without != refined.unlabeled_.log_loss_without
    assert refined.unlabeled_.used
    assert refined.loo_.log_loss == refined.unlabeled_.log_loss_with


def test_weights_that_texts_without_labels_had_a_part_in_are_not_fitted_again() -> None:
    texts, labels = some_labels(30, 300, seed=14)
    model = TextNB(unlabeled="em").fit(texts, labels)
    assert model.unlabeled_.used
    before = model.predict_proba(texts)
    with pytest.raises(ParameterError, match="call fit with all texts"):
        model.refit()
    assert (model.predict_proba(texts) == before).all()


def test_missing_labels_of_all_kinds() -> None:
    texts, labels = some_labels(20, 5, seed=11)
    expected = TextNB("multinomial").fit(texts[:20], labels[:20]).predict_proba(texts)
    spelled = [
        labels,
        np.array(labels, dtype=object),
        pd.Series(labels),
        pd.Series(labels, dtype="string"),
        [*labels[:20], *[float("nan")] * 5],
    ]
    for y in spelled:
        with pytest.warns(UserWarning, match="skipped 5 rows without a label"):
            model = TextNB("multinomial").fit(texts, y)
        assert np.allclose(model.predict_proba(texts), expected)
    numbers = [*(float(ord(label or "?")) for label in labels[:20]), *[float("nan")] * 5]
    assert TextNB("multinomial", unlabeled="em").fit(texts, np.array(numbers)).classes_.tolist() == [97.0, 98.0, 99.0]


def test_what_is_refused() -> None:
    texts, labels = some_labels(20, 5, seed=12)
    with pytest.raises(ParameterError, match="unlabeled is 'magic'"):
        TextNB(unlabeled="magic").fit(texts, labels)
    for way in ("drop", "error", "em", "sfe"):
        with pytest.raises(InputError, match="contains NaN"):
            TextNB(unlabeled=way).fit(texts, [None] * 25)
    with pytest.raises(InputError, match="25 texts and 24 labels"):
        TextNB(unlabeled="em").fit(texts, labels[:-1])
    with pytest.raises(InputError, match="X has 25 rows, y has 24"):
        TextNB().fit(texts, labels[:-1])
    model = TextNB(unlabeled="em").fit(texts, labels)
    before = model.predict_proba(texts)
    with pytest.raises(CandideError, match="no label"):
        model.partial_fit(texts, labels)
    assert (model.predict_proba(texts) == before).all()


@pytest.mark.parametrize(
    "settings", [{}, pytest.param({"refine": True}, marks=pytest.mark.slow), {"family": "multinomial"}], ids=str
)
def test_without_training_texts_the_same_model(settings: dict[str, object]) -> None:
    """Looks that had no weight before may have one after."""
    texts, labels = some_labels(40, 300, seed=9)
    keeps, drops = (TextNB(**settings, unlabeled="em", subsample=keep).fit(texts, labels) for keep in ("auto", 0))
    assert drops.unlabeled_ == keeps.unlabeled_
    assert np.array_equal(drops.predict_proba(texts), keeps.predict_proba(texts))
    assert drops.loo_.log_loss == keeps.loo_.log_loss


def test_merged_from_either_side() -> None:
    """Weights that cannot be fitted again last, whoever absorbs whom."""
    some, more = some_labels(40, 300, seed=9), topical(100, seed=13)
    texts = topical(50, seed=14)[0]
    there = TextNB(unlabeled="em").fit(*some).merge(TextNB().fit(*more))
    here = TextNB().fit(*more).merge(TextNB(unlabeled="em").fit(*some))
    assert np.allclose(there.predict_proba(texts), here.predict_proba(texts), atol=1e-9)


def test_merged_with_a_class_that_it_does_not_know() -> None:
    other = TextNB().fit(["dog and cat", "cat and mouse"], ["d", "d"])
    model = TextNB(unlabeled="em").fit(*some_labels(40, 300, seed=9)).merge(other)
    assert model.predict_proba(["dog"]).shape == (1, 4)


@pytest.mark.slow
def test_a_refined_model_forgets_and_keeps_what_it_made_of_the_others() -> None:
    texts, labels = some_labels(60, 400, seed=15)
    held, truth = topical(400, seed=16)
    own = (np.arange(400), np.searchsorted(["a", "b", "c"], truth))
    model = TextNB(refine=True, unlabeled="em").fit(texts, labels)
    before = -np.log(model.predict_proba(held)[own]).mean()
    fitted = model.model_.classifier.fitted
    model.forget(texts[:1], labels[:1])
    assert 0.0 < model.staleness_ < 0.1
    assert model.model_.classifier.fitted.refinement is fitted.refinement
    after = -np.log(model.predict_proba(held)[own]).mean()
    assert abs(after - before) < 0.05


@pytest.mark.slow
def test_a_refinement_beside_weights_that_last_is_fitted_again() -> None:
    """By a refit, and once a tenth of the weight has changed; the weights stay."""
    texts, labels = some_labels(120, 240, seed=15)
    model = TextNB(refine=True, unlabeled="em").fit(texts, labels)
    assert model.unlabeled_.used
    fitted = model.model_.classifier.fitted
    due = copy.deepcopy(model).forget(texts[:40], labels[:40])
    model.forget(texts[:30], labels[:30])
    assert 0.05 < model.staleness_ < 0.1
    assert model.model_.classifier.fitted.refinement is fitted.refinement
    model.refit().forget(texts[30:40], labels[30:40]).refit()
    assert model.staleness_ == due.staleness_ == 0.0
    np.testing.assert_allclose(model.predict_proba(texts), due.predict_proba(texts), rtol=0, atol=1e-9)
    for one in (model, due):
        assert one.model_.classifier.fitted.frozen
        np.testing.assert_array_equal(one.model_.classifier.fitted.views.weights.weight, fitted.views.weights.weight)
        parts = zip(one.model_.classifier.fitted.refinement.weights, fitted.refinement.weights, strict=True)
        assert not all(np.array_equal(mine, theirs) for mine, theirs in parts)
    learned = model.partial_fit(texts[:40], labels[:40])
    assert learned.staleness_ == 0.0
    assert learned.model_.classifier.fitted.frozen
