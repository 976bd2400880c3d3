"""A report as one file, HTML or Markdown: no scripts, no network, and nothing that anybody called something acts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from proband.figures import can_draw
from proband.figures.canvas import svg_of
from proband.figures.pages import WITHIN, as_html, page
from proband.reporting.blocks import Block, Grid, Heading, Listing, Picture, Preformatted, Said, Tiles
from proband.texts import escaped

SHORT = 22
"""Letters of a cell that is kept on one line."""
_ACTING = re.compile(r"[\\`*_{}\[\]|$~]")
_BEGINNING = re.compile(r"^(\s*)([0-9]*)([-+=#]|[.)](?=\s|$))")
_LINKING = re.compile(r":(?=//)|@|(?<=www)\.", re.IGNORECASE)


def as_page(title: str, blocks: Iterable[Block]) -> str:
    """Return blocks as HTML, pictures inside; tables stand for pictures where matplotlib is not installed.

    Examples
    --------
    >>> print(as_page("Report", [Said("1 < 2")]).splitlines()[-2])
    <p>1 &lt; 2</p>
    """
    return page(title, (_HTML[type(block)](block) for block in _shown(blocks, pictures=can_draw())))


def as_fragment(blocks: Iterable[Block]) -> str:
    r"""Return blocks as a piece of HTML for a page of others, such as a notebook.

    Examples
    --------
    >>> as_fragment([Said("1 < 2")])[-22:]
    '<p>1 &lt; 2</p>\n</div>'
    """
    body = "\n".join(_HTML[type(block)](block) for block in _shown(blocks, pictures=can_draw()))
    return f'<div class="proband"><style>{WITHIN}</style>\n{body}\n</div>'


def as_markdown(blocks: Iterable[Block]) -> str:
    r"""Return blocks as Markdown, in which tables and texts stand for pictures.

    Examples
    --------
    >>> print(as_markdown([Heading("a | *b*"), Grid(["x", "y"], [["<u>", "1"]])]))
    ## a \| \*b\*
    <BLANKLINE>
    | x | y |
    | :--- | ---: |
    | &lt;u&gt; | 1 |
    <BLANKLINE>
    """
    return "\n\n".join(_MARKDOWN[type(block)](block) for block in _shown(blocks, pictures=False)) + "\n"


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    safe = _ACTING.sub(lambda found: f"\\{found[0]}", escaped(text))
    safe = _BEGINNING.sub(r"\1\2\\\3", safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return _LINKING.sub(lambda found: f"&#{ord(found[0])};", safe)


def _shown(blocks: Iterable[Block], *, pictures: bool) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Picture) and not pictures:
            yield from _shown(block.instead, pictures=False)
        else:
            yield block


def _tiles(block: Tiles) -> str:
    facts = ((as_html(name), as_html(value)) for name, value in block.facts)
    cells = "".join(f'<div class="tile"><b>{value}</b><span>{name}</span></div>' for name, value in facts)
    return f'<div class="tiles">{cells}</div>'


def _grid(block: Grid) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        words = [' class="k"' if len(cell) <= SHORT else "" for cell in cells[: block.words]]
        kinds = [*words, *[' class="n"'] * (len(cells) - block.words)]
        return "".join(f"<{tag}{kind}>{as_html(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))

    body = "".join(f"<tr>{row(cells, 'td')}</tr>\n" for cells in block.rows)
    head = f"<thead><tr>{row(block.headings, 'th')}</tr></thead>"
    return f'<div class="wide"><table class="lined">{head}<tbody>\n{body}</tbody></table></div>'


def _said(block: Said) -> str:
    kind = "" if block.alarm is None else ' class="alarm"' if block.alarm else ' class="calm"'
    return f"<p{kind}>{as_html(block.text)}</p>"


def _listing(block: Listing) -> str:
    kind = "ol" if block.numbered else "ul"
    return f"<{kind}>" + "\n".join(f"<li>{as_html(line)}</li>" for line in block.lines) + f"</{kind}>"


def _pictures(block: Picture) -> str:
    return "\n".join(f"<figure>{svg_of(figure)}</figure>" for figure in block.draw())


def _preformatted(block: Preformatted) -> str:
    return "<pre>" + "\n".join(as_html(line) for line in block.text.splitlines()) + "</pre>"


_HTML: dict[type[Any], Callable[[Any], str]] = {
    Heading: lambda block: f"<h{block.level}>{as_html(block.text)}</h{block.level}>",
    Said: _said,
    Tiles: _tiles,
    Listing: _listing,
    Grid: _grid,
    Preformatted: _preformatted,
    Picture: _pictures,
}


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    rules = [":---"] * words + ["---:"] * (len(headings) - words)
    lines = [[plain(cell) for cell in headings], rules, *([plain(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _list(block: Listing) -> str:
    marks = (f"{n}." if block.numbered else "-" for n in range(1, len(block.lines) + 1))
    return "\n".join(f"{mark} {plain(line)}" for mark, line in zip(marks, block.lines, strict=True))


def _fenced(block: Preformatted) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
    return f"{fence}text\n{escaped(block.text, keep=chr(10))}\n{fence}"


_MARKDOWN: dict[type[Any], Callable[[Any], str]] = {
    Heading: lambda block: f"{'#' * block.level} {plain(block.text)}",
    Said: lambda block: ("**Note.** " if block.alarm else "") + plain(block.text),
    Tiles: lambda block: _table(["", ""], block.facts, 1),
    Listing: _list,
    Grid: lambda block: _table(block.headings, block.rows, block.words),
    Preformatted: _fenced,
}
