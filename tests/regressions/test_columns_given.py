"""Columns that a model does not know, columns that are not given, and categories that no training row has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.terminal import done, run

import candide
from candide import GaussianNB, NaiveBayes, diagnostics
from candide.exceptions import InputError

RNG = np.random.default_rng(3)
RICH = RNG.integers(0, 2, 80)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.normal(30 + 15 * RICH, 8).round(),
        "sex": RNG.choice(["Female", "Male"], 80),
        "job": np.where(RNG.random(80) < 0.8, np.where(RICH, "smith", "cook"), "pilot"),
        "pay": np.where(RICH, "high", "low"),
    }
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    PEOPLE.to_csv(folder / "people.csv", index=False)
    path = folder / "people.candide"
    NaiveBayes(order=0).fit(candide.read(folder / "people.csv", label="pay")).save(path)
    return path


def rows(model: Path, frame: pd.DataFrame) -> Path:
    path = model.with_name("rows.csv")
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_a_misspelt_name_in_a_record(command: str, model: Path) -> None:
    ran = run(command, model, '{"age": 49, "sexx": "Female"}')
    assert ran.code == 1
    assert (
        "'sexx', which is not a column of the model; its columns are 'age', 'sex', 'job'; did you mean 'sex'?"
        in ran.err
    )


def test_a_record_may_hold_the_label(model: Path) -> None:
    assert done("classify", model, '{"age": 49, "pay": "low"}').out == done("classify", model, '{"age": 49}').out


def test_a_record_may_omit_columns(model: Path) -> None:
    """A column that is left out is not given: that is what absent="missing" does in Python, row by row."""
    lines = ['{"age": 49}', '{"job": "cook", "age": 30}', '{"age": 20}', "{}"]
    told = [json.loads(line) for line in done("classify", model, *lines, "--json").out.splitlines()]
    loaded = candide.load(model).set_params(absent="missing")
    expected = [
        *loaded.predict_proba({"age": [49]}),
        *loaded.predict_proba({"age": [30], "job": ["cook"]}),
        *loaded.predict_proba({"age": [20]}),
        loaded.class_prior_,
    ]
    found = [list(one["probabilities"].values()) for one in told]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_tables_must_be_whole_unless_told(model: Path) -> None:
    lacking = PEOPLE.drop(columns=["sex", "pay"])
    loaded = candide.load(model)
    with pytest.raises(InputError, match=r"column 'sex' is missing, .* set_params\(absent='missing'\)"):
        loaded.predict(lacking)
    ran = run("predict", model, rows(model, lacking))
    assert ran.code == 1
    assert "column 'sex' is missing" in ran.err
    assert "pass --absent missing" in ran.err
    answers = done("predict", model, rows(model, lacking), "--absent", "missing", "--only").out.splitlines()[1:]
    expected = loaded.set_params(absent="missing").predict(lacking)
    assert [line.split(",")[0].strip('"') for line in answers] == expected.tolist()


@pytest.mark.parametrize("command", ["evaluate", "update", "forget", "report"])
def test_absent_on_every_command_that_reads_a_table(command: str, model: Path, tmp_path: Path) -> None:
    lacking = rows(model, PEOPLE.drop(columns="sex").head(20))
    arguments = [model, *(["--data"] if command == "report" else []), lacking]
    where = [] if command == "evaluate" else ["-o", tmp_path / ("page.html" if command == "report" else "m.candide")]
    assert "pass --absent missing" in run(command, *arguments, *where).err
    if command != "forget":  # whose rows were learned with all their cells
        done(command, *arguments, *where, "--absent", "missing")
    if command == "update":
        assert candide.load(tmp_path / "m.candide").absent == "error"


def test_a_misspelt_column_of_a_table_is_never_taken_for_an_absent_one(model: Path) -> None:
    misspelt = PEOPLE.rename(columns={"sex": "sexx"}).drop(columns="pay")
    for absent in ("error", "missing"):
        with pytest.raises(InputError, match="not trained on a column 'sexx'; did you mean 'sex'"):
            candide.load(model).set_params(absent=absent).predict(misspelt)
        ran = run("predict", model, rows(model, misspelt), "--absent", absent)
        assert ran.code == 1
        assert "did you mean 'sex'?" in ran.err


def test_other_columns_are_refused_where_one_is_lacking(model: Path) -> None:
    loaded = candide.load(model).set_params(absent="missing")
    with pytest.raises(
        InputError, match=r"column 'sex' is missing, and the model was not trained on a column 'id'.* drop it"
    ):
        loaded.predict(PEOPLE.drop(columns=["sex", "pay"]).assign(id=1))
    loaded.predict(PEOPLE.assign(id=1))  # nothing is lacking
    assert run("predict", model, rows(model, PEOPLE.drop(columns="sex")), "--absent", "missing").code == 0  # the label


def test_models_that_need_all_columns(tmp_path: Path) -> None:
    path = tmp_path / "numbers.candide"
    GaussianNB().fit(PEOPLE[["age"]].assign(size=1.0), PEOPLE["pay"]).save(path)
    few = tmp_path / "few.csv"
    PEOPLE[["age"]].to_csv(few, index=False)
    assert "column 'size' is missing" in run("predict", path, few).err
    assert "--absent applies only to tables" in run("predict", path, few, "--absent", "missing").err


def test_a_category_never_seen_is_noted(model: Path) -> None:
    ran = done("classify", model, '{"age": 40, "sex": "Femal"}', '{"sex": "Femal"}')
    assert ran.err.count("note: column 'sex' contains 'Femal', which does not occur in the training rows") == 1
    assert done("classify", model, '{"sex": "Femal"}', "--quiet").err == ""
    assert (
        "contains 'Femal', which does not occur in the training rows" in done("explain", model, '{"sex": "Femal"}').err
    )
    some = PEOPLE.assign(sex=["Femal", "Femal", *PEOPLE["sex"][2:]])
    for command in ("predict", "evaluate"):
        ran = done(command, model, rows(model, some))
        assert ran.err.count("'Femal', which does not occur in the training rows") == 1
    assert diagnostics.unseen_categories(candide.load(model), some) == {"sex": {"Femal": 2}}


def test_many_categories_never_seen_are_not_all_noted(model: Path) -> None:
    some = PEOPLE.assign(job=[f"job {i}" for i in range(80)])
    ran = done("predict", model, rows(model, some))
    assert ran.err.count("which does not occur in the training rows") == 20
    assert "further ones are not reported" in ran.err
