"""Which tokens speak most for which class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..encoding.columns import as_array
from ..encoding.tokens import Buckets, Coding
from ..families.terms import TokenLook
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.data import Array, Floats, Sparse
from ..kernels.text_rows import TextRows
from .table import Table
from .token_names import named
from .views.texts import TextBlended

if TYPE_CHECKING:
    from .classifier import Classifier

# Tokens of a class that are looked at, for each that is asked for.
_CANDIDATES = 5
# Tokens of a class and look whose names stay when the training texts go.
_KEPT = 20
Names = dict[str, dict[int, str]]


class Spoken(NamedTuple):
    """Tokens of one look, one for each class that they may speak for."""

    look: TokenLook
    coding: Coding
    classes: Array
    codes: Array
    held: Floats  # in the class: of the texts that hold it, or of how often they do
    rate: Floats  # the same for each text of the class
    bits: Floats  # for the class, against the mean of all


def telling(model: Classifier, n: int, look: str | None, kernels: Kernels) -> Table:
    """The ``n`` tokens of each class that add most to its score, in the mean over its texts."""
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    heard = _looks(model)
    found = [_spoken(model, likelihood, i, n, kernels) for i in heard if look in (None, heard[i])]
    rows: list[tuple[Any, ...]] = []
    for k, label in enumerate(model.classes.labels.tolist()):
        of_class = [(one, i) for one in found for i in np.flatnonzero((one.classes == k) & (one.bits > 0))]
        best = sorted(of_class, key=lambda pair: -pair[0].rate[pair[1]] * pair[0].bits[pair[1]])[:n]
        rows += [(label, one, i) for one, i in best]
    return _table(rows, _names(model, found, kernels))


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
            "bits": np.array([one.bits[i] for _, one, i in rows]),
            "count": np.array([one.held[i] for _, one, i in rows]),
        }
    )


def _looks(model: Classifier) -> dict[int, str]:
    """Places and names of the looks that are heard."""
    family: Any = model.family
    names = {i: look.name for i, look in enumerate(family.looks)}
    views = None if model.blend is None else model.blend.views
    if not isinstance(views, TextBlended):
        return {0: names[0]}
    return {i: name for i, name in names.items() if name in views.without_idle().looks}


def _spoken(model: Classifier, likelihood: TextLikelihood, place: int, n: int, kernels: Kernels) -> Spoken:
    views = None if model.blend is None else model.blend.views
    look, sums = likelihood.family.looks[place], likelihood.statistics.looks[place]
    counts = sums.counts if isinstance(views, TextBlended) else likelihood.known.counts
    coding = sums.coding if isinstance(views, TextBlended) else likelihood.known.coding
    classes, codes, count = _candidates(counts.total, _CANDIDATES * n)
    rows = _one_token_each(codes, len(coding))
    if isinstance(views, TextBlended):
        pull = views.pull(likelihood, look.name, rows, kernels)
    else:
        pull = _pull(likelihood, rows, kernels)
    own = (pull - pull.mean(axis=1, keepdims=True))[np.arange(len(codes)), classes]
    rate = count / np.maximum(counts.rows[classes], 1e-300)
    return Spoken(look, coding, classes, codes, count, rate, own / np.log(2.0))


def _one_token_each(codes: Array, n_codes: int) -> Sparse:
    from scipy.sparse import csr_array

    ones, places = np.ones(len(codes), dtype=np.int32), np.arange(len(codes) + 1)
    return Sparse.of(csr_array((ones, codes, places), shape=(len(codes), n_codes)))


def _pull(likelihood: TextLikelihood, rows: Sparse, kernels: Kernels) -> Floats:
    """What a token adds to the score of a text without any."""
    offset, nothing = np.zeros(len(likelihood.statistics.rows)), replace(rows, values=np.zeros_like(rows.values))
    before, after = (likelihood.inner.scores(one, offset, kernels) for one in (nothing, rows))
    return np.asarray(after - before)


def _candidates(total: Any, n: int) -> tuple[Array, Array, Floats]:
    """Of each class the ``n`` tokens that are most above their share of all, by their part of the likelihood ratio."""
    by_class, share = (np.asarray(total.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
    share /= max(share.sum(), 1e-300)
    kept: list[tuple[Array, Floats]] = []
    for place, of_class in enumerate(by_class):
        codes, count = _of_class(total, place)
        best = _largest(_gain(count, (share if codes is None else share[codes]) * of_class), n)
        best = best[count[best] > 0]
        kept.append((best if codes is None else codes[best], count[best]))
    classes = np.repeat(np.arange(len(kept)), [len(codes) for codes, _ in kept])
    found, counts = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return classes, found.astype(np.int64), counts


def _of_class(total: Any, place: int) -> tuple[Array | None, Floats]:
    """Codes (None for all) and counts of a class, as they lie in memory."""
    if isinstance(total, np.ndarray):
        return None, np.asarray(total[place], dtype=np.float64)
    stretch = slice(*total.indptr[place : place + 2].tolist())
    return total.indices[stretch], np.asarray(total.data[stretch], dtype=np.float64)


def _gain(count: Floats, expected: Floats) -> Floats:
    """count · log(count / expected), written over ``expected``: there are as many as a model has sums."""
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(count, expected, out=expected)
        np.log(expected, out=expected)
        expected *= count
    return np.where(count > 0, expected, -np.inf) if not count.all() else expected


def _largest(gain: Floats, n: int) -> Array:
    """Places of the ``n`` largest, these first; among equals those that come first."""
    if len(gain) <= n:
        return np.argsort(-gain, kind="stable")
    least = np.partition(gain, len(gain) - n)[len(gain) - n]
    above, equal = np.flatnonzero(gain > least), np.flatnonzero(gain == least)
    return np.concatenate([above[np.argsort(-gain[above], kind="stable")], equal[: n - len(above)]])
