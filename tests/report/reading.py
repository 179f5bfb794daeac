"""A page as a browser and a screen reader see it: its elements, and what is wrong with them."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple

VOID = {"meta", "link", "br", "hr", "img", "input"}
SVG_VOID = {"circle", "line", "rect", "polyline", "path"}


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    pieces: list[str]

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())


class Page(HTMLParser):
    """Every element in order; an error where tags do not match."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(source)
        self.close()
        assert self.open == [], [one.tag for one in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        parents = tuple(one.tag for one in self.open)
        element = Element(tag, {name: value or "" for name, value in attrs}, parents, [])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG_VOID, tag
        parents = tuple(one.tag for one in self.open)
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, parents, []))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open[-1].tag == tag, (self.open[-1], tag)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)

    def all(self, tag: str) -> list[Element]:
        return [one for one in self.elements if one.tag == tag]

    @property
    def text(self) -> str:
        return self.all("body")[0].text

    def after(self, element: Element) -> list[Element]:
        """The elements inside another."""
        begin, depth = self.elements.index(element) + 1, len(element.parents)
        inside = []
        for one in self.elements[begin:]:
            if len(one.parents) <= depth:
                break
            inside.append(one)
        return inside

    def rows(self, caption: str) -> list[list[str]]:
        """The cells of the table whose caption begins so."""
        for found in self.all("table"):
            inside = self.after(found)
            if any(one.tag == "caption" and one.text.startswith(caption) for one in inside):
                rows = [one for one in inside if one.tag == "tr"]
                return [[cell.text for cell in self.after(row) if cell.tag in ("th", "td")] for row in rows]
        raise AssertionError(f"no table is called {caption!r}")


def check(source: str) -> Page:
    """All that every page has to keep to."""
    page = Page(source)
    assert source.startswith("<!DOCTYPE html>")
    assert page.all("html")[0].attributes["lang"] == "en"
    assert not page.all("script")
    assert not page.all("iframe")
    assert not page.all("img")
    assert not [one for one in page.elements if any(name.startswith("on") for name in one.attributes)]
    check_requests(page)
    check_headings(page)
    check_pictures(page)
    check_tables(page)
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [one.attributes["href"] for one in page.all("a")]
    assert {link.removeprefix("#") for link in links} <= set(ids)
    source.encode()
    return page


def check_requests(page: Page) -> None:
    """Nothing that a browser would fetch."""
    policy = [one.attributes["content"] for one in page.all("meta") if "http-equiv" in one.attributes]
    assert len(policy) == 1
    assert policy[0].startswith("default-src 'none'")
    style = page.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style
    for one in page.elements:
        assert "src" not in one.attributes
        href = one.attributes.get("href", "#")
        assert href.startswith("#") or (one.tag, href) == ("link", "data:,")
        assert "url(" not in one.attributes.get("style", "")


def check_headings(page: Page) -> None:
    """In order: none is skipped on the way down."""
    levels = [int(one.tag[1]) for one in page.elements if one.tag in ("h1", "h2", "h3", "h4", "h5")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def check_pictures(page: Page) -> None:
    """Every picture says what it shows, and has its numbers in a table behind it."""
    for svg in page.all("svg"):
        assert svg.attributes["role"] == "img"
        inside = page.after(svg)
        assert inside[0].tag == "title"
        assert inside[0].text
        assert any(one.tag == "desc" and one.text for one in inside)
        assert "figure" in svg.parents
    for figure in page.all("figure"):
        tags = [one.tag for one in page.after(figure)]
        assert "figcaption" in tags
        assert tags.index("details") < tags.index("table")


def check_tables(page: Page) -> None:
    """Headings of rows and columns are known as such."""
    for table in page.all("table"):
        assert any(one.tag == "caption" and one.text for one in page.after(table))
    for head in page.all("th"):
        assert head.attributes.get("scope") in ("row", "col")
    for wide in (one for one in page.all("div") if one.attributes.get("tabindex")):
        assert wide.attributes["aria-label"]
