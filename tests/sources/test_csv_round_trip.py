"""A law of CSV: what Python's writer writes is read back, whatever is in the cells."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

import candide

CELLS = st.text(
    st.one_of(st.sampled_from("ab \"',;\t|\n\r#\\é€"), st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])),
    max_size=12,
)
# A letter first: cells are to be texts, none of them empty, none a number.
TEXTS = CELLS.map(lambda cell: "t" + cell)


@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=30),
    delimiter=st.sampled_from(",;\t|"),
    newline=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_round_trip(rows: list[tuple[str, str]], delimiter: str, newline: str, quoting: int) -> None:
    if quoting == csv.QUOTE_MINIMAL:  # which does not quote \r in all versions of Python
        rows = [(text.replace("\r", ""), label.replace("\r", "")) for text, label in rows]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows([("text", "label"), *rows])
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(out.getvalue().encode())
        assert [tuple(row.values()) for row in candide.read(path).to_table().to_pylist()] == rows
