"""What every figure shares: how matplotlib is reached, colours, and writing to disk.

Figures are objects of their own; pyplot and its global state are not used.
"""

from __future__ import annotations

import importlib.util
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proband.errors import MissingExtraError, UnknownNameError
from proband.texts import escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")
INK = "#22303c"
FAINT = "#8a97a3"
GRID = "#e5e9ec"
SMALL = 8.5
"""Points of small letters."""
FILLS = ("#cfe5f7", "#fbdcc0", "#d3efdc", "#f3d6e6", "#f8efb9", "#e2dcf3")
LINES = ("#2f7fbf", "#d2691e", "#2e8b57", "#b3487f", "#a38a12", "#6a5acd")
NEUTRAL_FILL, NEUTRAL_LINE = "#edf0f2", "#8a97a3"


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches.

    Examples
    --------
    >>> new_figure(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            'figures need matplotlib, which is not installed; pip install "proband[figures]"'
        ) from error
    return Figure(figsize=(width, height), facecolor="white")


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format of the file's ending; the same figure gives the same file."""
    import matplotlib as mpl

    target = Path(path)
    ending = check_ending(target)
    with mpl.rc_context({"svg.hashsalt": "proband", "svg.fonttype": "none"}):
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
        figure.savefig(target, format=ending[1:], dpi=150, metadata=metadata)


def save_pages(figures: Sequence[Figure], path: str | os.PathLike[str]) -> None:
    """Write figures as the pages of one PDF."""
    from matplotlib.backends.backend_pdf import PdfPages

    with PdfPages(path, metadata={"CreationDate": None}) as pages:
        for figure in figures:
            pages.savefig(figure)


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG, to stand within an HTML page."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "proband", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def literal(text: str) -> str:
    r"""Return a text that matplotlib shows as it is: a dollar begins no formula, and no character acts.

    Examples
    --------
    >>> print(literal(r"k$ / \$"))
    k\$ / \\$
    """
    return escaped(text, keep="\n").replace("$", r"\$")


def brief(text: str, longest: int = 34) -> str:
    """Return a text that has room in a picture; a longer one is cut.

    Examples
    --------
    >>> brief("ultrasonic", 6)
    'ultra…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def in_unit(unit: str) -> str:
    """Return a unit as it stands behind a label: in brackets, or nothing.

    Examples
    --------
    >>> in_unit("USD"), in_unit("")
    (' (USD)', '')
    """
    return literal(f" ({brief(unit)})") if unit else ""


def label_axes(axes: Axes, x: str, y: str) -> None:
    """Write in small letters what the axes show."""
    axes.set_xlabel(x, fontsize=SMALL)
    axes.set_ylabel(y, fontsize=SMALL)


def check_ending(path: Path) -> str:
    """Return the file's ending, or raise if no figure can be written in it.

    Examples
    --------
    >>> check_ending(Path("tree.PNG"))
    '.png'
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UnknownNameError(
            f"{path}: the ending {ending!r} is not one of a figure; figures end in {', '.join(ENDINGS)}; rename it"
        )
    return ending


def colours(n: int, count: int) -> tuple[str, str]:
    """Return fill and line of decision n out of `count`; neutral when they are too many to tell apart."""
    if count > len(FILLS):
        return NEUTRAL_FILL, NEUTRAL_LINE
    return FILLS[n], LINES[n]
