"""The API reference covers every public name: what ``candide.__all__`` lists, and the public methods of estimators.

Pages in docs/reference declare objects by lines ``::: path``, from which mkdocstrings makes the reference, and whole
modules by ``<!-- api: module -->``, which tools/generated_pages.py replaces by such lines.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import candide
from candide import exceptions, priors
from candide.priors.base import Readable

PAGES = sorted((Path(__file__).parent.parent / "docs" / "reference").glob("*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
MODULES = re.findall(r"^<!-- api: (\S+) -->$", TEXT, re.MULTILINE)


def resolve(path: str) -> Any:
    """Return the object at a dotted path."""
    names = path.split(".")
    found: Any = candide
    for i, name in enumerate(names[1:], 2):
        found = getattr(found, name) if hasattr(found, name) else import_module(".".join(names[:i]))
    return found


@cache
def documented() -> dict[str, Any]:
    """Return the objects of the reference by their paths. Modules are imported late, so that collection is fast."""
    paths = {*re.findall(r"^::: (\S+)$", TEXT, re.MULTILINE)}
    paths |= {f"{module}.{name}" for module in MODULES for name in import_module(module).__all__}
    if find_spec("pyspark") is None:
        paths -= {path for path in paths if path.startswith("candide.spark.")}
    return {path: resolve(path) for path in sorted(paths)}


def public_methods(cls: type) -> Iterator[tuple[type, str]]:
    """Yield public methods and properties, with the class of candide that defines them; parameters are no methods."""
    for name in set(dir(cls)) - set(getattr(cls, "__dataclass_fields__", ())):
        owner = next(base for base in cls.__mro__ if name in vars(base) or base is object)
        if not name.startswith("_") and owner.__module__.startswith("candide."):
            yield owner, name


def docstrings(path: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of an object and of its public methods, by name."""
    found = documented()[path]
    yield path, inspect.getdoc(found) or ""
    for name, member in vars(found).items() if inspect.isclass(found) else ():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (property, classmethod))):
            yield f"{path}.{name}", inspect.getdoc(getattr(found, name)) or ""


def test_public_names_are_in_the_reference() -> None:
    assert {"candide.datasets", "candide.diagnostics", "candide.plot"} <= {*MODULES}
    names = {f"candide.{name}" for name in candide.__all__ if name != "__version__"}
    for module, base in ((exceptions, Exception), (priors, Readable)):
        kinds = (name for name in module.__all__ if inspect.isclass(getattr(module, name)) and name != "Prior")
        names |= {f"{module.__name__}.{name}" for name in kinds if issubclass(getattr(module, name), base)}
    assert sorted(names - documented().keys()) == []


def test_public_methods_of_estimators_are_in_the_reference() -> None:
    classes = [one for one in documented().values() if inspect.isclass(one)]
    estimators = [one for one in classes if hasattr(one, "predict_proba")]
    assert len(estimators) >= len([name for name in candide.__all__ if name.endswith(("NB", "Bayes"))])
    methods = {method for cls in estimators for method in public_methods(cls)}
    assert sorted(f"{owner.__name__}.{name}" for owner, name in methods if owner not in classes) == []
    assert sorted(f"{owner.__name__}.{name}" for owner, name in methods if not getattr(owner, name).__doc__) == []


def test_docstrings_have_a_summary_and_a_section_of_examples() -> None:
    for name, text in (pair for path in documented() for pair in docstrings(path)):
        assert text.split("\n")[0].endswith((".", ":")), name
        before = re.split(r"^Examples\n-{8}$", text, flags=re.MULTILINE)[0]
        assert ">>>" not in before, f"{name}: examples belong into a section of their own"
