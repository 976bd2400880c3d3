"""Menus of the terminal: one row stands out, keys move it, and no more rows are drawn than the terminal has.

On a terminal the arrow keys move and Enter chooses; numbers choose at once. Where input is not a terminal, the same
menus read a number from each line: a script can drive them. Rows that are too long are broken at words, and where there
are more rows than lines those around the chosen one are shown.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import typer

from proband.cli import printing
from proband.texts import escaped

UP, DOWN, ENTER, QUIT = "up", "down", "enter", "quit"
KEYS = (
    dict.fromkeys(("\x1b[A", "\x1bOA", "k"), UP)
    | dict.fromkeys(("\x1b[B", "\x1bOB", "j"), DOWN)
    | {"\r": ENTER, "\n": ENTER, "q": QUIT}
)
FEWEST_COLUMNS, FEWEST_LINES = 20, 4


def choose(title: str, options: Sequence[str]) -> int | None:
    """Let the operator choose one option; None to leave."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _choose_by_keys(title, options)
    printing.say(title)
    for n, option in enumerate(options):
        printing.say(f"  {n + 1}  {option}")
    while True:
        line = sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit"):
            return None
        if line.strip().isdigit() and 1 <= int(line) <= len(options):
            return int(line) - 1
        printing.say(f"{line.strip()!r} is no number from 1 to {len(options)}; try again, or q to leave")


def ask(question: str) -> str:
    """Let the operator write a line."""
    printing.say(f"{question}: ", line=False)
    return sys.stdin.readline().strip()


def tell(text: str, *, error: bool = False) -> None:
    """Say something, broken at words where it is read on a terminal."""
    for line in text.split("\n"):
        lines = wrapped(line, columns=shutil.get_terminal_size().columns) if sys.stdout.isatty() else [line]
        for part in lines:
            printing.say(part, error=error)


def wrapped(text: str, *, columns: int, first: str = "", others: str = "") -> list[str]:
    """Return the lines of a text, broken at words.

    Examples
    --------
    >>> wrapped("a test of the weight", columns=12, first="1  ", others="   ")
    ['1  a test of', '   the', '   weight']
    """
    return textwrap.wrap(text, max(columns, FEWEST_COLUMNS // 2), initial_indent=first, subsequent_indent=others) or [
        first
    ]


class Window(NamedTuple):
    """The options that are shown, from `start` up to `stop`."""

    start: int
    stop: int


def window(heights: Sequence[int], place: int, room: int) -> Window:
    """Return the options around the chosen one that have room; the chosen one always has.

    Examples
    --------
    >>> window([1, 1, 1, 1, 1], 4, 3), window([1, 1, 1, 1, 1], 0, 3), window([2, 2, 2], 1, 3)
    (Window(start=2, stop=5), Window(start=0, stop=3), Window(start=1, stop=2))
    """
    start, stop, used = place, place + 1, heights[place]
    while True:
        if start > 0 and used + heights[start - 1] <= room and (place - start <= stop - place or stop == len(heights)):
            start -= 1
            used += heights[start]
        elif stop < len(heights) and used + heights[stop] <= room:
            used += heights[stop]
            stop += 1
        elif start > 0 and used + heights[start - 1] <= room:
            start -= 1
            used += heights[start]
        else:
            return Window(start, stop)


def _drawn(options: Sequence[str], place: int) -> list[str]:
    """Return the lines of a menu on this terminal, the chosen option in reverse video."""
    columns, lines = shutil.get_terminal_size()
    rows = [
        wrapped(escaped(option), columns=columns - 1, first=f" {n + 1:>2}  ", others="     ")
        for n, option in enumerate(options)
    ]
    room = max(lines - 2, FEWEST_LINES)
    shown = window([len(row) for row in rows], place, room)
    if shown.stop - shown.start < len(rows):
        shown = window([len(row) for row in rows], place, max(room - 1, 1))
    drawn = [
        f"\x1b[7m{line} \x1b[0m" if n == place else line
        for n in range(shown.start, shown.stop)
        for line in rows[n]
    ]  # fmt: skip
    if shown.stop - shown.start < len(rows):
        drawn.append(f"     ({shown.start + 1} to {shown.stop} of {len(rows)})")
    return drawn


def _choose_by_keys(title: str, options: Sequence[str]) -> int | None:
    tell(f"{title}   (arrows and Enter, or a number; q to leave)")
    place, typed = 0, ""
    while True:
        drawn = _drawn(options, place)
        for line in drawn:
            typer.echo(f"\x1b[2K{line}")
        key = _key()
        if key in (QUIT, ENTER):
            return place if key == ENTER else None
        if key.isdigit():
            typed = (typed + key)[-2:]
            wanted = next((int(t) for t in (typed, key) if 1 <= int(t) <= len(options)), 0)
            if wanted and wanted * 10 > len(options):
                return wanted - 1
            place = max(wanted - 1, 0)
        elif key in (UP, DOWN):
            typed, place = "", (place + (1 if key == DOWN else -1)) % len(options)
        typer.echo(f"\x1b[{len(drawn)}A\x1b[J", nl=False)


def _key() -> str:
    """Read one key from the terminal."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        read = os.read(descriptor, 8)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    text = read.decode(errors="replace")
    return KEYS.get(text, text)
