"""A compiled function without wrappers kills the interpreter when Python calls it: nobody may."""

from __future__ import annotations

import ast
from pathlib import Path

import proband

ROOT = Path(proband.__file__).parent
COMPILED = {"inner", "kernel", "njit", "jit"}


def decorators(function: ast.FunctionDef) -> set[str]:
    found = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in found}


def test_inner_kernels_are_called_by_kernels_alone() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    module = {path: ".".join(path.with_suffix("").relative_to(ROOT.parent).parts) for path in trees}
    inner = {
        (module[path], node.name)
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and "inner" in decorators(node)
    }
    assert len(inner) > 20
    for path, tree in trees.items():
        imports = [(node, alias) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
        named = {name: (where, name) for where, name in inner if where == module[path]}
        named |= {alias.asname or alias.name: (node.module or "", alias.name) for node, alias in imports}
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef) and decorators(statement) & COMPILED:
                continue
            for node in ast.walk(statement):
                used = named.get(node.id) if isinstance(node, ast.Name) else None
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
                    used = (".".join(named[node.value.id]), node.attr)
                assert used not in inner, f"{path}: {used} has no wrapper and is used outside of kernels"
