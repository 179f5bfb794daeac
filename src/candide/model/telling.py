"""Which tokens speak most for which class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.arrays import as_array
from ..families.terms import TokenLook
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Sparse, TextRows
from ..kernels.vocabulary import Buckets, Coding
from ..stacking.token_views import StackedTokenViews
from .table import Table
from .token_names import Names, named

if TYPE_CHECKING:
    from .classifier import Classifier

# Tokens of a class that are looked at, for each that is asked for.
_CANDIDATES = 5
# Punctuation is listed only where it takes the probability of the class at least so far of the way to 1.
_TELLING_SIGN = 0.5
# Tokens of a class and look whose names stay when the training texts go.
_KEPT = 20


class Spoken(NamedTuple):
    """Tokens of one look, one for each class that they may speak for."""

    look: TokenLook
    coding: Coding
    classes: Array
    codes: Array
    held: Floats  # in the class: of the texts that hold it, or of how often they do
    score: Floats  # ``identified``
    rise: Floats  # ``raised``
    bits: Floats  # for the class, against the mean of all

    @property
    def speaks(self) -> Array:
        """Whether a token is more frequent in the class than elsewhere, and the model takes it for evidence."""
        return np.asarray((self.score > 0) & (self.bits > 0))


def raised(probability: Floats, share: Floats | float) -> Floats:
    """How far a probability of a class is from its share of all towards 1; below 0 where it is less than the share.

    >>> raised(np.array([0.25, 0.6, 1.0]), 0.2).round(4)
    array([0.0625, 0.5   , 1.    ])
    """
    return np.asarray((probability - share) / np.maximum(1.0 - share, 1e-300))


def identified(rate: Floats, rise: Floats) -> Floats:
    """The share of a class that something identifies: has it, times how far it raises the probability of the class.

    What many classes have in common raises the probability of each but little, however frequent it is.
    """
    return np.asarray(rate * np.maximum(rise, 0.0))


def telling(model: Classifier, n: int, look: str | None, kernels: Kernels) -> Table:
    """The ``n`` tokens of each class that identify most of its texts."""
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    heard = _looks(model)
    found = [_spoken(model, likelihood, i, n, kernels) for i in heard if look in (None, heard[i])]
    names = _names(model, found, kernels)
    rows: list[tuple[Any, ...]] = []
    for k, label in enumerate(model.classes.labels.tolist()):
        of_class = [(one, i) for one in found for i in np.flatnonzero((one.classes == k) & one.speaks)]
        listed = [(one, i) for one, i in of_class if one.rise[i] >= _TELLING_SIGN or _is_word(names, one, i)]
        best = sorted(listed, key=lambda pair: -pair[0].score[pair[1]])[:n]
        rows += [(label, one, i) for one, i in best]
    return _table(rows, names)


def _is_word(names: Names, one: Spoken, i: Any) -> bool:
    """Whether a token has a letter or a digit."""
    return any(map(str.isalnum, names[one.look.name][int(one.codes[i])]))


def heavy_names(model: Classifier, kernels: Kernels) -> Names:
    """Of the most telling hashed tokens of each look, by their codes; for when there are no texts to ask any more."""
    likelihood: Any = model.likelihood
    if not isinstance(likelihood, TextLikelihood):
        return {}
    heard = [_spoken(model, likelihood, i, _KEPT, kernels) for i in _looks(model)]
    return _names(model, [one for one in heard if isinstance(one.coding, Buckets)], kernels)


def all_names(a: Names, b: Names) -> Names:
    """Of both; the second's where they differ."""
    return {look: a.get(look, {}) | b.get(look, {}) for look in a | b}


def _names(model: Classifier, found: list[Spoken], kernels: Kernels) -> Names:
    """Names of tokens by look and code; those that nobody knows are called by their bucket."""
    names: Names = {}
    for one in found:
        codes, known = np.unique(one.codes), model.token_names.get(one.look.name, {})
        rows = None if model.state.sample is None else model.state.sample.data
        texts = rows if isinstance(rows, TextRows) else None
        tokens = named(one.look.recipe, one.coding, codes, texts, kernels)
        pairs = zip(codes.tolist(), tokens, strict=True)
        names[one.look.name] = {code: token or known.get(code, f"bucket {code}") for code, token in pairs}
    return names


def _table(rows: list[tuple[Any, Spoken, Any]], names: Names) -> Table:
    return Table(
        {
            "class": as_array([label for label, _, _ in rows], "class"),
            "look": np.array([one.look.name for _, one, _ in rows], dtype=object),
            "token": np.array([names[one.look.name][int(one.codes[i])] for _, one, i in rows], dtype=object),
            "score": np.array([one.score[i] for _, one, i in rows]),
            "bits": np.array([one.bits[i] for _, one, i in rows]),
            "count": np.array([one.held[i] for _, one, i in rows]),
        }
    )


def _looks(model: Classifier) -> dict[int, str]:
    """Places and names of the looks that are heard."""
    family: Any = model.family
    names = {i: look.name for i, look in enumerate(family.looks)}
    views = None if model.blend is None else model.blend.views
    if not isinstance(views, StackedTokenViews):
        return {0: names[0]}
    return {i: name for i, name in names.items() if name in views.without_unused().looks}


def _spoken(model: Classifier, likelihood: TextLikelihood, place: int, n: int, kernels: Kernels) -> Spoken:
    views = None if model.blend is None else model.blend.views
    look, sums = likelihood.family.looks[place], likelihood.statistics.looks[place]
    counts = sums.counts if isinstance(views, StackedTokenViews) else likelihood.known.counts
    coding = sums.coding if isinstance(views, StackedTokenViews) else likelihood.known.coding
    classes, codes, count, rise = _candidates(counts.total, counts.rows, _CANDIDATES * n)
    rows = _one_token_each(codes, len(coding))
    if isinstance(views, StackedTokenViews):
        pull = views.token_contributions(likelihood, look.name, rows, kernels)
    else:
        pull = _pull(likelihood, rows, kernels)
    own = (pull - pull.mean(axis=1, keepdims=True))[np.arange(len(codes)), classes]
    # Where a text counts a token more than once, a rate may be above 1.
    score = identified(np.minimum(count / np.maximum(counts.rows[classes], 1e-300), 1.0), rise)
    return Spoken(look, coding, classes, codes, count, score, rise, own / np.log(2.0))


def _one_token_each(codes: Array, n_codes: int) -> Sparse:
    from scipy.sparse import csr_array

    ones, places = np.ones(len(codes), dtype=np.int32), np.arange(len(codes) + 1)
    return Sparse.of(csr_array((ones, codes, places), shape=(len(codes), n_codes)))


def _pull(likelihood: TextLikelihood, rows: Sparse, kernels: Kernels) -> Floats:
    """What a token adds to the score of a text without any."""
    offset, nothing = np.zeros(len(likelihood.statistics.rows)), replace(rows, values=np.zeros_like(rows.values))
    before, after = (likelihood.inner.scores(one, offset, kernels) for one in (nothing, rows))
    return np.asarray(after - before)


def _candidates(total: Any, rows: Floats, n: int) -> tuple[Array, Array, Floats, Floats]:
    """Of each class the ``n`` tokens that identify most of it: classes, codes, counts and how far they raise it."""
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
    """Codes (None for all) and counts of a class, as they lie in memory."""
    if isinstance(total, np.ndarray):
        return None, np.asarray(total[place], dtype=np.float64)
    stretch = slice(*total.indptr[place : place + 2].tolist())
    return total.indices[stretch], np.asarray(total.data[stretch], dtype=np.float64)


def _largest(gain: Floats, n: int) -> Array:
    """Places of the ``n`` largest, these first; among equals those that come first."""
    if len(gain) <= n:
        return np.argsort(-gain, kind="stable")
    least = np.partition(gain, len(gain) - n)[len(gain) - n]
    above, equal = np.flatnonzero(gain > least), np.flatnonzero(gain == least)
    return np.concatenate([above[np.argsort(-gain[above], kind="stable")], equal[: n - len(above)]])
