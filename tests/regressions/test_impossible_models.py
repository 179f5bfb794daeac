"""Model files with a valid checksum and impossible content: refused, or a model all of whose methods work."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files.mutations import TREES

import candide
from candide.exceptions import ModelFileError
from candide.storage.container import Tensors, pieces, unpacked

from .model_fuzz import COUNTS, NUMBERS, Y, fate, targets


def rewritten(path: Path, tree: str = "", change: Callable[[Any], Any] = dict, **arrays: Any) -> None:
    """The file with another tree or other arrays, and its checksum repaired."""
    metadata, old = unpacked(memoryview(path.read_bytes()))
    metadata = {name: text for name, text in metadata.items() if name != "checksum"}
    assert not tree or tree in TREES
    if tree:
        metadata[tree] = json.dumps(change(json.loads(metadata[tree])))
    new = {name: arrays.get(name.rpartition(".")[2], array) for name, array in old.items()}
    path.write_bytes(b"".join(map(bytes, pieces(Tensors(metadata, new)))))


def test_rewriting_alone_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.GaussianNB().fit(NUMBERS, Y).save(path)
    rewritten(path, "provenance")
    assert candide.load(path).predict(NUMBERS[:1]).shape == (1,)


@pytest.mark.parametrize("sample", [False, True])
def test_negative_category_codes_are_refused(sample: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    candide.CategoricalNB(keep_sample=True).fit(COUNTS, Y).save(path, sample=sample)
    _, arrays = unpacked(memoryview(path.read_bytes()))
    name, codes = next((name, array) for name, array in arrays.items() if ".labels." in name and len(array) == 4)
    assert codes.tolist() == [0, 1, 2, 3]
    rewritten(path, **{name.rpartition(".")[2]: np.array([-2, 1, 2, 3])})
    with pytest.raises(ModelFileError, match="negative code"):
        candide.load(path)


def test_rows_with_negative_category_codes_are_refused(tmp_path: Path) -> None:
    from candide.kernels.data import Dense
    from candide.statistics.hashing import row_hashes

    path = tmp_path / "model.candide"
    model = candide.CategoricalNB(keep_sample=True).fit(COUNTS, Y)
    model.save(path, sample=True)
    data: Any = model._model.state.sample.data
    values = data.values.copy() if isinstance(data.values, np.ndarray) else np.column_stack(data.values)
    values[0, 0] = -1
    hashes = row_hashes(Dense.of(values))
    rewritten(path, values=values, hashes=hashes)
    with pytest.raises(ModelFileError, match="negative code"):
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


N_FEW, N_ALL = 64, 10_000


def attack(seeds: range, tmp_path: Path) -> Counter[str]:
    every = list(targets())
    return Counter(fate(every[seed % len(every)], seed, tmp_path / "model.candide") for seed in seeds)


def test_some_mutants_are_refused_or_work(tmp_path: Path) -> None:
    fates = attack(range(1_000_000, 1_000_000 + N_FEW), tmp_path)
    assert min(fates["refused"], fates["works"]) > N_FEW // 10


@pytest.mark.slow
def test_mutants_are_refused_or_work(tmp_path: Path) -> None:
    fates = attack(range(N_ALL), tmp_path)
    assert min(fates["refused"], fates["works"]) > N_ALL // 10
