"""The rooms of studies: imports point down only, from room to room."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import proband.studies

ROOMS = (
    ("study",),
    ("amendments", "queries"),
    ("searching",),
    ("operations",),
    ("summary",),
    ("exchange", "learning", "drift"),
    ("log",),
    ("events",),
    ("ledger",),
    ("stores",),
)
HEIGHT = {room: -depth for depth, rooms in enumerate(ROOMS) for room in rooms}
SOURCE = Path(proband.studies.__file__).parent
PACKAGE = proband.studies.__name__


def imported(path: Path) -> set[str]:
    """Return the rooms that a module imports from, also where only types need them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{PACKAGE}."):
            found.add(str(node.module).removeprefix(f"{PACKAGE}.").split(".")[0])
    return found


def test_every_room_has_its_place() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__"} == set(HEIGHT)


@pytest.mark.parametrize("room", sorted(HEIGHT))
def test_imports_point_down(room: str) -> None:
    for path in [SOURCE / f"{room}.py", *(SOURCE / room).rglob("*.py")]:
        if path.exists():
            wrong = {other for other in imported(path) - {room} if HEIGHT[other] >= HEIGHT[room]}
            assert not wrong, f"{path.relative_to(SOURCE)} imports {wrong}"


def test_importing_studies_brings_neither_compilers_nor_drivers() -> None:
    heavy = [
        "numba",
        "scipy.stats",
        "matplotlib",
        "psycopg",
        "pyarrow",
        "proband.agents.registry",
        "proband.planners.choice",
    ]
    script = f"import sys, proband.studies; print([name for name in {heavy} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
