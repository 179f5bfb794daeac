"""Random Fourier features as steps of a query, with a table of the features.

Each combination of the codes that features are made from is scored once (``cells.distinct``); where numbers are looked
up in arrays, each row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...kernels.layouts import Floats
from ...stacking.covariance import CholeskyFactor
from ...stacking.fourier_features import Inputs
from ...stacking.fourier_regression import FourierRegression
from .absent import AbsentColumns, QuadraticForm, entry
from .cells import BinnedColumns, distinct
from .dialects import Dialect
from .query import Query, exponential, total


@dataclass(frozen=True)
class FourierInputs:
    """The inputs of Fourier features: ranks of numbers, and slots of levels.

    Ranks that are not given have the distribution that is to be expected beside the others (``absent``).
    """

    prefix: str
    names: list[str]  # of the ranks
    slots: list[str]  # of the columns of levels
    lacks: list[str | None]  # of the ranks and then of the columns of levels; None where nulls are values
    absent: AbsentColumns

    @classmethod
    def of(cls, prefix: str, inputs: Inputs, binned: BinnedColumns, absent: AbsentColumns) -> FourierInputs:
        """Add the columns of the inputs, and a key of each row that consists of the codes of its inputs."""
        names, slots = binned.coordinates(inputs.ranks), binned.slots(inputs.levels, prefix)
        if not binned.cells.dialect.has_arrays:
            binned.add_key(f"{prefix}_key", [*binned.rank_codes(inputs.ranks), *slots])
        lacks = [binned.lacks(i) for i in [*inputs.ranks.columns.tolist(), *inputs.levels.columns.tolist()]]
        if names:
            absent.allow(inputs.covariance.size)
            whitening = CholeskyFactor.of(inputs.covariance).whitening
            absent.add(QuadraticForm(prefix, names, np.zeros(len(names)), whitening))
        return cls(prefix, names, slots, lacks, absent)

    @property
    def n_ranks(self) -> int:
        return len(self.names)

    @property
    def lacking(self) -> list[str]:
        """The names that are 1 where a column is not given."""
        return sorted({name for name in self.lacks if name is not None})

    def expected(self, j: int) -> str:
        """The name of the expected value of the j-th absent rank, with a minus sign."""
        return f"{self.prefix}_u{j}"

    def write(self, query: Query) -> None:
        """The step for combinations of codes, which get a number that rows are joined by."""
        p, most = self.prefix, range(self.absent.most)
        swept = [*self.absent.places, *map(self.expected, most), *(entry(p, i, j) for i in most for j in range(i + 1))]
        known = self._numbers_of_absent()
        if query.dialect.has_arrays:
            if known:
                query.step(f"{p}_absent", known)
            return
        columns, source = distinct(f"{p}_key", [*self.names, *self.slots, *self.lacking, *swept], query.last)
        query.cte(f"{p}_keys", columns, source)
        given = {name: name for name in columns} | {"code": query.dialect.row_number("code_key")} | known
        query.cte(f"{p}_given", given, f"{p}_keys", once=True)
        query.step(f"{p}_codes", {self.code: f"{p}_given.code"}, [f"JOIN {p}_given ON {p}_given.code_key = {p}_key"])

    @property
    def code(self) -> str:
        """The name of the number of a combination of codes."""
        return f"{self.prefix}_code"

    def _numbers_of_absent(self) -> dict[str, str]:
        """Return how many columns are absent, and how many ranks."""
        return {"n_absent": total(self.lacking), "n_absent_ranks": self.absent.number} if self.lacking else {}


@dataclass(frozen=True)
class FourierView:
    """The sum of Fourier features, each times its slope."""

    name: str
    view: FourierRegression
    inputs: FourierInputs

    def write(self, query: Query) -> str:
        """The steps; how they are joined."""
        name = self.name
        if query.dialect.has_arrays:
            return self._write_arrays(query)
        query.table(f"{name}_numbers", {}, self._numbers())
        query.cte(f"{name}_features", self._features(query.dialect), f"{name}_numbers")
        heights = f"({self._heights(query.dialect)}{query.dialect.barrier}) AS heights"
        query.cte(f"{name}_scores", {"code": "code", **self._sums(query.dialect)}, f"{heights} GROUP BY code")
        return f"JOIN {name}_scores ON {name}_scores.code = {self.inputs.code}"

    def _write_arrays(self, query: Query) -> str:
        """The steps where rows have arrays of all features."""
        name, dialect, n_ranks, numbers = self.name, query.dialect, self.inputs.n_ranks, self._numbers()
        levels = self.view.features.frequencies[n_ranks:]
        query.step(f"{name}_features", {f"{name}_{own}": dialect.array(values) for own, values in numbers.items()}
                   | {f"{name}_levels": dialect.array(levels.T.ravel())})  # fmt: skip
        height, indices = self._height(dialect), f"SEQUENCE(0, {self.view.features.width - 1})"
        height = re.sub(r"\b(phase|[ftl]\d+)\b", rf"GET({name}_\1, i)", height)
        height = re.sub(r"\bGET\(levels, ", f"GET({name}_levels, i * {len(levels)} + ", height)
        query.step(f"{name}_heights", {f"{name}_heights": f"TRANSFORM({indices}, i -> {height})"})
        at_mean = (self.view.sums.mean @ self.view.slopes).tolist()
        product = f"a + GET({name}_heights, i) * GET({name}_g"
        scores = {
            f"{name}_r{k}": f"AGGREGATE({indices}, 0e0, (a, i) -> {product}{k}, i)) - {dialect.number(mean)}"
            for k, mean in enumerate(at_mean)
        }
        query.step(f"{name}_scores", scores)
        return ""

    @property
    def lacks_all(self) -> str | None:
        """Whether none of the columns is given; None where that cannot be."""
        names = self.inputs.lacks
        if any(name is None for name in names):
            return None
        some = sorted({name for name in names if name is not None})
        return f"{total(some)} = {len(some)}"

    @property
    def _turning(self) -> list[int]:
        """Return the inputs that vary."""
        return [int(i) for i in np.flatnonzero(self.view.features.frequencies.any(axis=1))]

    @property
    def _slopes(self) -> dict[str, Floats]:
        return {f"g{k}": slope for k, slope in enumerate(self.view.slopes.T)}

    @property
    def _levels(self) -> dict[int, str]:
        """Places of columns of levels that may be lacking, and where they are."""
        places = enumerate(self.inputs.lacks[self.inputs.n_ranks :])
        return {j: name for j, name in places if name is not None}

    def _numbers(self) -> dict[str, Floats]:
        """Return the columns of each feature."""
        frequencies = {f"f{i}": self.view.features.frequencies[i] for i in self._turning}
        if self._levels:
            turn, log_size = self.view.features.level_means()
            frequencies |= {f"t{j}": turn[j] for j in self._levels} | {f"l{j}": log_size[j] for j in self._levels}
        return {"phase": self.view.features.phases, **frequencies, **self._slopes}

    def _features(self, dialect: Dialect) -> dict[str, str]:
        """Return the columns of each feature, with a list of the frequencies of all levels if lists are supported."""
        columns = {name: name for name in self._numbers()}
        if dialect.has_lists and self.inputs.slots:
            n_ranks, turning = self.inputs.n_ranks, set(self._turning)
            places = range(n_ranks, len(self.view.features.frequencies))
            columns["levels"] = f"[{', '.join(f'f{i}' if i in turning else '0.0' for i in places)}]"
        return columns

    def _heights(self, dialect: Dialect) -> str:
        columns = [f"{self._height(dialect)} AS height", *self._slopes]
        source = f"{self.inputs.prefix}_given CROSS JOIN {self.name}_features"
        return f"SELECT code, {', '.join(columns)} FROM {source}"

    def _height(self, dialect: Dialect) -> str:
        """The cosine of the angle; of rows that lack columns, its expectation."""
        inputs, offsets = self.inputs, self.view.features.inputs.levels.offsets
        angle = ["phase", *(f"f{i} * {inputs.names[i]}" for i in self._turning if i < inputs.n_ranks)]
        for slot, span in zip(inputs.slots, pairwise(offsets.tolist()), strict=True):
            levels = {i: f"f{i + inputs.n_ranks}" for i in range(*span) if i + inputs.n_ranks in self._turning}
            if levels:
                angle.append(dialect.cell("levels", slot, levels))
        height = f"COS({total(angle)})"
        if not inputs.lacking:
            return height
        absent = range(inputs.absent.most)
        shifts = [f"COALESCE({inputs.expected(j)} * {self._absent(j)}, 0.0)" for j in absent]
        angle += [f"{name} * t{j}" for j, name in self._levels.items()]
        log_size = [f"{name} * l{j}" for j, name in self._levels.items()]
        for i in absent:
            for j in range(i + 1):
                size = f"{dialect.number(0.5 if i == j else 1.0)} * {entry(inputs.prefix, i, j)}"
                log_size.append(f"COALESCE({size} * {self._absent(i)} * {self._absent(j)}, 0.0)")
        size = exponential(f"({total(log_size)})", dialect)
        damped = f"{size} * COS({total(angle)} - ({total(shifts)}))"
        return f"CASE WHEN n_absent = 0 THEN {height} WHEN n_absent_ranks <= {len(absent)} THEN {damped} END"

    def _absent(self, j: int) -> str:
        """Return the frequency of the j-th absent rank."""
        known = (f"WHEN {i} THEN f{i}" for i in self._turning if i < self.inputs.n_ranks)
        return f"CASE {self.inputs.absent.places[j]} {' '.join(known)} ELSE 0.0 END"

    def _sums(self, dialect: Dialect) -> dict[str, str]:
        """The scores of each class."""
        at_mean = (self.view.sums.mean @ self.view.slopes).tolist()
        return {f"r{k}": f"SUM(g{k} * height) - {dialect.number(mean)}" for k, mean in enumerate(at_mean)}
