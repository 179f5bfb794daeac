"""Columns and views with their weights as steps of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...families.columns import CodedColumn
from ...families.table_likelihood import TableLikelihood
from ...model.views.blended import Blended
from ...model.views.covariance import Covariance
from ...model.views.dependence import OneDependence
from ...model.views.mixture import Mixture
from ...model.views.two_dependence import TwoDependence
from ...model.views.waves import Waves
from .cells import Cells
from .codes import Codes
from .columns import kind_of, picked_column, smooth_column
from .covariance import covariance_scores
from .dependence import Pairs, PairView, TripleView
from .dialects import Dialect
from .expressions import clipped, total
from .looks import Looks
from .query import Query
from .table import block_terms
from .waves import Inputs, WaveView


@dataclass
class Blend:
    """What columns and views add to the score of each class, gathered before it is written."""

    views: Blended
    likelihood: TableLikelihood
    query: Query
    cells: Cells
    codes: Codes
    weighed: list[list[str]] = field(default_factory=list)  # terms with their weights, (terms, classes)
    raw: dict[int, list[str]] = field(default_factory=dict)  # scores of views, by place, that are weighed row by row
    asides: list[PairView | TripleView | WaveView] = field(default_factory=list)
    shared: dict[int, Pairs | Inputs] = field(default_factory=dict)  # by identity: what several of those are made from

    def __post_init__(self) -> None:
        self.looks = Looks(self.views.look, self.cells, self.codes)
        self._gather_columns()
        for i, view in enumerate(self.views.views, self.views.n_single + 1):
            if self._has_weight(i):
                self._gather_view(i, view)

    @property
    def mixture(self) -> Mixture:
        return self.views.mixture

    @property
    def _n_classes(self) -> int:
        return len(self.mixture.bias)

    @property
    def dialect(self) -> Dialect:
        return self.cells.dialect

    def _has_weight(self, place: int) -> bool:
        return bool(self.mixture.weight[place].any())

    def _gather_columns(self) -> None:
        together, sums = self._has_weight(self.views.n_single), []
        for place, j in enumerate(self.views.columns):
            model = self.likelihood.models[j]
            if model is not None and (together or self._has_weight(place)):
                sums.append(self._gather_column(place, j, model))
        blocks = block_terms(self.likelihood, self.cells, self.codes)
        for place, terms in enumerate(blocks, len(self.views.columns)):
            if self._has_weight(place):
                self.raw[place] = terms
        if together:
            every = [*sums, *blocks]
            self.raw[self.views.n_single] = [total([own[k] for own in every]) for k in range(self._n_classes)]

    def _gather_column(self, place: int, j: int, model: Any) -> list[str]:
        """What a column adds by its weight; and what it says without one."""
        if not isinstance(model, CodedColumn):
            terms = smooth_column(model, j, self.cells, self.codes)
            if self._has_weight(place):
                self.raw[place] = terms
            return terms
        column = picked_column(model, j, kind_of(self.likelihood, j), self.cells, self.codes)
        part = self.mixture.part(place, column.table)
        if part is not None:
            self.weighed.append(column.terms(part, self.cells))
        return column.terms(column.table, self.cells)

    def _gather_view(self, i: int, view: Any) -> None:
        if isinstance(view, Covariance):
            self.raw[i] = covariance_scores(view, self.looks)
        else:
            self.asides.append(self._aside(f"v{i}", view))
            self.raw[i] = [f"v{i}_scores.r{k}" for k in range(self._n_classes)]

    def _aside(self, name: str, view: Any) -> PairView | TripleView | WaveView:
        """A view that is worked out beside the rows. Waves have inputs in common, triples are made from pairs."""
        if isinstance(view, Waves):
            return WaveView(name, view, self._shared(view.cosines.inputs, Inputs))
        one = view.one if isinstance(view, TwoDependence) else view
        assert isinstance(one, OneDependence)
        pairs = self._shared(one, Pairs)
        return TripleView(name, pairs, view) if isinstance(view, TwoDependence) else PairView(name, pairs)

    def _shared(self, part: Any, kind: Any) -> Any:
        if id(part) not in self.shared:
            self.shared[id(part)] = kind.of(f"p{len(self.shared)}", part, self.looks)
        return self.shared[id(part)]

    def write(self) -> None:
        """The steps from codes to scores, s0, s1, … of all classes."""
        query = self.query
        if self.looks.points:
            query.step("points", self.looks.points)
        for part in self.shared.values():
            part.write(query)
        joins = [view.write(query) for view in self.asides]
        columns = {f"r{i}_{k}": own for i, scores in self.raw.items() for k, own in enumerate(scores)}
        query.step("views", {**self._begun(), **columns}, joins)
        n_classes = self._n_classes
        middles = {f"m{i}": f"({total([f'r{i}_{k}' for k in range(n_classes)])}) / {n_classes}" for i in self.raw}
        if middles:
            query.step("middles", middles)
            query.step("scores", {f"s{k}": self._score(k) for k in range(n_classes)})

    def _begun(self) -> dict[str, str]:
        """Biases, and what is weighed once for each code."""
        bias = map(self.dialect.first_number, self.mixture.bias.tolist())
        return {f"s{k}": total([b, *(own[k] for own in self.weighed)]) for k, b in enumerate(bias)}

    def _score(self, k: int) -> str:
        """What was weighed already, and views as far from their middle as was seen when they were weighed."""
        parts = [f"s{k}"]
        for i in self.raw:
            size, limit, weight = (
                float(part) for part in (self.mixture.size[i], self.mixture.limit[i], self.mixture.weight[i, k])
            )
            if weight:
                away = f"(r{i}_{k} - m{i}) / {self.dialect.number(size)}"
                parts.append(f"{self.dialect.number(weight)} * {clipped(away, limit, self.dialect)}")
        return total(parts)
