"""Columns of numbers and of coded categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..kernels.data import Array

Kind = Literal["number", "category", "missing"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: Any
    kind: Kind
    values: Array
    labels: Array | None = None
