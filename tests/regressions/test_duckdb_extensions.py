"""DuckDB installs and loads extensions only where the user allows it: it fetches them from the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.terminal import run
from tiers import late

import candide
from candide import NaiveBayes
from candide.exceptions import SourceError

duckdb = late("duckdb")

REMOTE = "SELECT * FROM 'https://example.invalid/rows.parquet'"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, bool]]:
    """What every connection that is opened allows."""
    found: list[dict[str, bool]] = []
    real = duckdb.connect

    def connect(*args: Any, **options: Any) -> Any:
        connection = real(*args, **options)
        names = ("autoinstall_known_extensions", "autoload_known_extensions")
        asked = ", ".join(f"current_setting('{name}')" for name in names)
        found.append(dict(zip(names, connection.execute(f"SELECT {asked}").fetchall()[0], strict=True)))
        return connection

    monkeypatch.setattr("duckdb.connect", connect)
    return found


def fit(sql: str, **options: Any) -> Any:
    return candide.fit_sql(NaiveBayes(), None, sql, label="label", **options)


def read(sql: str, **options: Any) -> Any:
    return candide.read(sql=sql, **options)


@pytest.mark.parametrize("ask", [fit, read])
def test_nothing_is_fetched_on_its_own(ask: Any, settings: list[dict[str, bool]]) -> None:
    with pytest.raises(SourceError, match=r"requires the extension httpfs .* pass extensions=True"):
        ask(REMOTE)
    assert settings
    assert not any(allowed for each in settings for allowed in each.values())


def test_a_database_file(settings: list[dict[str, bool]], tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT range AS minutes, range % 2 AS label FROM range(20)")
    settings.clear()
    candide.fit_sql(NaiveBayes(order=0), f"duckdb:{path}", "visits", label="label")
    assert candide.read(f"duckdb:{path}").to_table().num_rows == 20
    assert settings
    assert not any(allowed for each in settings for allowed in each.values())


@pytest.mark.parametrize("ask", [fit, read])
def test_where_the_user_allows_it(
    ask: Any, settings: list[dict[str, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where extensions go
    rows = tmp_path / "rows.csv"
    rows.write_text("minutes,label\n" + "1,a\n2,b\n" * 10)
    ask(f"SELECT * FROM '{rows}'", extensions=True)
    assert all(settings[-1].values())


def test_on_the_command_line(tmp_path: Path) -> None:
    told = run("train", "--sql", REMOTE, "--label", "label", "-o", tmp_path / "m.candide").err
    assert "pass --extensions" in told
    assert "automatically install" not in told


@pytest.mark.parametrize("ask", [fit, read])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a, 'x' AS label); INSTALL httpfs; SELECT * FROM (SELECT 2 AS a, 'y' AS label",
        "SELECT 1 AS a, 'x' AS label; SET autoinstall_known_extensions = true",
    ],
)
def test_statements_behind_a_query(ask: Any, sql: str) -> None:
    with pytest.raises(SourceError, match=r"expected a single SELECT|syntax error"):
        ask(sql)


def test_pivot_is_one_query(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("who,what,n\na,x,1\na,y,2\nb,x,3\n")
    assert read(f"PIVOT '{rows}' ON what USING sum(n)").to_table().num_rows == 2
