"""Random Fourier features as steps of a query: each combination of codes is joined with each feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.layouts import Floats
from ...stacking import fourier_features as views
from ...stacking.covariance import marginal_patterns
from ...stacking.fourier_features import RankRegression
from ...stacking.fourier_regression import FourierRegression
from .binned_columns import BinnedColumns, distinct
from .dialects import Dialect
from .expressions import affine, exponential, total
from .query import Query


@dataclass(frozen=True)
class Inputs:
    """The inputs of Fourier features: ranks of numbers, zeros and ones for levels.

    A rank that is not given is the one to be expected beside the others, for each set of columns that may be lacking
    (``marginal_patterns``); of rows that lack others it is NULL.
    """

    prefix: str
    names: list[str]
    lacks: list[str | None]  # of the ranks and then of the columns of levels; None where nulls are values
    sets: list[RankRegression]  # one per set of absent ranks; the first set is empty
    conditions: list[str]  # SQL conditions: which rows have which absent ranks

    @classmethod
    def of(cls, prefix: str, inputs: views.Inputs, binned: BinnedColumns) -> Inputs:
        """Asks for the points, and for the text that knows a row by the codes that they are made from."""
        levels = binned.slots(inputs.levels, prefix)
        binned.add_key(f"{prefix}_key", [*binned.rank_codes(inputs.ranks), *levels])
        names = [*binned.coordinates(inputs.ranks), *binned.levels(inputs.levels, prefix)]
        numbers, parted = inputs.ranks.columns.tolist(), inputs.levels.columns.tolist()
        lacks = [binned.lacks(i) for i in numbers]
        may_lack = np.array([name is not None for name in lacks], dtype=bool)
        patterns = marginal_patterns(inputs.covariance.size, may_lack)
        conditions = [
            " AND ".join(f"{name} = {int(not there)}" for name, there in zip(lacks, given, strict=True) if name)
            for given in patterns
        ]
        made = [inputs.regression(given) for given in patterns]
        return cls(prefix, names, [*lacks, *(binned.lacks(i) for i in parted)], made, conditions)

    @property
    def n_ranks(self) -> int:
        return len(self.sets[0].slopes)

    @property
    def may_lack_ranks(self) -> bool:
        return any(name is not None for name in self.lacks[: self.n_ranks])

    def write(self, query: Query) -> None:
        """The step for combinations of codes."""
        known = sorted({name for name in self.lacks if name is not None})
        query.cte(f"{self.prefix}_keys", *distinct(f"{self.prefix}_key", [*self.names, *known], query.last))
        columns = {name: name for name in ["code_key", *self.names, *known]}
        if self.may_lack_ranks:
            places = " ".join(f"WHEN {condition} THEN {i}" for i, condition in enumerate(self.conditions))
            columns |= {name: self._expected(i, query.dialect) for i, name in enumerate(self.names[: self.n_ranks])}
            columns[f"{self.prefix}_set"] = f"CASE {places} END"
        query.cte(f"{self.prefix}_given", columns, f"{self.prefix}_keys")

    def _expected(self, i: int, dialect: Dialect) -> str:
        """Return the rank, or its expectation where it is absent."""
        name, ranks = self.names[i], self.names[: self.n_ranks]
        if self.lacks[i] is None:
            return name
        cases = [
            f"WHEN {condition} THEN {affine(own.slopes[:, i], ranks, 0.0, dialect)}"
            for condition, own in zip(self.conditions, self.sets, strict=True)
            if own.covariance[i, i] > 0
        ]
        return " ".join(["CASE", f"WHEN {self.lacks[i]} = 0 THEN {name}", *cases, "END"])


@dataclass(frozen=True)
class FourierView:
    """The sum of Fourier features, each times its slope."""

    name: str
    view: FourierRegression
    inputs: Inputs

    def write(self, query: Query) -> str:
        """The steps; how they are joined."""
        name, p = self.name, self.inputs.prefix
        query.table(f"{name}_features", {}, self._numbers())
        heights = f"({self._heights(query.dialect)}{query.dialect.barrier}) AS heights"
        query.cte(
            f"{name}_scores", {"code_key": "code_key", **self._sums(query.dialect)}, f"{heights} GROUP BY code_key"
        )
        return f"JOIN {name}_scores ON {name}_scores.code_key = {p}_key"

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
        """Return the angles without levels that never varied."""
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
        turns = {f"f{i}": self.view.features.frequencies[i] for i in self._turning}
        if self._levels:
            turn, log_size = self.view.features.level_means()
            turns |= {f"t{j}": turn[j] for j in self._levels} | {f"l{j}": log_size[j] for j in self._levels}
        return {"phase": self.view.features.phases, **turns, **self._slopes}

    def _heights(self, dialect: Dialect) -> str:
        turns = [f"f{i} * {self.inputs.names[i]}" for i in self._turning]
        angle = total(["phase", *turns, *(f"{name} * t{j}" for j, name in self._levels.items())])
        columns = ["code_key", f"COS({angle}) AS height", *self._slopes]
        if self._is_damped:
            columns.append(f"{self._log_size(dialect)} AS log_size")
        return f"SELECT {', '.join(columns)} FROM {self.inputs.prefix}_given CROSS JOIN {self.name}_features"

    @property
    def _is_damped(self) -> bool:
        return self.inputs.may_lack_ranks or bool(self._levels)

    def _log_size(self, dialect: Dialect) -> str:
        """``RandomFourierFeatures.log_sizes`` and those of levels."""
        parts = [f"{name} * l{j}" for j, name in self._levels.items()]
        if self.inputs.may_lack_ranks:
            sizes = (self._quadratic(own.covariance, dialect) for own in self.inputs.sets)
            cases = " ".join(f"WHEN {i} THEN {size}" for i, size in enumerate(sizes))
            parts.append(f"CASE {self.inputs.prefix}_set {cases} END")
        return total(parts)

    def _quadratic(self, covariance: Floats, dialect: Dialect) -> str:
        """-½ Σ covariance · frequency · frequency, each pair once."""
        turning = [i for i in self._turning if i < len(covariance) and covariance[i, i] > 0]
        terms = [
            f"{dialect.number(-float(covariance[i, j]) * (0.5 if i == j else 1.0))} * f{i} * f{j}"
            for n, i in enumerate(turning)
            for j in turning[: n + 1]
        ]
        return total([dialect.first_number(0), *terms])

    def _sums(self, dialect: Dialect) -> dict[str, str]:
        """The scores of each class."""
        at_mean = (self.view.sums.mean @ self.view.slopes).tolist()
        height = f"height * {exponential('log_size', dialect)}" if self._is_damped else "height"
        return {f"r{k}": f"SUM(g{k} * {height}) - {dialect.number(mean)}" for k, mean in enumerate(at_mean)}
