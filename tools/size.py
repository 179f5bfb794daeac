"""Size of the source: files, code lines, import lines, the median and the largest file.

    python tools/size.py                       # the working tree
    python tools/size.py --revision 604358e    # a revision of git

Code lines are lines that hold code: no blank lines, comments or docstrings. Import lines are those of import
statements, or of `#include`.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import statistics
import subprocess
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"src": (".py",), "cpp": (".cpp", ".hpp")}
_NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip
# Strings are matched too, because they may hold the signs of a comment.
_CPP_PARTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


class Size(NamedTuple):
    """Lines of one file."""

    path: str
    lines: int
    code: int
    imports: int


def size_of(path: str, text: str) -> Size:
    """Return the size of one file."""
    code, imports = python_lines(text) if path.endswith(".py") else cpp_lines(text)
    return Size(path, len(text.splitlines()), code, imports)


def python_lines(text: str) -> tuple[int, int]:
    """Return the number of code lines and of import lines of a Python module."""
    tree = ast.parse(text)
    docstrings, imports = set[int](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings), len(imports)


def cpp_lines(text: str) -> tuple[int, int]:
    """Return the number of code lines and of `#include` lines of a C++ file."""

    def without_comments(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n") if match[0].startswith("/") else match[0]

    lines = [line.strip() for line in _CPP_PARTS.sub(without_comments, text).splitlines()]
    return sum(map(bool, lines)), sum(line.startswith("#include") for line in lines)


def read(folder: str, revision: str | None) -> dict[str, str]:
    """Return the text of the source files in a folder, by path."""
    if revision is None:
        found = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in FOLDERS[folder])
        return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}
    names = git("ls-tree", "-r", "--name-only", revision, f"{folder}/").splitlines()
    return {name: git("show", f"{revision}:{name}") for name in names if name.endswith(FOLDERS[folder])}


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the size of src and cpp.")
    parser.add_argument("--revision", help="a revision of git; the working tree, if none is given")
    revision = parser.parse_args().revision
    print(f"{'':4}{'files':>7}{'lines':>9}{'code':>9}{'imports':>9}{'median':>8}  largest")
    for folder in FOLDERS:
        sizes = [size_of(path, text) for path, text in read(folder, revision).items()]
        largest = max(sizes, key=lambda size: size.lines)
        lines, code, imports = (sum(size[i] for size in sizes) for i in (1, 2, 3))
        median = statistics.median(size.lines for size in sizes)
        print(f"{folder:4}{len(sizes):7}{lines:9,}{code:9,}{imports:9,}{median:8.0f}  {largest.lines} {largest.path}")


if __name__ == "__main__":
    main()
