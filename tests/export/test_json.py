"""A model as one JSON document."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from storage.example_models import EXAMPLES
from tiers import every

import candide
from candide.exceptions import ModelFileError

CASES = ["gaussian platt", "multinomial evidence", "categorical", "complement", "poisson prior", "bernoulli loo",
         "table order 1", "text multinomial"]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*cannot be refitted, because this model keeps no training rows")
@pytest.mark.parametrize("name", CASES)
def test_there_and_back(name: str) -> None:
    case = EXAMPLES[name]()
    text = case.model.to_json()
    again = candide.from_json(text)
    np.testing.assert_array_equal(again.predict_log_proba(case.X), case.model.predict_log_proba(case.X))
    assert again.to_json() == text
    learned = [model.partial_fit(*case.more).class_count_ for model in (again, case.model)]
    np.testing.assert_array_equal(*learned)


def test_it_is_what_dump_writes() -> None:
    from candide.storage.models import dump_lines

    model = EXAMPLES["gaussian"]().model
    made, dumped = json.loads(model.to_json()), json.loads("".join(dump_lines(model.model_, rows=False)))
    for one in (made, dumped):
        del one["provenance"]["date"]
    assert made == dumped
    assert made["format"] == "candide text"
    assert made["kind"] == "GaussianNB"


def test_training_rows_only_if_asked_for() -> None:
    model = EXAMPLES["gaussian kept"]().model
    assert not candide.from_json(model.to_json()).model_.has_training_rows
    assert candide.from_json(model.to_json(sample=True)).model_.has_training_rows


def _without_arrays(text: str) -> str:
    return json.dumps({**json.loads(text), "arrays": []})


@every(
    "spoilt",
    [
        lambda text: text[:-40],
        lambda text: "[]",
        lambda text: "",
        _without_arrays,
        lambda text: text.replace("F64", "F65"),
    ],
)
def test_what_is_no_model_is_refused(spoilt: Any) -> None:
    with pytest.raises(ModelFileError, match="the text cannot be loaded"):
        candide.from_json(spoilt(EXAMPLES["gaussian"]().model.to_json()))
