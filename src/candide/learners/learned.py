"""What was learned, as attributes."""

from __future__ import annotations

from typing import Any

from ..kernels.layouts import Array, Floats
from ..model.table import Table
from .fitted import Fitted


class Learned(Fitted):
    """Classes, shares and parameters of a fitted model."""

    def parameters(self) -> Table:
        """The parameters of p(x | class), one a row, with the counts behind them."""
        return self._fitted().parameters(self._column_names())

    @property
    def classes_(self) -> Array:
        """Class labels in sorted order."""
        return read_only(self._fitted().classes.labels)

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class."""
        return read_only(self._fitted().state.rows)

    @property
    def class_prior_(self) -> Floats:
        """p(class), fitted or given, class weights included."""
        return read_only(self._fitted().class_prior)

    @property
    def class_log_prior_(self) -> Floats:
        """log p(class)."""
        return read_only(self._fitted().log_prior)

    @property
    def prior_(self) -> Any:
        """What was believed about the parameters before data, chosen pseudo-counts included; None without a prior."""
        family = self._fitted().family
        return None if family.estimate == "mle" else family.prior

    @property
    def n_parameters_(self) -> int:
        """How many free parameters the model has, p(class) included."""
        return self._fitted().n_parameters


def read_only(array: Array) -> Array:
    """A view that cannot be written to: a fitted model changes by learning alone."""
    view = array.view()
    view.flags.writeable = False
    return view
