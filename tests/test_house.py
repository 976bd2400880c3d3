"""The house keeps its own rules."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

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


def lists() -> dict[str, list[str]]:
    """Return what each module says that it offers."""
    return {module: list(getattr(importlib.import_module(module), "__all__", ())) for module in public_modules()}


def test_every_public_name_exists_and_is_documented() -> None:
    for module, names in lists().items():
        for name in names:
            thing = getattr(importlib.import_module(module), name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                assert (inspect.getdoc(thing) or "").strip(), f"{module}.{name} has no docstring"


def test_lists_of_names_are_in_order_and_packages_have_one() -> None:
    for module, names in lists().items():
        assert len(set(names)) == len(names), module
        assert not [name for name in names if name.startswith("_")], module
        says_something = len(ast.parse(inspect.getsource(importlib.import_module(module))).body) > 1
        is_package = hasattr(importlib.import_module(module), "__path__")
        assert names or not (is_package and says_something), f"{module} has no __all__"


def imports(tree: ast.AST) -> set[str]:
    """Return the packages that a module imports."""
    nodes = list(ast.walk(tree))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.split(".")[0] for name in whole | {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}}


def test_every_module_is_documented_and_unpickles_nothing() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        assert ast.get_docstring(tree), f"{path} has no docstring"
        assert not imports(tree) & {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}, path
        assert "allow_pickle=True" not in text, path


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert proband.__version__ == version("proband")
