"""A store of another package, found by its entry point: it works as `scheme:...` everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STORE = '''
from pathlib import Path

from proband.studies.stores import SQLiteStore


class Drawer(SQLiteStore):
    """A store in a drawer: a folder with one file."""

    def __init__(self, url):
        super().__init__(str(Path(url.removeprefix("drawer:")) / "logs"))

    @property
    def url(self):
        return "drawer:" + str(Path(self.path).parent)
'''


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The surroundings of a process in which a package with a store is installed."""
    about = tmp_path / "drawers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: drawers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[proband.stores]\ndrawer = drawers:Drawer\nbroken = drawers:Nothing\n")
    (tmp_path / "drawers.py").write_text(STORE)
    (tmp_path / "drawer").mkdir()
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def run(*arguments: str, installed: dict[str, str], status: int = 0) -> str:
    ended = subprocess.run([sys.executable, *arguments], env=installed, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    return ended.stdout + ended.stderr


def test_it_keeps_the_contract(installed: dict[str, str], tmp_path: Path) -> None:
    kit = (
        "from proband.studies.stores import STORES, open_store\n"
        "from proband.testing import check_store\n"
        f"check_store(lambda: open_store('drawer:{tmp_path}/drawer'), appends=5)\n"
        "print(list(STORES))\n"
    )
    assert run("-c", kit, installed=installed) == "['memory', 'sqlite', 'postgresql', 'broken', 'drawer']\n"


def test_the_command_line_takes_its_url(installed: dict[str, str], tmp_path: Path) -> None:
    url = f"drawer:{tmp_path}/drawer"
    study = ("-c", "from proband.cli import main; main()", "study")
    agent = ("--agent", "test-everything")  # nothing to plan, and nothing to compile
    assert url in run(
        *study, "create", "bolts", "--name", "bolts", *agent, "--store", url, "--json", installed=installed
    )
    assert '"one"' in run(*study, "arrive", "bolts", "--subject", "one", "--store", url, "--json", installed=installed)
    assert '"one"' in run(*study, "ask", "bolts", "one", "--store", url, "--json", installed=installed)
    assert "logs" in {file.name for file in (tmp_path / "drawer").iterdir()}


def test_messages_know_it(installed: dict[str, str]) -> None:
    ask = "import sys; from proband.studies import open_store; open_store(sys.argv[1])"
    said = run("-c", ask, "cupboard:top", installed=installed, status=1)
    assert "postgresql://user@host/database, broken:..., drawer:..." in said
    assert "the store 'broken' cannot be loaded" in run("-c", ask, "broken:", installed=installed, status=1)
