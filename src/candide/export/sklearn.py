"""Conversion of a model to the equivalent scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..families import Bernoulli, Categorical, Complement, Gaussian, Multinomial
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..priors import pseudo_count

_ELSEWHERE = "export it with to_onnx(), or use the candide estimator, which is compatible with scikit-learn"


def to_sklearn(model: Classifier, kind: str, names: Array | None) -> Any:
    """Return the fitted estimator; raise an error for settings that scikit-learn's class does not support.

    ``kind`` is the name of the learner, ``names`` are those of its columns, if they have any.
    """
    maker = _MAKERS.get(type(model.bound_spec.family))
    if maker is None:
        raise ParameterError(
            f"scikit-learn has no {kind}; it has GaussianNB, BernoulliNB, CategoricalNB, MultinomialNB and "
            f"ComplementNB; {_ELSEWHERE}"
        )
    if model.bound_spec.calibrate is not None:
        raise _no_place(
            kind, f"calibrate={model.bound_spec.calibrate!r}", f"train it without calibration, or {_ELSEWHERE}"
        )
    if model.likelihood.is_limit:
        raise _no_place(
            kind, "zero probabilities and infinite densities", "add smoothing with alpha or var_smoothing above 0"
        )
    estimator = maker(model, model.family, kind)
    estimator.classes_ = model.classes.labels.copy()
    estimator.class_count_ = model.state.rows.copy()
    if names is not None:
        estimator.feature_names_in_ = names.copy()
    return estimator


def _no_place(kind: str, what: str, advice: str) -> ParameterError:
    return ParameterError(f"scikit-learn's {kind} does not support {what}; {advice}")


def _gaussian(model: Classifier, family: Any, kind: str) -> Any:
    from sklearn.naive_bayes import GaussianNB

    statistics = model.state.statistics
    if family.estimate != "mle" or family.ddof or family.shared:
        raise _no_place(kind, "estimate, parameter_prior, ddof and variance='shared'", _ELSEWHERE)
    if not np.allclose(statistics.weight, statistics.rows[:, None], rtol=1e-9):
        raise _no_missing_values(kind)
    estimator = GaussianNB(priors=_given_prior(model), var_smoothing=family.var_smoothing)
    estimator.class_prior_ = model.class_prior.copy()
    estimator.theta_, estimator.var_ = model.likelihood.mean.copy(), model.likelihood.variance.copy()
    estimator.epsilon_ = family.floor(statistics)
    estimator.n_features_in_ = statistics.mean.shape[1]
    return estimator


def _bernoulli(model: Classifier, family: Any, kind: str) -> Any:
    from sklearn.naive_bayes import BernoulliNB

    statistics = model.state.statistics
    if statistics.missing is not None and statistics.missing.sum() > 0:
        raise _no_missing_values(kind)
    on, off = (pseudo_count(part, family.estimate) for part in (family.prior.a, family.prior.b))
    if not np.array_equal(on, off):
        raise _no_place(kind, "pseudo-counts that differ between 0 and 1", _ELSEWHERE)
    estimator = BernoulliNB(
        alpha=_one_alpha([np.asarray(on)], kind), binarize=family.threshold, **_prior_settings(model)
    )
    return _counted(estimator, model, family.log_on_off(statistics)[0].value())


def _multinomial(model: Classifier, family: Any, kind: str) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    if family.estimate == "predictive":
        raise _no_place(kind, "estimate='predictive'", "choose estimate='mean'")
    estimator = MultinomialNB(alpha=_alpha(family.pseudo, kind), **_prior_settings(model))
    return _counted(estimator, model, family.log_shares(model.state.statistics).value())


def _complement(model: Classifier, family: Any, kind: str) -> Any:
    from sklearn.naive_bayes import ComplementNB

    if model.bound_spec.prior.class_weight is not None:
        raise _no_place(kind, "class_weight", _ELSEWHERE)
    estimator = ComplementNB(alpha=_alpha(family.pseudo, kind), norm=family.norm, **_prior_settings(model))
    estimator.feature_all_ = model.state.statistics.dense().sum(axis=0)
    return _counted(estimator, model, family.weights(model.state.statistics)[0])


def _categorical(model: Classifier, family: Any, kind: str) -> Any:
    from sklearn.naive_bayes import CategoricalNB

    statistics = model.state.statistics
    if family.unseen == "smooth":
        raise _no_place(kind, "unseen='smooth'", "choose unseen='ignore'")
    for j, values in enumerate(family.values(statistics)):
        if values.dtype.kind not in "iu" or not np.array_equal(values, np.arange(len(values))):
            raise _no_place(
                kind,
                f"values such as {values.tolist()[0]!r} in column {j}, which are not codes 0, 1, 2, …",
                "encode them first, for example with OrdinalEncoder, and train with categories='range'",
            )
    sizes = family.n_values(statistics)
    pseudo = [family.pseudo(j, n) for j, n in enumerate(sizes.tolist())]
    least = None if family.min_categories is None else family.min_categories.tolist()
    estimator = CategoricalNB(alpha=_one_alpha(pseudo, kind), min_categories=least, **_prior_settings(model))
    estimator.category_count_ = list(family.full_counts(statistics))
    estimator.feature_log_prob_ = list(family.full_log_shares(statistics))
    estimator.n_categories_, estimator.n_features_in_ = sizes, len(sizes)
    estimator.class_log_prior_ = model.log_prior.copy()
    return estimator


def _counted(estimator: Any, model: Classifier, log_probability: Floats) -> Any:
    """Set the attributes that all models of counts have."""
    estimator.feature_count_ = np.array(model.state.statistics.dense())
    estimator.feature_log_prob_ = np.array(log_probability)
    estimator.class_log_prior_ = model.log_prior.copy()
    estimator.n_features_in_ = estimator.feature_count_.shape[1]
    return estimator


def _no_missing_values(kind: str) -> ParameterError:
    return _no_place(kind, "missing cells, which some training rows had", f"impute them and fit again, or {_ELSEWHERE}")


def _alpha(pseudo: float | Floats, kind: str) -> float | Floats:
    if np.ndim(pseudo) > 1 or np.min(pseudo) < 0:
        raise _no_place(
            kind, "pseudo-counts that differ by class or are below 0", "choose one alpha, or one per column"
        )
    return float(pseudo) if np.ndim(pseudo) == 0 else np.array(pseudo)


def _one_alpha(pseudo: list[Floats], kind: str) -> float | Floats:
    """Return a single pseudo-count, because scikit-learn adds arrays to the wrong axis."""
    first = float(pseudo[0].ravel()[0])
    if any((part != first).any() for part in pseudo):
        raise _no_place(kind, "pseudo-counts that differ by column, class or value", "choose a single alpha")
    return _alpha(first, kind)


def _given_prior(model: Classifier) -> Floats | None:
    """Return the class prior unless it is the class frequencies."""
    prior = model.bound_spec.prior
    shares = model.bound_spec.target is None and prior.is_as_in_training and not np.any(prior.pseudo)
    return None if shares else model.class_prior.copy()


def _prior_settings(model: Classifier) -> dict[str, Any]:
    prior = model.bound_spec.prior
    even = model.bound_spec.target is None and prior.given is None and prior.class_weight is None and not prior.fitted
    return {"fit_prior": not even, "class_prior": None if even else _given_prior(model)}


_MAKERS: dict[type, Callable[[Classifier, Any, str], Any]] = {
    Gaussian: _gaussian,
    Bernoulli: _bernoulli,
    Multinomial: _multinomial,
    Complement: _complement,
    Categorical: _categorical,
}
