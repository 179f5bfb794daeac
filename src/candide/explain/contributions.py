"""The contributions of cells, tokens and views to the scores of one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..families.score_terms import REST, Parts
from ..families.table_likelihood import TableLikelihood
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Sparse, TextRows
from ..model.classifier import Classifier
from ..model.given import model_for
from ..stacking.refinement import Refinement
from ..stacking.stacked_views import StackedViews
from ..stacking.token_views import StackedTokenViews
from ..stacking.views import ViewContributions
from .explanation import Explanation
from .terms import Certainty, Term, code_names, shown_values, tokens_of


def explained(model: Classifier, data: Any, names: Array, kernels: Kernels) -> Iterator[Explanation]:
    """Yield the explanation of each row; ``names`` are the column names."""
    answers = model.posterior(data, kernels, logarithm=True)
    some_absent = isinstance(data, Columns) and data.absent() is not None
    for i, log_probability in enumerate(answers):
        row, own = data.take(np.array([i])), model
        if some_absent:
            own = model_for(model, row)
            log_probability = own.posterior(row, kernels, logarithm=True)[0]
        terms = tuple(_terms(own, row, names, kernels))
        certainty = Certainty(own, row, kernels)
        yield Explanation(model.classes.labels, terms, log_probability, _texts(row, names), certainty)


def _texts(row: Any, names: Array) -> dict[Any, str]:
    if isinstance(row, TextRows):
        return {None: _written(row)}
    if not isinstance(row, Columns):
        return {}
    held = ((name, column.texts) for name, column in zip(names, row.columns, strict=True))
    return {name: _written(texts) for name, texts in held if texts is not None}


def _written(text: TextRows) -> str:
    return str(text.arrays()["utf8"].tobytes(), "utf-8")


def _terms(model: Classifier, row: Any, names: Array, kernels: Kernels) -> Iterator[Term]:
    stacked = model.fitted is not None and model.fitted.views is not None
    if stacked:
        impossible = np.where(np.isneginf(model.scorer.offset), -np.inf, 0.0)
        if impossible.any():
            yield Term("prior", impossible, value="impossible classes")
        yield from view_terms(model, row, names, kernels)
    else:
        yield Term("prior", model.scorer.offset, value="prior")
        yield from cell_terms(model, row, names, kernels)
    if model.bound_spec.corrects:
        yield from _corrected(model, row, kernels)


def _corrected(model: Classifier, row: Any, kernels: Kernels) -> Iterator[Term]:
    """Yield the terms of calibration and class prior, which change the total scores."""
    if model.fitted is not None and model.fitted.calibration is not None:
        before = model.uncalibrated(row, kernels)
        yield Term("calibration", _difference(model.as_in_training(before, row), before)[0], value="calibration")
    if model.prior_change.any():
        yield Term("prior", model.prior_change, value="adapted class prior")


def _difference(after: Floats, before: Floats) -> Floats:
    """Return the difference of scores; 0 where both are -inf."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(after - before, nan=0.0, posinf=np.inf, neginf=-np.inf)


def cell_terms(model: Classifier, row: Any, names: Array, kernels: Kernels) -> Iterator[Term]:
    """Yield the terms of one row without the prior."""
    likelihood = model.likelihood
    if isinstance(likelihood, TextLikelihood):
        yield from token_terms(likelihood, row, kernels)
        return
    yield from _of_columns(likelihood.parts(row, kernels), row, names)
    if isinstance(likelihood, TableLikelihood):
        for j, text in likelihood.texts.items():
            yield from token_terms(text, row.texts_at(j), kernels, names[j])


def _of_columns(parts: Parts, row: Any, names: Array) -> Iterator[Term]:
    values = shown_values(row, parts.columns, names)
    for i, (j, value) in enumerate(zip(parts.columns.tolist(), values, strict=True)):
        limits = tuple(limit[i] for limit in parts.limits)
        if j != REST:
            yield Term("cell", parts.finite[i], names[j], value, limits=limits)
        elif parts.finite[i].any() or any(limit.any() for limit in limits):
            yield Term("rest", parts.finite[i], value=_rest_of(row), limits=limits)


def token_terms(text: TextLikelihood, row: TextRows, kernels: Kernels, column: Any = None) -> Iterator[Term]:
    """Yield the terms of one text from the likelihood of its tokens."""
    parts = text.parts(row, kernels)
    feature_set, coding = text.known.feature_set, text.known.coding
    tokens = code_names(tokens_of(feature_set.tokenizer, row, kernels), coding)
    for i, code in enumerate(parts.columns.tolist()):
        limits = tuple(limit[i] for limit in parts.limits)
        if code != REST:
            token = tokens[code]
            yield Term("token", parts.finite[i], column, token.name, count=float(token.times), limits=limits)
        elif parts.finite[i].any() or any(limit.any() for limit in limits):
            yield Term("rest", parts.finite[i], column, "everything absent", limits=limits)


def _rest_of(row: Data | Columns) -> str:
    if isinstance(row, Columns):
        return "columns together"
    return "everything absent" if isinstance(row, Sparse) else "all together"


def view_terms(model: Classifier, row: Any, names: Array, kernels: Kernels) -> Iterator[Term]:
    """Yield the terms of one row, including class biases."""
    assert model.fitted is not None
    views: Any = model.views_for(row)
    if isinstance(views, StackedTokenViews):
        yield Term("prior", views.weights.bias, value="class bias")
        yield from _text(views, model.likelihood, row, kernels)
        if model.fitted.refinement is not None:
            yield from _refined(model.fitted.refinement, row, kernels)
        return
    mixture, marked = views.weights_for_row(model.likelihood, row, model.scorer.offset)
    yield Term("prior", mixture.bias, value="class bias")
    yield from _Table(replace(views, weights=mixture), model.likelihood, marked, names, kernels).terms()


class _Table:
    """A row of a table and the views of it."""

    def __init__(
        self, views: StackedViews, likelihood: TableLikelihood, row: Columns, names: Array, kernels: Kernels
    ) -> None:
        self.views, self.likelihood, self.row, self.names, self.kernels = views, likelihood, row, names, kernels
        self.values = shown_values(row, np.arange(row.n_columns), names)

    def terms(self) -> Iterator[Term]:
        parts = self.likelihood.each_column(self.row, self.views.columns, self.kernels)[:, 0]
        for view, scores in enumerate(parts):
            part = self.views.weights.weighted(view, scores[None])
            if part is not None and self._is_given(view):
                yield self._single(view, part[0])
        together = self._added_up(parts)
        yield from self._weighed(self.views.n_single, self.views.names[0], together, self.views.columns)
        binning = self.views.binning
        binned, columns = binning.transform(self.row, self.kernels), [column.column for column in binning.columns]
        for view, one in enumerate(self.views.views, self.views.n_single + 1):
            if self.views.weights.weight[view].any():
                found = one.contributions(binned, binning.number_columns, self.kernels)
                yield from self._weighed(view, one.name, found, columns)
        for view, text in enumerate(self.views.texts, self.views.n_views - len(self.views.texts)):
            if self.views.weights.weight[view].any() and self.row.columns[text.column].absent is None:
                yield from self._of_text(view, text.column, text.stacked)

    def _is_given(self, view: int) -> bool:
        """Return whether the cell of a single-column view is given; otherwise it has no term."""
        return view >= len(self.views.columns) or self.row.columns[self.views.columns[view]].absent is None

    def _single(self, view: int, scores: Floats) -> Term:
        if view < len(self.views.columns):
            return self._cell(self.views.columns[view], scores, "column by column")
        block = self.likelihood.family.blocks[view - len(self.views.columns)]
        return Term("rest", scores, value=", ".join(str(self.names[j]) for j in block.columns), view="block")

    def _cell(self, j: int, scores: Floats, view: str) -> Term:
        return Term("cell", scores, self.names[j], self.values[j], view)

    def _added_up(self, parts: Floats) -> ViewContributions:
        n_columns = len(self.views.columns)
        given = np.array([view for view in range(n_columns) if self._is_given(view)], dtype=np.int64)
        return ViewContributions(given, parts[given], parts[n_columns:].sum(axis=0))

    def _weighed(self, view: int, name: str, parts: ViewContributions, columns: Sequence[int]) -> Iterator[Term]:
        """Yield the terms of a view; the columns of its parts are positions in ``columns``."""
        if not self.views.weights.weight[view].any():
            return
        joint = parts.scores[:0] if parts.pair_scores is None else parts.pair_scores
        shares, limit = self.views.weights.weighted_parts(view, np.vstack([parts.scores, joint, parts.rest]))
        n_columns = len(parts.columns)
        for place, scores in zip(parts.columns.tolist(), shares[:n_columns], strict=True):
            yield self._cell(columns[place], scores, name)
        for pair, scores in zip(parts.pairs.tolist(), shares[n_columns:-1], strict=True):
            yield Term("rest", scores, value=" × ".join(str(self.names[columns[j]]) for j in pair), view=name)
        yield Term("rest", shares[-1], value=name, view=name)
        yield from _beyond(limit, name)

    def _of_text(self, view: int, column: int, bins: StackedTokenViews) -> Iterator[Term]:
        """Return the terms of a text column: those of its stacked views, multiplied by the weight of the column."""
        name, mixture = self.names[column], self.views.weights
        inner = list(_text(bins, self.likelihood.texts[column], self.row.texts_at(column), self.kernels, name))
        if not inner:
            return
        shares, limit = mixture.weighted_parts(view, np.array([term.scores for term in inner]))
        for term, scores in zip(inner, shares, strict=True):
            yield Term(term.kind, scores, name, term.value, term.view, term.count)
        yield from _beyond(limit, f"{name}: all tokens", name)


def _text(
    views: StackedTokenViews, likelihood: TextLikelihood, text: TextRows, kernels: Kernels, column: Any = None
) -> Iterator[Term]:
    """Yield the tokens of every feature set that has weights, each with its contribution in all bins."""
    used = views.without_unused()
    for name in used.feature_sets:
        feature_set = next(one for one in likelihood.family.feature_sets if one.name == name)
        sums = likelihood.statistics.feature_sets[likelihood.family.feature_sets.index(feature_set)]
        tokens = code_names(tokens_of(feature_set.tokenizer, text, kernels), sums.coding)
        codes = np.array(list(tokens), dtype=np.int64)
        found = likelihood.bin_parts(name, codes)
        total, limit = _binned(used, name, found.scores)
        for i, code in enumerate(codes[found.known].tolist()):
            token = tokens[code]
            yield Term("token", total[i], column, token.name, name, float(token.times))
        yield from _beyond(limit, name, column)


def _binned(views: StackedTokenViews, feature_set: str, scores: Floats) -> tuple[Floats, Floats]:
    """Return the weighted sums of tokens' bin scores, ``(tokens, classes)``, and the effect of clipping."""
    places = [view for view, name in enumerate(views.names) if name.feature_set == feature_set]
    pairs = [views.weights.weighted_parts(view, of_view) for view, of_view in zip(places, scores, strict=True)]
    shares, limits = zip(*pairs, strict=True)
    return np.sum(shares, axis=0), np.sum(limits, axis=0)


def _beyond(limit: Floats, name: str, column: Any = None) -> Iterator[Term]:
    # Rounding differences do not count as clipping.
    if np.ptp(limit) > 1e-9 * max(1.0, float(np.abs(limit).max())):
        yield Term("limit", limit, column, f"{name}: clipped to the training range", name)


def _refined(refinement: Refinement, text: TextRows, kernels: Kernels) -> Iterator[Term]:
    """Yield the terms of the refinement: token weights divided by the square root of the number of tokens."""
    found = [
        (feature_set, weights, code_names(tokens_of(feature_set.tokenizer, text, kernels), feature_set.coding))
        for feature_set, weights in zip(refinement.feature_sets, refinement.weights, strict=True)
    ]
    n_tokens = max(1, sum(len(tokens) for _, _, tokens in found))
    for feature_set, weights, tokens in found:
        for code, token in tokens.items():
            scores = np.asarray(weights[code], dtype=np.float64) / np.sqrt(n_tokens)
            yield Term("token", scores, value=token.name, view=f"{feature_set.name}, refined", count=float(token.times))
