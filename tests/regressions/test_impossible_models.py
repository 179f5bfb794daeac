"""Model files with a valid checksum and impossible content: refused, or a model all of whose methods work."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from storage.mutations import TREES

import candide
from candide.exceptions import ModelFileError, ParameterError
from candide.storage.container import Tensors, file_chunks, parse_file

from .model_fuzz import ASK, COUNTS, MORE, NUMBERS, PLUMBING, TABLE, Y, fate, methods, targets


def rewritten(path: Path, tree: str = "", change: Callable[[Any], Any] = dict, **arrays: Any) -> None:
    """The file with another tree or other arrays, and its checksum repaired."""
    metadata, old = parse_file(memoryview(path.read_bytes()))
    metadata = {name: text for name, text in metadata.items() if name != "checksum"}
    assert not tree or tree in TREES
    if tree:
        metadata[tree] = json.dumps(change(json.loads(metadata[tree])))
    new = {name: arrays.get(name.rpartition(".")[2], array) for name, array in old.items()}
    path.write_bytes(b"".join(map(bytes, file_chunks(Tensors(metadata, new)))))


@cache
def table_file() -> bytes:
    """The content of the model file of a table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.candide"
        candide.NaiveBayes(order=0).fit(TABLE, Y).save(path)
        return path.read_bytes()


def test_rewriting_alone_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.GaussianNB().fit(NUMBERS, Y).save(path)
    rewritten(path, "provenance")
    assert candide.load(path).predict(NUMBERS[:1]).shape == (1,)


@pytest.mark.parametrize("sample", [False, True])
def test_negative_category_codes_are_refused(sample: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.CategoricalNB(subsample=100_000).fit(COUNTS, Y).save(path, sample=sample)
    _, arrays = parse_file(memoryview(path.read_bytes()))
    name, codes = next((name, array) for name, array in arrays.items() if ".labels." in name and len(array) == 4)
    assert codes.tolist() == [0, 1, 2, 3]
    rewritten(path, **{name.rpartition(".")[2]: np.array([-2, 1, 2, 3])})
    with pytest.raises(ModelFileError, match="negative code"):
        candide.load(path)


def test_rows_with_negative_category_codes_are_refused(tmp_path: Path) -> None:
    from candide.kernels.layouts import Dense
    from candide.statistics.hashing import row_hashes

    path = tmp_path / "model.candide"
    model = candide.CategoricalNB(subsample=100_000).fit(COUNTS, Y)
    model.save(path, sample=True)
    data: Any = model.model_.classifier.state.sample.data
    values = data.values.copy() if isinstance(data.values, np.ndarray) else np.column_stack(data.values)
    values[0, 0] = -1
    hashes = row_hashes(Dense.of(values))
    rewritten(path, values=values, hashes=hashes)
    with pytest.raises(ModelFileError, match="negative category code"):
        candide.load(path)


@pytest.mark.parametrize("rows", [float("inf"), float("nan"), -1.0])
def test_provenance_that_cannot_be_saved_is_refused(rows: float, tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.GaussianNB().fit(NUMBERS, Y).save(path)
    rewritten(path, "provenance", lambda tree: {**tree, "rows": rows})
    with pytest.raises(ModelFileError):
        candide.load(path)


@pytest.mark.parametrize("label", [np.nan, np.inf])
def test_labels_that_are_no_numbers_are_refused(label: float, tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.GaussianNB().fit(NUMBERS[:1], np.array([1.0])).save(path)
    rewritten(path, labels=np.array([label]))
    with pytest.raises(ModelFileError, match="missing or infinite"):
        candide.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("unlabeled", 3), ("absent", 1e308), ("calibrate", "by eye"), ("subsample", 0.5), ("columns", {"size": "odd"})],
)
def test_settings_that_no_method_could_use_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    path.write_bytes(table_file())
    # As Python's dict would be written, which it is not for a plain value.
    stored = {"$": "dict", "items": [list(item) for item in value.items()]} if isinstance(value, dict) else value
    rewritten(path, "settings", lambda tree: {**tree, name: stored})
    with pytest.raises(ModelFileError, match=name):
        candide.load(path)


def test_a_setting_of_a_strange_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.TextNB().fit(["a b", "c d"] * 5, Y).save(path)
    rewritten(path, "settings", lambda tree: {**tree, "feature_sets": 3})
    with pytest.raises(ModelFileError, match="feature_sets"):
        candide.load(path)
    with pytest.raises(ParameterError, match="feature_sets"):
        candide.TextNB(feature_sets=3).fit(["a b", "c d"], ["x", "y"])


def test_priors_of_other_classes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.GaussianNB().fit(NUMBERS, Y).save(path)
    rewritten(path, "settings", lambda tree: {**tree, "priors": [0.2, 0.3, 0.5]})
    with pytest.raises(ModelFileError, match="got 3 priors for 2 classes"):
        candide.load(path)


def test_measures_of_other_classes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    path.write_bytes(table_file())
    rewritten(path, confusion=np.zeros((3, 3)))
    with pytest.raises(ModelFileError, match="its evaluation metrics do not match its classes"):
        candide.load(path)


def test_means_far_from_their_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.NaiveBayes(stacking=None).fit(TABLE, Y).save(path)
    rewritten(path, mean=np.full((2, 2), 1e308))
    with pytest.raises(ModelFileError, match="far outside the range of its numbers"):
        candide.load(path)


# Mutants that are tried, all of them in slow tests.
N_FEW, N_ALL = 32, int(os.environ.get("CANDIDE_MUTANTS", "10000"))
# What a method may say against a model that was changed: the rows that it is given are none of that model's now; or it
# is a model that people can make, and the method has no place for it.
MAY_SAY = re.compile(
    r"ForgetError: these rows were not in the training data"
    r"|InputError: class '.*' in y is unknown to the model"
    r"|InputError: Input X contains infinity"
    r"|InputError: column .* absent, and the model was trained with it"
    r"|ParameterError: log_marginal_likelihood needs a prior that integrates to 1"
    r"|ParameterError: scikit-learn's .* does not support"
    r"|ParameterError: bayes_factors describes the uncertainty of estimated parameters"
    r"|ParameterError: .* when the model was fitted and is .* now"
    r"|ParameterError: .* needs training rows, but this model keeps none"
)


def attack(seeds: range, tmp_path: Path) -> Counter[str]:
    every, odd = list(targets()), []

    def said(where: str, what: str) -> None:
        if not MAY_SAY.match(what):
            odd.append(f"{where}: {what}")

    fates = Counter(fate(every[seed % len(every)], seed, tmp_path / "model.candide", said) for seed in seeds)
    assert odd == []
    return fates


def test_every_public_method_is_tried() -> None:
    assert methods() - {*ASK, *MORE} == PLUMBING


def test_some_mutants_are_refused_or_work(tmp_path: Path) -> None:
    fates = attack(range(1_000_000, 1_000_000 + N_FEW), tmp_path)
    assert min(fates["refused"], fates["works"]) > N_FEW // 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_mutants_are_refused_or_work(tmp_path: Path, part: int) -> None:
    seeds = range(part, N_ALL, 4)
    fates = attack(seeds, tmp_path)
    assert min(fates["refused"], fates["works"]) > len(seeds) // 10
