"""The reference: a page for each package, from its ``__all__`` and the docstrings, read as text and never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "proband"
MODULES = ("errors", "policies.rendering")
"""Public modules without an ``__all__``: all their classes and functions without an underscore."""


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its package."""
    found = {name: _page(name, dict(_offered(path))) for name, path in sorted(_packages().items())}
    for name in MODULES:
        path = SOURCE.joinpath(*name.split(".")).with_suffix(".py")
        own = {node.name: (path, node) for node in _defined(path) if not node.name.startswith("_")}
        found[f"proband.{name}"] = _page(f"proband.{name}", own)
    return found


def write(folder: Path) -> None:
    """Write the pages, and a list of them."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def _packages() -> dict[str, Path]:
    """Return the packages that say what they offer."""
    found = {}
    for path in SOURCE.rglob("__init__.py"):
        if _names(path):
            found[".".join(("proband", *path.parent.relative_to(SOURCE).parts))] = path
    return found


def _names(path: Path) -> list[str]:
    """Return the ``__all__`` of a package."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _defined(path: Path) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node


def _offered(path: Path) -> Iterator[tuple[str, tuple[Path, ast.AST | None]]]:
    """Yield each offered name, the file where it is defined, and its definition, None where it is a value."""
    for name in _names(path):
        yield name, _found(name, path)


def _found(name: str, path: Path) -> tuple[Path, ast.AST | None]:
    own = next((node for node in _defined(path) if node.name == name), None)
    if own is not None:
        return path, own
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("proband"):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    place = SOURCE.joinpath(*str(node.module).split(".")[1:])
                    there = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
                    return _found(alias.name, there)
    return path, None


def _page(name: str, offered: dict[str, tuple[Path, ast.AST | None]]) -> str:
    place = SOURCE.joinpath(*name.split(".")[1:])
    about = ast.get_docstring(
        ast.parse((place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text())
    )
    lines = [f"# `{name}`", "", *_literal(about)]
    for each, (path, node) in offered.items():
        where = path.relative_to(SOURCE.parents[1]).as_posix()
        lines += [f"## `{each}`", "", f"In `{where}`.", ""]
        if isinstance(node, ast.FunctionDef):
            lines += _literal(f"{each}({ast.unparse(node.args)})", "python")
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            lines += _literal(ast.get_docstring(node))
        if isinstance(node, ast.ClassDef):
            lines += _methods(node)
    return "\n".join(lines) + "\n"


def _methods(node: ast.ClassDef) -> list[str]:
    lines = []
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and ast.get_docstring(method):
            lines += [f"### `{node.name}.{method.name}`", ""]
            lines += [
                *_literal(f"{method.name}({ast.unparse(method.args)})", "python"),
                *_literal(ast.get_docstring(method)),
            ]
    return lines


def _literal(text: str | None, language: str = "text") -> list[str]:
    return ["~~~~" + language, *text.splitlines(), "~~~~", ""] if text else []
