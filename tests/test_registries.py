import subprocess
import sys
from pathlib import Path

import pytest

from proband.registries import Registry


@pytest.fixture
def registry() -> Registry[object]:
    return Registry("proband.nobodys", "constant", ValueError, {"pi": "math:pi", "lost": "math:lost"})


def test_a_piece_is_loaded_when_it_is_asked_for(registry: Registry[object]) -> None:
    assert list(registry) == ["pi", "lost"]
    assert "lost" in registry
    with pytest.raises(ValueError, match=r"'lost' cannot be loaded .*; install its package, or correct the place"):
        registry["lost"]


@pytest.mark.parametrize("name", ["tau", "", ":", "math:", ":pi"])
def test_what_is_neither_a_name_nor_a_place(registry: Registry[object], name: str) -> None:
    with pytest.raises(ValueError, match=r"the constant is .*; constants are pi, lost, or a place such as"):
        registry[name]


@pytest.mark.parametrize("name", ["no_such_package:pi", "math:no_such_name", ".math:pi"])
def test_a_place_where_nothing_is(registry: Registry[object], name: str) -> None:
    with pytest.raises(ValueError, match="cannot be loaded"):
        registry[name]


def test_an_installed_package_adds_pieces_and_takes_no_name(tmp_path: Path) -> None:
    about = tmp_path / "other-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[proband.nobodys]\nours = other:PIECE\npi = other:PIECE\n")
    (tmp_path / "other.py").write_text("PIECE = 3\n")
    asked = (
        "from proband.registries import Registry\n"
        "found = Registry('proband.nobodys', 'constant', ValueError, {'pi': 'math:pi'})\n"
        "print(list(found), found['ours'], found['pi'] > 3.1, len(found))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['pi', 'ours'] 3 True 2\n"
