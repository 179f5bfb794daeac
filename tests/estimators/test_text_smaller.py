"""Models of texts without their rarest tokens, and without looks that are not heard."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from tiers import every, fitted_once

from candide import TextNB, merge
from candide.exceptions import MergeError, ParameterError
from candide.model.summary import compact
from candide.specs.schema import Schema
from candide.specs.text import TextSpec

from .test_text import KINDS, X, Y, Z, assert_alike, corpus
from .test_text_weighting import corpus as many_words

# Pruning and summaries read all buckets.
FEW = {"buckets": 14}
growing = pytest.mark.parametrize("how", [how for how in KINDS if "vocabulary" not in how], ids=str)


@fitted_once
def fit(texts: Any, labels: Any, **how: Any) -> TextNB:
    return TextNB(**how).fit(texts, labels)


def n_tokens(model: TextNB) -> int:
    return sum(
        int((feature_set.weight > 0).sum()) for feature_set in model.model_.classifier.state.statistics.feature_sets
    )


def dropped(model: TextNB) -> Any:
    """The feature sets that ``compact`` has dropped."""
    return model.model_.classifier.bound_spec.family.dropped


def at_least_nothing(model: TextNB) -> bool:
    return all(
        feature_set.counts.total.min() >= 0 for feature_set in model.model_.classifier.state.statistics.feature_sets
    )


@pytest.mark.parametrize(
    "how", [FEW, {"family": "bernoulli"}, {"family": "multinomial", "weighting": "tfidf"}], ids=str
)
def test_the_rarest_tokens_go(how: dict[str, Any]) -> None:
    model = fit(X, Y, **how)
    before = n_tokens(model)
    sums = [feature_set.weight for feature_set in model.model_.classifier.state.statistics.feature_sets]
    assert model.pruned_ == (0, 0.0)
    assert "pruned" not in model.summary()
    model.prune(max_tokens=30)
    assert n_tokens(model) == 30
    assert model.pruned_.tokens == before - 30
    assert model.pruned_.weight == pytest.approx(
        np.sum(np.concatenate(sums)) - np.sort(np.concatenate(sums))[-30:].sum()
    )
    assert model.score(X, Y) > 0.4
    shown = model.summary()
    feature_sets = {
        feature_set: (left, gone)
        for feature_set, left, gone in zip(shown["feature_set"], shown["tokens"], shown["pruned"], strict=True)
    }
    assert sum(left for left, _ in feature_sets.values()) == 30
    assert sum(gone for _, gone in feature_sets.values()) == before - 30
    assert model.prune(max_tokens=30).pruned_.tokens == before - 30
    assert model.prune(max_tokens=10).pruned_.tokens == before - 10


def test_which_tokens_go_does_not_hang_on_who_came_first() -> None:
    texts = ["xx bb yy", "xx zz ää", "xx yy"]
    for order in ([0, 1, 2], [2, 1, 0]):
        model = TextNB("multinomial").fit([texts[i] for i in order], ["a", "b", "a"])
        assert set(model.prune(max_tokens=3).vocabulary_) == {"xx", "yy", "bb"}


@pytest.mark.parametrize("how", [{"family": "multinomial"}, {"family": "multinomial", "buckets": 10}, FEW], ids=str)
def test_bytes_are_those_of_the_stored_model(how: dict[str, Any]) -> None:
    model = TextNB(subsample=0, compute_loo=False, **how).fit(*many_words(400, 3))
    empty = len(pickle.dumps(copy.deepcopy(model).prune(max_tokens=1)))
    for max_bytes in (20_000, 8_000, 2_000):
        size = len(pickle.dumps(model.prune(max_bytes=max_bytes)))
        assert size <= empty + max_bytes
        if model.pruned_.tokens:
            assert size > empty + 0.8 * max_bytes


@growing
def test_a_pruned_model_goes_on(how: dict[str, Any]) -> None:
    model = fit(X, Y, **how).prune(max_tokens=12)
    model.partial_fit(Z, Y[: len(Z)])
    assert n_tokens(model) > 12
    model.forget(X[:100], Y[:100])
    assert at_least_nothing(model)
    merged = merge([model, TextNB(**how).fit(X[:100], Y[:100])])
    assert merged.pruned_ == model.pruned_
    assert np.isfinite(merged.refit().leave_one_out(X[100:], Y[100:])).all()
    assert np.isfinite(merged.cross_val_log_proba(X[100:], Y[100:], n_folds=3)).all()
    assert 0 < merged.loo_.accuracy <= 1
    assert merged.discount(0.5).pruned_.weight == model.pruned_.weight / 2


@growing
def test_all_that_a_pruned_model_learned_can_be_forgotten(how: dict[str, Any]) -> None:
    """Whatever came back in between."""
    model = fit(X, Y, **how).prune(max_tokens=9).partial_fit(Z, Y[: len(Z)])
    model.forget(X, Y)
    assert at_least_nothing(model)
    expected = TextNB(**how).fit(Z, Y[: len(Z)])
    np.testing.assert_array_equal(model.class_count_, expected.class_count_)
    assert n_tokens(model) <= n_tokens(expected)


@every(
    "arguments,message",
    [
        ({}, "exactly one"),
        ({"max_tokens": 3, "max_bytes": 3}, "exactly one"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"max_bytes": 1.5}, "max_bytes is 1.5"),
    ],
)
def test_what_is_asked_of_prune_is_checked(arguments: dict[str, Any], message: str) -> None:
    model = TextNB("multinomial").fit(X, Y)
    before = model.model_.classifier
    with pytest.raises(ParameterError, match=message):
        model.prune(**arguments)
    assert model.model_.classifier is before


def test_a_given_vocabulary_is_not_pruned() -> None:
    model = TextNB("multinomial", vocabulary=["win", "bread"]).fit(X, Y)
    with pytest.raises(ParameterError, match="shorter"):
        model.prune(max_tokens=1)


@growing
def test_nothing_is_left_of_a_budget_of_one_byte(how: dict[str, Any]) -> None:
    model = fit(X, Y, **how).prune(max_bytes=1)
    assert n_tokens(model) == 0
    np.testing.assert_allclose(model.predict_proba(Z), model.predict_proba([""] * len(Z)))
    assert np.isfinite(model.loo_.log_loss)


def with_idle(names: set[str], **how: Any) -> TextNB:
    """A model some of whose looks have no weight."""
    from dataclasses import replace

    model = fit(X, Y, **FEW, **how)
    fitted: Any = model.model_.classifier.fitted
    idle = np.array([name.feature_set in names for name in fitted.views.names])
    weight = np.where(idle[:, None], 0.0, fitted.views.weights.weight)
    views = replace(fitted.views, weights=replace(fitted.views.weights, weight=weight))
    classifier = model.model_.classifier
    changed = type(classifier)(classifier.bound_spec, classifier.state, replace(fitted, views=views))
    model.model_ = replace(model.model_, classifier=changed)
    return model


IDLE = {"places", "pairs of words"}


def test_idle_looks_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_idle(IDLE)
    asked: list[int] = []
    native: Any = type(model.model_.kernels)
    count = native.count_tokens

    def counted(self: Any, texts: Any, feature_sets: Any, **how: Any) -> Any:
        asked.append(len(feature_sets))
        return count(self, texts, feature_sets, **how)

    monkeypatch.setattr(native, "count_tokens", counted)
    model.predict(Z)
    assert sum(asked) == 3
    assert (model.summary()["weight"][np.isin(model.summary()["feature_set"], list(IDLE))] == 0).all()


@pytest.mark.parametrize("how", [{}, {"subsample": 0}, {"refine": True}], ids=str)
def test_compacting_changes_no_prediction(how: dict[str, Any]) -> None:
    model = with_idle(IDLE, **how)
    before = model.predict_proba(Z)
    model.compact()
    np.testing.assert_array_equal(model.predict_proba(Z), before)
    assert set(dropped(model)) == IDLE - ({"pairs of words"} if "refine" in how else set())
    assert set(model.summary()["feature_set"]).isdisjoint(dropped(model))
    assert len(model.model_.classifier.state.statistics.feature_sets) == 5 - len(dropped(model))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(Z), before)
    assert dropped(model.compact()) == dropped(model)


def test_words_stay_though_nobody_hears_them() -> None:
    model = with_idle({"words"})
    before = model.predict_proba(Z)
    model.compact()
    assert dropped(model) == ()
    np.testing.assert_array_equal(model.predict_proba(Z), before)
    assert "win" in model.vocabulary_


def test_a_model_in_which_nothing_is_heard() -> None:
    feature_sets = {feature_set.name for feature_set in TextSpec()._family(Schema(1)).feature_sets}
    model = with_idle(feature_sets)
    before = model.predict_proba(Z)
    np.testing.assert_allclose(model.compact().predict_proba(Z), before)
    assert len(dropped(model)) == 4
    model.partial_fit(X, Y)
    assert model.score(X, Y) > 0.6


def test_a_compacted_model_goes_on_with_what_is_left() -> None:
    model = with_idle(IDLE).compact()
    model.partial_fit(Z, Y[: len(Z)]).forget(X[:50], Y[:50])
    assert len(model.model_.classifier.state.statistics.feature_sets) == 3
    again = with_idle(IDLE).compact().forget(X[:50], Y[:50]).merge(with_idle(IDLE).compact().forget(X[60:], Y[60:]))
    assert dropped(again) == dropped(model)
    assert 0 < model.refit().loo_.accuracy <= 1
    assert set(model.summary()["feature_set"]) == {"words", "2 or 3 characters", "4 or 5 characters"}
    assert dropped(model.fit(X, Y)) == ()


def test_a_compacted_model_merges_with_its_like_alone() -> None:
    small, whole = with_idle(IDLE).compact(), fit(X, Y, **FEW)
    for one, other in ((small, whole), (whole, small)):
        with pytest.raises(MergeError, match=r"compact\(\) has dropped .* merge the models first"):
            one.merge(other)


def test_a_textbooks_model_has_nothing_to_compact() -> None:
    model = TextNB("multinomial").fit(X, Y)
    before = model.predict_proba(Z)
    assert compact(model.model_.classifier) is model.model_.classifier
    np.testing.assert_array_equal(model.compact().predict_proba(Z), before)


def test_names_or_buckets_for_auto() -> None:
    """Exact tokens and many buckets say the same; few buckets do not."""
    named, hashed, few = (TextNB(buckets=how).fit(X, Y) for how in (None, 20, 6))
    assert_alike(named, hashed, 1e-7)
    assert_alike(TextNB(buckets=22).fit(X, Y), fit(X, Y), 0.0)
    assert np.abs(few.predict_proba(Z) - hashed.predict_proba(Z)).max() > 1e-3
    texts, labels = corpus(90, seed=4)
    both = merge([copy.deepcopy(named), TextNB(buckets=None).fit(texts, labels)])
    assert_alike(both, TextNB(buckets=None).fit(X + texts, [*Y, *labels]), 1e-7)
    with pytest.raises(MergeError):
        named.merge(hashed)
