"""Names, classes and texts that would break a page, or run in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from tiers import every

from candide import NaiveBayes, TextNB
from candide.report.charts import escape_text, user_text

from .reading import check

NASTY = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></svg></bdi>",
    "<!-- -->",
    "]]> &amp; &lt; &#0;",
    "‮txet desrever‬ שלום مرحبا",
    "😀👩‍👩‍👧‍👦\U0001f1e8\U0001f1ed",
    "a\x00b\x1b[31m\r\n\tc",
    "lone \ud800 surrogate",
    "' onclick='x' `",
    "https://example.org/x.js",
    "word " * 2000,
    "x" * 10_000,
    "",
    " ",
]


def sound(source: str) -> Any:
    page = check(source)
    assert len(source.encode()) < 500_000
    assert "\x00" not in source
    assert "\x1b" not in source
    return page


def storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@every("text", NASTY)
def test_text_of_a_user(text: str) -> None:
    written = user_text(text)
    page = check_fragment(written)
    assert [one.tag for one in page.elements] == ["html", "bdi"]
    assert len(page.elements[1].text) <= 60
    assert not set("\"'<>") & set(escape_text(text))


def check_fragment(written: str) -> Any:
    from .reading import Page

    return Page(f"<html>{written}</html>")


def test_names_of_columns_classes_and_values() -> None:
    names = [text or "empty" for text in NASTY]
    names[-1] = "blank"
    rng = np.random.default_rng(0)
    labels = np.array([storable(name) for name in names], dtype=object)[rng.integers(0, len(names), 60)]
    rows = {
        storable(name): np.where(rng.random(60) < 0.5, labels, labels[::-1]) if i % 2 else rng.normal(size=60)
        for i, name in enumerate(names)
    }
    model = NaiveBayes().fit(rows, labels)
    found = model.report(title=NASTY[0], notes={"source": NASTY[1]}, X=rows, y=labels)
    page = sound(found.html())
    assert NASTY[0] in page.all("h1")[0].text


def test_texts() -> None:
    texts = [storable(text) + f" number {i}" for i in range(8) for text in NASTY]
    labels = [f"{storable(text)[:3000]}" for _ in range(8) for text in NASTY[:5] * 3]
    page = sound(TextNB().fit(texts, labels).report().html())
    assert "alert" in page.text  # it is there, as a text
