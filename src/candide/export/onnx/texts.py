"""The scores of texts, which come as tokens: each token selects a row of a table of weights.

A table of texts × all tokens would be mostly zeros, and filling it takes many times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...exceptions import ParameterError
from ...families.feature_sets import FeatureSet, KnownTokens
from ...families.linear import LinearTerm
from ...families.score_terms import LogGamma, RowTotal, Term
from ...families.text_likelihood import TextLikelihood
from ...kernels.layouts import Floats
from ...kernels.vocabulary import Vocabulary
from .tensor import Graph, Tensor, added
from .terms import Scored, log_rising


class TokenCells(NamedTuple):
    """Tokens of texts, ``(texts, positions)``: their codes and weights. Codes beyond known tokens add nothing."""

    codes: Tensor
    weight: Tensor | None = None  # ``(texts, positions, 1)``; None if all are 1

    def picks(self, table: Floats, other: float = 0.0) -> Tensor:
        """Return the entries of a table, ``(classes, tokens)``, as ``(texts, positions, classes)``."""
        return self.codes.picks(np.vstack([table.T, np.full((2, len(table)), other)]))

    def times(self, factor: Tensor) -> Tensor:
        return factor if self.weight is None else self.weight * factor


def scored_tokens(likelihood: TextLikelihood, graph: Graph) -> tuple[Scored, Callable[[], Tensor]]:
    """Return the scores of the tokens of texts and the number of tokens; rows are padded with empty strings."""
    coding = likelihood.known.coding
    if not isinstance(coding, Vocabulary):
        raise ParameterError(
            "this model uses hashed tokens, for which ONNX has no operator; train it with buckets=None"
        )
    vocabulary = coding.tokens()
    if not vocabulary:
        raise ParameterError("this model has no tokens; expected at least one; fit it on more texts")
    tokens, n = graph.input("tokens", 0, "m", texts=True), len(vocabulary)
    # After the known tokens come all unknown ones, and padding.
    keys, places = np.array([*vocabulary, ""], dtype=object), np.append(np.arange(n), n + 1)
    codes = graph.look_up(tokens, keys, places, n)
    finite, limits = likelihood.inner.terms
    each = all(isinstance(term, LinearTerm) for group in (finite, *limits) for term in group)
    cells = _cells(codes, likelihood.known, each=each)
    scored = Scored(_added_up(finite, cells), [_added_up(terms, cells) for terms in limits])
    return scored, lambda: (codes < n + 1).of_type(np.float64).sum(1, keep=True)


def _cells(codes: Tensor, known: KnownTokens, *, each: bool) -> TokenCells:
    """Return the weights of tokens, as ``KnownTokens.rows``; with ``each``, occurrences may be added up one by one."""
    feature_set, n = known.feature_set, len(known.coding)
    if each and feature_set.weighting in ("count", "tfidf"):
        cells = TokenCells(codes)
    else:
        ordered, is_new = _in_order(codes)
        first = is_new & (ordered < n)
        weight = None if each and feature_set.presence else _weights(is_new, first, feature_set).with_axis(2)
        cells = TokenCells(first.where(ordered, n), weight)
    return cells if known.factor is None else TokenCells(cells.codes, cells.times(cells.picks(known.factor[None])))


def _in_order(codes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes of each text in ascending order, and whether a code differs from the one before."""
    graph = codes.graph
    size = graph.op("Slice", graph.op("Shape", codes), np.array([1]), np.array([2]))
    ordered = graph.op("TopK", codes, size, n_outputs=2, largest=0)
    # The same one position later: a negative pad cuts off the end.
    return ordered, ordered > graph.op("Pad", ordered, np.array([0, 1, 0, -1]), np.int64(-1))


def _weights(is_new: Tensor, first: Tensor, feature_set: FeatureSet) -> Tensor:
    """Return the weights of codes in order where each known one begins, and 0 at the other positions."""
    if feature_set.presence:
        return first.of_type(np.float64)
    graph, run = is_new.graph, is_new.graph.op("CumSum", is_new.of_type(np.int64), np.int64(1)) - 1
    ones = graph.op("Expand", 1.0, graph.op("Shape", is_new))
    counts = graph.op("ScatterElements", ones * 0.0, run, ones, axis=1, reduction="add")
    count = graph.op("GatherElements", counts, run, axis=1)
    return first.where(count.log() + 1.0 if feature_set.weighting == "log" else count, 0.0)


def _added_up(terms: Sequence[Term], cells: TokenCells) -> Tensor:
    return added([_term_scores(term, cells) for term in terms])


def _term_scores(term: Term, cells: TokenCells) -> Tensor:
    """Return what a term adds to the scores of texts, ``(texts, classes)``."""
    if isinstance(term, LinearTerm):
        return cells.times(cells.picks(term.dense()[0])).sum(1) + term.base
    assert cells.weight is not None
    if isinstance(term, RowTotal):
        return -log_rising(term.start, cells.weight.sum(1))
    assert isinstance(term, LogGamma)
    return log_rising(cells.picks(term.start, 1.0), cells.weight).sum(1)
