"""Explanations of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from ..exceptions import ParameterError

if TYPE_CHECKING:
    from ..model.model import Model
    from .explanation import Explanations
    from .fractions import Fractions
    from .what_if import WhatIf


@overload
def explain_rows(model: Model, X: Any, style: Literal["terms"] = "terms") -> Explanations: ...
@overload
def explain_rows(model: Model, X: Any, style: str) -> Explanations | list[Fractions]: ...
def explain_rows(model: Model, X: Any, style: str = "terms") -> Explanations | list[Fractions]:
    """Return the prediction of each row as a sum of terms or, with ``style="fractions"``, as products of fractions."""
    from .contributions import explained
    from .explanation import Explanations
    from .fractions import worked_out

    if style not in ("terms", "fractions"):
        raise ParameterError(f"style is {style!r}; expected 'terms' or 'fractions'")
    rows = model.classifier, model.read(X), model.feature_names, model.kernels
    return list(worked_out(*rows)) if style == "fractions" else Explanations(list(explained(*rows)))


def minimal_changes(model: Model, X: Any, to: Any = None, most: int = 5) -> list[WhatIf]:
    """Return the smallest changes to each row that would change the prediction."""
    from .what_if import what_if

    return list(what_if(model.classifier, model.read(X), model.feature_names, to, most, model.kernels))
