"""Changes that are told of do make another answer, and smaller ones do not."""

import numpy as np
import pytest

from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.exceptions import ParameterError


@pytest.fixture
def numbers():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 120)
    return rng.normal(size=(120, 3)) + y[:, None] * [2.0, 0.5, 0.0], np.array(["a", "b", "c"])[y]


def test_numbers_change_as_little_as_is_enough(numbers):
    X, y = numbers
    model = GaussianNB().fit(X, y)
    for row, told in zip(X[:10], model.what_if(X[:10]), strict=True):
        assert told.answer == model.predict([row])[0]
        for flip in told.flips:
            (change,) = flip.changes
            j = int(change.column[1:])
            for share, same in ((1.0, False), (0.99, True)):
                moved = row.copy()
                moved[j] += share * (change.after - change.before)
                assert (model.predict([moved])[0] == told.answer) is same


@pytest.mark.parametrize("alpha", [0, 1])
def test_categories_and_a_wanted_answer(alpha):
    days = [["sun", "hot"], ["sun", "mild"], ["rain", "mild"], ["rain", "cool"], ["fog", "hot"], ["fog", "cool"]]
    model = CategoricalNB(alpha=alpha).fit(days, ["out", "out", "in", "in", "out", "ill"])
    told = model.what_if([["sun", "hot"]], to="ill")[0]
    assert told.answer == "out"
    for flip in told.flips:
        changed = {change.column: change.after for change in flip.changes}
        assert model.predict([[changed.get("x0", "sun"), changed.get("x1", "hot")]])[0] == flip.answer == "ill"
    with pytest.raises(ParameterError, match="no class"):
        model.what_if(days, to="lost")


def test_several_cells_where_one_is_not_enough():
    rng = np.random.default_rng(0)
    X = rng.random((200, 5)) < np.where(np.arange(200) % 2, 0.95, 0.05)[:, None]
    model = BernoulliNB().fit(X, np.arange(200) % 2)
    told = model.what_if([[1, 1, 1, 1, 1]])[0]
    (flip,) = told.flips
    assert len(flip.changes) == 3
    row = np.ones(5)
    row[[int(change.column[1:]) for change in flip.changes]] = 0
    assert model.predict([row])[0] == flip.answer == 0


def test_counts_stay_whole():
    model = MultinomialNB().fit([[5, 1], [1, 5]], ["a", "b"])
    told = model.what_if([[4, 1]])[0]
    assert all(float(change.after).is_integer() for flip in told.flips for change in flip.changes)
    assert {flip.answer for flip in told.flips} == {"b"}


def test_tables_and_texts():
    rng = np.random.default_rng(1)
    y = np.array(["low", "high"])[(np.arange(200) % 2)]
    table = {"size": rng.normal(size=200) + 3 * (y == "high"), "kind": np.where(rng.random(200) < 0.5, "x", "z")}
    model = NaiveBayes().fit(table, y)
    row = {name: column[:1] for name, column in table.items()}
    told = model.what_if(row)[0]
    assert told.flips
    (change,) = told.flips[0].changes
    assert model.predict({**row, change.column: [change.after]})[0] == told.flips[0].answer != told.answer
    text = TextNB("multinomial").fit(["win cash now", "win a prize", "lunch at noon", "see you"], [1, 1, 0, 0])
    told = text.what_if(["win lunch cash", ""])
    assert told[0].answer == 1
    assert "without" in repr(told[0])
    assert "no change" in repr(told[1])
