"""The house keeps its own rules."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import proband

SOURCE = Path(proband.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
OPTIONAL = {"cli", "demo", "figures", "__main__"}  # need extras


def public_modules() -> list[str]:
    found = [
        info.name
        for info in pkgutil.walk_packages([str(SOURCE)], "proband.")
        if info.name.split(".")[1] not in OPTIONAL
    ]
    return ["proband", *found]


def public_names() -> list[tuple[str, str]]:
    return [
        (module, name)
        for module in public_modules()
        for name in getattr(importlib.import_module(module), "__all__", ())
    ]


@pytest.mark.parametrize(("module", "name"), public_names())
def test_every_public_name_exists_and_is_documented(module: str, name: str) -> None:
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        assert (inspect.getdoc(thing) or "").strip(), f"{module}.{name} has no docstring"


@pytest.mark.parametrize("module", public_modules())
def test_all_lists_are_sorted_out(module: str) -> None:
    names = list(getattr(importlib.import_module(module), "__all__", ()))
    assert len(set(names)) == len(names)
    assert not [name for name in names if name.startswith("_")]


@pytest.mark.parametrize("module", public_modules())
def test_packages_list_what_they_offer(module: str) -> None:
    loaded = importlib.import_module(module)
    if hasattr(loaded, "__path__"):
        assert getattr(loaded, "__all__", ()), f"{module} has no __all__"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_is_documented_and_unpickles_nothing(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path} has no docstring"
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert not imported & {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_reads_pickled_arrays(path: Path) -> None:
    assert "allow_pickle=True" not in path.read_text(encoding="utf-8")


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert proband.__version__ == version("proband")
