"""A trained model without scikit-learn: a plan, a state, what was fitted to rows left out, and the scorer made from
them when first needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..encoding.index import Index
from ..exceptions import ForgetError, MergeError, ParameterError
from ..families import Family
from ..families.table import TableFamily
from ..kernels import Kernels, default
from ..kernels.data import Array, Floats, Positions, chunks
from .blend import Blend, fit_blend, seen_rows, with_refinement
from .cached import cached
from .calibration import normalised
from .evaluation import Report
from .given import log_posterior, nothing_given
from .honest import Honest, honest, report
from .plan import ClassPrior, Plan
from .scorer import Scorer, log_sum
from .smoothing import by_evidence
from .state import State
from .table import Table, named
from .telling import Names, all_names, heavy_names
from .views.blended import Blended


class Classifier:
    """Immutable: learning gives a new one. Predicting only reads, so threads may share it."""

    def __init__(
        self,
        plan: Plan,
        state: State,
        blend: Blend | None = None,
        report: Report | None = None,
        token_names: Names | None = None,
        importance: Table | None = None,
    ) -> None:
        # An impossible prior is an error now, not at predict.
        plan.prior.probability(state.classes, state.rows)
        if plan.target is not None:
            ClassPrior(plan.target).check(state.classes)
        self.plan = plan
        self.state = state
        self._earlier_blend = blend
        # Made before the training rows went.
        self._report = report
        self.token_names = token_names or {}
        self.importance = importance  # of columns, once somebody asked (explain/importance.py)

    def __getstate__(self) -> dict[str, Any]:
        kept = {"plan": self.plan, "state": self.state, "_report": self._report, "token_names": self.token_names}
        return {**kept, "_earlier_blend": self._latest_blend, "importance": self.importance}

    def parts(self) -> dict[str, Any]:
        """What it is made of, by the names that the constructor has for them; the blend if it was made already."""
        made = {"blend": self._latest_blend, "report": self._report, "token_names": self.token_names}
        return {"plan": self.plan, "state": self.state, **made, "importance": self.importance}

    @property
    def classes(self) -> Index:
        return self.state.classes

    @cached
    def family(self) -> Family:
        """The family with all that it takes from the classes together fixed at what they say now."""
        family = self.plan.family
        if self.plan.alpha == "evidence":
            family = family.with_alpha(by_evidence(family, self.state.statistics))
        elif self.plan.alpha == "loo" and self.blend is not None and self.blend.alpha is not None:
            family = family.with_alpha(self.blend.alpha)
        return family.settle(self.statistics)

    @cached
    def statistics(self) -> Any:
        """The sums of the state; where the rows kept tell copies, a row weighs as much as all of its copies."""
        return self.state.statistics_with_copies()

    def complete(self) -> Classifier:
        """The same model, with everything fitted that the plan asks for.

        Estimators complete a model whenever it has changed, so that predicting only reads it: what is fitted depends on
        the rows learned, and never on when somebody predicted.
        """
        _ = self.blend
        if self.plan.alpha is not None or isinstance(self.plan.family, TableFamily):
            _ = self.family  # pseudo-counts and families of columns are chosen
        return self

    @property
    def staleness(self) -> float:
        """The weight learned and forgotten since the last refit, as a share of the weight at that refit."""
        blend = self._latest_blend
        return 0.0 if blend is None or not self.plan.looks_back else blend.age

    @property
    def can_refit(self) -> bool:
        """Whether there are rows to refit on, and they can tell again what was fitted."""
        blend = self._latest_blend
        return self.plan.looks_back and self.state.sample is not None and not (blend is not None and blend.lasting)

    @cached
    def blend(self) -> Blend | None:
        """What was chosen by looking at rows again: the earlier one while little has changed since, else a new one."""
        if not self.plan.looks_back:
            return None
        if self._earlier_blend is not None and self._earlier_blend.suits(self.plan, self.state):
            return self._earlier_blend
        return fit_blend(self, default(self.plan.n_threads))

    @property
    def _latest_blend(self) -> Blend | None:
        """The blend if it was made already."""
        return vars(self).get("blend", self._earlier_blend)

    @property
    def _kept_blend(self) -> Blend | None:
        """The blend while it may be used; an outdated one must not be mistaken for that of the rows of now."""
        blend = self._latest_blend
        return blend if blend is not None and blend.suits(self.plan, self.state) else None

    @cached
    def honest(self) -> Honest:
        """Training rows scored by models that never saw them."""
        result = honest(self, default(self.plan.n_threads))
        scores = (self._retargeted(part) for part in (result.log_probability, result.optimistic))
        if self.plan.target is None:
            return Honest(result.seen, *scores)
        # Where the model is used, the classes have other shares than among the rows that were kept.
        trained = self.plan.prior.as_in_training.probability(self.classes, self.state.rows)
        share = np.divide(self.plan.target, trained, out=np.zeros_like(trained), where=trained > 0)
        weight = result.seen.case_weight * share[result.seen.batch.classes]
        return Honest(result.seen._replace(case_weight=weight), *scores)

    @property
    def can_report(self) -> bool:
        """Whether there are rows to report on, or a report from when there were."""
        return self.state.sample is not None or self._report is not None

    @property
    def report(self) -> Report:
        """How good the model honestly is."""
        return report(self.honest, self.classes.labels) if self._report is None else self._report

    @cached
    def likelihood(self) -> Any:
        return self.family.likelihood(self.statistics)

    @cached
    def class_prior(self) -> Floats:
        """p(class), fitted or given, class weights included."""
        if self.plan.target is not None:
            return self.plan.target
        return self.plan.prior.probability(self.classes, self.state.rows)

    @cached
    def log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior)

    @cached
    def scorer(self) -> Scorer:
        return Scorer(self.likelihood, self.offset_for(self.state.rows))

    def offset_for(self, rows: Floats) -> Floats:
        """What the classes add to every score if they have so many rows: their log prior, where it has a place."""
        prior = self.prior_in_score
        with np.errstate(divide="ignore"):
            if self.plan.prior_in_score or len(self.classes) == 1:
                return np.log(prior.probability(self.classes, rows))
            return np.log(prior.weight(self.classes, rows))

    @property
    def prior_in_score(self) -> ClassPrior:
        """The class prior that scores hold. Calibrated scores hold the shares of training, whatever was given: the
        calibration would undo what is given, so that comes after it.
        """
        if self.plan.corrects:
            return self.plan.prior.as_in_training
        return self.plan.prior if self.plan.target is None else ClassPrior(self.plan.target)

    def learn(self, batch: State, plan: Plan, *, in_place: bool = False) -> Classifier:
        """After further rows, with the settings of now. ``in_place``: this model is used up."""
        return self._after(self.state.learn(batch, in_place=in_place), plan, float(batch.rows.sum()))

    def forget(self, batch: State) -> Classifier:
        """Without rows that were learned."""
        after = self._after(self.state.forget(batch), self.plan, float(batch.rows.sum()))
        blend = self._latest_blend
        if blend is None:
            return after
        if blend.refinement is not None and after.state.sample is None:
            raise ForgetError(
                "a refined model forgets by fitting its refinement again, and this one keeps no training texts to fit "
                "it on; nothing was changed; construct it with keep_sample=True, or with refine=False"
            )
        # Views of a table hold counts of the rows they were made from, a refinement knows them by heart: what is
        # forgotten must not stay in them.
        if blend.refinement is not None and blend.lasting and blend.suits(after.plan, after.state):
            return after.refined_anew()
        held = blend.refinement is not None or (isinstance(blend.views, Blended) and after.state.sample is not None)
        return Classifier(after.plan, after.state) if held else after

    def refined_anew(self) -> Classifier:
        """With the weights that it has, which last, and a refinement of the training texts kept."""
        assert self.blend is not None
        return Classifier(self.plan, self.state, with_refinement(self, self.blend, default(self.plan.n_threads)))

    def _after(self, state: State, plan: Plan, weight: float) -> Classifier:
        blend = self._latest_blend
        if blend is not None:
            blend = blend.later(weight)
            blend = blend.among(state.classes) if state.sample is None else blend
        return Classifier(plan, state, blend, token_names=self.token_names)

    def discount(self, factor: float) -> Classifier:
        """With all weights multiplied."""
        blend = self._latest_blend
        blend = None if blend is None else blend.discounted(factor)
        return Classifier(self.plan, self.state.discount(factor), blend, token_names=self.token_names)

    def refitted(self, plan: Plan) -> Classifier:
        """With everything that looks at rows again made anew; without rows to look at, an error."""
        if plan.looks_back:
            seen_rows(plan, self.state, "refit")
        if self._latest_blend is not None and self._latest_blend.lasting:
            raise ParameterError(
                "refit would judge training texts by sums that know their labels, by way of the texts without labels; "
                "fit again, with all texts"
            )
        return Classifier(plan, self.state, Classifier(plan, self.state).blend)

    def without_sample(self, *, evaluate: bool) -> Classifier:
        """Without training rows; what needs them is made before they go."""
        made = self.report if evaluate else None
        # Views that no weight was found for are weighed again only with rows.
        blend = self.blend
        if blend is not None and blend.views is not None:
            blend = replace(blend, views=blend.views.without_idle())
        names = self.token_names if self.state.sample is None else heavy_names(self, default(self.plan.n_threads))
        state = replace(self.state, statistics=self.statistics, sample=None)
        return Classifier(self.plan, state, blend, made, names, self.importance)

    def settled(self, *, evaluate: bool) -> Classifier:
        """With all that looks at rows again made already."""
        made = self.report if evaluate and self.can_report else None
        return Classifier(self.plan, self.state, self.blend, made, self.token_names, self.importance)

    def smaller(self, plan: Plan, state: State, blend: Blend) -> Classifier:
        """Without something that predicting never asks."""
        return Classifier(plan, state, blend, self._report, self.token_names, self.importance)

    def with_class_prior(self, prior: Floats) -> Classifier:
        """For rows among which the classes have other shares than in training.

        A calibration was fitted with the shares of training, so the change comes after it. What was chosen stays.
        """
        return Classifier(replace(self.plan, target=prior), self.state, self.blend, token_names=self.token_names)

    @property
    def prior_change(self) -> Floats:
        """What another class prior adds to calibrated log posteriors; -inf where one of the two rules a class out."""
        if not self.plan.corrects or (self.plan.target is None and self.plan.prior.is_as_in_training):
            return np.zeros(len(self.classes))
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(self.class_prior) - np.log(self.prior_in_score.probability(self.classes, self.state.rows))
        return np.where(np.isfinite(change), change, -np.inf)

    def _retargeted(self, scores: Floats) -> Floats:
        change = self.prior_change
        return normalised(scores + change) if change.any() else scores

    def merge(self, other: Classifier) -> Classifier:
        """The model of both sets of rows."""
        if type(self.plan.family) is not type(other.plan.family):
            raise MergeError("only models of one kind can be merged")
        state = self.state.merge(other.state)
        if state.sample is None:
            blend = self.blend
            blend = None if blend is None else blend.later(float(other.state.rows.sum())).among(state.classes)
        else:
            blend = self._lasting_blend(other) or other._lasting_blend(self)
            blend = blend or self._heavier_blend(other)
        return Classifier(self.plan, state, blend, token_names=all_names(other.token_names, self.token_names))

    def _heavier_blend(self, other: Classifier) -> Blend | None:
        """That of the model with more weight, so that the result does not depend on which model absorbed which."""
        heavier, lighter = (self, other) if self.state.rows.sum() >= other.state.rows.sum() else (other, self)
        blend = heavier._kept_blend
        if blend is None or isinstance(blend.views, Blended):
            return None  # views of a table hold counts of the rows of one side alone
        return blend.later(float(lighter.state.rows.sum()))

    def _lasting_blend(self, other: Classifier) -> Blend | None:
        """What cannot be fitted again, after the rows of another model."""
        mine = self._latest_blend
        return mine.later(float(other.state.rows.sum())) if mine is not None and mine.lasting else None

    def predict(self, data: Any, kernels: Kernels) -> Array:
        """The label of each row."""
        if not self.plan.corrects:
            return self.classes.labels[self.scorer.best(data, kernels)]
        best = self.posterior(data, kernels, logarithm=True).argmax(axis=1)
        return np.asarray(self.classes.labels[best])

    def posterior(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """p(class | x), or its logarithm, calibrated if the plan says so."""
        if not self.plan.corrects:
            return self.scorer.posterior(data, kernels, logarithm=logarithm)
        scores = log_posterior(self, data, kernels)
        return scores if logarithm else np.exp(scores)

    def uncalibrated(self, data: Any, kernels: Kernels) -> Floats:
        """Log posteriors before they are calibrated: of the views with their weights, if there are any."""
        views = None if self.blend is None else self.blend.views
        if views is None:
            return self.scorer.posterior(data, kernels, logarithm=True)
        prior = (self.scorer.offset,) if isinstance(views, Blended) else ()
        scores: Floats = views.scores(self.likelihood, data, *prior, kernels)  # type: ignore[call-arg]
        if self.blend is not None and self.blend.refinement is not None:
            scores += self.blend.refinement.scores(data, kernels)
        scores[:, np.isneginf(self.scorer.offset)] = -np.inf
        kernels.normalise(scores, logarithm=True)
        return scores

    def calibrated(self, scores: Floats, data: Any) -> Floats:
        """Log posteriors as the calibration corrects them, under the class prior of where the model is used."""
        return self._retargeted(self.as_in_training(scores, data))

    def as_in_training(self, scores: Floats, data: Any) -> Floats:
        """Log posteriors as the calibration corrects them, under the class prior that it was fitted with."""
        blend = self.blend
        if blend is None or blend.calibration is None:
            return scores
        out = blend.calibration.apply(scores, self.plan.family.amount(data))
        out = np.where(nothing_given(self, data), scores, out)
        impossible = np.isneginf(scores)
        # Curves know nothing of what cannot be.
        return normalised(np.where(impossible, -np.inf, out)) if impossible.any() else out

    def log_density(self, data: Any, kernels: Kernels) -> Floats:
        """log p(x), row by row."""
        return _plus(log_sum(self.scorer.joint(data, kernels)), self.likelihood.log_base(data))

    def log_likelihood(self, data: Any, classes: Positions, weight: Floats | None, kernels: Kernels) -> float:
        """Σ log p(x, class) over rows."""
        if weight is not None:
            # A row of weight 0 is not there: 0 · (-inf) counts as 0.
            kept = np.flatnonzero(weight > 0)
            data, classes, weight = data.take(kept), classes[kept], weight[kept]
        parts = [self._log_likelihood(*part, kernels) for part in _stretches(data, classes, weight)]
        # Terms that outgrow all others are added apart; the first that does not cancel decides.
        *diverging, finite = np.sum(parts, axis=0)
        left = [term for term in diverging if term]
        return float(np.copysign(np.inf, left[0]) if left else finite)

    def _log_likelihood(self, data: Any, classes: Positions, weight: Floats | float, kernels: Kernels) -> list[float]:
        """Sums over rows of the coefficients of diverging terms, and last of the finite rest."""
        own = np.arange(data.n_rows), classes
        scores = self.likelihood.scores(data, self.scorer.offset, kernels)[own]
        finite = _plus(scores, self.likelihood.log_base(data))
        terms = [limit[own] for limit in self.likelihood.limits(data, kernels)]
        return [float((term * weight).sum()) for term in (*terms, finite)]

    def sample(self, n: int, rng: np.random.Generator, **options: Any) -> tuple[Any, Array]:
        """Rows drawn from the model, and their labels."""
        classes = rng.choice(len(self.classes), size=n, p=self.class_prior).astype(np.int32)
        return self.likelihood.sample(classes, rng, **options), self.classes.labels[classes]

    def parameters(self, column_names: Array) -> Table:
        """Every parameter of p(x | class) with the count behind it."""
        # Copies: what a reader does to the table must not reach the model.
        columns = {name: np.array(column) for name, column in self.likelihood.parameters().items()}
        columns["class"] = named(columns["class"], self.classes.labels)
        columns["column"] = named(columns["column"], column_names)
        return Table(columns)

    @property
    def n_parameters(self) -> int:
        """Free parameters: those of p(x | class) and of p(class)."""
        prior = len(self.classes) - 1 if self.plan.prior_in_score else 0
        return int(self.family.n_parameters(self.state.statistics)) + prior


def _plus(score: Floats, base: Floats) -> Floats:
    """``score + base``; a base of -inf (the factorial of a huge count) outgrows any score."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(base), -np.inf, score + base)


def _stretches(data: Any, classes: Positions, weight: Floats | None) -> Iterator[tuple[Any, Positions, Floats | float]]:
    for begin, end, part in chunks(data):
        yield part, classes[begin:end], 1.0 if weight is None else weight[begin:end]
