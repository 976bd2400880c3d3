"""CONTRIBUTING.md tells truly which files a new piece touches, and they are few."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "proband"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FEW = {"agent": 3, "planner": 3, "store": 3, "reward, listed or measured": 5, "law": 5}


def rows() -> dict[str, list[str]]:
    """Return the cells of the table of pieces, by piece."""
    lines = [line for line in GUIDE.split("## Adding a piece")[1].split("\n## ")[0].splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return {piece: rest for piece, *rest in cells}


def paths(cell: str) -> list[str]:
    return re.findall(r"`((?:[a-z_]+/)*[a-z_-]+\.(?:py|md))`", cell)


def test_every_file_of_the_table_exists_and_new_ones_have_a_room() -> None:
    table = rows()
    assert FEW.keys() <= table.keys()
    for piece, (own, *touched) in table.items():
        assert (SOURCE / paths(own)[0]).parent.is_dir(), piece
        for path in (path for cell in touched for path in paths(cell) if "/" in path):
            assert (SOURCE / path).exists() or (ROOT / path).exists(), f"{piece}: {path}"


def test_a_piece_touches_few_files() -> None:
    for piece, most in FEW.items():
        _, *touched = rows()[piece]
        assert 1 + sum(len(paths(cell)) for cell in touched) <= most, piece


def test_the_files_that_the_guide_names_exist() -> None:
    named = [path for path in re.findall(r"`((?:src|tests|docs)/[\w/.-]+)`", GUIDE) if "mine" not in path]
    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []
