"""Files that declare more than they contain are refused, and valid models are not."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from candide import GaussianNB
from candide.exceptions import ModelFileError
from candide.storage import decoder as decoding
from candide.storage.container import Tensors, file_chunks, parse_file
from candide.storage.content import EncodedContent
from candide.storage.decoder import Decoder
from candide.storage.encoder import Encoder
from candide.storage.json_form import array_entries, arrays_in_entries, from_json_lines, to_json_lines
from candide.storage.models import read_model, save_checkpoint, write_model

from .storing import content_of

MODEL = GaussianNB().fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
HUGE = 1 << 28
Change = Callable[[dict[str, Any], dict[str, Any]], None]


def changed(path: Path, change: Change) -> Path:
    """Write a valid file with a change of its parts and arrays."""
    write_model(path, content_of(MODEL, sample=False))
    found = parse_file(memoryview(path.read_bytes()))
    metadata, arrays = dict(found.metadata), dict(found.arrays)
    del metadata["checksum"]
    parts = json.loads(metadata["parts"])
    change(parts, arrays)
    path.write_bytes(b"".join(map(bytes, file_chunks(Tensors(metadata | {"parts": json.dumps(parts)}, arrays)))))
    return path


def noted(value: Any, **more: Any) -> Change:
    def change(parts: dict[str, Any], arrays: dict[str, Any]) -> None:
        parts["note"] = {"$": "named", "this": value}
        arrays.update(more)

    return change


def listing(entry: dict[str, Any]) -> str:
    """Return a valid model in JSON form with one more array."""
    document = json.loads("".join(to_json_lines(content_of(MODEL, sample=False))))
    document["arrays"].append(entry)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (
            {"sparse": ["a", "b", "c"], "dtype": "I64", "shape": [HUGE, HUGE], "columns": []},
            "more rows than lines",
        ),
        ({"characters": ["a"], "width": HUGE, "rows": ["x"]}, "too long"),
        ({"array": "a", "dtype": "F64", "shape": [1], "rows": [[1.0]]}, "its array 'a' is not used"),
    ],
    ids=["rows", "width", "unnamed"],
)
def test_text_holds_what_it_claims(entry: dict[str, Any], found: str) -> None:
    with pytest.raises(ModelFileError, match=found):
        from_json_lines([listing(entry)])


def test_arrays_that_nothing_names_are_refused(tmp_path: Path) -> None:
    path = changed(tmp_path / "model.candide", lambda parts, arrays: arrays.update(more=np.zeros(3)))
    with pytest.raises(ModelFileError, match="its array 'more' is not used"):
        read_model(path)


@pytest.mark.parametrize("others", [lambda i: [1], lambda i: [i]], ids=["the same", "others"])
def test_labels_of_few_codes_are_few(others: Callable[[int], list[int]], tmp_path: Path) -> None:
    columns = [{"$": "objects", "codes": "codes", "others": others(i), "texts": None} for i in range(60)]
    path = changed(tmp_path / "model.candide", noted(columns, codes=np.zeros(1 << 20, dtype=np.int8)))
    with pytest.raises(ModelFileError, match="would take far more memory than the size of the file"):
        read_model(path)


def test_there_is_room_for_columns_of_equal_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_MIN_BUDGET", 0)
    columns = {f"column {i}": np.array([f"{i:02}"] * 1000, dtype=object) for i in range(40)}
    encoder = Encoder()
    tree = encoder.tree(columns, "model")
    np.testing.assert_equal(Decoder(encoder.arrays).value(tree, "model"), columns)


def test_equal_matrices_are_one() -> None:
    matrix = np.ones((50, 50))
    encoder = Encoder()
    tree = encoder.tree((matrix, matrix.copy()), "model")
    one, other = Decoder(encoder.arrays).value(tree, "model")
    np.testing.assert_array_equal(one, matrix)
    assert one is other


@pytest.mark.parametrize("zone", ["Europe", "a" * 5000, "../../etc/passwd", "zone.tab"], ids=lambda zone: zone[:10])
def test_time_zones_are_no_files(zone: str, tmp_path: Path) -> None:
    path = changed(tmp_path / "model.candide", noted({"$": "time", "value": "10:00:00", "zone": zone}))
    with pytest.raises(ModelFileError, match=r"which is not available on this computer; install the package tzdata"):
        read_model(path)


@pytest.mark.parametrize("value", [np.ones(2), dt.date(2020, 1, 1), {1: 2}, [{3}]], ids=["array", "date", "key", "set"])
def test_notes_are_plain(value: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="its note contains values that JSON cannot represent"):
        save_checkpoint(MODEL.model_, tmp_path / "model.candide", {"this": value})
    encoder = Encoder()
    tree = encoder.tree(value, "model.note")
    path = changed(tmp_path / "model.candide", noted(tree, **encoder.arrays))
    with pytest.raises(ModelFileError, match="its note contains values that JSON cannot represent"):
        read_model(path)


def test_plain_notes_are_kept(tmp_path: Path) -> None:
    note = {"this": [1, 2.5, None, ("a", True)], "that": {"deep": {}}}
    save_checkpoint(MODEL.model_, tmp_path / "model.candide", note)
    assert read_model(tmp_path / "model.candide").parts["note"] == note


def test_what_reading_refuses_is_not_written(tmp_path: Path) -> None:
    heavy = GaussianNB().fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], sample_weight=[1e155] * 4)
    refused = r"cannot be stored: the weights of classes are not all numbers from 0 to 1e\+150; .* fit again"
    with pytest.raises(ModelFileError, match=refused):
        write_model(tmp_path / "model.candide", content_of(heavy, sample=False))
    with pytest.raises(ModelFileError, match=refused):
        next(to_json_lines(content_of(heavy, sample=False)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "value",
    [csr_array(([1.0], ([3], [7])), shape=(5, 9)), csr_array((2, 9)), np.array(["a", "b"], dtype="<U500")],
    ids=["mostly empty", "empty", "wide texts"],
)
def test_what_is_mostly_empty_can_be_listed(value: Any) -> None:
    encoder = Encoder()
    tree = encoder.tree(value, "model")
    listed = json.loads(json.dumps(list(array_entries(EncodedContent("", {}, {}, tree, encoder.arrays)))))
    again = Decoder(arrays_in_entries(listed)).value(tree, "model")
    assert again.dtype == value.dtype
    np.testing.assert_array_equal(*(one if isinstance(one, np.ndarray) else one.toarray() for one in (again, value)))
