"""Compiled functions: who may call them, and the word to whoever waits for them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import proband

SOURCE = Path(proband.__file__).parent
ROOT = SOURCE.parents[1]
FILES = [path for folder in (SOURCE, ROOT / "tests", ROOT / "benchmarks") for path in sorted(folder.rglob("*.py"))]


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent if path.is_relative_to(SOURCE) else ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def decorated(node: ast.AST, *names: str) -> bool:
    """Whether a function is made by one of these decorators, with options or without."""
    if not isinstance(node, ast.FunctionDef):
        return False
    bare = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(isinstance(d, ast.Name) and d.id in names for d in bare)


Inner = set[tuple[str, str]]
"""Modules and names of functions that only kernels call."""


def from_python(tree: ast.Module, module: str, inner: Inner) -> Iterator[str]:
    """Names of inner functions that a module uses outside compiled functions, its imports apart."""
    owners = {owner for owner, _ in inner}
    known = {name: name for owner, name in inner if owner == module}
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (node.module, alias.name) in inner:
                    known[alias.asname or alias.name] = alias.name
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    if not known and owners.isdisjoint(modules.values()):
        return
    yield from uses(tree, known, modules, inner)


def uses(node: ast.AST, known: dict[str, str], modules: dict[str, str], inner: Inner) -> Iterator[str]:
    if decorated(node, "inner", "kernel"):
        return
    if isinstance(node, ast.Attribute) and node.attr == "py_func":  # the function as it was before
        return
    if isinstance(node, ast.Name) and node.id in known:
        yield known[node.id]
    owner = modules.get(getattr(getattr(node, "value", None), "id", ""))
    if isinstance(node, ast.Attribute) and (owner, node.attr) in inner:
        yield node.attr
    for child in ast.iter_child_nodes(node):
        yield from uses(child, known, modules, inner)


def test_inner_kernels_are_called_by_kernels_only() -> None:
    """Python dies when it calls one: they are compiled without the wrapper that takes its arguments."""
    texts = {module_of(path): path.read_text(encoding="utf-8") for path in FILES}
    trees = {module: ast.parse(text) for module, text in texts.items() if "inner" in text or "kernel" in text}
    inner = {(module, node.name) for module, tree in trees.items() for node in tree.body if decorated(node, "inner")}
    assert len(inner) > 50
    assert all("kernel" in module for module, _ in inner)  # so whoever uses one says the word, and others need no look
    assert {module: found for module, tree in trees.items() if (found := [*from_python(tree, module, inner)])} == {}


SCRIPT = """
import sys
from proband import compiling

compiling.SUBJECTS["__main__"] = ("the try", "a second")

@compiling.inner
def twice(x):
    return 2 * x

@compiling.kernel(fastmath=compiling.FINITE)
def four_times(x):
    return twice(twice(x)) + compiling.popcount(x)

print(four_times(12))
"""


def run(tmp_path: Path, before: str = "") -> tuple[str, str]:
    script = tmp_path / "script.py"
    script.write_text(before + SCRIPT)
    result = subprocess.run(
        [sys.executable, script], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return result.stdout, result.stderr


def test_who_waits_for_a_compiler_is_told_so_once_on_a_machine(tmp_path: Path) -> None:
    assert run(tmp_path) == ("50\n", "compiling the try, once on this machine: a second\n")
    assert run(tmp_path) == ("50\n", "")


def test_logging_silences_it(tmp_path: Path) -> None:
    quiet = "import logging; logging.getLogger('proband').setLevel(logging.ERROR)\n"
    assert run(tmp_path, quiet) == ("50\n", "")


def test_what_names_modules_that_were_moved_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a kernel say nothing of the modules that it calls, which may have moved since it was compiled."""
    from numba.core.caching import FunctionCache

    from proband.compiling import kernel

    def fail(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'proband.moved'")

    monkeypatch.setattr(FunctionCache, "load_overload", fail)
    assert kernel(module_length)(np.arange(3.0)) == 3


def module_length(values: np.ndarray) -> int:
    return len(values)


def test_every_kernel_has_a_subject_and_every_subject_kernels() -> None:
    from proband.compiling import SUBJECTS

    texts = {module_of(path): path.read_text(encoding="utf-8") for path in FILES if path.is_relative_to(SOURCE)}
    kernels = [module for module, text in texts.items() if "\n@kernel" in text or "njit" in text]
    kernels.remove("proband.compiling")
    assert [module for module in kernels if not any(map(module.startswith, SUBJECTS))] == []
    assert [place for place in SUBJECTS if not any(module.startswith(place) for module in kernels)] == []
    assert [module for module in kernels if "njit" in texts[module]] == []  # they are made by `kernel` and `inner`
