"""Labels, names of columns and categories that hold what a terminal obeys: shown as harmless signs, one line each."""

from __future__ import annotations

import json
import unicodedata
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.terminal import done, in_terminal, run

import candide
from candide import exceptions

# A title for the window and a bell; colours; a second line; a line that is written over; direction; C1; DEL.
SPAM = "\x1b]0;owned\x07spam\ncandide: all is well\t1.0"
HAM = "\u202eham\u2028\x9b31m\x7f\r+"
AGE, JOB = "a\x1b[31mge\n", "\u2066job\x1b[2J"
SMITH, COOK = "smith\x1b[8m", "\u202ecook\n"
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"


def unsafe(shown: str, allowed: str = "\n") -> set[str]:
    """What should not be in what is shown."""
    return {sign for sign in shown if sign in DIRECTIONS or unicodedata.category(sign) in ("Cc", "Cs")} - set(allowed)


def assert_safe(shown: str, allowed: str = "\n") -> None:
    assert shown
    assert not unsafe(shown, allowed)
    # Nothing that a label holds looks like a line of its own.
    assert not any(line.startswith("candide: all is well") for line in shown.splitlines())


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    words = {SPAM: "free prize money", HAM: "lunch at noon"}
    rows = [(f"{words[label]} {i}", label) for i in range(20) for label in (SPAM, HAM)]
    pq.write_table(pa.table({"te\x1b[1mxt": [text for text, _ in rows], "la\nbel": [label for _, label in rows]}), path)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    rows = [(20 + i % 40, SMITH if i % 3 else COOK, SPAM if i % 40 > 20 else HAM) for i in range(80)]
    columns = zip(*rows, strict=True)
    pq.write_table(pa.table(dict(zip((AGE, JOB, "la\nbel"), map(list, columns), strict=True))), path)
    return path


@pytest.fixture(scope="module")
def text_model(texts: Path) -> Path:
    path = texts.with_name("m\x1b[5m.candide")
    done("train", texts, "-o", path, "--label", "la\nbel", "--text", "te\x1b[1mxt", "--with-rows", "-q")
    return path


@pytest.fixture(scope="module")
def table_model(table: Path) -> Path:
    path = table.with_name("m.candide")
    done("train", table, "-o", path, "--label", "la\nbel", "--with-rows", "--set", "order=0", "-q")
    return path


def test_train(texts: Path, table: Path, tmp_path: Path) -> None:
    of_texts = done(
        "train", texts, "-o", tmp_path / "\x1b[5m.candide", "--label", "la\nbel", "--text", "te\x1b[1mxt"
    ).err
    assert "␛]0;owned␇spam␊candide: all is well␉1.0" in of_texts
    assert_safe(of_texts)
    assert_safe(done("train", table, "-o", tmp_path / "m.candide", "--set", "order=0").err)


def test_classify_is_one_line_an_answer(text_model: Path, table_model: Path) -> None:
    row = json.dumps({AGE: 50, JOB: SMITH})
    for ran in (done("classify", text_model, "free prize", "lunch"), done("classify", table_model, row, row)):
        assert len(ran.out.splitlines()) == 2
        assert_safe(ran.out, "\n\t")
        assert all(len(line.split("\t")) == 2 for line in ran.out.splitlines())
    as_json = done("classify", text_model, "free prize", "lunch at noon", "--json").out
    assert_safe(as_json)
    assert [json.loads(line)["prediction"] for line in as_json.splitlines()] == [SPAM, HAM]


@pytest.mark.parametrize(
    "as_json", [pytest.param(False, id="people"), pytest.param(True, marks=pytest.mark.slow, id="json")]
)
def test_every_command_that_shows(
    text_model: Path, table_model: Path, texts: Path, table: Path, tmp_path: Path, as_json: bool
) -> None:
    row = json.dumps({AGE: 50, JOB: COOK})
    more = ["--json"] if as_json else []
    for arguments in (
        ("show", text_model), ("show", table_model, "--parameters"),
        ("explain", text_model, "free prize \x1b[31m at noon"), ("explain", table_model, row),
        ("evaluate", text_model, texts), ("evaluate", table_model, table),
        ("report", table_model, "-o", tmp_path / "r.html"), ("update", text_model, texts, "-o", tmp_path / "u.candide"),
        ("merge", table_model, table_model, "-o", tmp_path / "\x1b[31mm.candide"),
        ("compare", table, "--label", "la\nbel"),
    ):  # fmt: skip
        ran = done(*arguments, *more)
        assert_safe(ran.out + ran.err)
    assert_safe((tmp_path / "r.html").read_text())


def test_dump_can_be_shown_and_read_again(text_model: Path, tmp_path: Path) -> None:
    text = done("dump", text_model).out
    assert_safe(text)
    (tmp_path / "m.json").write_text(text)
    done("load", tmp_path / "m.json", "-o", tmp_path / "m.candide", "-q")
    assert candide.load(tmp_path / "m.candide").classes_.tolist() == [SPAM, HAM]


def test_predict_to_a_terminal_and_to_a_pipe(text_model: Path, texts: Path) -> None:
    code, shown = in_terminal("predict", text_model, texts, "--only", "-q", cwd=texts.parent)
    assert code == 0
    assert_safe(shown, "\r\n")
    assert len(shown.splitlines()) == 41
    # What is no terminal gets the labels as they are.
    assert SPAM in done("predict", text_model, texts, "--only", "-q").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "MODEL", '{"a\\u001b[31mge\\n": 3}', "--of", "\x1b[31mnobody\n"),
        ("classify", "MODEL", '{"\\u001b[31mother": 3}'),
        ("predict", "MODEL", "FOLDER/no\x1b[31m\nfile.csv"),
        ("show", "FOLDER/no\x1b[31m\nfile.candide"),
        ("train", "TABLE", "--label", "nothing\x1b[31m\n"),
        ("train", "TABLE", "--label", "la\nbel", "--model", "bernoulli"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True], ids=["people", "json"])
def test_errors(table_model: Path, table: Path, arguments: tuple[str, ...], as_json: bool) -> None:
    named = {"MODEL": str(table_model), "TABLE": str(table)}
    ran = run(*(named.get(one, one.replace("FOLDER", str(table.parent))) for one in arguments), *["--json"] * as_json)
    assert ran.code in (1, 3)
    assert_safe(ran.err)
    assert len(ran.err.splitlines()) == 1
    if as_json:
        assert_safe(ran.out)


def test_python_shows_no_controls(texts: Path, table: Path) -> None:
    rows = pq.read_table(table).to_pydict()
    frame = {AGE: rows[AGE], JOB: rows[JOB]}
    model = candide.NaiveBayes(order=0).fit(frame, rows["la\nbel"])
    plain = candide.CategoricalNB(alpha=0).fit([[job] for job in rows[JOB]], rows["la\nbel"])
    first = {name: cells[:1] for name, cells in frame.items()}
    shown = [
        model.explain(first), model.explain(first)[0], model.summary(), model.parameters(), model.loo_,
        plain.explain([[SMITH]], style="fractions")[0], plain.parameters(), candide.read(texts),
        *model.what_if(first),
    ]  # fmt: skip
    for one in shown:
        assert_safe(repr(one))
        if hasattr(one, "_repr_html_"):
            assert_safe(one._repr_html_())


def test_errors_and_warnings_in_python() -> None:
    error = exceptions.InputError(f"unknown column {AGE}")
    assert_safe(str(error))
    assert "a␛[31mge" in str(error)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exceptions.warn(f"column {JOB}")
    assert_safe(str(caught[0].message))


def test_names_in_plots() -> None:
    pytest.importorskip("matplotlib")
    from candide.plot.style import name

    for label in (SPAM, HAM, AGE, JOB):
        assert_safe(name(label), "")
