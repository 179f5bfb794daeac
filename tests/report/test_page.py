"""The page: sound, self-contained, accessible, and its numbers are the model's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tiers import every

import candide
from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
    diagnostics,
)
from candide.report.page import CSS

from .conftest import table
from .reading import check

SECTIONS = ["warnings", "model", "quality", "calibration", "columns", "rows", "origin"]


def percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f}%"


def sections(page: object) -> list[str]:
    return [one.attributes["id"] for one in page.all("section")]


def test_a_table(people: NaiveBayes, tmp_path: Path) -> None:
    found = people.report(tmp_path / "people.html", title="People")
    source = (tmp_path / "people.html").read_text(encoding="utf-8")
    page, loo = check(source), people.loo_
    assert source == found.html()
    assert page.all("h1")[0].text == "People"
    assert sections(page) == SECTIONS
    measures = {row[0].split()[0]: row[1] for row in page.rows("Metrics")}
    assert measures["accuracy"] == f"{percent(loo.accuracy)} ± {percent(loo.accuracy_error)}"
    assert measures["log-loss"] == f"{loo.log_loss:.4f} ± {loo.log_loss_error:.4f}"
    confusion = np.array([row[1:] for row in page.rows("Confusion matrix")[1:]], dtype=float)
    # The largest class comes first, as in the table of classes.
    order = loo.by_weight()
    assert loo.per_class["weight"][order[0]] == loo.per_class["weight"].max()
    np.testing.assert_allclose(confusion, loo.confusion[np.ix_(order, order)])
    assert loo.plain is not None
    plain = {row[0].split()[0]: row[2] for row in page.rows("Metrics")}
    assert plain["log-loss"] == f"{loo.plain.log_loss:.4f} ± {loo.plain.log_loss_error:.4f}"
    classes = {row[0]: row[1:7] for row in page.rows("Classes on training rows")[1:]}
    for label, precision, recall, f1, auc, weight in loo.per_class.rows():
        assert classes[label] == [
            f"{weight:.0f}", percent(precision, 1), percent(recall, 1), "", percent(f1, 1), percent(auc, 1)
        ]  # fmt: skip


def test_dates_are_written_as_dates(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    day = rng.integers(0, 700, 400)
    rows = {
        "when": np.datetime64("2023-01-01") + day.astype("timedelta64[D]"),
        "y": np.where(day + rng.normal(0, 90, 400) > 350, "new", "old"),
    }
    source = NaiveBayes().fit(rows, y="y").report(tmp_path / "dates.html").html()
    assert re.search(r"columns</(td|th|dt)><[^>]*>1 \(\d with date parts\)", source)
    assert re.search(r"<text[^>]*>202[34]-\d\d-\d\d</text>", source)
    assert re.search(r"202[34]-\d\d-\d\d to 202[34]-\d\d-\d\d", source)
    months = re.search(r"when\.month by class</title>.*?</svg>", source, re.DOTALL)
    if months is not None:
        names = re.findall(r'text-anchor="end">(\d+)<', months[0])
        assert names == sorted(names, key=int)
        assert len(names) == 12


def test_columns_are_in_the_order_of_their_contribution(people: NaiveBayes) -> None:
    page = check(people.report().html())
    names = [row[0] for row in page.rows("Columns, by contribution")[1:]]
    summary = people.summary()
    sizes = dict(zip(summary["column"].tolist(), summary["contribution"].tolist(), strict=True))
    assert sorted(names) == sorted(people.model_.column_names().tolist())
    assert [sizes[name] for name in names] == sorted((sizes[name] for name in names), reverse=True)
    pictured = [one.text for one in page.all("h4") if "figure" in one.parents]
    assert pictured[:2] == names[:2]
    assert "key" not in pictured


def test_texts(mail: TextNB) -> None:
    page = check(mail.report().html())
    assert sections(page) == SECTIONS
    for label, _, token, *_ in mail.top_features(10, "words").rows():
        assert label in page.text
        assert token in page.text


@pytest.mark.usefixtures("few_buckets")
def test_texts_in_a_table(messages: tuple[list[str], list[str]]) -> None:
    texts, labels = (part[:150] for part in messages)
    lengths = [float(len(text)) for text in texts]
    model = NaiveBayes({"text": "text"}).fit({"text": texts, "length": lengths}, labels)
    found = model.report()
    page = check(found.html())
    assert {row[0] for row in page.rows("Columns, by contribution")[1:]} == {"text", "length"}
    shown = next(one for one in found.examples if one.example.kind == "doubtful label")
    assert " ".join(shown.explanation.texts["text"][:40].split()) in page.text


def test_a_model_without_rows(people: NaiveBayes, tmp_path: Path) -> None:
    people.save(tmp_path / "people.candide")
    model = candide.load(tmp_path / "people.candide")
    page = check(model.report().html())
    assert sections(page) == SECTIONS
    assert "train --with-rows" in page.text
    assert percent(people.loo_.accuracy) in page.text
    assert not [one for one in page.all("article") if one.attributes.get("class") == "example"]
    assert model.model_.provenance is not None
    assert model.model_.provenance["fingerprint"] in page.text


def test_rows_given_are_measured(people: NaiveBayes) -> None:
    rows = table(400, seed=1)
    found = people.report(X=rows, y="pay")
    measured = people.evaluate(rows, "pay")
    assert found.given is not None
    assert found.given.report.as_dict() == measured.as_dict()
    page = check(found.html())
    accuracy = page.rows("Metrics on evaluation rows")[1]
    assert accuracy[1] == f"{percent(measured.accuracy)} ± {percent(measured.accuracy_error)}"
    assert accuracy[3] == percent(measured.confusion.sum(axis=1).max() / 400, 2)


def test_one_class() -> None:
    page = check(NaiveBayes().fit({"a": [1.0, 2.0, 3.0]}, ["x", "x", "x"]).report().html())
    assert "there is only one class" in page.text
    assert "calibration" not in sections(page)
    check(TextNB().fit(["a b", "c d"], ["x", "x"]).report().html())


def test_many_classes() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(30), 6)
    rows = rng.normal(size=(180, 3)) + rng.normal(size=(30, 3))[labels] * 4
    found = NaiveBayes(order=0).fit(rows, labels).report()
    page = check(found.html())
    assert "30 classes" in page.text
    wrong = found.reported.loo.confusion.copy()
    np.fill_diagonal(wrong, 0)
    worst = page.rows("The most frequent confusions")[1]
    true, answer = np.unravel_index(wrong.argmax(), wrong.shape)
    assert worst[:3] == [str(true), str(answer), f"{wrong.max():.0f}"]
    assert len(page.rows("All classes")) == 31


ROWS = np.random.default_rng(3).integers(0, 4, (60, 3)).astype(float)
KINDS = [GaussianNB, BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB, PoissonNB]
LABELS = np.array(["a", "b"])[(ROWS[:, 0] + ROWS[:, 1] > 3).astype(int)]


@every("kind", KINDS)
@every("evaluate", [False, True])
def test_every_classifier(kind: type, evaluate: bool) -> None:
    model = kind(compute_loo=evaluate).fit(ROWS, LABELS)
    bare = check(model.report().html())
    assert ("This model was not evaluated" in bare.text) == (not evaluate)
    found = model.report(X=ROWS, y=LABELS)
    page = check(found.html())
    if kind is ComplementNB:
        assert "is not available for this model" in page.text
        return
    rows = page.rows("Columns, by bits alone")[1:]
    assert [row[0] for row in rows] == diagnostics.information(model)["column"].tolist()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(scheme: str) -> None:
    """Texts on all grounds, at least 4.5 to 1; so are lines, for words have their colours too."""
    blocks = re.findall(r":root\{(.*?)\}", CSS, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+):(#\w{6})", blocks[0 if scheme == "light" else 1]))
    heat = [int(part) for part in re.findall(r"--heat:(\d+),(\d+),(\d+)", blocks[0 if scheme == "light" else 1])[0]]
    grounds = {name: rgb(colours[name]) for name in ("ground", "card")}
    shaded = [0.45 * one + 0.55 * other for one, other in zip(heat, grounds["ground"], strict=True)]
    for name in ("ink", "soft", "accent", "s0", "s1", "s2", "s3", "s4", "s5"):
        for ground in grounds.values():
            assert contrast(rgb(colours[name]), ground) >= 4.5, (name, ground)
    assert contrast(rgb(colours["ink"]), shaded) >= 4.5
    for name in ("ink", "warn"):
        assert contrast(rgb(colours[name]), rgb(colours["warn-ground"])) >= 4.5


def rgb(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def contrast(one: list[float], other: list[float]) -> float:
    """As the guidelines for accessible pages reckon it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
