"""Addresses: rows, models and outputs in the memory of fsspec, in local files and in S3."""

from __future__ import annotations

import functools
import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cli.terminal import MESSAGES, done, run
from tiers import every, late

import candide
from candide import GaussianNB, NaiveBayes, TextNB
from candide.exceptions import MissingPackage, ModelFileError, ParameterError, SourceError
from candide.remote import RemotePath, as_path, fingerprint, is_remote

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")

ROWS = "age,pay\n31,low\n58,high\n29,low\n60,high\n"


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    system.pipe_file("/shop/people.csv", ROWS.encode())
    yield system
    system.rm("/", recursive=True)
    system.pseudo_dirs[:] = [""]


def saved(url: str) -> GaussianNB:
    model = GaussianNB().fit([[31.0], [58.0], [29.0], [60.0]], ["low", "high", "low", "high"])
    model.save(url)
    return model


@every(
    "path, remote",
    [
        ("s3://bucket/a.csv", True),
        ("gs://bucket/a.csv", True),
        ("HTTPS://example.org/a.csv", True),
        ("memory://a.csv", True),
        ("file:///tmp/a.csv", False),
        ("sqlite://a.db", False),
        ("postgres://host/db", False),
        ("dask:s3://bucket/*.csv", False),
        ("c://a.csv", False),
        ("a.csv", False),
        ("-", False),
        (Path("a.csv"), False),
        (b"s3://a", False),
        (None, False),
        (RemotePath("s3://bucket/a.csv"), True),
    ],
)
def test_which_paths_are_addresses(path: Any, remote: bool) -> None:
    assert is_remote(path) is remote


def test_parts_of_an_address() -> None:
    path = as_path("https://example.org/data/people.csv.gz?token=a/b")
    assert isinstance(path, RemotePath)
    assert (path.name, path.stem, path.suffix) == ("people.csv.gz", "people.csv", ".gz")
    assert str(RemotePath("s3://b/m.candide").with_suffix(".html")) == "s3://b/m.html"
    assert as_path("file:///tmp/a%20b.csv") == Path("/tmp/a b.csv")


def test_rows(memory: Any) -> None:
    source = candide.read("memory://shop/people.csv")
    assert source.to_table()["age"].to_pylist() == [31, 58, 29, 60]
    assert "memory://" in repr(source)
    assert GaussianNB().fit(source).predict(source).tolist() == ["low", "high", "low", "high"]
    memory.pipe_file("/shop/more.csv", b"age,pay\n1,low\n")
    assert candide.read("memory://shop/*.csv").to_table()["age"].to_pylist() == [1, 31, 58, 29, 60]
    assert candide.read("memory://shop").to_table().num_rows == 5


def test_compressed_rows_and_bad_rows(memory: Any) -> None:
    import gzip

    memory.pipe_file("/shop/people.csv.gz", gzip.compress(ROWS.encode()))
    assert candide.read("memory://shop/people.csv.gz").to_table().num_rows == 4
    memory.pipe_file("/shop/bad.csv", b"age,pay\n1,a\n2,b,c\n3,a\n")
    with pytest.raises(SourceError, match=r"memory:///?shop/bad\.csv, line 3"):
        candide.read("memory://shop/bad.csv").to_table()


def test_folders_of_texts(memory: Any) -> None:
    for name in ("ham/a.txt", "ham/b.txt", "spam/c.txt"):
        memory.pipe_file(f"/mails/{name}", f"text of {name}".encode())
    table = candide.read("memory://mails").to_table()
    assert table["label"].to_pylist() == ["ham", "ham", "spam"]
    assert all(name.startswith("memory://") and name.endswith(".txt") for name in table["file"].to_pylist())
    memory.pipe_file("/boxes/ham.mbox", b"From ann\nSubject: Lunch\n\nAt noon?\n")
    memory.pipe_file("/boxes/spam.mbox", b"From x\nSubject: Win\n\nNow\n")
    table = candide.read("memory://boxes/*.mbox").to_table()
    assert table["label"].to_pylist() == ["ham", "spam"]
    assert table["file"].to_pylist()[0].endswith("/boxes/ham.mbox:1")


def test_copies_are_deleted(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = candide.read("memory://shop/people.csv")
    model = GaussianNB().fit(source)
    assert list(tmp_path.iterdir())
    del source
    assert not list(tmp_path.iterdir())
    model.save("memory://shop/m.candide")
    candide.load("memory://shop/m.candide")
    with pytest.raises(SourceError):
        candide.read("memory://shop/none.csv")
    assert not list(tmp_path.iterdir())


def test_files_by_address(tmp_path: Path) -> None:
    """They are local files: written atomically and locked."""
    (tmp_path / "two words.csv").write_text(ROWS)
    address = tmp_path.as_uri()
    assert candide.read(f"{address}/two%20words.csv").to_table().num_rows == 4
    saved(f"{address}/m.candide")
    assert candide.load(tmp_path / "m.candide").predict([[30.0]]).tolist() == ["low"]
    assert candide.load(f"{address}/m.candide", mmap=True).predict([[30.0]]).tolist() == ["low"]
    with candide.locked(f"{address}/m.candide"):
        assert (tmp_path / ".m.candide.lock").exists()
    done("train", f"{address}/two%20words.csv", "-o", f"{address}/n.candide", "-q")
    assert json.loads(done("show", f"{address}/n.candide", "--json").out)


def test_models(memory: Any) -> None:
    model = saved("memory://shop/m.candide")
    loaded = candide.load("memory://shop/m.candide")
    assert loaded.predict_proba([[40.0]]).tolist() == model.predict_proba([[40.0]]).tolist()
    with candide.locked("memory://shop/m.candide"):
        pass
    assert memory.ls("/shop", detail=False) == ["/shop/m.candide", "/shop/people.csv"]
    memory.pipe_file("/shop/damaged.candide", memory.cat_file("/shop/m.candide")[:-9])
    with pytest.raises(ModelFileError, match=r"memory://shop/damaged\.candide cannot be loaded"):
        candide.load("memory://shop/damaged.candide")
    with pytest.raises(FileNotFoundError, match="memory://shop/none"):
        candide.load("memory://shop/none")


def test_training_rows_in_a_model(memory: Any) -> None:
    rows = [[float(i), float(i % 7)] for i in range(300)]
    model = NaiveBayes().fit(rows, ["ab"[i % 2] for i in range(300)])
    model.save("memory://shop/m.candide", sample=True)
    loaded = candide.load("memory://shop/m.candide").partial_fit(rows[:50], ["a"] * 50).refit()
    assert loaded.class_count_.sum() == 350


def test_an_object_is_written_as_a_whole(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an error occurs while it is written, the old one stays."""
    saved("memory://shop/m.candide")
    before = memory.cat_file("/shop/m.candide")

    def broken(*_: Any) -> Iterator[bytes]:
        yield b"begin"
        raise MemoryError

    monkeypatch.setattr("candide.storage.models.file_chunks", broken)
    with pytest.raises(MemoryError):
        saved("memory://shop/m.candide")
    assert memory.cat_file("/shop/m.candide") == before


def test_file_objects(tmp_path: Path) -> None:
    model, file = TextNB("multinomial").fit(["win cash", "see you"], ["spam", "ham"]), io.BytesIO()
    file.write(b"before")
    model.save(file)
    file.seek(6)
    assert candide.load(file).predict(["cash"]).tolist() == ["spam"]
    with (tmp_path / "m").open("wb", buffering=0) as raw:
        model.save(raw)
    with (tmp_path / "m").open("rb") as opened:
        assert candide.load(opened).predict(["cash"]).tolist() == ["spam"]
    assert candide.load(tmp_path / "m").predict(["cash"]).tolist() == ["spam"]
    with pytest.raises(ModelFileError, match="the file object cannot be loaded"):
        candide.load(io.BytesIO(b"no model at all"))


@every("use", [lambda: saved(io.StringIO()), lambda: candide.load(io.StringIO("{}")), lambda: candide.load(3)])
def test_files_opened_as_text(use: Any) -> None:
    with pytest.raises(ParameterError, match=r"expected a path or a binary file object; pass a path, or open the file"):
        use()


@every(
    "path, message",
    [
        ("memory://shop/none.csv", "there is no file 'memory://shop/none.csv'; check the address"),
        ("memory://shop/*.tsv", "there is no file 'memory://shop/.*tsv'"),
        ("nothing://shop/a.csv", "cannot copy 'nothing://shop/a.csv'.*nothing"),
    ],
)
def test_sources_that_cannot_be_read(memory: Any, path: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        candide.read(path)


def test_web_addresses_are_read_only() -> None:
    with pytest.raises(OSError, match="can be read but not written"):
        saved("https://example.org/m.candide")


def test_commands(memory: Any, tmp_path: Path) -> None:
    memory.pipe_file("/mail/messages.csv", MESSAGES.read_bytes())
    mail, model = "memory://mail/messages.csv", "memory://mail/m.candide"
    told = json.loads(done("train", mail, "-o", model, "--report", "memory://mail/m.html", "--json").out)
    assert (told["model"], told["rows"]) == (model, 400)
    assert memory.cat_file("/mail/m.html").startswith(b"<!DOCTYPE html>")
    assert done("classify", model, "claim your free prize").out.startswith("spam")
    done("predict", model, mail, "-o", "memory://mail/answers.parquet")
    assert candide.read("memory://mail/answers.parquet").to_table().num_rows == 400
    assert json.loads(done("evaluate", model, mail, "--json", "-q").out)["n_rows"] == 400
    done("update", model, mail, "-q")
    assert candide.load(model).class_count_.sum() == 800
    done("merge", model, model, "-o", model, "-q")
    assert candide.load(model).class_count_.sum() == 1600
    done("convert", model, "memory://mail/m.json", "-q")
    done("load", "memory://mail/m.json", "-o", tmp_path / "m.candide", "-q")
    assert candide.load(tmp_path / "m.candide").class_count_.sum() == 1600
    assert "TextNB" in done("show", "memory://mail/m.json").out
    done("report", model, "-o", "memory://mail/r.html", "-q")
    assert memory.exists("/mail/r.html")


@every(
    "arguments, message",
    [
        (("train", "memory://shop/none.csv"), "there is no file 'memory://shop/none.csv'"),
        (("train", "memory://shop/people.csv", "-o", "https://example.org/m"), "can be read but not written"),
        (("show", "memory://shop/none.candide"), "memory://shop/none.candide: no such file"),
        (("predict", "memory://shop/m.candide", "memory://shop/people.csv", "-o", "memory://shop/people.csv"),
         "is both a source and the output"),
    ],
)  # fmt: skip
def test_mistakes(memory: Any, arguments: tuple[str, ...], message: str) -> None:
    saved("memory://shop/m.candide")
    ran = run(*arguments)
    assert ran.code != 0
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_checkpoints_are_local(memory: Any) -> None:
    ran = run("train", "memory://shop/people.csv", "-o", "memory://shop/m.candide", "--checkpoint")
    assert "checkpoints are written next to the model, but memory://shop/m.candide is not a local file" in ran.err


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    message = r"s3://bucket/a needs the package fsspec, which is not installed; .* pip install 'candide\[remote\]'"
    for use in (candide.read, candide.load, saved):
        with pytest.raises(MissingPackage, match=message):
            use("s3://bucket/a")
    assert run("show", "s3://bucket/a").err.count("\n") == 1


def test_local_paths_do_not_import_fsspec(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    program = (
        "import sys, candide\n"
        f"source = candide.read({str(tmp_path / 'people.csv')!r})\n"
        f"candide.GaussianNB().fit(source).save({str(tmp_path / 'm.candide')!r})\n"
        f"candide.load({str(tmp_path / 'm.candide')!r})\n"
        "assert 'fsspec' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_do_not_lead_out_of_the_temporary_folder(memory: Any) -> None:
    memory.store["/mails/../../out.txt"] = memory.store["/shop/people.csv"]
    memory.store["/mails/a.txt"] = memory.store["/shop/people.csv"]
    with pytest.raises(SourceError, match="points outside the folder; rename the object"):
        candide.read("memory://mails")
    del memory.store["/mails/../../out.txt"]


def test_a_checkpoint_is_of_the_objects_that_were_there(memory: Any, tmp_path: Path) -> None:
    before = fingerprint("memory://shop/*.csv")
    assert fingerprint("memory://shop/*.csv") == before == fingerprint("memory://shop")
    memory.pipe_file("/shop/people.csv", b"age,pay\n1,low\n")
    assert fingerprint("memory://shop") != before
    done("train", "memory://shop", "--label", "pay", "-o", tmp_path / "m.candide", "--checkpoint", "-q")
    assert candide.load(tmp_path / "m.candide").class_count_.tolist() == [1.0]


@pytest.mark.slow
def test_https(tmp_path: Path) -> None:
    """``http://`` is read by the same file system."""
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    pytest.importorskip("requests", reason="requests is not installed")
    (tmp_path / "people.csv").write_text(ROWS)
    saved(str(tmp_path / "m.candide"))
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert candide.read(f"{address}/people.csv?version=1").to_table().num_rows == 4
        assert candide.load(f"{address}/m.candide").class_count_.sum() == 4
        with pytest.raises(SourceError, match="there is no file"):
            candide.read(f"{address}/none.csv")
        server.shutdown()


moto_server, s3fs = late("moto.server"), late("s3fs")


@pytest.mark.slow
def test_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto is not installed")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        s3fs.S3FileSystem.clear_instance_cache()
        system = s3fs.S3FileSystem()
        system.mkdir("shop")
        system.pipe_file("shop/rows/people.csv", ROWS.encode())
        assert candide.read("s3://shop/rows/*.csv").to_table().num_rows == 4
        assert candide.read("s3://shop/rows").to_table().num_rows == 4
        done("train", "s3://shop/rows/people.csv", "--label", "pay", "-o", "s3://shop/m.candide", "-q")
        done("predict", "s3://shop/m.candide", "s3://shop/rows/people.csv", "-o", "s3://shop/answers.csv", "-q")
        assert system.cat_file("shop/answers.csv").count(b"\n") == 5
        assert candide.load("s3://shop/m.candide").class_count_.sum() == 4
        with pytest.raises(FileNotFoundError):
            candide.load("s3://shop/none.candide")
        with pytest.raises(SourceError):
            candide.read("s3://none/people.csv")
    finally:
        server.stop()
