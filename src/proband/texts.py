"""Text that does not act: which characters a name may not have, and how text is shown that has them all the same.

A terminal obeys control characters, bidirectional marks turn what is read around, and nobody sees a zero-width one. A
name has none of these (but for the joiners, without which some scripts cannot be written). Text that came from
elsewhere (an older log, a file's name, an error of a library) is shown with them escaped. A spreadsheet takes a cell
that begins with =, +, - or @ for a formula: an apostrophe before it makes it text, and is taken away when the table is
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from proband.errors import ProbandError

_ACTING = re.compile(
    "[\0-\x1f\x7f-\x9f"  # control characters, the line feed and the escape among them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks, embeddings, overrides and isolates
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"  # invisible
    "\u2028\u2029\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # separators of lines, other formatting
    "\U000e0000-\U000e007f\ud800-\udfff]"  # tags, halves of surrogate pairs
)
_PASSWORD = re.compile(
    r"(://[^:@/\s]*:)(?![0-9]{1,5}(?:[^0-9a-z@][^@]*)?$)(?:.*(?=@)|.+)|((?:passw(?:or)?d|pwd|secret)\w*\s*=).+",
    re.IGNORECASE | re.MULTILINE,
)
_FORMULA = re.compile(r"['\s]*[=+\-@\t\r\n＝＋－＠]")
_HARMLESS = re.compile(r"[+-]+|[+-]?[0-9]+([.,][0-9]+)?")


def check_plain(what: str, text: str, error: type[ProbandError]) -> str:
    r"""Return a text that has no character that acts, or raise.

    Examples
    --------
    >>> from proband.errors import ProblemError
    >>> check_plain("the unit", "mm²", ProblemError)
    'mm²'
    >>> check_plain("the unit", "mm" + chr(27) + "[2J", ProblemError)
    Traceback (most recent call last):
    proband.errors.ProblemError: the unit is 'mm\x1b[2J', with the character U+001B; control characters, line ...
    """
    if not isinstance(text, str):
        raise error(f"{what} is {text!r}; it must be a text; put it in quotes")
    found = _ACTING.search(text)
    if found is None:
        return text
    raise error(
        f"{what} is {quoted(text)}, with the character U+{ord(found[0]):04X}; control characters, line breaks, "
        "bidirectional marks and invisible characters would act on a terminal or deceive its reader; leave them out"
    )


def escaped(text: str, *, keep: str = "", escape: Callable[[str], str] | None = None) -> str:
    r"""Return a text with every character that acts shown as an escape, apart from those to keep.

    Examples
    --------
    >>> print(escaped("clear" + chr(27) + "[2J screen"))
    clear\x1b[2J screen
    """
    show = _escape if escape is None else escape
    return _ACTING.sub(lambda found: found[0] if found[0] in keep else show(found[0]), text)


def quoted(text: str, *, longest: int = 80) -> str:
    """Return a text in quotes for a message: escaped, and cut if it is long."""
    return f"'{escaped(text[:longest])}'" + ("..." if len(text) > longest else "")


def without_passwords(text: str) -> str:
    """Return a message without what looks like a password in an address, for whoever gave one in the wrong place.

    What follows the colon of an address, unless it is a port, goes to the last @ of the line or to its end; what
    follows the word password goes to its end.

    Examples
    --------
    >>> without_passwords("there is no study 'postgresql://qa:secret@host:5432/bolts' in sqlite:///proband.db")
    "there is no study 'postgresql://qa:...@host:5432/bolts' in sqlite:///proband.db"
    """
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}...", text)


def cell_of(text: str) -> str:
    """Return a text as it stands in a cell of a spreadsheet, where it is no formula.

    Signs alone and numbers, which calculate nothing, stay as they are.

    Examples
    --------
    >>> [cell_of(text) for text in ("=1+1", "ok", "++", "'=1")]
    ["'=1+1", 'ok', '++', "''=1"]
    """
    return f"'{text}" if _FORMULA.match(text) and not _HARMLESS.fullmatch(text) else text


def text_of(cell: str) -> str:
    """Return the text of a cell; the inverse of :func:`cell_of`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
