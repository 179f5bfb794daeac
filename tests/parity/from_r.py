"""What e1071.R wrote to e1071.json, with classes in sorted order, as candide has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_WRITTEN = json.loads(Path(__file__).with_name("e1071.json").read_text())


@dataclass(frozen=True)
class Rows:
    """Distinct rows, and how often each was learned."""

    cells: pd.DataFrame
    label: np.ndarray
    frequency: np.ndarray

    def repeated(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Every row as often as it is there."""
        positions = np.repeat(np.arange(len(self.label)), self.frequency)
        return self.cells.iloc[positions], self.label[positions]


@dataclass(frozen=True)
class Fitted:
    """A naiveBayes of e1071: parameters per column and name (a value, or "mean" and "sd"), one number per class."""

    prior: np.ndarray
    parameters: dict[str, dict[str, np.ndarray]]
    posterior: np.ndarray

    def table(self, name: str) -> np.ndarray:
        """One parameter of all columns: classes × columns."""
        return np.column_stack([column[name] for column in self.parameters.values()])


def rows(name: str) -> Rows:
    written = _WRITTEN["datasets"][name]
    return Rows(pd.DataFrame(written["cells"]), np.array(written["label"]), np.array(written["frequency"]))


def fitted(name: str) -> Fitted:
    written = _WRITTEN["models"][name]
    order = np.argsort(written["classes"])
    parameters = {
        column: {name: np.array(values)[order] for name, values in table.items()}
        for column, table in written["parameters"].items()
    }
    posterior = np.column_stack([written["posterior"][label] for label in sorted(written["classes"])])
    return Fitted(np.array(written["prior"])[order], parameters, posterior)


def distribution(name: str) -> tuple[dict[str, Any], np.ndarray]:
    """Arguments and values of one of R's functions."""
    columns = {name: np.array(values) for name, values in _WRITTEN["distributions"][name].items()}
    return columns, columns.pop("value")
