"""The order of the rooms, enforced: a module imports only from rooms to its left."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tiers import every

import candide

SOURCE = Path(candide.__file__).parent
ROOMS = [
    "lazy_dataclass",
    "printable",
    "exceptions",
    "kernels",
    "data",
    "sources",
    "statistics",
    "priors",
    "families",
    "stacking",
    "model",
    "datasets",
    "engines",
    "storage",
    "explain",
    "report",
    "export",
    "clusters",
    "learners",
    "databases",
    "estimators",
    "plot",
    "cli",
]
# Guests that only some rooms receive. Everything else is the standard library or NumPy.
GUESTS = {
    "sklearn": {"estimators", "export"},
    "scipy": {"kernels", "data", "statistics", "priors", "families", "stacking", "model", "storage", "explain", "plot"},
    "narwhals": {"data"},
    "threadpoolctl": {"kernels"},
    "pandas": {"clusters", "model"},
    "polars": {"model"},
    "pyarrow": {"cli", "clusters", "databases", "engines", "learners", "sources"},
    "duckdb": {"databases", "sources"},
    "psycopg": {"databases"},
    "dask": {"clusters"},
    "pyspark": {"clusters"},
    "onnx": {"export"},
    "sqlglot": {"export"},
    "matplotlib": {"plot"},
    "rich": {"cli", "explain"},
    "typer": {"cli"},
}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imports(path: Path) -> set[str]:
    """Absolute names of what a module imports, relative imports resolved; imports for type checkers alone left out."""
    package = ["candide", *path.relative_to(SOURCE).parts[:-1]]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            # `from .. import x` names rooms, `from ..room import x` names things inside one.
            found |= {f"{module}.{alias.name}" for alias in node.names} if module == "candide" else {module}
    return found


@every("path", MODULES)
def test_imports_go_left(path: Path) -> None:
    here = ROOMS.index(room_of(path))
    rooms = {name.split(".")[1] for name in imports(path) if name.startswith("candide.")}
    assert rooms <= set(ROOMS[: here + 1]), f"{path} reaches to its right: {rooms - set(ROOMS[: here + 1])}"


@every("path", MODULES)
def test_guests_stay_where_they_are_received(path: Path) -> None:
    others = {name.split(".")[0] for name in imports(path)} - {"candide", "numpy"} - set(sys.stdlib_module_names)
    for guest in others:
        assert room_of(path) in GUESTS.get(guest, set()), f"{path} imports {guest}"


@every("path", MODULES)
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_every_room_is_in_the_order() -> None:
    assert {room_of(path) for path in MODULES} == set(ROOMS)


def test_import_is_light() -> None:
    """`import candide` loads neither scikit-learn nor any other large guest, nor even NumPy."""
    guests = ("sklearn", "scipy", "narwhals", "pandas", "numpy", "pyarrow", "duckdb", "matplotlib")
    code = f"import candide, sys; print([m for m in {guests} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_learners_need_no_scikit_learn() -> None:
    """Nor do they in use: the shells alone import it."""
    code = """
import sys
from candide.learners import GaussianNB, NaiveBayes, TextNB, merge, select
rows, labels = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
best = select([GaussianNB(), GaussianNB(variance="shared")], rows, labels).best
assert merge([best, best.unfitted().fit(rows, labels)]).score(rows, labels) == 1
assert NaiveBayes().fit({"a": [1.0, 2.0, 8.0, 9.0], "b": labels}, y="b").predict({"a": [8.5]}) == "high"
assert TextNB().fit(["a b", "c d"], ["x", "y"]).predict(["ab ab"]).size == 1
print([name for name in sys.modules if name.split(".")[0] == "sklearn"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names() -> None:
    assert candide.__all__ == [
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "GaussianNB",
        "MultinomialNB",
        "NaiveBayes",
        "PoissonNB",
        "TextNB",
        "__version__",
        "fit_sql",
        "from_json",
        "from_sklearn",
        "load",
        "locked",
        "merge",
        "read",
        "select",
    ]
    assert all(hasattr(candide, name) for name in candide.__all__)
    assert set(candide.__all__) <= set(dir(candide))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        candide.Nothing  # noqa: B018
