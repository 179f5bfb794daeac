"""A model as one query that scores a table: scores, then calibration, probabilities and the best class.

Scores are the columns s0, s1, … of a query; NULL where a class is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.table_likelihood import TableLikelihood
from ...families.text_likelihood import TextLikelihood
from ...kernels.layouts import Floats
from ...model.classifier import Classifier
from ...stacking.calibration import MAX_LOG_TEMPERATURE, Chain, Scaling
from ...stacking.calibration_curves import Beta, Curve, Isotonic
from ...stacking.stacked_views import StackedViews
from .cells import Cells
from .dialects import Dialect, dialect_named, transpiled
from .lookups import Lookups
from .query import Own, Query, clipped, exponential, log_of_one_plus_exp, picked, place_among, total
from .stacking import StackingQuery
from .terms import ColumnReader, Scores, family_scores, table_scores
from .texts import write_text_scores

# Sums of fractions: 0.1 + 0.2 and 0.3 are the same power of ε, as in ``model.scorer``.
_SLACK = 1e-12
_LEAST = -1.7e308


class Posterior:
    """Scores of some classes on their way to probabilities."""

    def __init__(self, query: Query, alive: Sequence[int], n_classes: int) -> None:
        self.query = query
        self.alive = list(alive)  # classes that are possible
        self.n_classes = n_classes
        self.nullable = False  # whether a row may rule out some of them

    @property
    def dialect(self) -> Dialect:
        return self.query.dialect

    @property
    def names(self) -> list[str]:
        """Of the scores."""
        return [f"s{k}" for k in self.alive]

    def top(self, names: Sequence[str]) -> str:
        """Return the maximum of some columns."""
        if not self.nullable:
            return self.dialect.greatest(list(names))
        least = self.dialect.number(_LEAST)
        return self.dialect.greatest([f"COALESCE({name}, {least})" for name in names])

    def power(self, number: str) -> str:
        """Return e to a power; 0 if the power is NULL."""
        whole = exponential(number, self.dialect)
        return f"COALESCE({whole}, 0.0)" if self.nullable else whole

    def rule_out(self, n_limits: int) -> None:
        """Keep the classes that lead in the first limit, and of these the classes that lead in the second."""
        for i in range(n_limits):
            limits = {k: f"l{i}_{k}" for k in self.alive}
            self.query.step("foremost", {"top": self.top(list(limits.values()))})
            self.nullable = True
            slack = f"top - {self.dialect.number(_SLACK)} * ABS(top)"
            later = [f"l{j}" for j in range(i + 1, n_limits)]
            living = {
                name: f"CASE WHEN {limit} >= {slack} THEN {name} END"
                for k, limit in limits.items()
                for name in (f"s{k}", *(f"{each}_{k}" for each in later))
            }
            self.query.step("living", living)

    def shift(self, change: dict[int, float]) -> None:
        """Adds something to the score of each class; those without a change cannot be."""
        self.alive = [k for k in self.alive if k in change]
        self.query.step("shifted", {f"s{k}": f"s{k} + {self.dialect.number(change[k])}" for k in self.alive})

    def answer(self, labels: Sequence[str], *, proba: bool) -> list[str]:
        """Write the last steps; return expressions for the prediction and, if requested, all probabilities."""
        if not self.alive:
            return [labels[0], *[self.dialect.number(1 / self.n_classes)] * (self.n_classes * proba)]
        self.query.step("best", {"top": self.top(self.names)})
        leads = " ".join(f"WHEN s{k} = top THEN {labels[k]}" for k in self.alive)
        prediction = f"CASE {leads} ELSE {labels[0]} END" if self.nullable else f"CASE {leads} END"
        if not proba:
            return [prediction]
        shares = {f"e{k}": self.power(f"s{k} - top") for k in self.alive}
        self.query.step("shares", {"prediction": prediction, **shares})
        self.query.step("total", {"total": total(list(shares))})
        return ["prediction", *map(self._probability, range(self.n_classes))]

    def _probability(self, k: int) -> str:
        own = f"e{k} / total" if k in self.alive else self.dialect.first_number(0)
        if not self.nullable:
            return own
        return f"CASE WHEN total > 0 THEN {own} ELSE {self.dialect.number(1 / self.n_classes)} END"


def label_text(label: Any, dialect: Dialect) -> str:
    """Return a class label as a literal."""
    if isinstance(label, str):
        return dialect.text(label)
    if isinstance(label, bool):
        return dialect.truth(label)
    return (
        str(label)
        if isinstance(label, int)
        else dialect.number(label)
        if isinstance(label, float)
        else dialect.text(str(label))
    )


# Log-odds of a class if all others are impossible.
_CERTAIN = 1e200


def calibrate(posterior: Posterior, calibration: Any, amount: str | None) -> None:
    """Write calibrated scores. ``amount`` is the column with the number of tokens of a row."""
    if isinstance(calibration, Chain):
        calibrate(posterior, calibration.first, amount)
        calibrate(posterior, calibration.second, None)
    elif isinstance(calibration, Scaling):
        _scale(posterior, calibration, amount)
    elif len(posterior.alive) > 1:
        curves = [1] if posterior.n_classes == 2 else posterior.alive
        _log_odds_of_two(posterior) if posterior.n_classes == 2 else _log_odds(posterior)
        if isinstance(calibration, Beta):
            _bend_by_beta(posterior, calibration, curves)
        else:
            _follow_curves(posterior, calibration, curves)
        _join(posterior)


def grows(calibration: Any) -> bool:
    """Whether the result depends on the amount of evidence in a row."""
    if isinstance(calibration, Chain):
        return grows(calibration.first)
    return isinstance(calibration, Scaling) and bool(calibration.growth)


def _scale(posterior: Posterior, scaling: Scaling, amount: str | None) -> None:
    query, dialect, names = posterior.query, posterior.dialect, posterior.names
    if scaling.bend:
        query.step("best_score", {"top": posterior.top(names)})
        query.step("bent", {name: _bent(f"(top - {name})", scaling.bend, dialect) for name in names})
    divisor = dialect.number(float(scaling.temperature(None)[0]))
    if amount is not None:
        divisor = "temperature"
        query.step("temperatures", {divisor: _temperature(scaling, amount, dialect)})
    biases = np.zeros(posterior.n_classes) if scaling.bias is None else scaling.bias
    scaled = {f"s{k}": f"s{k} / {divisor} + {dialect.number(biases[k])}" for k in posterior.alive}
    query.step("calibrated", scaled)


def _bent(behind: str, bend: float, dialect: Dialect) -> str:
    if bend == 1.0:
        return f"-LN(1.0 + {behind})"
    power = dialect.number(1 - bend)
    return f"-(POWER(1.0 + {behind}, {power}) - 1.0) / {power}"


def _temperature(scaling: Scaling, amount: str, dialect: Dialect) -> str:
    low, high = scaling.amounts
    seen = dialect.greatest([amount, dialect.number(low)])
    seen = dialect.least([seen, dialect.number(high)]) if np.isfinite(high) else seen
    growth, typical = dialect.number(scaling.growth), dialect.number(scaling.typical)
    log = f"{dialect.number(scaling.log_temperature)} + {growth} * (LN(1.0 + {seen}) - {typical})"
    return f"EXP({clipped(log, MAX_LOG_TEMPERATURE, dialect)})"


def _log_odds_of_two(posterior: Posterior) -> None:
    """Of the second class, as o1. Where one of the two cannot be, the curve does not matter."""
    posterior.query.step("odds", {"o1": f"COALESCE(s1 - s0, {posterior.dialect.number(_CERTAIN)})"})


def _log_odds(posterior: Posterior) -> None:
    """log p / (1 - p) of each class as o0, o1, …: the others are added up, for 1 - p may be lost in rounding."""
    query, dialect, names = posterior.query, posterior.dialect, posterior.names
    query.step("best_score", {"top": posterior.top(names)})
    lower = [f"CASE WHEN {name} < top THEN {name} ELSE {dialect.number(-1e308)} END" for name in names]
    ties = total([f"CASE WHEN {name} = top THEN 1 ELSE 0 END" for name in names])
    whole = total([posterior.power(f"{name} - top") for name in names])
    query.step("rivals", {"ties": ties, "whole": whole, "below": dialect.greatest(lower)})
    query.step("rival", {"second": "CASE WHEN ties > 1 THEN top ELSE below END"})
    below = [f"CASE WHEN {name} < top THEN {_power_below(name, dialect)} ELSE 0.0 END" for name in names]
    query.step("rests", {"rest": f"ties - 1 + {total(below)}"})
    leading = f"CASE WHEN rest > 0 THEN top - second - LN(rest) ELSE {dialect.number(_CERTAIN)} END"
    odds = {
        f"o{k}": f"CASE WHEN s{k} = top THEN {leading} "
        f"WHEN s{k} < top THEN s{k} - top - LN(whole - {exponential(f's{k} - top', dialect)}) END"
        for k in posterior.alive
    }
    query.step("odds", odds)


def _power_below(name: str, dialect: Dialect) -> str:
    return exponential(f"{name} - second", dialect)


def _bend_by_beta(posterior: Posterior, beta: Beta, classes: list[int]) -> None:
    query, dialect = posterior.query, posterior.dialect
    curves = {k: (0 if len(beta.curves) == 1 else k) for k in classes}
    query.step("clipped", {f"o{k}": clipped(f"o{k}", beta.limit[i], dialect) for k, i in curves.items()})
    bent = {f"o{k}": _beta(f"o{k}", beta.curves[i], dialect) for k, i in curves.items()}
    query.step("curves", bent)


def _beta(odds: str, curve: Floats, dialect: Dialect) -> str:
    a, b, c = map(dialect.number, curve.tolist())
    up, down = log_of_one_plus_exp(odds, dialect), log_of_one_plus_exp(f"(-{odds})", dialect)
    return f"{b} * {up} - {a} * {down} + {c}"


def _follow_curves(posterior: Posterior, isotonic: Isotonic, classes: list[int]) -> None:
    query, dialect = posterior.query, posterior.dialect
    curves = {k: isotonic.curves[0 if len(isotonic.curves) == 1 else k] for k in classes}
    query.step("segments", {f"g{k}": place_among(f"o{k}", curve.odds, dialect) for k, curve in curves.items()})
    shares = {f"o{k}": _share(f"o{k}", f"g{k}", curve, dialect) for k, curve in curves.items()}
    query.step("curve_shares", shares)
    query.step("curves", {f"o{k}": f"LN(o{k}) - LN(1.0 - o{k})" for k in classes})


def _share(odds: str, span: str, curve: Curve, dialect: Dialect) -> str:
    """Return the probability by linear interpolation of a curve, constant outside of it."""
    rise, run = np.diff(curve.probability), np.diff(curve.odds)
    slope = np.concatenate([[0.0], rise / run, [0.0]])
    begin = np.concatenate([curve.odds[:1], curve.odds])
    height = np.concatenate([curve.probability[:1], curve.probability])
    at = [picked(span, part, dialect) for part in (height, slope, begin)]
    return f"{at[0]} + {at[1]} * ({odds} - {at[2]})"


def _join(posterior: Posterior) -> None:
    """Return log probabilities from the log-odds of each class against the rest."""
    dialect, alive = posterior.dialect, posterior.alive
    odds = {k: f"(-o{k})" for k in alive} if posterior.n_classes > 2 else {0: "o1", 1: "(-o1)"}
    logs = {k: f"-{log_of_one_plus_exp(odds[k], dialect)}" for k in alive}
    if posterior.nullable:
        logs = {k: f"CASE WHEN s{k} IS NOT NULL THEN {log} END" for k, log in logs.items()}
    posterior.query.step("calibrated", {f"s{k}": log for k, log in logs.items()})


def to_sql(
    model: Classifier, names: Sequence[str], examples: dict[str, Any], *,
    dialect: str, table: str, keep: bool | Sequence[str], proba: bool, missing: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return the text of the query.

    ``names`` are those of the model's columns, ``examples`` cells of those that hold booleans or times, by name;
    ``missing`` are the texts that marked missing cells in training.
    """
    _refuse_texts(model.likelihood, names)
    how = dialect_named(dialect)
    query, cells, own = Query(how), Cells(names, examples, how, missing), Own(table, keep, how)
    posterior = _scored(model, query, cells, own)
    if model.bound_spec.corrects:
        _correct(posterior, model)
    labels = model.classes.labels.tolist()
    answers = posterior.answer([label_text(label, how) for label in labels], proba=proba)
    named = dict(zip(["prediction", *_titles(labels)], answers, strict=False))
    return transpiled(own.finish(query, named), dialect)


def _refuse_texts(likelihood: Any, names: Sequence[str]) -> None:
    if isinstance(likelihood, TableLikelihood) and likelihood.texts:
        name = names[min(likelihood.texts)]
        raise ParameterError(
            f"column {name!r} contains texts beside other columns, which SQL exports do not support; train the model "
            f"with columns={{{name!r}: 'ignore'}}, or TextNB('multinomial') on the texts alone"
        )


def _scored(model: Classifier, query: Query, cells: Cells, own: Own) -> Posterior:
    """Write the steps up to the scores of possible classes."""
    lookups, possible = Lookups(query), np.isfinite(model.scorer.offset)
    posterior = Posterior(query, np.flatnonzero(possible).tolist(), len(possible))
    counts = model.fitted is not None and grows(model.fitted.calibration)
    if isinstance(model.likelihood, TextLikelihood):
        posterior.rule_out(write_text_scores(model, posterior.alive, query, own, counts=counts))
        return posterior
    views = None if model.fitted_without_rows is None else model.fitted_without_rows.views
    if isinstance(views, StackedViews):
        stacking = StackingQuery(views, model.likelihood, query, cells, lookups, model.scorer.offset)
        query.start(own.source, {**own.columns(), **cells.inputs} or {"nothing": "0"})
        stacking.write()
        return posterior
    scores = _scores(model.likelihood, np.where(possible, model.scorer.offset, 0.0), cells, lookups)
    query.start(own.source, {**own.columns(), **cells.inputs} or {"nothing": "0"})
    lookups.write()
    columns = {f"s{k}": scores.finite[k] for k in posterior.alive}
    columns |= {f"l{i}_{k}": limit[k] for i, limit in enumerate(scores.limits) for k in posterior.alive}
    if counts:
        columns["amount"] = total(list(cells.inputs))
    query.step("scores", columns)
    posterior.rule_out(len(scores.limits))
    return posterior


def _scores(likelihood: Any, offset: Floats, cells: Cells, lookups: Lookups) -> Scores:
    if isinstance(likelihood, TableLikelihood):
        return Scores(table_scores(likelihood, offset, cells, lookups))
    return family_scores(likelihood, offset, ColumnReader(range(len(cells.names)), cells, lookups))


def _correct(posterior: Posterior, model: Classifier) -> None:
    """Write the calibration and the change of the class prior."""
    calibration = None if model.fitted is None else model.fitted.calibration
    if calibration is not None:
        calibrate(posterior, calibration, "amount" if grows(calibration) else None)
    change = model.prior_change
    if change.any():
        posterior.shift({k: float(change[k]) for k in posterior.alive if np.isfinite(change[k])})


def _titles(labels: Sequence[Any]) -> list[str]:
    """Return the titles of probability columns; labels that look alike are distinguished by type."""
    alike = len({str(label) for label in labels}) < len(labels)
    return [f"p({label!r})" if alike else f"p({label})" for label in labels]
