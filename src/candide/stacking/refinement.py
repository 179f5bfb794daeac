"""What a logistic regression adds to a blend of texts: it learns from the texts that the blend gets wrong.

It is no sum over texts, so it does not merge and cannot forget: it is fitted again from the training texts kept, with
the next refit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..families.terms import TokenLook
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, TextRows
from ..kernels.tokens import TokenFeatures, TokenTables
from ..kernels.vocabulary import Vocabulary
from ..lazy_dataclass import dataclass
from .folds import folds_of, rows_by_fold
from .row_span import Regression
from .token_views import TextBlended
from .training_rows import Seen, row_weight

_RIDGE = 0.3
# Texts that hold a token, at least: of one text alone it would only learn that text by heart.
_LEAST_TEXTS = 2
_FOLDS = 10
# Scores of a fold under all views, at most.
_MOST_SCORES = 1 << 24


@dataclass(frozen=True)
class Refinement:
    """A weight for every token and class; a text's are added up and divided by the root of how many they are."""

    looks: tuple[TokenLook, ...]
    weights: tuple[Array, ...]  # (tokens, classes) of each look

    def scores(self, data: TextRows, kernels: Kernels) -> Floats:
        """What is added to the blend's, ``(rows, classes)``."""
        looks = [TokenFeatures(look.recipe, look.coding) for look in self.looks]
        tables = [TokenTables(once=weights) for weights in self.weights]
        found = kernels.score_tokens(data.texts, looks, tables, distinct=True)
        total = sum(np.asarray(part.once) for part in found)
        n_tokens = sum(np.asarray(part.distinct) for part in found)
        return np.asarray(total / np.sqrt(np.maximum(n_tokens, 1))[:, None])


def word_looks(looks: Iterable[TokenLook]) -> list[TokenLook]:
    """Those that it learns from: words, and pairs of them."""
    return [look for look in looks if look.recipe.analyzer == "word"]


def fit_refinement(likelihood: TextLikelihood, seen: Seen, offset: Floats, kernels: Kernels) -> Refinement:
    """From texts that each begin with a score of the blend that has not seen them."""
    looks, rows = _tokens(likelihood, seen, kernels)
    weights = _solved(rows, seen, offset)
    ends = np.cumsum([len(look.coding) for look in looks])[:-1]
    return Refinement(looks, tuple(np.ascontiguousarray(part, dtype=np.float32) for part in np.split(weights, ends)))


def refined_without(likelihood: TextLikelihood, seen: Seen, offset: Floats, folds: Array, kernels: Kernels) -> Floats:
    """Scores of the texts, each refined by what those of other folds say."""
    _, rows = _tokens(likelihood, seen, kernels)
    out = np.empty_like(offset)
    for here in rows_by_fold(folds):
        rest = np.setdiff1d(np.arange(len(folds)), here, assume_unique=True)
        out[here] = offset[here]
        if len(rest):
            weights = _solved(rows[rest], seen.take(rest, seen.multiplicity[rest]), offset[rest])
            out[here] += rows[here] @ weights
    return out


def fold_scores(likelihood: TextLikelihood, views: TextBlended, seen: Seen, kernels: Kernels) -> Floats:
    """The blend's, of every text by sums without its fold: one fold at a time, as all would fill the memory."""
    classes = seen.batch.classes
    n_scores = views.n_views * len(classes) * seen.batch.n_classes
    folds = folds_of(classes, seen.blocks, max(_FOLDS, -(-n_scores // _MOST_SCORES)))
    out = np.empty((len(classes), seen.batch.n_classes))
    for here in rows_by_fold(folds):
        fold = seen.take(here, seen.multiplicity[here])
        out[here] = views.left_out(views.without_fold(likelihood, fold, kernels))
    return out


def _tokens(likelihood: TextLikelihood, seen: Seen, kernels: Kernels) -> tuple[tuple[TokenLook, ...], Any]:
    """Looks with the tokens that several texts hold, and the texts as rows of length 1."""
    from scipy.sparse import csr_array, hstack

    asked = [look._replace(coding=Vocabulary(), fixed=True) for look in word_looks(likelihood.family.looks)]
    found = kernels.count_tokens(
        seen.batch.data.texts, [TokenFeatures(look.recipe, look.coding) for look in asked], grow=True
    )
    looks, parts = [], []
    for look, one in zip(asked, found, strict=True):
        rows = one.rows.matrix()
        held = np.bincount(rows.indices, np.repeat(seen.multiplicity, np.diff(rows.indptr)), rows.shape[1])
        kept = np.flatnonzero(held >= _LEAST_TEXTS)
        assert isinstance(one.coding, Vocabulary)
        looks.append(look._replace(coding=one.coding.take(kept)))
        parts.append(csr_array(rows)[:, kept])
    rows = csr_array(hstack(parts), dtype=np.float64)
    n_tokens = np.diff(rows.indptr)
    rows.data = np.repeat(1.0 / np.sqrt(np.maximum(n_tokens, 1)), n_tokens)
    return tuple(looks), rows


def _solved(rows: Any, seen: Seen, offset: Floats) -> Floats:
    if not len(seen.case_weight):
        return np.zeros((rows.shape[1], seen.batch.n_classes))
    weight = seen.case_weight / row_weight(seen)
    return Regression.of(rows, seen.batch.classes, weight, offset, _RIDGE).solve()
