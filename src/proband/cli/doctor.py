"""``proband doctor``: what proband runs on, and which optional parts are there."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import proband
from proband.cli import inputs, printing
from proband.planners.memory import available_memory, human_bytes

CORE = ("numpy", "scipy", "numba")
EXTRAS = {
    "cli": ("typer", "rich"),
    "figures": ("matplotlib",),
    "tables": ("pyarrow",),
    "cluster": ("dask", "distributed"),
    "gpu": ("cupy",),
    "postgresql": ("psycopg",),
}


def doctor_command(as_json: inputs.JsonOption = False) -> None:
    """Show versions, optional parts, the GPU, SQLite and the machine.

    [bold]Examples[/bold]
    $ proband doctor
    $ proband doctor --json
    """
    found = examine()
    if as_json:
        printing.print_json(found)
        return
    printing.print_title(f"proband {found['proband']}")
    printing.print_facts(_facts(found))


def examine() -> dict[str, Any]:
    """Return what was found, by name."""
    return {
        "proband": proband.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in CORE},
        "extras": {extra: _extra(extra, modules) for extra, modules in EXTRAS.items()},
        "gpu": _gpu(),
        "sqlite": {"version": sqlite3.sqlite_version},
        "cores": os.cpu_count() or 1,
        "memory_available_bytes": int(available_memory()),
    }


def _extra(name: str, modules: tuple[str, ...]) -> dict[str, Any]:
    present = all(importlib.util.find_spec(module) is not None for module in modules)
    return {
        "present": present,
        "packages": {module: _version(module) for module in modules},
        "install": f'pip install "proband[{name}]"',
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None if importlib.util.find_spec(name) is None else "present"


def _gpu() -> dict[str, Any]:
    if importlib.util.find_spec("cupy") is None:
        return {"present": False, "detail": "cupy is not installed"}
    try:
        cupy = importlib.import_module("cupy")
        names = [
            cupy.cuda.runtime.getDeviceProperties(n)["name"].decode() for n in range(cupy.cuda.runtime.getDeviceCount())
        ]
    except Exception as error:  # a broken driver must not break the report about it
        return {"present": False, "detail": f"cupy finds none ({type(error).__name__}: {error})"}
    return {"present": bool(names), "detail": ", ".join(names) or "cupy finds none"}


def _facts(found: dict[str, Any]) -> list[tuple[str, str]]:
    facts = [("Python", f"{found['python']} on {found['platform']}")]
    facts += [(name, number or "not installed") for name, number in found["packages"].items()]
    for extra, parts in found["extras"].items():
        packages = ", ".join(f"{name} {number}" for name, number in parts["packages"].items() if number)
        facts.append((f"extra {extra}", packages if parts["present"] else f"not installed: {parts['install']}"))
    facts += [
        ("GPU", found["gpu"]["detail"]),
        ("SQLite", found["sqlite"]["version"]),
        ("cores", str(found["cores"])),
        ("memory", f"{human_bytes(found['memory_available_bytes'])} available"),
    ]
    return facts
