"""Everything the documentation shows runs: pages from top to bottom, docstrings, and the examples.

In README.md and docs/ a block fenced as ``python`` is run; all blocks of a page share one namespace. Where it has
prompts (``>>>``) its outputs are compared by doctest. A block fenced as ``text`` right after is what the code prints.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tiers import every

import candide
from candide.sources.cluster_files import find_java

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int
    code: str
    printed: str | None


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    found = []
    for fence, following in zip(fences, [*fences[1:], None], strict=False):
        if fence["kind"] != "python":
            continue
        shown = (
            following is not None and following["kind"] == "text" and not text[fence.end() : following.start()].strip()
        )
        printed = _body(following) if shown and following is not None else None
        found.append(Block(text.count("\n", 0, fence.start()) + 1, _body(fence), printed))
    return found


def _body(fence: re.Match[str]) -> str:
    return "\n".join(line.removeprefix(fence["indent"]) for line in fence["body"].splitlines()) + "\n"


def run_block(block: Block, page: str, names: dict[str, Any]) -> None:
    if block.code.lstrip().startswith(">>>"):
        run_session(block, page, names)
        return
    out = io.StringIO()
    # Padding makes a traceback point at the line of the page.
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * block.line + block.code, page, "exec"), names)
    if block.printed is not None and not doctest.OutputChecker().check_output(block.printed, out.getvalue(), FLAGS):
        pytest.fail(f"{page}:{block.line} printed\n{out.getvalue()}\nbut the page shows\n{block.printed}")


def run_session(block: Block, page: str, names: dict[str, Any]) -> None:
    session = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line)
    session.globs = names  # the page's own namespace, not a copy: later blocks see what earlier ones made
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    if runner.run(session, out=report.write, clear_globs=False).failed:
        pytest.fail(report.getvalue(), pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_from_top_to_bottom(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A copy, because what a page trains may be written beside the data.
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "docs" / "concepts" / "proofs")  # where proofs.py is
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page):
        run_block(block, str(page.relative_to(ROOT)), names)


@every("page", PAGES)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert not missing


PACKAGES = [
    pytest.param(f".{name}", marks=[pytest.mark.spark] if name == "spark" else []) if name else ""
    for name in ["", *(module.name for module in pkgutil.iter_modules(candide.__path__) if module.name[0] != "_")]
]


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_of_a_package(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if package == ".spark":
        find_java()
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    first = importlib.import_module(f"candide{package}")
    inside = (
        pkgutil.walk_packages(first.__path__, f"{first.__name__}.") if package and hasattr(first, "__path__") else []
    )
    for name in [first.__name__, *(module.name for module in inside if "._" not in module.name)]:
        failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
        assert not failed, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "shown"),
    [
        ("quickstart.py", ["== one fit: True", "== 9 batches:     True"]),
        ("table.py", ["== one fit:      True", "== never trained on them: True"]),
        ("texts.py", ["equal to one fit: True"]),
    ],
)
def test_example_runs(example: str, shown: list[str]) -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / example)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert [line for line in shown if line not in done.stdout] == []


@pytest.mark.slow
def test_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the documentation tools are in the extra 'docs'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    inventory = (tmp_path / "site" / "objects.inv").read_bytes().split(b"\n", 4)[-1]  # four lines of header
    built = {line.split()[0] for line in zlib.decompress(inventory).decode().splitlines()}
    methods = {f"{name}.fit" for name in candide.__all__ if name.endswith(("NB", "Bayes"))}
    assert {f"candide.{name}" for name in {*candide.__all__, *methods} - {"__version__"}} <= built


def test_code_is_on_the_first_screen() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert "```python" in lines[:30]  # after the picture and two commands
