"""The gallery shows every picture, says what is on it, and becomes a page with pictures."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tiers import late

plt = late("matplotlib.pyplot")
ROOT = Path(__file__).resolve().parents[2]
PAGES = "how-to/plots.md", "tutorials/teaching.md"
GALLERY = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)


def pictures() -> list[str]:
    return [name for name in importlib.import_module("candide.plot").__all__ if name != "Display"]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    pytest.importorskip("mkdocs", reason="the documentation tools are in the extra 'docs'")
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(hook: ModuleType, markdown: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, bytes]]:
    files: list[tuple[str, bytes]] = []
    made = SimpleNamespace(generated=lambda config, path, content: (path, content))
    monkeypatch.setattr(hook, "File", made)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="models/page.md"))
    config = SimpleNamespace(config_file_path=str(ROOT / "mkdocs.yml"))
    return hook.on_page_markdown(markdown, page, config, files), dict(files)


def test_every_picture_is_shown() -> None:
    missing = [name for name in pictures() if f"candide.plot.{name}(" not in GALLERY]
    assert not missing


def test_every_picture_is_described() -> None:
    texts = re.findall(r"<!-- picture: (.*?) -->", GALLERY)
    assert len(texts) > len(pictures()) + 1
    assert [text for text in texts if len(text) < 50] == []


def test_a_picture_is_put_into_the_page(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "```python\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\n```"
    page, files = run(hook, f"Look:\n\n{code}\n\n<!-- picture: A line. -->\n", monkeypatch)
    assert page == f"Look:\n\n{code}\n\n![A line.](page-1.svg)\n"
    assert files["models/page-1.svg"].startswith(b"<?xml")
    assert not plt.get_fignums()


def test_a_page_without_pictures_is_not_run(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "```python\nraise SystemExit\n```\n"
    assert run(hook, code, monkeypatch) == (code, {})


def test_a_picture_that_nobody_drew_is_an_error(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="has drawn none"):
        run(hook, "```python\nx = 1\n```\n\n<!-- picture: Nothing. -->\n", monkeypatch)
