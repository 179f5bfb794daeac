"""What a report finds: planted troubles are named, and rows without them are left in peace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import candide
from candide import GaussianNB, NaiveBayes, TextNB
from candide.exceptions import InputError
from candide.model.evaluation import Evaluation
from candide.report.model_report import ModelReport
from candide.report.row_checks import MAX_TEXT_BYTES, SUSPECT_PROBABILITY, compare_counts

from .conftest import N_ROWS, table


def topics(found: ModelReport) -> dict[str, str]:
    """What it warns of, with the names."""
    return {concern.topic: f"{concern.text} {' '.join(concern.names)}" for concern in found.warnings}


def split(rows: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    return {name: cells for name, cells in rows.items() if name != "pay"}, rows["pay"]


def test_columns_that_are_set_aside(people: NaiveBayes) -> None:
    named = {name for one in people.report().warnings if one.topic == "columns" for name in one.names}
    assert named == {"key", "same", "nothing"}


def test_a_column_that_decides(people: NaiveBayes) -> None:
    rows = {name: cells for name, cells in table(150).items() if name in ("age", "job", "pay")}
    rows["paid"] = np.where(rows["pay"] == "high", "yes", "no")
    assert "leakage" not in topics(people.report())
    assert "paid" in topics(NaiveBayes().fit(rows, y="pay").report())["leakage"]


def test_a_word_that_decides() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["the", "cat", "sat", "on", "a", "mat", "and", "saw", "many", "birds", "fly", "over"])
    texts = [" ".join(rng.choice(words, 8)) for _ in range(120)]
    labels = ["spam" if i % 3 == 0 else "ham" for i in range(120)]
    assert "leakage" not in topics(TextNB().fit(texts, labels).report())
    marked = [f"{text} xbulk" if label == "spam" else text for text, label in zip(texts, labels, strict=True)]
    assert "xbulk" in topics(TextNB().fit(marked, labels).report())["leakage"]


def test_rows_that_contradict_each_other() -> None:
    rows, labels = split(table(100))
    rows = {name: rows[name] for name in ("age", "job", "noise")}
    twice = {name: np.append(cells, cells[:4]) for name, cells in rows.items()}
    other = np.where(labels[:4] == "high", "low", "high")
    found = NaiveBayes().fit(twice, np.append(labels, other)).report()
    assert found.training is not None
    assert found.training.duplicates.n_contradicting == 4
    assert "4 rows occur with different labels" in topics(found)["labels"]
    assert any(f"age = {age}" in topics(found)["labels"] for age in rows["age"][:4])
    again = NaiveBayes().fit(twice, np.append(labels, labels[:4])).report()
    assert again.training is not None
    assert again.training.duplicates[:3] == (104, 4, 0)
    assert "4 of 104 training rows" in topics(again)["duplicates"]
    assert "labels" not in topics(again)


def test_contradictions_among_rows_given(people: NaiveBayes) -> None:
    rows, labels = split(table(200, seed=5))
    twice = {name: np.append(cells, cells[:1]) for name, cells in rows.items()}
    other = "low" if labels[0] == "high" else "high"
    found = people.report(X=twice, y=np.append(labels, other))
    assert found.given is not None
    assert found.given.duplicates.first is not None
    assert sorted(found.given.duplicates.first) == [0, 200]
    assert "rows 1 and 201" in topics(found)["labels"]


def test_texts_that_contradict_each_other() -> None:
    texts = ["win cash", "win cash", "see you", "see you at noon"]
    found = TextNB().fit(texts, ["spam", "ham", "ham", "ham"]).report()
    assert topics(found)["labels"].endswith("win cash")


def test_rows_that_were_learned(people: NaiveBayes) -> None:
    learned, new = table(N_ROWS), table(300, seed=2)
    some = {name: np.concatenate([learned[name][:50], new[name]]) for name in learned}
    found = people.report(X=some, y="pay")
    assert found.given is not None
    assert found.given.n_learned == 50
    assert "50 of the 350 evaluation rows" in topics(found)["leakage"]
    assert people.report(X=new, y="pay").given.n_learned == 0


def test_no_drift_between_halves_that_are_alike(people: NaiveBayes) -> None:
    found = people.report(X=table(2000, seed=4), y="pay")
    assert found.given is not None
    assert found.given.between_halves == []


def test_small_halves_differ_by_chance() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        shares = rng.dirichlet(np.ones(rng.integers(2, 12)))
        one, other = rng.multinomial(150, shares, size=2).astype(float)
        assert compare_counts("column", one, other) is None


@pytest.mark.parametrize("chunk", [None, 100, 1000])
def test_drift_between_halves(people: NaiveBayes, chunk: int | None) -> None:
    rows, labels = split(table(2000, seed=3))
    rows["noise"] = rows["noise"] + np.where(np.arange(2000) < 1000, 0.0, 1.5)
    rows["key"] = np.full(2000, "row 00001", dtype=object)

    def chunks() -> Any:
        for begin in range(0, 2000, chunk or 2000):
            here = slice(begin, begin + (chunk or 2000))
            yield {name: cells[here] for name, cells in rows.items()}, labels[here]

    found = people.report(X=rows, y=labels) if chunk is None else people.report(X=chunks())
    assert found.given is not None
    assert [change.what for change in found.given.between_halves] == ["noise"]


def test_drift_since_training(people: NaiveBayes) -> None:
    rows, labels = split(table(1000, seed=3))
    kept = np.flatnonzero((labels == "high") | (np.arange(1000) % 5 == 0))
    found = people.report(X={name: cells[kept] for name, cells in rows.items()}, y=labels[kept])
    assert found.given is not None
    changed = {change.what: change.distance for change in found.given.since_training}
    shares = np.bincount(labels[kept] == "high") / len(kept)
    trained = people.class_count_[::-1] / people.class_count_.sum()
    assert changed["the classes"] == pytest.approx(np.abs(shares - trained).sum() / 2, abs=1e-9)
    assert "noise" not in changed


def test_training_rows_have_no_order(people: NaiveBayes) -> None:
    assert "drift" not in topics(people.report())


def test_rare_and_unrecognised_classes() -> None:
    rng = np.random.default_rng(0)
    labels = np.array(["a"] * 80 + ["b"] * 80 + ["rare"] * 3)
    found = NaiveBayes().fit(rng.normal(size=(163, 2)), labels).report()
    assert "rare" in topics(found)["classes"]


def test_a_model_that_is_no_better_than_guessing(people: NaiveBayes) -> None:
    rows, labels = split(table(300, seed=6))
    wrong = np.where(labels == "high", "low", "high")
    found = people.report(X=rows, y=wrong)
    assert "on the evaluation rows the accuracy is" in topics(found)["quality"]
    assert "on the evaluation rows" in topics(found)["calibration"]
    assert not {"quality", "calibration"} & set(topics(people.report()))


def test_doubtful_labels_are_those_that_were_changed() -> None:
    rows, labels = split(table(300, seed=7))
    sure = np.flatnonzero((rows["age"] > 55) & (labels == "high") & (rows["job"] == "smith"))[:3]
    changed = labels.copy()
    changed[sure] = "low"
    found = NaiveBayes().fit(rows, changed).report()
    doubts = [one.example for one in found.examples if one.example.kind == "doubtful label"]
    ages = [one.row.columns[0].values[0] for one in doubts]
    assert set(rows["age"][sure]) <= set(ages)
    assert [one.rank for one in doubts] == sorted(one.rank for one in doubts)
    out_of_fold = found.reported.model.out_of_fold
    own = out_of_fold.log_probability[np.arange(300), out_of_fold.seen.batch.classes]
    assert doubts[0].rank == own.min()
    assert all(np.exp(one.log_probability.max()) >= SUSPECT_PROBABILITY for one in doubts)


def test_examples_of_rows_given_are_at_their_place(people: NaiveBayes, tmp_path: Path) -> None:
    people.save(tmp_path / "people.candide")
    model, (rows, labels) = candide.load(tmp_path / "people.candide"), split(table(500, seed=8))
    found = model.report(X=rows, y=labels)
    probability = model.predict_proba(rows).max(axis=1)
    least = [one.example for one in found.examples if one.example.kind == "least sure"]
    assert [one.place for one in least] == np.argsort(probability, kind="stable")[:3].tolist()
    assert not any(one.of_training for one in found.examples)
    assert found.training is None


def test_evidence_is_that_of_the_model(people: NaiveBayes) -> None:
    shown = people.report().examples[0]
    np.testing.assert_allclose(shown.explanation.total, shown.explanation.log_probability, atol=1e-9)


def test_a_model_with_rows_from_a_file_judges_them_again(
    mail: TextNB, messages: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    mail.save(tmp_path / "mail.candide", sample=True)
    found = candide.load(tmp_path / "mail.candide").report()
    assert found.training is not None
    assert found.training.n_rows == 400
    assert found.reported.loo.as_dict() == mail.loo_.as_dict()
    texts, labels = messages
    own = np.searchsorted(mail.classes_, labels)
    expected = mail.leave_one_out(texts, labels, class_prior="fixed")[np.arange(400), own]
    np.testing.assert_allclose(np.sort(found.training.rows.own), np.sort(expected), atol=1e-9)


def test_long_texts_are_no_examples() -> None:
    texts = [f"short text {i} {'odd' if i % 2 else 'even'}" for i in range(40)] + [
        "odd " * MAX_TEXT_BYTES,
        "even " * MAX_TEXT_BYTES,
    ]
    labels = ["odd" if i % 2 else "even" for i in range(40)] + ["odd", "even"]
    shown = TextNB().fit(texts, labels).report().examples
    assert shown
    assert all(len(one.explanation.texts[None]) <= MAX_TEXT_BYTES for one in shown)


def test_before_and_after(people: NaiveBayes) -> None:
    rows, labels = split(table(300, seed=9))
    found = people.report(X=rows, y=labels)
    model, data = people.model_.classifier, people.model_.read(rows)
    scores = model.scorer.posterior(data, people.model_.kernels, logarithm=True)
    places = np.searchsorted(people.classes_, labels)
    expected = Evaluation.of(scores, places.astype(np.int32), np.ones(300), people.classes_)
    assert found.given is not None
    assert found.given.report.plain is not None
    assert found.given.report.plain.log_loss == pytest.approx(expected.log_loss)
    assert (
        GaussianNB().fit(rows["age"][:, None], labels).report(X=rows["age"][:, None], y=labels).given.report.plain
        is None
    )


def test_pictures_are_shares(people: NaiveBayes) -> None:
    looks = people.report().features
    assert looks is not None
    assert looks.pictures is not None
    assert {"age", "job", "children"} <= set(looks.pictures)
    for shares in looks.pictures.values():
        for part in (shares.counted, shares.modeled):
            assert (part >= -1e-12).all()
            assert (part.sum(axis=0) <= 1 + 1e-9).all()
            assert (part.sum(axis=0) > 0.9).all()
    rows = table(N_ROWS)
    job = looks.pictures["job"]
    high = [job for job, pay in zip(rows["job"], rows["pay"], strict=True) if pay == "high" and job is not None]
    counted = dict(zip(job.values, job.counted[:, 0].tolist(), strict=True))
    assert counted["smith"] == pytest.approx(high.count("smith") / len(high))


def test_numbers_for_machines(people: NaiveBayes) -> None:
    told = people.report(X=table(100, seed=1), y="pay").as_dict()
    assert told["leave_one_out"] == people.loo_.as_dict()
    assert told["classes"] == dict(zip(people.classes_.tolist(), people.class_count_.tolist(), strict=True))
    assert told["data"]["n_rows"] == 100
    assert {one["kind"] for one in told["examples"]} <= {"doubtful label", "least sure", "surest"}


def test_no_rows_at_all(people: NaiveBayes) -> None:
    with pytest.raises(InputError, match="no rows"):
        people.report(X=iter([]))


def test_one_row(people: NaiveBayes) -> None:
    rows, labels = split(table(1, seed=1))
    assert people.report(X=rows, y=labels).given.n_rows == 1


def test_nothing_is_written_where_something_goes_wrong(people: NaiveBayes, tmp_path: Path) -> None:
    page = tmp_path / "people.html"
    page.write_text("before")
    with pytest.raises(InputError):
        people.report(page, X=table(5), y=["unknown"] * 5)
    assert page.read_text() == "before"
    assert list(tmp_path.iterdir()) == [page]
