"""Pictures of models show the models' own numbers."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as SklearnNB
from tiers import every, late

import candide
from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB
from candide.diagnostics import information
from candide.exceptions import InputError, ParameterError

from .rows import names, numbers, table, table_model, text_model, texts

plot = late("candide.plot")


def counts() -> tuple[np.ndarray, np.ndarray]:
    X, y = numbers(2)
    return np.abs(X.round()), y


TWO_CLASSES: dict[str, Any] = {
    "gaussian": lambda: GaussianNB().fit(*numbers(2)),
    "gaussian, platt": lambda: GaussianNB(calibrate="platt").fit(*numbers(2)),
    "bernoulli": lambda: BernoulliNB(binarize=0.5).fit(*numbers(2)),
    "multinomial": lambda: MultinomialNB().fit(*counts()),
    "complement": lambda: ComplementNB().fit(*counts()),
    "poisson": lambda: PoissonNB().fit(*counts()),
    "categorical": lambda: CategoricalNB().fit(np.where(numbers(2)[0] > 0, "up", "down"), numbers(2)[1]),
    "table": lambda: table_model(2, stacking=None, calibrate=None),
}


def points_of(shown: plot.Display, column: str, value: Any) -> float:
    here = (shown.table["column"] == column) & np.array([cell == value for cell in shown.table["value"]])
    return float(shown.table["points"][here][0])


@pytest.mark.parametrize("kind", TWO_CLASSES)
def test_points_of_a_nomogram_add_up_to_what_the_model_says(kind: str) -> None:
    model = TWO_CLASSES[kind]()
    shown = plot.nomogram(model)
    columns = list(dict.fromkeys(shown.table["column"].tolist()))
    first = {column: shown.table["value"][shown.table["column"] == column][0] for column in columns}
    points = sum(points_of(shown, column, value) for column, value in first.items())
    bits = shown.numbers["bits_at_0"] + points * shown.numbers["bits_per_point"]
    if kind == "bernoulli":
        first = dict.fromkeys(first, 0.0)
    elif kind == "table":
        row: Any = {name: [first.get(name)] for name in table(2) if name != "class"}
    if kind != "table":
        row = np.array([[first[name] for name in model.model_.column_names()]])
    said = model.predict_log_proba(row)[0]
    assert bits == pytest.approx((said[1] - said[0]) / np.log(2), rel=1e-9, abs=1e-9)


def test_a_nomogram_picks_a_class_and_names_it() -> None:
    shown = plot.nomogram(GaussianNB().fit(*numbers(3)))
    assert shown.ax.get_title().startswith("ham against all other classes")
    stacked = plot.nomogram(table_model(2))
    assert "not additive" in stacked.ax.get_title()
    assert list(stacked.numbers) == ["bits_per_point"]
    X, y = numbers(2, 201)
    assert "the 12 longest of 200 columns" in plot.nomogram(GaussianNB().fit(X, y)).ax.get_title()


def test_marks_of_numbers_are_round() -> None:
    shown = plot.nomogram(GaussianNB().fit(*numbers(2)))
    written = [text.get_text() for text in shown.ax.texts]
    marks = [float(text) for text in written if text.replace("-", "").replace(".", "").isdigit()]
    assert all(round(mark, 3) == mark for mark in marks)


def test_densities_of_all_columns_overlay_the_classes() -> None:
    X, y = numbers(20, 200)
    model = GaussianNB().fit(X, y)
    shown = plot.densities(model)
    assert len(shown.axes) == 12
    assert shown.figure.get_suptitle() == "the 12 most informative of 200 columns; the 6 largest of 20 classes"
    assert [len(ax.lines) for ax in shown.axes] == [6] * 12
    name = shown.table["column"][0]
    assert name in model.model_.column_names().tolist()
    few = plot.densities(table_model(2, stacking=None, calibrate=None), classes=["spam"])
    assert {ax.get_xlabel() for ax in few.axes} >= {"size", "count"}
    assert few.figure.get_suptitle() == "1 of 2 classes"


def test_the_longest_line_of_a_nomogram_is_100_points() -> None:
    shown = plot.nomogram(table_model(2, stacking=None, calibrate=None))
    assert shown.table["points"].min() == 0
    assert shown.table["points"].max() == pytest.approx(100)


def test_a_nomogram_of_one_class_of_many_has_no_sums() -> None:
    model = GaussianNB().fit(*numbers(3))
    assert list(plot.nomogram(model, "ham").numbers) == ["bits_per_point"]
    assert "bits_at_0" in plot.nomogram(model, "ham", "news").numbers


def test_a_nomogram_shows_the_columns_asked_for() -> None:
    shown = plot.nomogram(GaussianNB().fit(*numbers(2)), columns=["x2", 0])
    assert set(shown.table["column"]) == {"x0", "x2"}
    assert len(set(plot.nomogram(GaussianNB().fit(*numbers(2)), most=1).table["column"])) == 1


@every(
    "model,options,message",
    [
        (lambda: table_model(2), {"against": "ham"}, "do not add up"),
        (lambda: GaussianNB(calibrate="isotonic").fit(*numbers(2)), {"against": "ham"}, "do not add up"),
        (lambda: GaussianNB().fit(*numbers(3)), {"of": "cat"}, "not a class of this model"),
        (lambda: GaussianNB().fit(*numbers(3)), {"of": "ham", "against": "ham"}, "against are both"),
        (
            lambda: GaussianNB().fit(np.ones((4, 1)), list("aabb")),
            {},
            "no column has a finite contribution that distinguishes",
        ),
        (lambda: GaussianNB().fit(np.ones((2, 1)), ["a", "a"]), {}, "has only 'a'"),
        (lambda: text_model(2), {}, "a TextNB has tokens"),
        (lambda: GaussianNB().fit(*numbers(2)), {"columns": ["none"]}, "'none' is not a column"),
    ],
)
def test_what_no_nomogram_can_show(model: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plot.nomogram(model(), **options)


def test_densities_are_those_of_the_model() -> None:
    model = GaussianNB().fit(*numbers(3))
    shown = plot.densities(model, "x1")
    here = shown.table["class"] == "spam"
    x, density = shown.table["value"][here], shown.table["density"][here]
    mean, variance = model.theta_[2, 1], model.var_[2, 1]
    wanted = np.exp(-((x - mean) ** 2) / 2 / variance) / np.sqrt(2 * np.pi * variance)
    assert density[1:-1] == pytest.approx(wanted[1:-1], rel=0.01)
    assert [len(ax.lines) for ax in shown.axes] == [1, 1, 1]  # nothing was kept of the data


@every("own", ["gaussian", "kernel", "bins", "student"])
def test_densities_of_a_table_show_three_families_and_the_data(own: str) -> None:
    shown = plot.densities(NaiveBayes({"size": own}, order=0).fit(table(2), y="class"), "size")
    wanted = {f"{own} (chosen by the model)"} | ({"gaussian", "kernel", "bins"} - {own})
    assert set(shown.table["family"]) == wanted
    for ax in shown.axes:
        assert {line.get_label() for line in ax.lines} == wanted
        assert len(ax.patches) == 1
    step = np.diff(np.unique(shown.table["value"]))[0]
    for family in wanted:
        here = (shown.table["family"] == family) & (shown.table["class"] == "ham")
        assert 0.8 < shown.table["density"][here].sum() * step < 1.2


def test_densities_of_names_are_probabilities() -> None:
    model = table_model(2)
    shown = plot.densities(model, 1)
    found, parameters = shown.table, model.parameters()
    wanted = parameters["probability"][parameters["column"] == "a column with a name of forty characters"]
    assert found["density"] == pytest.approx(wanted)
    assert [len(ax.patches) for ax in shown.axes] == [2, 2]


@pytest.mark.parametrize(
    "model", [PoissonNB(), BernoulliNB(binarize=1.5), CategoricalNB()], ids=["poisson", "bernoulli", "categorical"]
)
def test_shares_seen_are_those_of_the_rows_given(model: Any) -> None:
    X, y = counts()
    X = X.astype(int) if isinstance(model, CategoricalNB) else X
    shown = plot.densities(model.fit(X, y), 0, X, y)
    seen = shown.axes[0].lines[0].get_ydata()
    column = X[y == "ham", 0]
    wanted = (column > 1.5).astype(int) if isinstance(model, BernoulliNB) else column.astype(int)
    assert seen == pytest.approx([(wanted == value).mean() for value in range(len(seen))])


def test_what_has_no_density() -> None:
    X, y = counts()
    with pytest.raises(ParameterError, match="have no separate densities"):
        plot.densities(MultinomialNB().fit(X, y), 0)
    with pytest.raises(ParameterError, match="'nonsense' is not a column family"):
        plot.densities(GaussianNB().fit(X, y), 0, families=["nonsense"])
    holes = NaiveBayes().fit({"a": X[:, 0], "b": np.full(len(y), np.nan), "c": np.ones(len(y)), "y": y}, y="y")
    with pytest.raises(InputError, match="only missing values"):
        plot.densities(holes, "b")
    with pytest.raises(InputError, match="has no density: constant"):
        plot.densities(holes, "c")


def test_densities_of_many_names_say_how_many_are_shown() -> None:
    names = np.array([f"town {i}" for i in range(30)] * 4, dtype=object)
    model = NaiveBayes(columns="categorical").fit({"town": names, "y": np.arange(120) % 3 % 2}, y="y")
    shown = plot.densities(model, "town")
    assert shown.axes[0].get_xlabel() == "town\n(12 of 30 values, the most probable)"
    with pytest.raises(
        ParameterError, match="'twon' is not a column of this model; its columns are 'town'; did you mean 'town'"
    ):
        plot.densities(model, "twon")


def test_a_constant_column_that_was_asked_for_is_shown_as_it_is() -> None:
    X, y = np.full((6, 1), 2.0), list("aaabbb")
    shown = plot.densities(NaiveBayes(columns="gaussian", stacking=None, calibrate=None).fit(X, y), 0)
    assert shown.ax.get_xlim()[0] < 2 < shown.ax.get_xlim()[1]


def test_reliability_is_that_of_the_report() -> None:
    model = GaussianNB(calibrate="beta", compute_loo=True).fit(*numbers(3))
    shown = plot.reliability(model)
    calibrated = shown.table["curve"] == "model"
    assert shown.table["accuracy"][calibrated] == pytest.approx(model.loo_.reliability["accuracy"])
    assert shown.numbers["model"] == model.loo_.ece
    raw = GaussianNB(compute_loo=True).fit(*numbers(3)).loo_
    assert shown.table["confidence"][~calibrated] == pytest.approx(raw.reliability["confidence"])
    assert len(shown.ax.collections) == 2


def test_reliability_on_rows_given() -> None:
    X, y = numbers(3)
    model, raw = GaussianNB(calibrate="platt").fit(X[::2], y[::2]), GaussianNB().fit(X[::2], y[::2])
    shown = plot.reliability(model, X[1::2], y[1::2])
    assert set(shown.numbers) == {"plain naive Bayes", "model"}
    assert shown.numbers["plain naive Bayes"] == pytest.approx(plot.reliability(raw, X[1::2], y[1::2]).numbers["model"])
    assert set(plot.reliability(table_model(2)).numbers) == {"plain naive Bayes", "model"}


def test_confusion_and_risk_are_those_of_the_report() -> None:
    model = GaussianNB(compute_loo=True).fit(*numbers(3))
    report = model.loo_
    shown = plot.confusion(model)
    assert np.array_equal(shown.table["weight"].reshape(3, 3), report.confusion)
    assert np.array_equal(shown.ax.images[0].get_array(), shown.table["share"].reshape(3, 3))
    assert [text.get_text() for text in shown.ax.get_yticklabels()] == sorted(names(3))
    risk = plot.risk_coverage(model)
    assert np.array_equal(risk.ax.lines[0].get_ydata(), report.risk_coverage["risk"])
    assert risk.numbers == {"error": 1 - report.accuracy, "aurc": report.aurc}


def test_several_curves_on_one_axes_differ() -> None:
    X, y = numbers(3)
    shown = plot.risk_coverage(GaussianNB().fit(X, y), X, y, label="one")
    again = plot.risk_coverage(GaussianNB(variance="shared").fit(X, y), X, y, label="other", ax=shown.ax)
    assert again.ax is shown.ax
    assert len({line.get_color() for line in shown.ax.lines}) == 2


@every("name", ["reliability", "confusion", "risk_coverage"])
def test_models_that_keep_nothing_to_be_judged_by(name: str) -> None:
    picture = getattr(plot, name)
    model = GaussianNB().fit(*numbers(2))
    with pytest.raises(ParameterError, match="pass X and y, or construct it with compute_loo=True"):
        picture(model)
    with pytest.raises(InputError, match="y is given without X"):
        picture(model, y=[1])
    with pytest.raises(NotFittedError):
        picture(candide.GaussianNB())
    with pytest.raises(ParameterError, match="got a dict"):
        picture({})


def test_columns_are_in_the_order_of_what_they_tell() -> None:
    model = table_model(3)
    summary, shown = model.summary(), plot.column_weights(model)
    columns = [name for name in shown.table["column"] if name in {"size", "count"}]
    bits = dict(zip(summary["column"], summary["bits"], strict=True))
    assert columns == sorted(columns, key=lambda name: -bits[name])
    widths = [bar.get_width() for bar in shown.axes[1].patches]
    assert widths == pytest.approx(np.nan_to_num(shown.table["contribution"]))
    assert plot.column_weights(model, most=1).table["column"][0] == max(("size", "count"), key=bits.get)
    with pytest.raises(ParameterError, match="fitted NaiveBayes"):
        plot.column_weights(GaussianNB().fit(*numbers(2)))


def test_regions_are_the_answers_of_the_models() -> None:
    X, y = numbers(3, 2)
    models = {"naive": GaussianNB().fit(X, y), "table": NaiveBayes(order=0).fit({"a": X[:, 0], "b": X[:, 1]}, y)}
    shown = plot.decision_regions(models, X, y)
    here = shown.table["model"] == "naive"
    points = np.column_stack([shown.table["x"], shown.table["y"]])
    assert np.array_equal(shown.table["answer"][here], models["naive"].predict(points[here]))
    answers = models["table"].predict(dict(zip("ab", points[~here].T, strict=True)))
    assert np.array_equal(shown.table["answer"][~here], answers)
    assert [len(ax.collections) >= 4 for ax in shown.axes] == [True, True]  # the plane, and the points of each class


def test_regions_need_two_number_columns() -> None:
    X, y = numbers(2)
    with pytest.raises(InputError, match="need two numeric columns"):
        plot.decision_regions(GaussianNB().fit(X[:, :1], y), X[:, :1], y)
    with pytest.raises(InputError, match="60 rows and y has 2 labels"):
        plot.decision_regions(GaussianNB().fit(X[:, :2], y), X[:, :2], y[:2])


def test_regions_of_more_columns_are_those_of_the_best_two() -> None:
    X, y = numbers(3, 5)
    model = GaussianNB().fit(X, y)
    shown = plot.decision_regions(model, X, y)
    best = sorted(information(model)["column"][:2].tolist())
    assert [shown.ax.get_xlabel(), shown.ax.get_ylabel()] == [f"column {name[1:]}" for name in best]
    assert "the other 3 columns missing" in shown.ax.get_title()
    points = np.full((shown.table.n_rows, 5), np.nan)
    points[:, 1], points[:, 3] = (plot.decision_regions(model, X, y, columns=["x1", 3]).table[c] for c in "xy")
    answers = plot.decision_regions(model, X, y, columns=["x1", 3]).table["answer"]
    assert np.array_equal(answers, model.predict(points))


def test_a_learning_curve_takes_estimators_that_are_not_fitted() -> None:
    X, y = numbers(3)
    fitted = plot.learning_curve(GaussianNB().fit(X, y), X, y, n_blocks=3)
    unfitted = plot.learning_curve(GaussianNB(), X, y, n_blocks=3)
    assert unfitted.table["value"].tolist() == fitted.table["value"].tolist()
    other = plot.learning_curve(SklearnNB(var_smoothing=0.0), X, y, n_blocks=3, ax=fitted.ax)
    assert other.table["value"] == pytest.approx(fitted.table["value"], rel=1e-3)
    assert [line.get_text() for line in fitted.ax.get_legend().get_texts()] == ["GaussianNB", "GaussianNB"]
    with pytest.raises(ParameterError, match="predict_proba"):
        plot.learning_curve(object(), X, y)


def test_a_waterfall_takes_a_row() -> None:
    X, y = numbers(2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model, table = GaussianNB().fit(frame, y), NaiveBayes(order=0).fit(frame, y)
    for fitted in (model, table):
        wanted = fitted.explain(frame[:1])[0].log_odds()
        for row in (frame.iloc[0], frame[:1], dict(frame.iloc[0]), X[0].tolist() if fitted is model else frame[:1]):
            assert plot.waterfall(fitted, row).numbers["log_odds"] == pytest.approx(wanted)
    words = text_model(2)
    assert plot.waterfall(words, "win cash").numbers == plot.waterfall(words.explain(["win cash"])[0]).numbers
    with pytest.raises(InputError, match="no column 'b'"):
        plot.waterfall(model, {"a": 1.0})
    with pytest.raises(ParameterError, match="got 2 rows"):
        plot.waterfall(model, frame[:2])
    with pytest.raises(ParameterError, match=r"waterfall\(model, row\)"):
        plot.waterfall(model)


def test_only_plots_are_listed() -> None:
    module = importlib.import_module("candide.plot")
    assert dir(module) == [name for name in sorted(module.__all__) if name != "Display"]


def test_a_reliability_diagram_is_filled() -> None:
    shown = plot.reliability(GaussianNB(compute_loo=True, calibrate="platt").fit(*numbers(2)))
    low = min(shown.table[name].min() for name in ("confidence", "accuracy"))
    assert shown.ax.get_xlim() == shown.ax.get_ylim()
    assert 0 <= low - shown.ax.get_xlim()[0] < 0.1 or shown.ax.get_xlim()[0] == 0.9


def test_a_learning_curve_is_that_of_models_fitted_on_parts() -> None:
    X, y = numbers(3)
    model = GaussianNB().fit(X, y)
    shown = plot.learning_curve(model, X, y, metric="accuracy", n_blocks=3)
    block = np.empty(len(y), dtype=int)
    block[np.argsort(y, kind="stable")] = np.arange(len(y)) % 3
    # Each row by the block after its own, then by the two after it.
    for size in (1, 2):
        right = 0
        for b in range(3):
            learned = np.isin(block, [(b + i) % 3 for i in range(1, size + 1)])
            fitted = GaussianNB().fit(X[learned], y[learned])
            right += (fitted.predict(X[block == b]) == y[block == b]).sum()
        assert shown.table["value"][size - 1] == pytest.approx(right / len(y))
    assert shown.table["rows"].tolist() == [30.0, 60.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"metric": "speed"}, "metric is 'speed'"), ({"n_blocks": 1}, "n_blocks is 1")],
    ids=["metric", "blocks"],
)
def test_what_no_learning_curve_can_show(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plot.learning_curve(GaussianNB().fit(*numbers(2)), *numbers(2), **options)


def test_a_learning_curve_of_texts_and_of_tables() -> None:
    rows = {name: column for name, column in table(2).items() if name != "class"}
    assert plot.learning_curve(table_model(2), rows, table(2)["class"], n_blocks=2).table.n_rows == 1
    assert plot.learning_curve(text_model(2), *texts(2), n_blocks=3).table.n_rows == 2


def test_models_from_files_look_the_same(tmp_path: Path) -> None:
    table_model(2).save(tmp_path / "table.candide")
    gaussian = GaussianNB(calibrate="platt", compute_loo=True).fit(*numbers(2))
    gaussian.save(tmp_path / "numbers.candide")
    text_model(2).save(tmp_path / "texts.candide")
    loaded, other, words = (candide.load(tmp_path / f"{name}.candide") for name in ("table", "numbers", "texts"))
    pairs = [
        (plot.densities, table_model(2), loaded, ("size",)),
        (plot.column_weights, table_model(2), loaded, ()),
        (plot.confusion, table_model(2), loaded, ()),
        (plot.risk_coverage, gaussian, other, ()),
        (plot.nomogram, gaussian, other, ()),
        (plot.word_shift, text_model(2), words, ()),
        (plot.token_scatter, text_model(2), words, ()),
    ]
    for picture, before, after, options in pairs:
        one, two = picture(before, *options), picture(after, *options)
        for name in one.table:
            assert np.array_equal(one.table[name], two.table[name], equal_nan=one.table[name].dtype.kind == "f"), name
    assert plot.reliability(other).numbers == plot.reliability(gaussian).numbers


def test_days_are_written_as_dates() -> None:
    when = np.datetime64("2024-01-01") + np.arange(60)
    model = NaiveBayes(stacking=None).fit({"when": when}, np.where(np.arange(60) < 30, "early", "late"))
    drawn = plot.nomogram(model)
    assert any(text.get_text().startswith("2024-0") for text in drawn.axes[0].texts)
    drawn = plot.densities(model, "when")
    drawn.figure.canvas.draw()
    labels = [tick.get_text() for tick in drawn.axes[0].get_xticklabels()]
    assert all(label.startswith("202") and len(label) == 10 for label in labels)
