"""Names in the code are standard terms, and the documentation is written in plain words.

Early versions had names and phrases that no reader could search for. Names are looked for in the syntax tree, where
words of comments and strings do not matter, and phrases in documentation, docstrings and messages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tiers import every

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "candide").rglob("*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FOLDERS = ("docs", "examples", "benchmarks")
PAGES = [*sorted(ROOT.glob("*.md")), *(path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.md")))]

# Former names with a standard term in their place. Ordinary words that were names as well, such as look, part, place,
# sound, measure and spread (of a distribution), are not listed.
FORMER_NAMES = set(
    re.findall(
        r"\w+",
        """
    Answers Apart BandTable Blended Casting Counted Desk Findings Growing Growth Honest Looked Mixture Plan Recipe Shell
    Smaller SpreadRows Verdicts afar ahead all_or_nothing aside asked bands beliefs beside blend blocked_folds cosines
    heaviest holes honest house idle incoming keep_sample lasting lean learners log_evidence nouns odd_cells prose
    remark room set_aside settle settled shells smaller strangers stretches telling traveller turns unlabelled waves
    wary wishes
    """,
    )
)
FORMER_MODULES = FORMER_NAMES | {"forms", "guard", "look", "sound", "places"}

FORMER_PHRASES = (
    r"naive bayes for python, whole",
    r"at home anywhere",
    r"leaves? (?:home|the house)",
    r"when somebody dies",
    r"what travels",
    r"a page about (?:a|the) model",
    r"beside other software",
    r"claims often met",
    r"tables as they are",
    r"what a state weighs",
    r"nothing is learned from nothing",
    r"has learned nothing yet",
    r"its own say",
    r"rows that are already here",
    r"what learners and clusters know",
    r"texts among other columns",
    r"honestly",
    r"columns that compete",
    r"(?:on or off|holes) in (?:a|the) (?:row|column|table)s?",
    r"the textbook's model",
    r"nobody (?:measured|observed|met|knows)",
    r"speaks? (?:for|against)",
    r"say wild things",
    r"the blend\b",
    r"somebody (?:asks|predicted)",
    r"(?:data|rows|columns|models?) (?:speak|believe|travel|die)s?\b",
    r"before the data speak",
    r"with itself left out",
    r"(?:the|of) rows given\b",
    r"tells? (?:nothing|of (?!the))",
    r"never saw (?:it|them)\b",
    r"falls? due",
    r"of up to \d+ distinct",
    r"there the prior",
)
BRITISH = (
    r"\b\w*(?:normal|regular|standard|memor|discret|token|minim|maxim|summar|optim|organ|recogn|initial|serial|vector)"
    r"is(?:e|ed|es|ing|ation|er|ers)\b",
    r"\b(?:colour|favour|neighbour|behaviour|honour|labour)\w*",
    r"\b(?:modell|labell|cancell|travell)(?:ed|ing)\b",
    r"\b(?:centre|metre|litre|grey|analyse|catalogue)[sd]?\b",
)


def names_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names in a syntax tree, with their lines."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name, getattr(node, "lineno", 0)


def strings_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield docstrings and messages, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value, node.lineno


def found_in(text: str, patterns: tuple[str, ...]) -> list[str]:
    return [match[0] for pattern in patterns for match in re.finditer(pattern, re.sub(r"\s+", " ", text), re.I)]


def test_modules_have_standard_names() -> None:
    assert [str(path) for path in SOURCES if path.stem.strip("_") in FORMER_MODULES] == []


@every("path", SOURCES)
def test_names_are_standard_terms(path: Path) -> None:
    names = names_of(ast.parse(path.read_text(encoding="utf-8")))
    assert [f"{name}, line {line}" for name, line in names if name.strip("_") in FORMER_NAMES] == []


@every("path", [*SOURCES, *EXAMPLES])
def test_docstrings_and_messages_are_plain(path: Path) -> None:
    strings = strings_of(ast.parse(path.read_text(encoding="utf-8")))
    patterns = FORMER_PHRASES + BRITISH
    assert [f"{found}, line {line}" for text, line in strings for found in found_in(text, patterns)] == []


@every("path", PAGES)
def test_documentation_is_plain(path: Path) -> None:
    assert found_in(path.read_text(encoding="utf-8"), FORMER_PHRASES + BRITISH) == []
