"""Columns and views with their weights as steps of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ...families.score_terms import CodeTable
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Array, Floats
from ...stacking.cell_regression import CellRegression
from ...stacking.covariance import Covariance
from ...stacking.dependence import OneDependence, TwoDependence
from ...stacking.fourier_regression import FourierRegression
from ...stacking.stacked_views import StackedViews
from ...stacking.weights import StackingWeights
from .absent import AbsentColumns, QuadraticForm
from .cells import BinnedColumns, Cells
from .dialects import Dialect
from .fourier import FourierInputs, FourierView
from .lookups import Lookups
from .query import Query, clipped, total
from .terms import add_entries, block_scores, column_reader, column_scores
from .views import Pairs, PairView, TripleView

# The names of what weights are multiplied by: of complete rows, and of others, where almost all columns are given and
# where almost none is.
_SHARES = ("whole", "near", "far")


@dataclass
class StackingQuery:
    """The contributions of columns and views to the score of each class, collected before the query is written."""

    views: StackedViews
    likelihood: TableLikelihood
    query: Query
    cells: Cells
    lookups: Lookups
    log_prior: Floats
    raw: dict[int, list[str]] = field(default_factory=dict)  # scores of views, by place, that are weighed row by row
    separate_views: list[PairView | TripleView | FourierView] = field(default_factory=list)
    patchy: set[int] = field(default_factory=set)  # views that may be NULL for rows that lack columns
    absent: dict[tuple[int, ...], AbsentColumns] = field(default_factory=dict)  # by the number columns of views
    shared: dict[int, Pairs | FourierInputs] = field(default_factory=dict)  # shared intermediate results, by identity

    def __post_init__(self) -> None:
        self.binned = BinnedColumns(self.views.binning, self.cells, self.lookups)
        self.partial = self.views.weights_for_partial_rows()
        self.lacking = self._lacks
        self._gather_columns()
        for i, view in enumerate(self.views.views, self.views.n_single + 1):
            if self._has_weight(i):
                self._gather_view(i, view)

    @property
    def weights(self) -> StackingWeights:
        return self.views.weights

    @property
    def _n_classes(self) -> int:
        return len(self.weights.bias)

    @property
    def dialect(self) -> Dialect:
        return self.cells.dialect

    def _has_weight(self, place: int) -> bool:
        return self.views.is_used(place)

    def _knows_nulls(self, j: int) -> bool:
        """Whether nulls of a column are values."""
        nulls = self.views.binning.nulls
        return nulls is None or bool(nulls[j])

    @property
    def _lacks(self) -> list[str]:
        """Names that are 1 where a column is not given, of the columns for which nulls mean that."""
        shown = {column.column: self.binned.lacks(i) for i, column in enumerate(self.views.binning.columns)}
        others = [j for j in self.views.column_places(self.likelihood) if j not in shown and not self._knows_nulls(j)]
        names = [name for name in shown.values() if name is not None]
        return [*names, *(self.cells.lacks(j, None) for j in others)]

    def _by_share(self, whole: float, near: float, far: float) -> str:
        """Return a number for complete rows, or one that depends on the share of present columns."""
        number = self.dialect.number
        if whole == near == far or not self.lacking:
            return number(whole)
        pairs = zip((whole, near, far), _SHARES, strict=True)
        return f"({total([f'{name} * {number(value)}' for value, name in pairs if value]) or number(0.0)})"

    def _weight(self, place: int, k: int) -> str | None:
        """Return the weight of a view for a class; None if it has none."""
        own = tuple(float(part[place, k]) for part in (self.weights.weight, self.partial.near, self.partial.far))
        return self._by_share(*own) if any(own) else None

    def _gather_columns(self) -> None:
        together, sums = self._has_weight(self.views.n_single), []
        for place, j in enumerate(self.views.columns):
            model = self.likelihood.models[j]
            if model is not None and (together or self._has_weight(place)):
                first = model.terms(nulls=self._knows_nulls(j))[0]
                if isinstance(first, CodeTable):
                    self._gather_entries(place, j, first, together=together)
                    continue
                sums.append(column_scores(self.likelihood, j, self.cells, self.lookups, nulls=self._knows_nulls(j)))
                if self._has_weight(place):
                    self.raw[place] = sums[-1]
        blocks = block_scores(self.likelihood, self.cells, self.lookups)
        for place, terms in enumerate(blocks, len(self.views.columns)):
            if self._has_weight(place):
                self.raw[place] = terms
        if together:
            every = [[f"together_{k}" * self.lookups.has_sum(f"together_{k}") for k in range(self._n_classes)]]
            every += [*sums, *blocks]
            self.raw[self.views.n_single] = [total([own[k] for own in every]) for k in range(self._n_classes)]

    def _gather_entries(self, place: int, j: int, term: CodeTable, *, together: bool) -> None:
        """Add the scores of a column to s0, s1, … with their weights, and to the unweighted sums."""
        reader = column_reader(self.likelihood, j, self.cells, self.lookups)
        if together:
            add_entries(term, term.with_neutral, reader, [f"together_{k}" for k in range(self._n_classes)])
        if self._has_weight(place):
            weights = [self._weight(place, k) or "0.0" for k in range(self._n_classes)]
            shown = self.weights.standardized(place, term.with_neutral)
            add_entries(term, shown, reader, [f"s{k}" for k in range(self._n_classes)], weights)

    def _gather_view(self, i: int, view: Any) -> None:
        if isinstance(view, Covariance):
            self.raw[i] = []  # written when it is known how many columns may be absent
            columns = view.coordinates.code_columns(self.binned.binning.number_columns)
            points, absent = self.binned.coordinates(view.coordinates), self._absent_columns(columns)
            absent.allow(view.moments.scatter.size)
            for k, factor in enumerate(view.factors):
                absent.add(QuadraticForm(f"v{i}_{k}", points, view.means[k], factor.whitening))
            if self.lacking:
                self.patchy.add(i)
        elif isinstance(view, CellRegression):
            self.raw[i] = [f"v{i}_{k}" for k in range(self._n_classes)]
            binned = BinnedColumns(view.cells, self.cells, self.lookups)
            for j, (begin, end) in enumerate(pairwise(view.offsets.tolist())):
                binned.add_sum(j, view.tables[0, begin:end], self.raw[i])
        else:
            cte = self._separate(f"v{i}", view)
            self.separate_views.append(cte)
            scores = [f"v{i}_scores.r{k}" for k in range(self._n_classes)]
            zero = self.dialect.first_number(0)
            if isinstance(cte, FourierView):
                if self.dialect.has_arrays:
                    scores = [f"v{i}_r{k}" for k in range(self._n_classes)]
                off = cte.lacks_all
                if self.lacking:
                    self.patchy.add(i)
            elif self.dialect.has_lists:
                scores = [f"v{i}_r{k}" for k in range(self._n_classes)]
                off = f"v{i}_r0 IS NULL" if self.lacking else None
            else:
                off = f"v{i}_scores.code_key IS NULL" if self.lacking else None
            self.raw[i] = scores if off is None else [f"CASE WHEN {off} THEN {zero} ELSE {own} END" for own in scores]

    def _separate(self, name: str, view: Any) -> PairView | TripleView | FourierView:
        """Return a view that is computed in a separate query. Fourier views share inputs, and triples use pairs."""
        if isinstance(view, FourierRegression):
            inputs = view.features.inputs
            return FourierView(
                name, view, self._shared(inputs, FourierInputs, self._absent_columns(inputs.ranks.columns))
            )
        one = view.one if isinstance(view, TwoDependence) else view
        assert isinstance(one, OneDependence)
        pairs = self._shared(one, Pairs)
        return TripleView(name, pairs, view) if isinstance(view, TwoDependence) else PairView(name, pairs)

    def _shared(self, part: Any, kind: Any, *more: Any) -> Any:
        if id(part) not in self.shared:
            self.shared[id(part)] = kind.of(f"p{len(self.shared)}", part, self.binned, *more)
        return self.shared[id(part)]

    def _absent_columns(self, columns: Array) -> AbsentColumns:
        """Return what is computed of absent number columns, which views of the same columns share."""
        lacks = [self.binned.lacks(i) for i in columns.tolist()]
        return self.absent.setdefault(tuple(columns.tolist()), AbsentColumns(f"a{len(self.absent)}", lacks))

    def write(self) -> None:
        """Write the steps from codes to the scores s0, s1, … of all classes."""
        query = self.query
        if self.lacking:
            self._write_shares()
        self.lookups.write()
        if self.binned.points:
            query.step("points", self.binned.points)
        for absent in self.absent.values():
            absent.write(query)
        for i, view in enumerate(self.views.views, self.views.n_single + 1):
            if i in self.raw and isinstance(view, Covariance):
                columns = view.coordinates.code_columns(self.binned.binning.number_columns)
                self.raw[i] = log_densities(view, f"v{i}", self._absent_columns(columns), self.dialect)
        for part in self.shared.values():
            part.write(query)
        joins = [join for view in self.separate_views if (join := view.write(query))]
        raw = {f"r{i}_{k}": own for i, scores in self.raw.items() for k, own in enumerate(scores)}
        query.step("views", {**self._begun(), **raw}, joins)
        n_classes = self._n_classes
        middles = {f"m{i}": f"({total([f'r{i}_{k}' for k in range(n_classes)])}) / {n_classes}" for i in self.raw}
        if middles:
            query.step("middles", middles)
            query.step("scores", {f"s{k}": self._score(k) for k in range(n_classes)})

    def _write_shares(self) -> None:
        """Write the steps for the factors of the three weights of a view."""
        number, n_columns = self.dialect.number, len(self.views.column_places(self.likelihood))
        self.query.step("lacking", {"lacking": total(self.lacking)})
        share = f"lacking / {number(n_columns)}"
        whole, zero = "CASE WHEN lacking = 0 THEN", self.dialect.first_number(0)
        shares = f"{whole} {self.dialect.first_number(1)} ELSE 0.0 END", f"{whole} {zero} ELSE 1.0 - {share} END"
        self.query.step("given", dict(zip(_SHARES, (*shares, f"{whole} {zero} ELSE {share} END"), strict=True)))

    def _begun(self) -> dict[str, str]:
        """Return biases and the contributions that are weighted once per code."""
        far = self.partial.biases(np.zeros(1), self.log_prior)[0].tolist()
        near, bias = self.partial.bias.tolist(), self.weights.bias.tolist()
        begun = [
            self._by_share(*parts) if self.lacking else self.dialect.first_number(parts[0])
            for parts in zip(bias, near, far, strict=True)
        ]
        return {f"s{k}": total([b, f"s{k}" * self.lookups.has_sum(f"s{k}")]) for k, b in enumerate(begun)}

    def _score(self, k: int) -> str:
        """What was weighed already, and views as far from their middle as was seen when they were weighed."""
        parts = [f"s{k}"]
        for i in self.raw:
            size, limit, weight = float(self.weights.scale[i]), float(self.weights.limit[i]), self._weight(i, k)
            if i in self.patchy:
                # If a view has no score (NULL), all class scores of the row must be NULL as well: the least and
                # greatest of NULL and a number are numbers in some databases.
                parts.append(f"0.0 * r{i}_{k}")
            if weight is not None:
                away = f"(r{i}_{k} - m{i}) / {self.dialect.number(size)}"
                parts.append(f"{weight} * {clipped(away, limit, self.dialect)}")
        return total(parts)


def log_densities(view: Covariance, name: str, absent: AbsentColumns, dialect: Dialect) -> list[str]:
    """Of each class: constant - ½ (log |Ψ| + ν log(1 + shrink |x whitening|²)), with ν and Ψ of the given columns.

    NULL for rows that lack too many columns.
    """
    scores, number, n_columns = [], dialect.number, len(view.center)
    for k, (factor, rows) in enumerate(zip(view.factors, view.moments.weight.tolist(), strict=True)):
        sizes = [view.size(rows, n_columns - n_absent) for n_absent in range(absent.most + 1)]
        constants = [number(float(size.constant) - 0.5 * factor.log_determinant) for size in sizes]
        half_freedom, shrink = number(0.5 * float(sizes[0].freedom)), number(float(sizes[0].shrink))
        tail = f"LN({dialect.greatest(['1.0', f'1.0 + {shrink} * {name}_{k}_q'])})"
        if not absent.may_lack:
            scores.append(f"{constants[0]} - {half_freedom} * {tail}")
            continue
        known = " ".join(f"WHEN {n_absent} THEN {constant}" for n_absent, constant in enumerate(constants))
        log_determinant = f" - 0.5 * {name}_{k}_h" if absent.most else ""
        scores.append(
            f"(CASE {absent.number} {known} END){log_determinant} - ({half_freedom} - 0.5 * {absent.number}) * {tail}"
        )
    return scores
