"""Files: what they hold for other readers, how they are written, and what is refused."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from candide.exceptions import CandideError, ModelFileError
from candide.storage.container import Tensors, file_chunks, parse_file
from candide.storage.models import read_model, write_model

from .example_models import EXAMPLES
from .mutations import sealed
from .storing import content_of


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "model.candide"
    write_model(path, content_of(EXAMPLES["gaussian platt"]().model, sample=True))
    return path


def with_metadata(path: Path, **changes: str) -> None:
    tensors = parse_file(memoryview(path.read_bytes()))
    metadata = {name: text for name, text in tensors.metadata.items() if name != "checksum"} | changes
    arrays = {name: array.copy() for name, array in tensors.arrays.items()}
    path.write_bytes(b"".join(bytes(piece) for piece in file_chunks(Tensors(metadata, arrays))))


def test_any_reader_of_safetensors_opens_it(path: Path) -> None:
    with safe_open(path, framework="numpy") as file:
        metadata, names = file.metadata(), set(file.keys())
        assert (metadata["format"], metadata["version"], metadata["kind"]) == ("candide", "4", "GaussianNB")
        assert json.loads(metadata["provenance"])["rows"] == 140.0
        rows = file.get_tensor("model.state.statistics.rows")
    assert {"model.state.statistics.mean", "model.state.sample.data.values"} <= names
    assert rows.tolist() == [50.0, 50.0, 40.0]


def test_arrays_are_views_of_the_file(path: Path) -> None:
    mean = read_model(path).parts["state"].statistics.mean
    assert not mean.flags.writeable
    assert not mean.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        mean[0] = 0.0


def test_every_array_is_aligned(path: Path) -> None:
    raw = path.read_bytes()
    arrays = parse_file(memoryview(raw)).arrays.values()
    begin = np.frombuffer(raw, dtype=np.uint8).__array_interface__["data"][0]
    assert all((array.__array_interface__["data"][0] - begin) % array.dtype.itemsize == 0 for array in arrays)


def test_a_model_outlives_its_file(path: Path) -> None:
    content = read_model(path)
    path.unlink()
    assert content.parts["state"].statistics.rows.sum() == 140.0


def test_an_open_model_stays_when_its_file_is_replaced(path: Path) -> None:
    content = read_model(path)
    write_model(path, content_of(EXAMPLES["gaussian names"]().model, sample=False))
    assert content.parts["state"].classes.labels.tolist() == [0, 1, 2]
    assert read_model(path).parts["state"].classes.labels.tolist() == ["setosa", "versicolor", "virginica"]


def test_nothing_is_left_beside_a_file(path: Path) -> None:
    assert [each.name for each in path.parent.iterdir()] == ["model.candide"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_litter(
    failing: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    if failing == "replace":
        monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_model(path, content_of(EXAMPLES["gaussian"]().model, sample=False))
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["model.candide"]


def test_a_disk_that_fills_up_on_the_way(path: Path) -> None:
    before, content = path.read_bytes(), content_of(EXAMPLES["gaussian"]().model, sample=False)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        with pytest.raises(OSError, match=f"File too large: '{path}'"):
            write_model(path, content)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["model.candide"]


def test_modes_and_links_stay(path: Path, tmp_path: Path) -> None:
    path.chmod(0o640)
    link = tmp_path / "link.candide"
    link.symlink_to(path)
    write_model(link, content_of(EXAMPLES["gaussian"]().model, sample=False))
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_there_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_model(tmp_path / "nowhere" / "model.candide", content_of(EXAMPLES["gaussian"]().model, sample=False))
    with pytest.raises(FileNotFoundError):
        read_model(tmp_path / "nothing.candide")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "it has only 0 bytes"),
        (b"abc", "it has only 3 bytes"),
        (b"\xff" * 100, "not a model file: it begins with the bytes ff ff"),
        (b"PK\x03\x04" + b"\0" * 100, "not a model file: it begins with the bytes 50 4b"),
        ((10**9).to_bytes(8, "little") + b'{"__metadata__"', "truncated"),
        ((10**7).to_bytes(8, "little") + b"{" * 10**7, "its header is not valid JSON"),
        ((2).to_bytes(8, "little") + b"{}", "has no metadata"),
        ((2).to_bytes(8, "little") + b"[]", "not a JSON object"),
    ],
    ids=["empty", "short", "bytes", "zip", "long header", "deep", "bare", "list"],
)
def test_other_files_are_refused(content: bytes, found: str, tmp_path: Path) -> None:
    path = tmp_path / "other.candide"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=found) as caught:
        read_model(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, CandideError)
    assert ("download it again" in str(caught.value)) == ("it begins with" not in str(caught.value))


def test_an_altered_byte_is_found(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="checksum does not match its content"):
        read_model(path)


def test_a_cut_file_is_found(path: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(sealed(raw[:-8]))
    with pytest.raises(ModelFileError, match="does not directly follow the previous one"):
        read_model(path)


def test_tensors_of_others_are_no_model(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(b"".join(bytes(piece) for piece in file_chunks(Tensors({}, {"weight": np.ones(3)}))))
    with pytest.raises(ModelFileError, match="it contains arrays, but no candide model"):
        read_model(path)


@pytest.mark.parametrize("kind", ["TextNB", "NaiveBayes", "eval", "Classifier"])
def test_a_model_of_another_kind_is_refused(kind: str, path: Path) -> None:
    with_metadata(path, kind=kind)
    with pytest.raises(ModelFileError, match=r"kind is|bound spec does not belong to"):
        read_model(path)


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "candide.model.plan.Plan", "__class__", "Plan"])
def test_names_of_code_mean_nothing(name: str, path: Path) -> None:
    parts = json.loads(parse_file(memoryview(path.read_bytes())).metadata["parts"])
    parts["plan"]["$"] = name
    with_metadata(path, parts=json.dumps(parts))
    with pytest.raises(ModelFileError, match="does not support"):
        read_model(path)


def test_parts_cannot_be_more_than_they_are(path: Path) -> None:
    parts = json.loads(parse_file(memoryview(path.read_bytes())).metadata["parts"])
    parts["plan"]["__class__"] = "anything"
    with_metadata(path, parts=json.dumps(parts))
    with pytest.raises(ModelFileError, match="not of the expected type"):
        read_model(path)
