"""Which column is the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from tiers import every

import candide
from candide import NaiveBayes, TextNB
from candide.exceptions import InputError, ParameterError
from candide.sources.role_inference import RequestedRoles, Roles, infer_roles

from .files import write

N = 60
PROSE = [f"the room number {i} was clean and quiet" for i in range(N)]
NAMES = ["cook", "smith", "baker"] * (N // 3)
FLOATS = [i / 7 for i in range(N)]


def roles(table: dict[str, Any], /, **asked: Any) -> Roles:
    return infer_roles(RequestedRoles(**asked), pa.table(table))


@every(
    "name",
    ["label", "Label", "CLASS", "target", "category", "y", "spam", "outcome", "is_spam", "is spam", "star_label"],
)
def test_label_by_name(name: str) -> None:
    assert roles({name: NAMES, "age": FLOATS, "job": NAMES}) == Roles(name, None, ("age", "job"))


@pytest.mark.parametrize("turn", [False, True])
def test_label_beside_prose(turn: bool) -> None:
    columns = {"a": PROSE, "b": NAMES}
    assert roles(dict(reversed(columns.items())) if turn else columns) == Roles("b", "a", ("a",))


def test_label_at_the_end() -> None:
    assert roles({"x": FLOATS, "z": FLOATS, "what": NAMES}) == Roles("what", None, ("x", "z"))
    assert roles({"x": FLOATS, "z": FLOATS, "what": [0, 1, 2] * (N // 3)}).label == "what"


def test_text_beside_other_columns_is_a_table() -> None:
    found = roles({"id": list(range(N)), "text": PROSE, "label": NAMES})
    assert found == Roles("label", None, ("id", "text"))


def test_few_rows() -> None:
    assert roles({"said": ["see you at noon", "win free cash now"], "label": ["ham", "spam"]}).text == "said"
    assert roles({"job": ["cook", "smith"], "label": ["a", "b"]}).text is None
    assert roles({"message": ["hi", "hi"], "label": ["a", "b"]}).text == "message"


def test_as_given() -> None:
    columns = {"said": PROSE, "label": NAMES, "what": NAMES, "w": FLOATS}
    assert roles(columns, label="what") == Roles("what", None, ("said", "label", "w"))
    assert roles(columns, label="what", text="said") == Roles("what", "said", ("said",))
    assert roles(columns, columns=("said", "w")) == Roles("label", None, ("said", "w"))
    assert roles(columns, weight="w") == Roles("label", None, ("said", "what"), "w")


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"x": FLOATS, "z": FLOATS}, id="numbers"),
        pytest.param({"is_a": FLOATS, "is_b": FLOATS}, id="several"),
        pytest.param({"a": PROSE, "b": PROSE}, id="prose"),
    ],
)
def test_no_label(columns: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"the label column cannot be detected; the columns are '.*' \(.*label='…'$"):
        roles(columns)


def test_kinds_are_shown() -> None:
    with pytest.raises(InputError, match=r"'a' \(texts\); 'b' \(numbers\); 'c' \(names, 3 distinct\); 'd' \(numbers\)"):
        roles({"a": PROSE, "b": FLOATS, "c": NAMES, "d": FLOATS})


def test_only_a_label() -> None:
    with pytest.raises(InputError, match="'label' is the only column"):
        roles({"label": NAMES})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"label": "lable"},
            "label= refers to 'lable', but the source has no such column; its columns are 'text', 'label'; "
            "did you mean 'label'?",
        ),
        (
            {"text": "TEXT"},
            "text= refers to 'TEXT', but the source has no such column; its columns are 'text', 'label'; "
            "did you mean 'text'?",
        ),
        (
            {"columns": ["zzz"]},
            "columns= refers to 'zzz', but the source has no such column; its columns are 'text', 'label'; "
            "pass one of these",
        ),
    ],
)
def test_unknown_names(tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "a.csv", "text,label\nhello,ham\n")
    with pytest.raises(InputError) as found:
        candide.read(path, **asked)
    assert str(found.value) == message


def test_a_column_has_one_role(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\nhello,ham\n")
    with pytest.raises(ParameterError, match="label='text' is also passed"):
        candide.read(path, label="text", text="text")
    with pytest.raises(ParameterError, match="text= and columns= are both given"):
        candide.read(path, text="text", columns=["text"])
    for asked, other in (({"text": "text"}, "text"), ({"columns": ["text"]}, "columns"), ({"label": "text"}, "groups")):
        with pytest.raises(ParameterError, match=f"'text' is also passed as {other}="):
            candide.read(path, groups="text", **asked)


def test_groups_are_no_features(tmp_path: Path) -> None:
    """Neither in training nor later, whether or not a file has the column."""
    path = write(tmp_path / "a.csv", "thread,text,label\n" + "1,win a prize now,spam\n2,see you at noon,ham\n" * 5)
    source = candide.read(path, groups="thread")
    assert source.roles == ("label", "text", ("text",), None, "thread")
    model = TextNB("multinomial", compute_loo=True).fit(source)
    model.save(tmp_path / "a.candide")
    model = candide.load(tmp_path / "a.candide")
    assert model.predict(candide.read(path)).tolist() == ["spam", "ham"] * 5
    without = write(tmp_path / "b.csv", "text,label\nwin a prize now,spam\n")
    assert model.evaluate(candide.read(without)).accuracy == 1


def test_a_feature_that_is_called_like_a_label(tmp_path: Path) -> None:
    """It is a feature of a model that was trained on it."""
    X, y = pd.DataFrame({"category_code": ["a", "b"] * 10, "age": range(20)}), ["yes", "no"] * 10
    model = NaiveBayes().fit(X, y)
    X.assign(answer=y).to_csv(tmp_path / "rows.csv", index=False)
    assert model.evaluate(candide.read(str(tmp_path / "rows.csv"))).accuracy == model.evaluate(X, y).accuracy
    X.to_csv(tmp_path / "no_label.csv", index=False)
    with pytest.raises(InputError, match="source has no column that can be the label; its columns are 'category_code'"):
        model.evaluate(candide.read(str(tmp_path / "no_label.csv")))
