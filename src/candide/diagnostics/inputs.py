"""The model that a diagnostic is computed for."""

from __future__ import annotations

from typing import Any

from ..exceptions import NotADensity, NotFitted, ParameterError
from ..model.model import Model


def model_of(fitted: Any) -> Model:
    """Return the model of a fitted estimator, or the model itself."""
    if isinstance(fitted, Model):
        return fitted
    if not hasattr(type(fitted), "_spec_type"):
        raise ParameterError(f"expected a fitted estimator or model of candide, got {fitted!r:.60}; pass one")
    if not hasattr(fitted, "model_"):
        raise NotFitted(f"this {type(fitted).__name__} is not fitted; call fit first")
    model: Model = fitted._fitted()
    return model


def with_density(fitted: Any, what: str) -> Model:
    """Return the model, if its scores are log probabilities of the rows."""
    model = model_of(fitted)
    if model.spec.name == "ComplementNB":
        raise NotADensity(
            f"ComplementNB has no {what}: its scores compare a row with the other classes and are no log "
            "probability of the row; use MultinomialNB for a density"
        )
    return model


def with_posterior(fitted: Any, what: str) -> Model:
    """Return the model, if its parameters were learned from data."""
    model = with_density(fitted, what)
    if model.has_given_parameters:
        raise ParameterError(
            f"{what} describes the uncertainty of parameters that were learned, and this model was made from given "
            "parameters; make it with from_counts, or let it learn rows"
        )
    return model
