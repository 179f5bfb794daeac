"""Pictures of distributions, counts and texts, by hand; and how all pictures treat axes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tiers import every, late

from candide import BernoulliNB, GaussianNB, TextNB
from candide.exceptions import InputError, NotADensity, ParameterError
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

from .rows import text_model, texts

plot, style = late("candide.plot"), late("candide.plot.style")

plt = late("matplotlib.pyplot")
VALUES = [1.0, 2.0, 4.0, 5.0]


@every(
    "before,values,of,mle",
    [
        (Beta(2, 2), [1, 1, 0, 1], None, 0.75),
        (Dirichlet([1, 2, 3]), [0, 2, 2, 1], 2, 0.5),
        (Gamma(2, 1), [3, 0, 6], None, 3.0),
        (Normal(0, 4, 1), VALUES, None, 3.0),
        (NormalInverseGamma(0, 1, 2, 2), VALUES, "mean", 3.0),
        (NormalInverseGamma(0, 1, 2, 2), VALUES, "variance", 2.5),
    ],
)
def test_estimates_are_marked(before: object, values: list[float], of: object, mle: float) -> None:
    after = before.learn(values)
    shown = plot.posterior(before, after, of=of)
    mode, mean = after.mode(), after.mean()
    if of is not None:
        mode, mean = (getattr(one, of) if isinstance(of, str) else one[of] for one in (mode, mean))
    assert shown.numbers["MLE"] == pytest.approx(mle)
    assert (shown.numbers["MAP"], shown.numbers["mean"]) == pytest.approx((mode, mean))
    labels = [text.get_text() for text in shown.ax.get_legend().get_texts()]
    assert [label.split()[0] for label in labels] == ["prior", "posterior", "95%", "MLE", "MAP", "mean"]
    x, density = shown.table["parameter"], shown.table["posterior"]
    assert np.trapezoid(density, x) == pytest.approx(1.0, abs=0.01)
    marked = [float(line.get_xdata()[0]) for line in shown.ax.lines[2:]]
    assert marked == pytest.approx([shown.numbers[name] for name in ("MLE", "MAP", "mean")])


def test_a_posterior_without_data_or_without_a_prior() -> None:
    assert np.isnan(plot.posterior(Beta(2, 2), Beta(2, 2)).numbers["MLE"])
    shown = plot.posterior(Beta(0, 0), Beta(0, 0).posterior(on=2, off=1))
    assert np.isnan(shown.table["prior"]).all()
    assert shown.numbers["mean"] == pytest.approx(2 / 3)


@every(
    "before,after,of,message",
    [
        (Beta(1, 1), Gamma(1, 1), None, "before is a Beta and after a Gamma"),
        (1, 2, None, "before is a int"),
        (Beta(0, 0), Beta(0, 0), None, "does not integrate to 1"),
        (Dirichlet([1, 1]), Dirichlet([2, 1]), 2, "0 to 1"),
        (NormalInverseGamma(), NormalInverseGamma(), "sd", "of is 'sd'"),
        (Beta([1, 2], 1), Beta([2, 2], 1), None, "arrays"),
    ],
)
def test_what_has_no_posterior_to_show(before: object, after: object, of: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plot.posterior(before, after, of=of)


def test_smoothing_goes_from_shares_seen_to_even_ones() -> None:
    shown = plot.smoothing([6, 2, 2, 0], [1e-9, 1.0, 1e9])
    share = shown.table["share"].reshape(3, 3)  # counts 6, 2 and 0; two values share a curve
    assert share[:, 0] == pytest.approx([0.6, 0.2, 0.0], abs=1e-8)
    assert share[:, 1] == pytest.approx([7 / 14, 3 / 14, 1 / 14])
    assert share[:, 2] == pytest.approx([0.25, 0.25, 0.25])
    assert "1 and 1 more, seen 2×" in [line.get_label() for line in shown.ax.lines]
    assert len(set(plot.smoothing(range(30)).table["count"])) == 8


@every("counts", [[1.0], [1.0, -1.0], [1.0, np.nan]])
def test_counts_that_cannot_be_smoothed(counts: list[float]) -> None:
    with pytest.raises(ParameterError, match="each with a non-negative count"):
        plot.smoothing(counts)
    with pytest.raises(ParameterError, match="expected positive numbers"):
        plot.smoothing([1, 2], alphas=[0.0, 1.0])


def test_areas_are_bayes_theorem() -> None:
    shown = plot.bayes_theorem({"a": 3, "b": 1}, {"a": 0.2, "b": 0.8})
    assert shown.table["posterior"] == pytest.approx([0.15 / 0.35, 0.2 / 0.35])
    assert shown.numbers["evidence"] == pytest.approx(0.35)
    whole, part, bar = shown.ax.patches[:3]
    assert (whole.get_width(), part.get_height(), bar.get_height()) == pytest.approx((0.75, 0.2, 0.15 / 0.35))


@every(
    "prior,likelihood,message",
    [
        ({"a": 1}, {"a": 1}, "classes in both, and at least two"),
        ({"a": 1, "b": 1}, {"a": 1, "c": 1}, "the same classes in both, and at least two"),
        ({"a": 1, "b": 1}, {"a": 1, "b": 2}, "from 0 to 1"),
        ({"a": 1, "b": 1}, {"a": 0, "b": 0}, "0 for every class"),
    ],
)
def test_what_is_no_bayes_theorem(prior: dict[str, float], likelihood: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plot.bayes_theorem(prior, likelihood)


def test_tiles_are_shares_of_the_rows() -> None:
    a, b, c = ["x", "x", "y", "y", None], [1, 2, 1, 1, 1], ["k", "k", "k", "k", "k"]
    shown = plot.independence(a, b, c)
    assert shown.table["weight"].tolist() == [1, 1, 2, 0] * 2
    assert shown.table["share"].tolist() == [0.5, 0.5, 1, 0] * 2
    assert shown.numbers["all rows"] == pytest.approx(0.3113, abs=1e-4)
    assert len(shown.axes) == 2


def test_what_has_no_tiles() -> None:
    with pytest.raises(InputError, match="9 distinct values"):
        plot.independence(range(9), range(9), ["c"] * 9)
    with pytest.raises(InputError, match="expected the same number of rows"):
        plot.independence([1], [1, 2], ["c"])
    with pytest.raises(InputError, match="no rows without missing values"):
        plot.independence([None], [1], ["c"])


def test_bits_of_tokens_are_those_of_the_parameters() -> None:
    model = text_model(2)
    shown = plot.token_scatter(model)
    parameters = model.parameters()
    spam = parameters["probability"][parameters["class"] == "spam"]
    ham = parameters["probability"][parameters["class"] == "ham"]
    assert shown.table["bits"] == pytest.approx(np.log2(spam / ham))
    assert shown.table["count"] == pytest.approx(model.token_count_.sum(axis=0))
    assert sum(len(one.get_offsets()) for one in shown.ax.collections) == shown.numbers["tokens"]
    assert len(shown.ax.texts) == shown.numbers["named"] > 0


def test_a_class_against_all_others_is_weighed_by_how_frequent_they_are() -> None:
    model = text_model(3)
    table = plot.word_shift(model, "ham", most=100).table
    parameters, prior = model.parameters(), dict(zip(model.classes_, model.class_prior_, strict=True))
    share = {label: parameters["probability"][parameters["class"] == label] for label in model.classes_}
    others = (prior["news"] * share["news"] + prior["spam"] * share["spam"]) / (prior["news"] + prior["spam"])
    bits = dict(zip(model.model_.column_names(), np.log2(share["ham"] / others), strict=True))
    assert table["bits"] == pytest.approx([bits[token] for token in table["token"]])


def test_a_word_shift_is_ordered_and_weighed() -> None:
    shown = plot.word_shift(text_model(2), most=6)
    shift = shown.table["shift"]
    assert len(shown.ax.patches) == 6
    assert (np.diff(shift) <= 0).all()
    assert (np.sign(shift) == np.sign(shown.table["bits"])).all()
    everything = plot.word_shift(text_model(2), most=10_000)
    assert everything.table["shift"].clip(0).sum() == pytest.approx(everything.numbers["of"])
    assert np.abs(shift).min() >= np.sort(np.abs(everything.table["shift"]))[-6]


@every("kind", ["auto", "bernoulli", "polya"])
def test_tokens_of_other_models_of_texts(kind: str) -> None:
    shown = plot.word_shift(text_model(3, kind), "ham", "spam")
    unit = "bits per text" if kind == "bernoulli" else "bits per 1,000 tokens"
    assert unit in shown.ax.get_xlabel()


def test_hashed_tokens_are_called_by_their_buckets() -> None:
    model = TextNB("multinomial", buckets=6).fit(*texts(2))
    assert all(token.startswith("bucket") for token in plot.token_scatter(model).table["token"])


def test_models_without_tokens() -> None:
    with pytest.raises(NotADensity, match="TextNB\\('multinomial'\\)"):
        plot.word_shift(text_model(2, "complement"))
    with pytest.raises(ParameterError, match="fitted TextNB"):
        plot.token_scatter(GaussianNB().fit([[1.0], [2.0]], ["a", "b"]))
    with pytest.raises(ParameterError, match="at least 1"):
        plot.word_shift(text_model(2), most=0)


def test_a_waterfall_ends_where_the_model_does() -> None:
    model = GaussianNB().fit(np.random.default_rng(0).normal(size=(40, 20)), ["a", "b"] * 20)
    found = model.explain(np.ones((1, 20)))[0]
    for most in (3, 50):
        shown = plot.waterfall(found, most=most)
        said = model.predict_log_proba(np.ones((1, 20)))[0]
        bits = abs(said[0] - said[1]) / np.log(2)
        assert shown.table["end"][-2:] == pytest.approx([bits, bits])
        assert shown.table["begin"][1:-1] == pytest.approx(shown.table["end"][:-2])
        assert len(shown.ax.patches) == shown.table.n_rows == min(most, 20) + 2 + (most < 20)
    backwards = plot.waterfall(found, of=found.runner_up, against=found.answer)
    assert backwards.numbers["log_odds"] == pytest.approx(-bits)


def test_a_waterfall_over_the_edge() -> None:
    model = BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 0]], list("aabb"))
    shown = plot.waterfall(model.explain([[1, 0]])[0])
    assert shown.numbers["log_odds"] == np.inf
    assert "∞" in [text.get_text() for text in shown.ax.texts]
    with pytest.raises(ParameterError, match="explanations of 1 rows; pass one of them"):
        plot.waterfall(model.explain([[1, 0]]))
    with pytest.raises(ParameterError, match="fitted candide model"):
        plot.waterfall("text")


def test_axes_that_are_given_are_drawn_on() -> None:
    figure, axes = plt.subplots(1, 2)
    shown = plot.posterior(Beta(1, 1), Beta(2, 1), ax=axes[0])
    assert (shown.ax, shown.figure) == (axes[0], figure)
    a, b, c = [0, 1, 0, 1], [0, 1, 0, 1], ["k"] * 4
    assert plot.independence(a, b, c, axes=axes).axes == tuple(axes)
    with pytest.raises(ParameterError, match="axes contains 1 axes, but this plot has 2 panels"):
        plot.independence(a, b, c, axes=axes[:1])
    part = plt.figure().subfigures(1, 2)[0]
    assert plot.posterior(Beta(1, 1), Beta(2, 1), ax=part.subplots()).figure is part.figure


def test_a_display_tells_what_it_holds() -> None:
    shown = plot.bayes_theorem({"a": 3, "b": 1}, {"a": 0.2, "b": 0.8})
    assert repr(shown).startswith("Display(1 panel, 2 marks: class, prior")
    with pytest.raises(AttributeError):
        shown.table = None


@every(
    "labels",
    [
        [f"the long name of class {i} which all begin and end alike" for i in range(20)],
        [f"{'a' * 60}{i}{'b' * 60}" for i in range(3)],
        [f"{'ab' * i}{'c' * 40}{'ab' * (10 - i)}" for i in range(10)],
        ["x", "y"],
        [1, 2.5, None],
    ],
)
def test_short_names_differ_where_long_ones_do(labels: list[object]) -> None:
    short = style.names(labels)
    assert len(set(short)) == len(labels)
    assert max(map(len, short)) <= 24


def test_without_matplotlib_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
import candide
from candide.exceptions import MissingPackage
try:
    candide.plot
except MissingPackage as error:
    print(isinstance(error, ImportError), error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True candide.plot requires matplotlib")
    assert "pip install 'candide[plot]'" in done.stdout
