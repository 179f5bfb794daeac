"""The most informative tokens of each class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.arrays import as_array
from ..families.feature_sets import FeatureSet
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Sparse, TextRows
from ..kernels.tokens import Names, named
from ..kernels.vocabulary import Buckets, Coding
from ..stacking.token_views import StackedTokenViews
from .table import Table

if TYPE_CHECKING:
    from .classifier import Classifier

# Number of candidates per class for each listed token.
_CANDIDATES = 5
# Punctuation is listed only if it raises the probability of the class at least this share of the way to 1.
_MIN_RISE_OF_PUNCTUATION = 0.5
# Number of tokens per class and feature set whose names are kept when the sample is dropped.
_KEPT = 20


class Candidates(NamedTuple):
    """Candidate tokens of one feature set, each for one class."""

    feature_set: FeatureSet
    coding: Coding
    classes: Array
    codes: Array
    held: Floats  # number of texts of the class that contain the token, or of its occurrences in them
    score: Floats  # ``identified``
    rise: Floats  # ``raised``
    bits: Floats  # contribution to the class relative to the mean over all classes

    @property
    def informative(self) -> Array:
        """Whether a token is more frequent in the class than elsewhere, and raises its score."""
        return np.asarray((self.score > 0) & (self.bits > 0))


def raised(probability: Floats, share: Floats | float) -> Floats:
    """Return the increase of a class probability over the class frequency, as a share of the distance to 1.

    >>> raised(np.array([0.25, 0.6, 1.0]), 0.2).round(4)
    array([0.0625, 0.5   , 1.    ])
    """
    return np.asarray((probability - share) / np.maximum(1.0 - share, 1e-300))


def identified(rate: Floats, rise: Floats) -> Floats:
    """Return the share of a class that a feature identifies: its frequency times ``raised``.

    A feature that many classes have in common raises the probability of each only a little.
    """
    return np.asarray(rate * np.maximum(rise, 0.0))


def top_features(model: Classifier, n: int, feature_set: str | None, kernels: Kernels) -> Table:
    """Return the ``n`` tokens of each class that identify most of its texts."""
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    used = _used_feature_sets(model)
    found = [_candidate_tokens(model, likelihood, i, n, kernels) for i in used if feature_set in (None, used[i])]
    names = _names(model, found, kernels)
    rows: list[tuple[Any, ...]] = []
    for k, label in enumerate(model.classes.labels.tolist()):
        of_class = [(one, i) for one in found for i in np.flatnonzero((one.classes == k) & one.informative)]
        listed = [(one, i) for one, i in of_class if one.rise[i] >= _MIN_RISE_OF_PUNCTUATION or _is_word(names, one, i)]
        best = sorted(listed, key=lambda pair: -pair[0].score[pair[1]])[:n]
        rows += [(label, one, i) for one, i in best]
    return _table(rows, names)


def _is_word(names: Names, one: Candidates, i: Any) -> bool:
    """Return whether a token has a letter or a digit."""
    return any(map(str.isalnum, names[one.feature_set.name][int(one.codes[i])]))


def top_token_names(model: Classifier, kernels: Kernels) -> Names:
    """Return the names of the top hashed tokens of each feature set by code, for when the sample is dropped."""
    likelihood: Any = model.likelihood
    if not isinstance(likelihood, TextLikelihood):
        return {}
    used = [_candidate_tokens(model, likelihood, i, _KEPT, kernels) for i in _used_feature_sets(model)]
    return _names(model, [one for one in used if isinstance(one.coding, Buckets)], kernels)


def all_names(a: Names, b: Names) -> Names:
    """Return the names of both; those of the second take precedence."""
    return {feature_set: a.get(feature_set, {}) | b.get(feature_set, {}) for feature_set in a | b}


def _names(model: Classifier, found: list[Candidates], kernels: Kernels) -> Names:
    """Return the names of tokens by feature set and code; unknown ones are named after their bucket."""
    names: Names = {}
    for one in found:
        codes, known = np.unique(one.codes), model.token_names.get(one.feature_set.name, {})
        rows = None if model.state.sample is None else model.state.sample.data
        texts = rows if isinstance(rows, TextRows) else None
        tokens = named(one.feature_set.tokenizer, one.coding, codes, texts, kernels)
        pairs = zip(codes.tolist(), tokens, strict=True)
        names[one.feature_set.name] = {code: token or known.get(code, f"bucket {code}") for code, token in pairs}
    return names


def _table(rows: list[tuple[Any, Candidates, Any]], names: Names) -> Table:
    return Table(
        {
            "class": as_array([label for label, _, _ in rows], "class"),
            "feature_set": np.array([one.feature_set.name for _, one, _ in rows], dtype=object),
            "token": np.array([names[one.feature_set.name][int(one.codes[i])] for _, one, i in rows], dtype=object),
            "score": np.array([one.score[i] for _, one, i in rows]),
            "bits": np.array([one.bits[i] for _, one, i in rows]),
            "count": np.array([one.held[i] for _, one, i in rows]),
        }
    )


def _used_feature_sets(model: Classifier) -> dict[int, str]:
    """Return the positions and names of the feature sets that have weights."""
    family: Any = model.family
    names = {i: feature_set.name for i, feature_set in enumerate(family.feature_sets)}
    views = None if model.fitted is None else model.fitted.views
    if not isinstance(views, StackedTokenViews):
        return {0: names[0]}
    return {i: name for i, name in names.items() if name in views.without_unused().feature_sets}


def _candidate_tokens(
    model: Classifier, likelihood: TextLikelihood, place: int, n: int, kernels: Kernels
) -> Candidates:
    views = None if model.fitted is None else model.fitted.views
    feature_set, sums = likelihood.family.feature_sets[place], likelihood.statistics.feature_sets[place]
    counts = sums.counts if isinstance(views, StackedTokenViews) else likelihood.known.counts
    coding = sums.coding if isinstance(views, StackedTokenViews) else likelihood.known.coding
    classes, codes, count, rise = _candidates(counts.total, counts.rows, _CANDIDATES * n)
    rows = _one_token_each(codes, len(coding))
    if isinstance(views, StackedTokenViews):
        contribution = views.token_contributions(likelihood, feature_set.name, rows, kernels)
    else:
        contribution = _contribution(likelihood, rows, kernels)
    own = (contribution - contribution.mean(axis=1, keepdims=True))[np.arange(len(codes)), classes]
    # The rate may exceed 1 if a token is counted several times per text.
    score = identified(np.minimum(count / np.maximum(counts.rows[classes], 1e-300), 1.0), rise)
    return Candidates(feature_set, coding, classes, codes, count, score, rise, own / np.log(2.0))


def _one_token_each(codes: Array, n_codes: int) -> Sparse:
    from scipy.sparse import csr_array

    ones, places = np.ones(len(codes), dtype=np.int32), np.arange(len(codes) + 1)
    return Sparse.of(csr_array((ones, codes, places), shape=(len(codes), n_codes)))


def _contribution(likelihood: TextLikelihood, rows: Sparse, kernels: Kernels) -> Floats:
    """Return the contribution of a token to the score of a text without other tokens."""
    offset, nothing = np.zeros(len(likelihood.statistics.rows)), replace(rows, values=np.zeros_like(rows.values))
    before, after = (likelihood.inner.scores(one, offset, kernels) for one in (nothing, rows))
    return np.asarray(after - before)


def _candidates(total: Any, rows: Floats, n: int) -> tuple[Array, Array, Floats, Floats]:
    """Return the ``n`` tokens that identify most of each class: classes, codes, counts and their rise."""
    everywhere = np.asarray(total.sum(axis=0), dtype=np.float64).ravel()
    share = rows / max(float(rows.sum()), 1e-300)
    kept: list[tuple[Array, Floats, Floats]] = []
    for place in range(len(rows)):
        codes, count = _of_class(total, place)
        whole = everywhere if codes is None else everywhere[codes]
        rise = raised(count / np.maximum(whole, 1e-300), share[place])
        best = _largest(identified(count, rise), n)
        best = best[count[best] > 0]
        kept.append((best if codes is None else codes[best], count[best], rise[best]))
    classes = np.repeat(np.arange(len(kept)), [len(codes) for codes, _, _ in kept])
    found, counts, rises = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return classes, found.astype(np.int64), counts, rises


def _of_class(total: Any, place: int) -> tuple[Array | None, Floats]:
    """Return the codes (None for all) and counts of a class, without copying them."""
    if isinstance(total, np.ndarray):
        return None, np.asarray(total[place], dtype=np.float64)
    span = slice(*total.indptr[place : place + 2].tolist())
    return total.indices[span], np.asarray(total.data[span], dtype=np.float64)


def _largest(gain: Floats, n: int) -> Array:
    """Return the positions of the ``n`` largest in descending order, the first ones in case of ties."""
    if len(gain) <= n:
        return np.argsort(-gain, kind="stable")
    least = np.partition(gain, len(gain) - n)[len(gain) - n]
    above, equal = np.flatnonzero(gain > least), np.flatnonzero(gain == least)
    return np.concatenate([above[np.argsort(-gain[above], kind="stable")], equal[: n - len(above)]])
