"""CSV: dialects, types, encodings, compression, and rows that cannot be read."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import candide
from candide.exceptions import SourceError

from .files import COMPRESSIONS, write


def rows(path: Path, **settings: object) -> list[dict[str, object]]:
    return candide.read(path, **settings).to_table().to_pylist()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("text,label\nhello you,spam\nhi,ham\n", [("hello you", "spam"), ("hi", "ham")], id="plain"),
        pytest.param("text;label\nhello, you;spam\nhi;ham\n", [("hello, you", "spam"), ("hi", "ham")], id="semicolon"),
        pytest.param("text\tlabel\nhello, you\tspam\nhi\tham", [("hello, you", "spam"), ("hi", "ham")], id="tab"),
        pytest.param('text,label\r\n"a\r\nb",spam\r\nhi,ham\r\n', [("a\r\nb", "spam"), ("hi", "ham")], id="crlf"),
        pytest.param('text,label\r\n"a\nb",spam\r\nhi,ham\r\n', [("a\nb", "spam"), ("hi", "ham")], id="lf-in-crlf"),
        pytest.param("text,label\r\na,spam\nhi,ham\r\n", [("a", "spam"), ("hi", "ham")], id="mixed-newlines"),
        pytest.param("text,label\ra,spam\rhi,ham\r", [("a", "spam"), ("hi", "ham")], id="cr"),
        pytest.param(
            'text,label\n"say ""hi"", you",spam\nx,ham\n', [('say "hi", you', "spam"), ("x", "ham")], id="quotes"
        ),
        pytest.param(
            'text,label\n"say \\"hi\\", you",spam\nx,ham\n', [('say "hi", you', "spam"), ("x", "ham")], id="\\"
        ),
        pytest.param("\ufefftext,label\nhello,spam\nhi,ham\n", [("hello", "spam"), ("hi", "ham")], id="bom"),
        pytest.param("text,label\n#hello,spam\n#hi,ham\n", [("#hello", "spam"), ("#hi", "ham")], id="hashes"),
        pytest.param("text,label\n\nhello,spam\n\nhi,ham\n\n", [("hello", "spam"), ("hi", "ham")], id="blank-lines"),
        pytest.param("text,label\nhe\0llo,spam\nhi,ham\n", [("he\0llo", "spam"), ("hi", "ham")], id="nul"),
        pytest.param("text,label\nhello,spam,\nhi,ham,\n", [("hello", "spam"), ("hi", "ham")], id="comma-at-end"),
    ],
)
def test_dialects(tmp_path: Path, content: str, expected: list[tuple[str, str]]) -> None:
    source = candide.read(write(tmp_path / "mail.csv", content))
    assert [tuple(row.values()) for row in source.to_table().to_pylist()] == expected
    assert source.names == ["text", "label"]


def test_one_column_is_not_cut_at_commas(tmp_path: Path) -> None:
    path = write(tmp_path / "inbox.csv", 'text\nhello there, you\n"hi, you"\n')
    assert rows(path) == [{"text": "hello there, you"}, {"text": "hi, you"}]


def test_without_header_and_with_stray_quotes(tmp_path: Path) -> None:
    path = write(tmp_path / "sms.txt", 'ham\tGo until, "jurong\nspam\tFree; entry\nham\t"U dun say so\n')
    assert [row["column1"] for row in rows(path)] == ['Go until, "jurong', "Free; entry", '"U dun say so']


def test_names_above_numbers_may_be_values_too(tmp_path: Path) -> None:
    assert candide.read(write(tmp_path / "a.csv", "spam,x\nham,1\nspam,2\n")).names == ["spam", "x"]


def test_names_are_made_different(tmp_path: Path) -> None:
    assert candide.read(write(tmp_path / "a.csv", ",x,x\n0,1,2\n")).names == ["column0", "x", "x_1"]


def test_names_that_differ_in_case(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "Text,text,TEXT\n" + "a,b,1\n" * 3)
    assert rows(path)[0] == {"Text": "a", "text": "b", "TEXT": 1}
    assert next(candide.read(path).to_batches(columns=["TEXT", "Text"])).slice(0, 1).to_pylist() == [
        {"TEXT": 1, "Text": "a"}
    ]


def test_name_of_a_column_with_a_bad_date(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,day\n" + "a,2020-01-31\n" * 25_000 + "a,soon\n")
    with pytest.raises(SourceError, match="column 'day' contains 'soon', but the preceding rows contain dates"):
        candide.read(path).to_table()


def test_header_repeated_within_is_a_row_that_cannot_be_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\na b,ham\ntext,label\nc d,spam\n")
    assert candide.read(path).names == ["text", "label"]


def test_types(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", "n,x,day,time,truth,word,euro\n1,.5,31/12/2020,2020-01-01 10:00:00,true,a,\n2,,,,,,\n"
    )
    first, second = rows(path)
    time = dt.datetime(2020, 1, 1, 10)
    assert first == {
        "n": 1,
        "x": 0.5,
        "day": dt.date(2020, 12, 31),
        "time": time,
        "truth": True,
        "word": "a",
        "euro": None,
    }
    assert set(second.values()) == {2, None}


def test_missing_marks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,word\n-,a\n1,?\n2,b\n")
    assert candide.read(path).to_table()["x"].to_pylist() == ["-", "1", "2"]
    assert rows(path, missing=["-", "?"]) == [{"x": None, "word": "a"}, {"x": 1, "word": None}, {"x": 2, "word": "b"}]


@pytest.mark.parametrize("ending", sorted(COMPRESSIONS))
def test_compressed(tmp_path: Path, ending: str) -> None:
    content = "text,label\n" + "hello you,spam\nhi,ham\n" * 1_000
    plain, packed = write(tmp_path / "a.csv", content), tmp_path / f"a.csv.{ending}"
    source = candide.read(write(packed, COMPRESSIONS[ending](content.encode())))
    assert source.to_table().equals(candide.read(plain).to_table())
    assert source.bytes_read == source.n_bytes


def test_compressed_in_two_members(tmp_path: Path) -> None:
    pack = COMPRESSIONS["gz"]
    assert len(rows(write(tmp_path / "a.csv.gz", pack(b"text,label\nhello you,spam\n") + pack(b"hi,ham\n")))) == 2


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_compressed_and_cut_off(tmp_path: Path, ending: str) -> None:
    content = "text,label\n" + "".join(f"hello {i * 7919 % 1000003},spam\n" for i in range(5_000))
    path = write(tmp_path / f"a.csv.{ending}", COMPRESSIONS[ending](content.encode())[:-2000])
    with pytest.raises(SourceError, match=r"a\.csv\.\w+"):
        candide.read(path).to_table()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_unicode_encodings_are_told(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path / "a.csv", "text,label\nnaïve café,spam\nhi,ham\n".encode(encoding))
    assert rows(path)[0] == {"text": "naïve café", "label": "spam"}


def test_western_encoding_is_told_with_a_remark(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\n“naïve” café,spam\nhi,ham\n".encode("cp1252"))
    with pytest.warns(UserWarning, match=r"a\.csv is not UTF-8 and is read as cp1252"):
        assert rows(path)[0]["text"] == "“naïve” café"
    assert rows(path, encoding="cp1252")[0]["text"] == "“naïve” café"


def test_other_encoding_as_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\nこんにちは,spam\nhi,ham\n".encode("shift_jis"))
    assert rows(path, encoding="shift_jis")[0]["text"] == "こんにちは"


def test_long_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\nhi,ham\n" + "y" * 12_000_000 + ",spam\nhi,ham\n")
    assert [len(row["text"]) for row in rows(path)] == [2, 12_000_000, 2]


def test_name_with_signs_of_a_glob(tmp_path: Path) -> None:
    write(tmp_path / "data1.csv", "text,label\nwrong,ham\n")
    assert rows(write(tmp_path / "data[1].csv", "text,label\nright,ham\n"))[0]["text"] == "right"


# More than ``short_sample``, and more than the engine reads at once.
MANY = 2_500
BAD = {
    "too-few": ("4,5", r"found 2 cells, expected 3 \('4,5'\)"),
    "too-many": ("4,x,6,7", "found 4 cells, expected 3"),
    "type": ("soon,x,6", r"column 'a' contains 'soon', but the preceding rows contain integers.*missing=\['soon'\]"),
    "quote": ('4,"x"y,6', "a quote is not closed, or is followed by other characters"),
}


@pytest.mark.parametrize(
    ("n_before", "line", "message"),
    [
        pytest.param(n_before, line, message, id=f"{name}-{n_before}")
        for name, (line, message) in BAD.items()
        for n_before in (3, MANY)
        if n_before == MANY or name != "type"  # a column that has words at the beginning is one of words
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.usefixtures("short_sample")
def test_bad_row(tmp_path: Path, line: str, message: str, newline: str, n_before: int) -> None:
    good = f'1,"two{newline}lines",3{newline}'
    path = write(tmp_path / "a.csv", f"a,b,c{newline}{good * n_before}{line}{newline}{good}")
    with pytest.raises(SourceError, match=rf"a\.csv, line {2 + 2 * n_before}: {message}.*on_bad_row='skip'"):
        candide.read(path).to_table()
    source = candide.read(path, on_bad_row="skip")
    assert len(source.to_table()) == n_before + 1
    assert [(bad.line, bad.row) for bad in source.bad_rows] == [(2 + 2 * n_before, line)]


def test_quote_that_is_never_closed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a,b\n" + "1,x\n" * 100 + '2,"x\n' + "1,x\n" * 100)
    with pytest.raises(SourceError, match="line 102: a quote is not closed"):
        candide.read(path).to_table()


def test_bytes_that_are_no_utf8_late(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"text,label\n" + b"hi there,ham\n" * 200_000 + b"caf\xe9,spam\n")
    with pytest.raises(SourceError, match=r"line 200002: invalid UTF-8.*encoding='cp1252'"):
        candide.read(path).to_table()


@pytest.mark.usefixtures("short_sample")
def test_row_with_two_faults_is_one_bad_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a,b\n" + "1,2\n" * MANY + "x,y\n")
    source = candide.read(path, on_bad_row="skip")
    assert len(source.to_table()) == MANY
    assert source.bad_rows.n_rows == 1


def test_only_a_header(tmp_path: Path) -> None:
    source = candide.read(write(tmp_path / "a.csv", "text,label\n"))
    assert source.names == ["text", "label"]
    assert source.to_table().num_rows == 0
    assert list(source.to_batches()) == []


@pytest.mark.parametrize("content", ["\n\n\n", " \n\n"], ids=["newlines", "spaces"])
def test_nothing_but_blank_lines(tmp_path: Path, content: str) -> None:
    with pytest.raises(SourceError, match=r"a\.csv contains only blank lines"):
        candide.read(write(tmp_path / "a.csv", content))
