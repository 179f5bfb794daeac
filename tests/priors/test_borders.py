"""What nothing is known of, modes on the border, and what is refused."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
from tiers import every

from candide.exceptions import ParameterError
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

NAN, INF = float("nan"), float("inf")
REFERENCE = NormalInverseGamma(0.0, 0.0, -0.5, 0.0)
IMPROPER = [Beta(0, 1), Beta(1, 0), Dirichlet([1, 0]), Gamma(0, 1), Gamma(1, 0), REFERENCE]


@every(
    "concentration,mode",
    [
        ([1, 1, 1], [1 / 3, 1 / 3, 1 / 3]),
        ([2, 1, 1], [1, 0, 0]),
        ([2, 0.5, 3], [1 / 3, 0, 2 / 3]),
        ([0.5, 0.9, 0.2], [0, 1, 0]),
        ([0.9, 0.9, 0.2], [0.5, 0.5, 0]),
        ([0, 0, 0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_modes_on_the_border(concentration: list[float], mode: list[float]) -> None:
    """Outcomes with α ≤ 1 have no share; if that is all of them, those with the largest α share it."""
    np.testing.assert_allclose(Dirichlet(concentration).mode(), mode, rtol=1e-12)
    np.testing.assert_allclose(Dirichlet([concentration, [3, 2, 1]]).mode(), [mode, [2 / 3, 1 / 3, 0]], rtol=1e-12)


@every(
    "prior,mode",
    [
        (Beta(1, 1), 0.5),
        (Beta(0.5, 0.5), 0.5),
        (Beta(0.5, 0.9), 0),
        (Beta(1, 0.9), 1),
        (Gamma(0.5, 0), 0),
        (Gamma(1, 0), 0),
        (Gamma(2, 0), INF),
    ],
)
def test_modes_of_one_number(prior: Any, mode: float) -> None:
    assert prior.mode() == mode


def test_nothing_known() -> None:
    """Means and intervals of improper priors are limits, never NaN."""
    assert Beta(0, 0).mean() == 0.5
    assert Dirichlet([0, 0]).mean().tolist() == [0.5, 0.5]
    assert Beta(0, 0).interval() == (0, 1)
    assert Beta(3, 0).interval() == (1, 1)
    assert Beta(0, 3).interval() == (0, 0)
    assert Gamma(0, 3).interval() == (0, 0)
    assert Gamma(2, 0).interval() == (0, INF)
    assert Gamma(1, 0).mean() == INF
    assert NormalInverseGamma(1, 1, 1, 1).mean() == (1, INF)
    assert REFERENCE.learn([3.0]).interval() == ((-INF, INF), (0, INF))
    np.testing.assert_array_equal(Dirichlet([[3.0]]).interval(), [[[1.0]], [[1.0]]])


def test_one_class_without_rows() -> None:
    """Its mean is unknown, the variance that it shares is not."""
    ends = NormalInverseGamma([1.0, 0.0], [4.0, 0.0], 2.0, 3.0).interval()
    assert ends.mean[0][1] == -INF
    assert ends.mean[1][1] == INF
    assert ends.variance == NormalInverseGamma(1.0, 4.0, 2.0, 3.0).interval().variance


@every("prior", IMPROPER)
def test_improper_priors_have_no_draws_and_no_evidence(prior: Any) -> None:
    assert not prior.is_proper
    summary = {"Dirichlet": ([1, 1],), "NormalInverseGamma": (1, 2, 1)}.get(type(prior).__name__, (1, 1))
    for refused in (lambda: prior.sample(2), lambda: prior.log_marginal_likelihood(*summary)):
        with pytest.raises(
            ParameterError, match=re.escape(f"{prior!r} does not integrate to 1") + r".*choose positive"
        ):
            refused()
    assert prior.posterior(*summary).is_proper
    assert np.isfinite(prior.posterior(*summary).sample(2, 0)).all()


@every("kind", [Beta, Dirichlet, Gamma, NormalInverseGamma, Normal])
@every("value", [NAN, INF, -INF, [1, NAN], "a", {}, None])
def test_parameters_are_numbers(kind: type, value: Any) -> None:
    with pytest.raises(ParameterError, match=rf"of {kind.__name__} is {re.escape(repr(value))}; expected"):
        kind(value)


@every(
    "made,said",
    [
        (lambda: Beta(-1, 1), "a of Beta is -1; expected finite numbers of at least 0"),
        (lambda: Beta(1, [1, -2]), "b of Beta is [1, -2]; expected finite numbers of at least 0"),
        (lambda: Dirichlet([1, -1]), "concentration of Dirichlet is [1, -1]"),
        (lambda: Gamma(1, -1), "rate of Gamma is -1"),
        (lambda: Normal(0, 0), "variance of Normal is 0; expected finite numbers above 0"),
        (lambda: Normal(0, 1, 0), "noise of Normal is 0; expected finite numbers above 0"),
        (lambda: NormalInverseGamma(0, -1), "strength of NormalInverseGamma is -1"),
        (lambda: NormalInverseGamma(0, 1, -0.6), "shape of NormalInverseGamma is -0.6; expected finite numbers of at"),
        (lambda: Dirichlet(1.0).mean(), "does not specify the number of outcomes; pass one pseudo-count per outcome"),
        (lambda: Beta().learn([0, 2]), "values contain 2; expected 0 or 1"),
        (lambda: Dirichlet([1, 1]).learn([0, 2]), "values contain 2; expected positions of outcomes, 0 to 1"),
        (lambda: Dirichlet([1, 1]).learn([0.5]), "values contain 0.5; expected positions of outcomes, 0 to 1"),
        (lambda: Dirichlet([1, 1]).learn([-1]), "values contain -1; expected positions of outcomes, 0 to 1"),
        (lambda: Gamma().learn([3, -1]), "values contain -1; expected counts of 0 or more"),
        (lambda: Normal().learn([INF]), "values contain infinity; drop infinite values"),
        (lambda: NormalInverseGamma().learn([1, -INF]), "values contain infinity; drop infinite values"),
        (lambda: Gamma().learn(["red"]), "values are not numeric ('red' is a string); expected numbers"),
        (lambda: Dirichlet([1, 1]).learn([0, "1"]), "values are not numeric ("),
        (lambda: Beta().learn([[1], [0, 1]]), "values are not numeric ("),
        (lambda: Beta("1", 1), "a of Beta is '1'; expected a number or an array of numbers"),
        (lambda: Dirichlet(["1", 2]), "concentration of Dirichlet is ['1', 2]; expected a number"),
        (lambda: Dirichlet([]), "concentration of Dirichlet is empty; expected at least one number"),
        (lambda: Beta([1, 2], [1, 2, 3]), "incompatible shapes: a (2,), b (3,); pass single numbers"),
        (lambda: Beta().posterior(-0.5, 3), "on is -0.5; expected finite numbers of at least 0"),
        (lambda: Beta().log_marginal_likelihood(1, [1, -3]), "off is [1, -3]; expected finite numbers of at least 0"),
        (lambda: Beta([1, 2]).posterior([1, 2, 3], 0), "incompatible shapes: a (2,), on (3,); pass single numbers"),
        (lambda: Dirichlet([1, 1]).posterior([-0.5, 1]), "count is [-0.5, 1]; expected finite numbers of at least 0"),
        (lambda: Dirichlet([1, 1, 1]).posterior([3, 1]), "incompatible shapes: concentration (3,), count (2,)"),
        (lambda: Dirichlet([1, 1, 1]).posterior([3]), "count has shape (1,) for 3 outcomes; pass one number per"),
        (
            lambda: Dirichlet([1, 1, 1]).log_marginal_likelihood(3),
            "count has shape () for 3 outcomes; pass one number per",
        ),
        (lambda: Gamma().posterior(1, -0.5), "exposure is -0.5; expected finite numbers of at least 0"),
        (lambda: Gamma().log_marginal_likelihood(NAN, 1), "events is nan; expected finite numbers of at least 0"),
        (lambda: Normal().posterior(INF, 1), "mean is inf; expected finite"),
        (lambda: Normal().log_marginal_likelihood(0, -1, 2), "weight is -1; expected finite numbers of at least 0"),
        (lambda: NormalInverseGamma().posterior(0, 3, -0.1), "scatter is -0.1; expected finite numbers of at least 0"),
        (lambda: NormalInverseGamma([0, 0]).posterior(0, [1, 2, 3], 0), "location (2,), weight (3,); pass single"),
        (lambda: Beta().sample(-1), "n is -1; expected a positive integer"),
        (lambda: NormalInverseGamma().sample(2.5), "n is 2.5; expected a positive integer"),
        (lambda: Dirichlet([1, 1]).predictive(0), "n is 0; expected a positive integer"),
        (lambda: Gamma(1, 0).predictive(), "does not integrate to 1, so it has no samples, predictions or"),
    ],
)
def test_refused(made: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        made()


@every("level", [0, 1, -0.5, 1.5, NAN, "a", None, True])
def test_levels(level: Any) -> None:
    with pytest.raises(ParameterError, match=r"level is .* probability between 0 and 1, such as 0\.95"):
        Beta().interval(level)


def test_priors_do_not_change() -> None:
    mine = np.array([1.0, 2.0])
    prior = Dirichlet(mine)
    mine[0] = 7
    assert prior.concentration.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        prior.concentration[0] = 7
    with pytest.raises(AttributeError):
        prior.concentration = 3
    for twin in (copy.deepcopy(prior), pickle.loads(pickle.dumps(prior))):
        assert twin == prior
        assert not twin.concentration.flags.writeable


def test_equal_priors() -> None:
    assert Dirichlet([1, 2]) == Dirichlet([1, 2]) != Dirichlet([1, 3])
    assert Beta(1, 2) == Beta(1.0, 2.0) != Gamma(1, 2)
    assert Beta([1, 2]) != Beta([1, 2, 3])
    assert len({Dirichlet([1, 2]), Dirichlet([1, 2]), Beta(1, 2), Normal(0.0), Normal(-0.0)}) == 3


def test_readable() -> None:
    assert repr(Beta(0.5, 1e-9)) == "Beta(a=0.5, b=1e-09)"
    assert repr(Dirichlet([[1, 2], [3, 4.25]])) == "Dirichlet(concentration=[[1, 2], [3, 4.25]])"
    assert repr(Gamma(np.ones(9), 2)) == "Gamma(shape=array of shape (9,), rate=2)"
    assert repr(Beta(1234567, 0.1)) == "Beta(a=1234567, b=0.1)"
    assert eval(repr(NormalInverseGamma(1, 2, 3, 4))) == NormalInverseGamma(1, 2, 3, 4)
