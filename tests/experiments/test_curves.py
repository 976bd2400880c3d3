"""What figures show is kept beside them, and is enough to draw them again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proband.errors import TableError
from proband.experiments import EXPERIMENTS, Experiment, TidyTable, read_table
from proband.experiments.curves import read_curves, redraw, write_curves
from proband.experiments.plots import drawings
from proband.experiments.report import report

DOCUMENTED = Path(__file__).parents[2] / "docs" / "experiments"


def test_a_page_is_drawn_again_as_it_was(folder: Path, tmp_path: Path, small: Experiment) -> None:
    pictures = [path for path in report(small, folder, tmp_path) if path.suffix == ".png"]
    before = {path: path.read_bytes() for path in pictures}
    for path in pictures:
        path.unlink()
    assert redraw(tmp_path) == pictures
    assert {path: path.read_bytes() for path in pictures} == before


def test_curves_are_read_as_they_were_written(swept: TidyTable, tmp_path: Path) -> None:
    found = drawings(swept, EXPERIMENTS["lower-bound-single"])
    write_curves(tmp_path / "x-curves.json", found)
    again = read_curves(tmp_path / "x-curves.json")
    assert [(each.name, each.kind, each.words) for each in again] == [(d.name, d.kind, d.words) for d in found]
    for one, other in zip(found, again, strict=True):
        for line, same in zip([*one.regrets, *one.ratios], [*other.regrets, *other.ratios], strict=True):
            assert (line.agent, line.slope) == (same.agent, same.slope)
            np.testing.assert_array_equal(same.x, line.x)  # 1,048,576 is a power of two, and 1,048,580 none
            np.testing.assert_allclose(same.mean, line.mean, rtol=1e-5)
            np.testing.assert_allclose(same.spread, line.spread, rtol=1e-5)


def test_a_folder_without_curves_and_a_damaged_file_are_told(folder: Path, tmp_path: Path, small: Experiment) -> None:
    with pytest.raises(TableError, match="a report of an experiment writes one"):
        redraw(tmp_path)
    path = tmp_path / "x-curves.json"
    write_curves(path, drawings(read_table(folder), small))
    [content] = json.loads(path.read_text())
    for damaged in ({**content, "kind": "pie"}, {**content, "name": "../x"}, {**content, "words": {}}, 3):
        path.write_text(json.dumps([damaged]))
        with pytest.raises(TableError, match="no curves"):
            redraw(tmp_path)


@pytest.mark.parametrize("path", sorted(DOCUMENTED.glob("*-curves.json")), ids=lambda path: path.stem)
def test_the_figures_of_the_pages_have_their_curves(path: Path) -> None:
    name = path.name.removesuffix("-curves.json")
    for drawing in read_curves(path):
        assert (DOCUMENTED / f"{name}-{drawing.name}.png").is_file()
        assert drawing.words.title == EXPERIMENTS[name].title
