"""The import order of packages: a module imports only from packages before its own."""

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
PACKAGES = [
    "lazy",
    "printable",
    "exceptions",
    "remote",
    "kernels",
    "data",
    "statistics",
    "priors",
    "families",
    "stacking",
    "specs",
    "model",
    "sources",
    "datasets",
    "explain",
    "storage",
    "report",
    "export",
    "diagnostics",
    "estimators",
    "spark",
    "plot",
    "cli",
]
# Guests that only some packages receive. Everything else is the standard library or NumPy.
GUESTS = {
    "sklearn": {"estimators", "export"},
    "scipy": {
        "kernels",
        "data",
        "statistics",
        "priors",
        "families",
        "stacking",
        "model",
        "storage",
        "explain",
        "report",
        "plot",
    },
    "narwhals": {"data"},
    "threadpoolctl": {"kernels"},
    "pandas": {"sources", "model"},
    "polars": {"model"},
    "pyarrow": {"cli", "data", "sources", "spark"},
    "duckdb": {"sources"},
    "fsspec": {"remote"},
    "psycopg": {"sources"},
    "dask": {"sources"},
    "pyspark": {"sources", "spark"},
    "onnx": {"export"},
    "sqlglot": {"export"},
    "matplotlib": {"plot"},
    "rich": {"cli", "explain"},
    "typer": {"cli"},
}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path: Path) -> set[str]:
    """Absolute names of what a module imports, relative imports resolved; imports for type checkers alone left out."""
    package = ["candide", *path.relative_to(SOURCE).parts[:-1]]
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            # `from .. import x` names packages, `from ..package import x` names things inside one.
            found |= {f"{module}.{alias.name}" for alias in node.names} if module == "candide" else {module}
    return found


@every("path", MODULES)
def test_imports_go_left(path: Path) -> None:
    here = PACKAGES.index(package_of(path))
    packages = {name.split(".")[1] for name in imports(path) if name.startswith("candide.")}
    assert packages <= set(PACKAGES[: here + 1]), f"{path} reaches to its right: {packages - set(PACKAGES[: here + 1])}"


@every("path", MODULES)
def test_guests_stay_where_they_are_received(path: Path) -> None:
    others = {name.split(".")[0] for name in imports(path)} - {"candide", "numpy"} - set(sys.stdlib_module_names)
    for guest in others:
        assert package_of(path) in GUESTS.get(guest, set()), f"{path} imports {guest}"


@every("path", MODULES)
def test_files_are_small(path: Path) -> None:
    """At most 500 lines, and 400 without docstrings and blank lines."""
    text = path.read_text()
    assert len(text.splitlines()) <= 500
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    assert len(lines) <= 400


def test_every_package_is_in_the_order() -> None:
    assert {package_of(path) for path in MODULES} == set(PACKAGES)


def test_import_is_light() -> None:
    """`import candide` loads neither scikit-learn nor any other large guest, nor even NumPy."""
    guests = ("sklearn", "scipy", "narwhals", "pandas", "numpy", "pyarrow", "duckdb", "matplotlib")
    code = f"import candide, sys; print([m for m in {guests} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_models_need_no_scikit_learn() -> None:
    """Neither to be trained, nor to be stored, loaded and used."""
    code = """
import sys
from candide import diagnostics
from candide.explain import explain_rows
from candide.model.source import MemorySource
from candide.model.train import learn, train
from candide.specs.gaussian import GaussianSpec
from candide.specs.table import TableSpec
from candide.specs.text import TextSpec
from candide.storage.models import dump_lines, load_lines
rows, labels = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
source = MemorySource(rows, labels)
model = train(GaussianSpec(), source)
assert model.merge(learn(model, source)).score(rows, labels) == 1
table = MemorySource({"a": [1.0, 2.0, 8.0, 9.0], "b": labels}, "b")
assert train(TableSpec(), table).predict({"a": [8.5]}) == "high"
texts = train(TextSpec(), MemorySource(["a b", "c d"], ["x", "y"]))
assert load_lines(dump_lines(texts, rows=True), "text").predict(["ab ab"]).size == 1
assert len(explain_rows(model, rows)) == 4
assert diagnostics.log_density(model, rows).shape == (4,)
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
