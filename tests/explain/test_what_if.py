"""Changes that are told of do make another answer, and smaller ones do not."""

import numpy as np
import pytest

from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB, TextNB
from candide.exceptions import ParameterError


@pytest.fixture
def numbers():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 120)
    return rng.normal(size=(120, 3)) + y[:, None] * [2.0, 0.5, 0.0], np.array(["a", "b", "c"])[y]


def test_numbers_change_as_little_as_is_enough(numbers):
    X, y = numbers
    model = GaussianNB().fit(X, y)
    for row, told in zip(X[:5], model.what_if(X[:5]), strict=True):
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
    with pytest.raises(ParameterError, match="not a class"):
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


def test_a_date_changes_with_its_month():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, 300) + 100 * y, unit="D")
    model = NaiveBayes().fit(pd.DataFrame({"when": when}), y)
    for told in model.what_if(pd.DataFrame({"when": when[:5]})):
        (change,) = told.flips[0].changes
        assert change.column == "when"
        moved = pd.DataFrame({"when": [pd.Timestamp(change.after)]})
        assert model.predict(moved)[0] == told.flips[0].answer
        assert model.predict_proba(moved).max() == pytest.approx(told.flips[0].probability, abs=1e-9)
    assert "when = 2024-" in repr(model.explain(pd.DataFrame({"when": when[:1]}))[0])


def test_whole_numbers_change_by_as_few_as_is_enough():
    rng = np.random.default_rng(2)
    model = PoissonNB().fit(np.r_[rng.poisson(500, (50, 1)), rng.poisson(600, (50, 1))], ["lo"] * 50 + ["hi"] * 50)
    (flip,) = model.what_if([[500]])[0].flips
    after = flip.changes[0].after
    assert model.predict([[after]])[0] == "hi"
    assert model.predict([[after - 1]])[0] == "lo"


def test_what_is_shown_is_enough(numbers):
    X, y = numbers
    model = GaussianNB().fit(X, y)
    for row, told in zip(X[:8], model.what_if(X[:8]), strict=True):
        for flip in told.flips:
            moved = row.copy()
            for change, shown in zip(flip.changes, str(flip).split(", "), strict=True):
                moved[int(change.column[1:])] = float(shown.split("→ ")[1].split(":")[0])
            assert model.predict([moved])[0] == flip.answer


def test_a_column_may_be_called_like_its_value():
    model = NaiveBayes().fit({"red": ["red", "blue"] * 20}, ["a", "b"] * 20)
    assert "red: red → blue" in repr(model.what_if({"red": ["red"]})[0])


def test_long_texts_are_asked_about_few_words():
    words = [f"word{i}" for i in range(3000)]
    model = TextNB("multinomial").fit([" ".join(words[::2]), " ".join(words[1::2])], ["even", "odd"])
    assert model.what_if([" ".join(words[::2])])[0].flips == ()


def test_large_numbers_keep_their_digits():
    X = 10_000_000.0 + np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    model = GaussianNB().fit(X, ["low", "low", "low", "high", "high", "high"])
    (told,) = model.what_if([[10_000_001.0]])
    (change,) = told.flips[0].changes
    assert 10_000_040 < change.after < 10_000_060
    assert "10000001" in repr(told)
    assert f"{change.after:.12g}" in repr(told)
