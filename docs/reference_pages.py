"""The reference: a page for each package, of the names in its ``__all__`` with their signatures and docstrings."""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import docstrings

SOURCE = Path(__file__).parents[1] / "src" / "proband"
MODULES = ("proband.errors", "proband.policies.rendering")
"""Public modules without an ``__all__``: all their classes and functions without an underscore."""


def packages() -> dict[str, list[str]]:
    """Return the names that each public package and module offers, ours and not what it imports from elsewhere."""
    found = {}
    for path in sorted(SOURCE.rglob("__init__.py")):
        if names := _all(path):
            found[".".join(("proband", *path.parent.relative_to(SOURCE).parts))] = sorted(names, key=str.lower)
    for name in MODULES:
        module = importlib.import_module(name)
        own = (key for key, value in vars(module).items() if getattr(value, "__module__", "") == name)
        found[name] = sorted(key for key in own if not key.startswith("_"))
    return dict(sorted(found.items()))


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its package; what two packages offer is told on one page."""
    offered = packages()
    homes: dict[int, str] = {}
    for name in sorted(offered, key=lambda name: (name.count("."), name)):
        for each in offered[name]:
            homes.setdefault(id(getattr(importlib.import_module(name), each)), f"{name}.{each}")
    return {name: _page(importlib.import_module(name), names, homes) for name, names in offered.items()}


def write(folder: Path) -> None:
    """Write the pages, and a list of them."""
    folder.mkdir(exist_ok=True)
    listed = [
        "# Names in Python",
        "",
        "What of it is public, and how it changes: [what stays](../api-stability.md).",
        "",
    ]
    listed += ["| package | what it offers |", "|---|---|"]
    for name, text in pages().items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        about = docstrings.first_line(importlib.import_module(name).__doc__).replace("|", r"\|")
        listed.append(f"| [`{name}`]({name}.md) | {about} |")
    listed += ["", "```{toctree}", ":hidden:", ":glob:", "", "proband*", "```", ""]
    (folder / "index.md").write_text("\n".join(listed), encoding="utf-8")


def _all(path: Path) -> list[str]:
    """Return the ``__all__`` of a package, without importing it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _page(module: ModuleType, names: list[str], homes: dict[int, str]) -> str:
    name = module.__name__
    lines = [f"# `{name}`", "", f"```{{py:module}} {name}", "```", "", *docstrings.markdown(module.__doc__)]
    for each in names:
        value = getattr(module, each)
        home = homes[id(value)]
        # Small numbers and short texts are one object wherever they are: their place is where they are offered.
        if home == f"{name}.{each}" or not _ours(value):
            lines += _entry(module, each, value)
        else:
            lines += _directive(_sort(value), each + _signature(value), [], [f"Told at {{py:obj}}`{home}`.", ""], 4)
    return "\n".join(lines) + "\n"


def _ours(value: Any) -> bool:
    """Whether it is a class or a function of this package, and no value or name for a type of another one."""
    return hasattr(value, "__qualname__") and str(value.__module__).startswith("proband")


def _sort(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def _entry(module: ModuleType, name: str, value: Any) -> list[str]:
    """Return a directive of the Python domain that tells what a name is."""
    if inspect.ismodule(value):
        return _directive("data", name, [], docstrings.markdown(value.__doc__), 4)
    if not _ours(value):
        shown = repr(value)
        options = [f":value: {shown}"] if len(shown) <= 60 and " at 0x" not in shown else []
        return _directive("data", name, options, docstrings.markdown(_beside(module.__name__, name)), 4)
    body = docstrings.markdown(_doc(value))
    if inspect.isclass(value):
        body = [*_bases(value), *body]
        for key, member in _members(value):
            body += _member(key, member)
    canonical = f"{value.__module__}.{value.__qualname__}"
    options = [f":canonical: {canonical}"] if canonical != f"{module.__name__}.{name}" else []
    return _directive(_sort(value), name + _signature(value), options, body, 5)


def _directive(sort: str, signature: str, options: list[str], body: list[str], colons: int) -> list[str]:
    fence = ":" * colons
    return [f"{fence}{{py:{sort}}} {signature}", *options, "", *body, fence, ""]


def _doc(value: Any) -> str | None:
    """Return the docstring that somebody wrote: dataclasses and enumerations make some of their own."""
    text = value.__doc__
    if inspect.isclass(value) and text and text.startswith(f"{value.__name__}("):
        return None
    return inspect.cleandoc(text) if text else None


def _bases(value: type) -> list[str]:
    named = [base for base in value.__bases__ if base in _on_pages() and base.__name__ != "Shown"]
    told = ", ".join(f"{{py:obj}}`~{base.__module__}.{base.__qualname__}`" for base in named)
    return [f"Derived from {told}.", ""] if told else []


@functools.cache
def _on_pages() -> frozenset[type]:
    """The classes that have a place on some page."""
    offered = (getattr(importlib.import_module(module), name) for module, names in packages().items() for name in names)
    return frozenset(each for each in offered if inspect.isclass(each))


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that have a docstring, in the order in which they are written.

    Those of a base that has no page of its own follow.
    """
    if issubclass(value, enum.Enum):
        for each in value:
            yield each.name, each
        return
    bases = [base for base in value.__mro__[1:] if base.__module__.startswith("proband.") and base not in _on_pages()]
    found = {key: member for each in reversed([value, *bases]) for key, member in vars(each).items()}
    for key in dict.fromkeys(key for each in [value, *bases] for key in vars(each)):
        member = found[key]
        plain = getattr(member, "func", getattr(member, "__func__", member))
        if not key.startswith("_") and getattr(plain, "__doc__", None) and _is_member(member):
            yield key, member


def _is_member(member: Any) -> bool:
    sorts = (property, classmethod, staticmethod)
    return isinstance(member, sorts) or inspect.isfunction(member) or type(member).__name__ == "cached_property"


def _member(key: str, member: Any) -> list[str]:
    if isinstance(member, enum.Enum):
        return _directive("attribute", key, [f":value: {member.value!r}"], [], 4)
    if isinstance(member, property) or type(member).__name__ == "cached_property":
        return _directive("property", key, [], docstrings.markdown(_doc(member)), 4)
    bound = isinstance(member, classmethod | staticmethod)
    function = member.__func__ if bound else member
    options = [f":{type(member).__name__}:"] if bound else []
    own = not isinstance(member, staticmethod)
    return _directive("method", key + _signature(function, own), options, docstrings.markdown(_doc(function)), 4)


def _signature(value: Any, bound: bool = False) -> str:
    """Return parameters and defaults; what they must be is in the docstring."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    told = list(found.parameters.values())[1 if bound else 0 :]
    plain = [each.replace(annotation=each.empty, default=_default(each.default)) for each in told]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


class _Shown:
    """A default as it is written, on one line."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(value: Any) -> Any:
    text = " ".join(repr(value).split())
    return value if value is inspect.Parameter.empty else _Shown("..." if "<" in text or len(text) > 60 else text)


def _beside(module: str, name: str) -> str | None:
    """Return the text below the assignment of a value, wherever it is imported from."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    body = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for block in (getattr(node, "body", None) for node in body):
        for node, after in pairwise(block) if isinstance(block, list) else ():
            target = getattr(node, "target", None) or next(iter(getattr(node, "targets", [])), None)
            if getattr(target, "id", "") == name and isinstance(after, ast.Expr):
                return str(ast.literal_eval(after.value)) if isinstance(after.value, ast.Constant) else None
    for node in body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("proband"):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _beside(str(node.module), alias.name)
    return None
