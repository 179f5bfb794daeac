"""A plot with its axes and its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..model.table import Table
from ..printable import printable
from .style import figure_of


@dataclass(frozen=True, eq=False, repr=False)
class Display:
    """A plot.

    Attributes
    ----------
    axes : tuple of matplotlib axes
        What it was drawn on, panel by panel; ``ax`` is the first of them.
    table : Table
        What was drawn, one mark a row; a data frame with ``table.to_pandas()``.
    numbers : dict
        What was written or marked beside it, by name.
    """

    axes: tuple[Axes, ...]
    table: Table
    numbers: dict[str, float] = field(default_factory=dict)

    @property
    def ax(self) -> Axes:
        """The axes, or the first of several."""
        return self.axes[0]

    @property
    def figure(self) -> Figure:
        """The figure that the axes are in."""
        return figure_of(self.ax)

    def __repr__(self) -> str:
        panels = "1 panel" if len(self.axes) == 1 else f"{len(self.axes)} panels"
        shown = "".join(f", {name} {value:.4g}" for name, value in self.numbers.items())
        return f"Display({panels}, {self.table.n_rows} marks: {', '.join(map(printable, self.table))}{shown})"
