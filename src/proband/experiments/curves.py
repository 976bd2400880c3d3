"""What the figures of a run show, in one file beside them: from it they are drawn again, without running anything.

A page keeps its numbers and its figures, not the table of its run, which is too large. ``NAME-curves.json`` has for
each figure its words and its lines: where exactly, and how high to six digits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proband import files
from proband.errors import TableError
from proband.figures import Curve, Words, draw_mean, draw_regret, draw_sweep, save_figure
from proband.vocabulary import FloatArray

ENDING = "-curves.json"
DIGITS = 6
KINDS = ("regret", "mean", "sweep")


@dataclass(frozen=True)
class Drawing:
    """One figure: its name, of which kind it is (``regret``, ``mean``, ``sweep``), its words and its lines."""

    name: str
    kind: str
    words: Words
    regrets: Sequence[Curve]
    ratios: Sequence[Curve]

    def save(self, path: Path) -> None:
        """Draw the figure into a file."""
        if self.kind == "mean":
            figure = draw_mean(self.regrets, self.words)
        else:
            figure = (draw_sweep if self.kind == "sweep" else draw_regret)(self.regrets, self.ratios, self.words)
        save_figure(figure, path)


def draw(drawings: Sequence[Drawing], folder: Path, stem: str) -> list[Path]:
    """Write figures as PNG, ``STEM`` and their names; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}{drawing.name}.png" for drawing in drawings]
    for drawing, path in zip(drawings, paths, strict=True):
        drawing.save(path)
    return paths


def redraw(folder: Path) -> list[Path]:
    """Draw the figures of all pages in a folder again; return their paths."""
    found = sorted(folder.glob(f"*{ENDING}"))
    if not found:
        raise TableError(f"{folder}: there is no *{ENDING}; a report of an experiment writes one; name its folder")
    return [path for one in found for path in draw(read_curves(one), folder, one.name.removesuffix(ENDING) + "-")]


def write_curves(path: Path, drawings: Sequence[Drawing]) -> None:
    """Write what figures show, a line of each figure in a line."""
    lines = ",\n".join(json.dumps(_content(drawing), ensure_ascii=False, allow_nan=False) for drawing in drawings)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read_curves(path: Path) -> list[Drawing]:
    """Return what figures show.

    Examples
    --------
    >>> import tempfile
    >>> curve = Curve("greedy", np.array([1.0, 2.0]), np.array([0.5, math.nan]), np.array([0.1, 0.1]), "0.50")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "x-curves.json"
    ...     write_curves(path, [Drawing("regret", "mean", Words("Title", "", "greedy"), [curve], [])])
    ...     [drawing] = read_curves(path)
    >>> drawing.regrets[0].mean.tolist(), drawing.words.title
    ([0.5, nan], 'Title')
    """
    content = files.read_json(path, TableError)
    try:
        return [_drawing(each) for each in content]
    except (KeyError, TypeError, ValueError) as cause:
        raise TableError(f"{path}: it has no curves of figures ({cause}); write the report of the run again") from cause


def _content(drawing: Drawing) -> dict[str, Any]:
    lines = {key: [_line(curve) for curve in getattr(drawing, key)] for key in ("regrets", "ratios")}
    return {"name": drawing.name, "kind": drawing.kind, "words": asdict(drawing.words), **lines}


def _line(curve: Curve) -> dict[str, Any]:
    heights = {key: _numbers(getattr(curve, key)) for key in ("mean", "spread")}
    return {"agent": curve.agent, "slope": curve.slope, "x": _exact(curve.x), **heights}


def _exact(values: FloatArray) -> list[float]:
    return [int(value) if value.is_integer() else value for value in values.tolist()]


def _numbers(values: FloatArray) -> list[float | None]:
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()]


def _drawing(content: dict[str, Any]) -> Drawing:
    if content["kind"] not in KINDS or not re.fullmatch(r"[\w.-]+", content["name"]):
        raise ValueError(f"{content['name']!r} of kind {content['kind']!r}")
    regrets, ratios = ([_curve(line) for line in content[key]] for key in ("regrets", "ratios"))
    return Drawing(content["name"], content["kind"], Words(**content["words"]), regrets, ratios)


def _curve(line: dict[str, Any]) -> Curve:
    x, mean, spread = (np.array(line[key], dtype=np.float64) for key in ("x", "mean", "spread"))  # None becomes NaN
    return Curve(str(line["agent"]), x, mean, spread, str(line["slope"]))
