"""Nobody waits for what he does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numba", "scipy.stats", "matplotlib", "pyarrow", "dask", "distributed", "psycopg")
PROGRAM = (
    "import sys; from proband.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit as end: assert not end.code"
)


def loaded(program: str, *arguments: str, folder: Path) -> set[str]:
    """The modules that a program has loaded when it ends."""
    told = "\nimport sys; print(*sorted(sys.modules), file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", program + told, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return set(result.stderr.split())


def test_importing_the_package_loads_none_of_it(tmp_path: Path) -> None:
    found = loaded("import proband", folder=tmp_path)
    assert found.isdisjoint({*HEAVY, "numpy", "scipy"})
    assert {name for name in found if name.startswith("proband.")} == {"proband.lazy"}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("study", "--help"), ("experiment", "--help")])
def test_help_loads_no_command(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    found = loaded(PROGRAM, *arguments, folder=tmp_path)
    assert found.isdisjoint({*HEAVY, "numpy", "scipy"})


def test_answers_from_what_is_known_load_no_compiler(tmp_path: Path) -> None:
    loaded(PROGRAM, "plan", "bolts", "--out", "policy.json", folder=tmp_path)
    loaded(PROGRAM, "study", "create", "bolts", "--name", "bolts", folder=tmp_path)
    loaded(PROGRAM, "study", "arrive", "bolts", "--subject", "bolt 17", folder=tmp_path)
    for arguments in (("next", "policy.json"), ("study", "list"), ("study", "ask", "bolts", "bolt 17")):
        assert loaded(PROGRAM, *arguments, folder=tmp_path).isdisjoint({*HEAVY, "scipy"}), arguments


def test_lazy_names_are_no_modules() -> None:
    """Importing a submodule would put it in the place of what is meant."""
    code = """
import importlib, pkgutil, proband
for info in pkgutil.walk_packages(proband.__path__, "proband."):
    package, _, name = info.name.rpartition(".")
    offered = getattr(importlib.import_module(package), "__all__", ())
    lazy = hasattr(importlib.import_module(package), "__getattr__")
    assert not lazy or name not in offered, info.name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_compiled_ahead_is_not_compiled_later(tmp_path: Path) -> None:
    def proband(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run(
            [sys.executable, "-m", "proband", *arguments], cwd=tmp_path, env=environment, check=True,
            capture_output=True, text=True,
        )  # fmt: skip

    first = proband("doctor", "--compile", "--jobs", "2", "--part", "dense")
    assert first.stdout.startswith("dense  ")
    assert "kernels compiled in" in first.stdout
    assert first.stderr == ""
    assert proband("doctor", "--compile", "--part", "dense").stdout == "dense  nothing to do\n"
    assert proband("plan", "bolts").stderr == ""
