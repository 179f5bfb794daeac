"""Waves as steps of a query: each combination of codes meets each wave, of which a table tells the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.data import Floats
from ...model.views import inputs as views
from ...model.views.waves import Waves
from .dialects import Dialect
from .expressions import total
from .looks import Looks, distinct
from .query import Query


@dataclass(frozen=True)
class Inputs:
    """What waves run through: ranks of numbers, zeros and ones for levels."""

    prefix: str
    names: list[str]

    @classmethod
    def of(cls, prefix: str, inputs: views.Inputs, looks: Looks) -> Inputs:
        """Asks for the points, and for the text that knows a row by the codes that they are made from."""
        levels = looks.slots(inputs.levels, prefix)
        looks.know_by(f"{prefix}_look", [*looks.rank_codes(inputs.ranks), *levels])
        return cls(prefix, [*looks.coordinates(inputs.ranks), *looks.levels(inputs.levels, prefix)])

    def write(self, query: Query) -> None:
        """The step for combinations of codes."""
        query.aside(f"{self.prefix}_looks", *distinct(f"{self.prefix}_look", self.names, query.last))


@dataclass(frozen=True)
class WaveView:
    """The heights of waves, each times its slope."""

    name: str
    view: Waves
    inputs: Inputs

    def write(self, query: Query) -> str:
        """The steps; how they are joined."""
        name, p = self.name, self.inputs.prefix
        query.table(f"{name}_waves", {}, self._numbers())
        heights = f"({self._heights()}{query.dialect.barrier}) AS heights"
        query.aside(f"{name}_scores", {"look": "look", **self._sums(query.dialect)}, f"{heights} GROUP BY look")
        return f"JOIN {name}_scores ON {name}_scores.look = {p}_look"

    @property
    def _turning(self) -> list[int]:
        """Levels that never varied turn no wave."""
        return [int(i) for i in np.flatnonzero(self.view.cosines.frequencies.any(axis=1))]

    @property
    def _slopes(self) -> dict[str, Floats]:
        return {f"g{k}": slope for k, slope in enumerate(self.view.slopes.T)}

    def _numbers(self) -> dict[str, Floats]:
        """Of each wave."""
        turns = {f"f{i}": self.view.cosines.frequencies[i] for i in self._turning}
        return {"phase": self.view.cosines.phases, **turns, **self._slopes}

    def _heights(self) -> str:
        angle = total(["phase", *(f"f{i} * {self.inputs.names[i]}" for i in self._turning)])
        columns = ", ".join(["look", f"COS({angle}) AS height", *self._slopes])
        return f"SELECT {columns} FROM {self.inputs.prefix}_looks CROSS JOIN {self.name}_waves"

    def _sums(self, dialect: Dialect) -> dict[str, str]:
        """The scores of each class."""
        at_mean = (self.view.sums.mean @ self.view.slopes).tolist()
        return {f"r{k}": f"SUM(g{k} * height) - {dialect.number(mean)}" for k, mean in enumerate(at_mean)}
