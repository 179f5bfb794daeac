"""The table of parameters, for people and for data frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
from tiers import late

from candide.model.table import Table

pl = late("polars")

TABLE = Table({"class": np.array(["a", "b"], dtype=object), "count": np.array([1.0, 0.125])})


def test_data_frames_take_it() -> None:
    for frame in (pd.DataFrame(TABLE), TABLE.to_pandas()):
        assert frame.shape == (2, 2)
        assert frame["count"].tolist() == [1.0, 0.125]
    for frame in (pl.DataFrame(TABLE), TABLE.to_polars()):
        assert frame.shape == (2, 2)
        assert frame["class"].to_list() == ["a", "b"]


def test_people_can_read_it() -> None:
    assert repr(TABLE) == "class  count\na          1\nb      0.125"
    long = Table({"x": np.arange(30)})
    assert repr(long).endswith("19\n… 10 more rows")
    assert "… 10 more rows" in long._repr_html_()


def test_cells_are_escaped_in_notebooks() -> None:
    assert "&lt;b&gt;" in Table({"x": np.array(["<b>"], dtype=object)})._repr_html_()


def test_rows() -> None:
    assert TABLE.n_rows == 2
    assert list(TABLE.rows()) == [("a", 1.0), ("b", 0.125)]
