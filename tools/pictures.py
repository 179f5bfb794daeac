"""A hook of mkdocs: pages that show pictures are run while the site is built, and the pictures are put into them.

In a page, a line ``<!-- picture: what is to be seen -->`` after a python block stands for the figure that the block has
drawn, with that text for those who do not see it. The blocks of a page share one namespace, as in tests/test_docs.py.
"""

from __future__ import annotations

import contextlib
import io
import re
from doctest import DocTestParser
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

PART = re.compile(r"^```python\n(?P<code>.*?)^```$|^<!-- picture: (?P<alt>.*?) -->$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page with its pictures."""
    if "<!-- picture:" not in markdown:
        return markdown
    names: dict[str, Any] = {"__name__": "__main__"}
    path = Path(page.file.src_uri)
    drawn: list[str] = []

    def put(part: re.Match[str]) -> str:
        if part["code"] is not None:
            exec(compile(program(part["code"]), str(path), "exec"), names)
            return part[0]
        drawn.append(f"{path.stem}-{len(drawn) + 1}.svg")
        files.append(File.generated(config, str(path.with_name(drawn[-1])), content=figure()))
        return f"![{part['alt']}]({drawn[-1]})"

    with contextlib.chdir(Path(config.config_file_path).parent), contextlib.redirect_stdout(io.StringIO()):
        return PART.sub(put, markdown)


def program(code: str) -> str:
    """What a block runs: of one with prompts, what stands behind them, but for errors that are to be seen."""
    if not code.lstrip().startswith(">>>"):
        return code
    return "".join(example.source for example in DocTestParser().get_examples(code) if example.exc_msg is None)


def figure() -> bytes:
    """The latest figure; all are closed."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "candide"  # the same picture is the same file
    if not plt.get_fignums():
        raise ValueError("a page asks for a picture, and its code has drawn none")
    out = io.BytesIO()
    plt.savefig(out, format="svg", metadata={"Date": None})
    plt.close("all")
    return out.getvalue()
