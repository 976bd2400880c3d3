"""The pieces of a report, whatever it is written as: what is said stands here once, and HTML and Markdown show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Heading:
    """The beginning of a section; level 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Said:
    """A paragraph; one that warns or assures stands out."""

    text: str
    alarm: bool | None = None


@dataclass(frozen=True)
class Tiles:
    """The most important numbers: a name and a number each."""

    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Listing:
    """A list of sentences."""

    lines: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: the first columns are words, the others numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Preformatted:
    """Lines whose blanks matter."""

    text: str


@dataclass(frozen=True)
class Picture:
    """Figures of matplotlib, where pictures can be shown; what stands instead of them where they cannot."""

    draw: Callable[[], Sequence[Any]]
    instead: Sequence[Block] = field(default=())


Block = Heading | Said | Tiles | Listing | Grid | Preformatted | Picture
