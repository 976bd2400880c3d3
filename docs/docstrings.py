"""Docstrings, numpydoc with roles of reStructuredText, as the Markdown that MyST reads."""

from __future__ import annotations

import inspect
import re

LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises")
_INLINE = re.compile(r"``(?P<code>.+?)``|:(?P<role>[a-z]+):`(?P<target>[^`]+)`|`(?P<name>[^`]+)`", flags=re.DOTALL)
_SPECIAL = re.compile(r"([\\*_\[\]<>$|#~{}])")
_STRESSED = re.compile(r"(?<![\w*\\])\\\*([A-Za-z]+(?: [A-Za-z]+)*)\\\*(?![\w*])")
"""Words between asterisks, once these are escaped; S* and the like stay as they are."""


def first_line(text: str | None) -> str:
    """Return the first sentence or line as Markdown."""
    return inline(" ".join(inspect.cleandoc(text or "").split("\n\n")[0].split()))


def markdown(text: str | None) -> list[str]:
    """Return lines of Markdown."""
    if not text:
        return []
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$\n?", inspect.cleandoc(text), flags=re.MULTILINE)
    lines = blocks(parts[0])
    for title, content in zip(parts[1::2], parts[2::2], strict=True):
        body = entries(content) if title in LISTS else blocks(content)
        lines += [f"**{title}**", "", *body]
    return lines


def entries(text: str) -> list[str]:
    """Return a list of what a function takes or gives."""
    lines: list[str] = []
    for name, body in re.findall(r"^(\S.*)\n?((?:(?:[ \t]+.*|)\n?)*)", text, flags=re.MULTILINE):
        term, _, sort = name.partition(" : ")
        told = f"`{term}`" + (f" ({inline(sort)})" if sort else "")
        inner = blocks(inspect.cleandoc(body))
        if inner and inner[-1] == "" and inner.count("") == 1:
            inner.pop()  # a paragraph alone: the list stays tight
        lines += [f"- {told}{': ' + inner[0] if inner else ''}", *("  " + line if line else "" for line in inner[1:])]
    return [*lines, ""]


def blocks(text: str) -> list[str]:
    """Return paragraphs, lists, examples, formulae and tables."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if not block.strip():
            continue
        if block.lstrip().startswith(">>>"):
            lines += _fenced(inspect.cleandoc(block), "pycon")
        elif block.startswith(".. math::"):
            lines += _fenced(inspect.cleandoc(block.removeprefix(".. math::")), "{math}")
        elif block.startswith("==="):
            lines += _table(block)
        elif block.startswith(" ") and not re.match(r" *(?:[-*]|\d+\.) ", block):
            lines += _fenced(inspect.cleandoc("\n" + block), "text")
        else:
            lines += [*_paragraph(block), ""]
    return lines


def _paragraph(block: str) -> list[str]:
    """Return a paragraph or a list, whose indentation stays; what hangs indented below a line goes on with it."""
    lines = inline(re.sub(r"::$", ":", block)).split("\n")
    return [re.sub(r"^( *)([-+*]|\d+[.)])(?! )", r"\1\\\2", re.sub(r"^( *)\\\*(?= )", r"\1*", line)) for line in lines]


def inline(text: str) -> str:
    """Return words with their code, names and references."""
    made, end = "", 0
    for match in _INLINE.finditer(text):
        made += _plain(text[end : match.start()])
        if match["role"] == "math":
            made += f"{{math}}`{match['target']}`"
        elif match["role"]:
            made += f"{{py:obj}}`{match['target']}`"
        else:
            made += f"`{match['code'] or match['name']}`"
        end = match.end()
    return made + _plain(text[end:])


def _plain(text: str) -> str:
    """Return words without code, in which only what is stressed has a meaning to Markdown."""
    return _STRESSED.sub(r"*\1*", _SPECIAL.sub(r"\\\1", text))


def _fenced(text: str, language: str) -> list[str]:
    return [f"~~~{language}", *text.split("\n"), "~~~", ""]


def _table(block: str) -> list[str]:
    """Return a simple table of reStructuredText; a row without a first column goes on with the one before."""
    rule, *rows = block.split("\n")
    starts = [match.start() for match in re.finditer(r"=+", rule)]
    found: list[list[str]] = []
    for row in rows:
        if row.startswith("==="):
            continue
        cells = [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        if cells[0]:
            found.append(cells)
        else:
            found[-1] = [" ".join((one, more)).strip() for one, more in zip(found[-1], cells, strict=True)]
    told = ["| " + " | ".join(inline(cell) for cell in cells) + " |" for cells in found]
    return [told[0], "|" + "---|" * len(starts), *told[1:], ""]
