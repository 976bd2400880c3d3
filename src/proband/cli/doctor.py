"""``proband doctor``: what proband runs on, and which optional parts are there."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

import proband
from proband.cli import inputs, printing
from proband.planners.memory import available_memory, human_bytes

CORE = ("numpy", "scipy", "numba")
EXTRAS = {
    "cli": ("typer", "rich"),
    "figures": ("matplotlib",),
    "tables": ("pyarrow",),
    "sklearn": ("sklearn",),
    "gymnasium": ("gymnasium",),
    "cluster": ("dask", "distributed"),
    "gpu": ("cupy",),
    "postgresql": ("psycopg",),
    "service": ("fastapi", "uvicorn", "httptools"),
}


CompileOption = Annotated[
    bool, typer.Option("--compile", help="Compile everything now that would be compiled when it is first used.")
]
PartOption = Annotated[
    list[str] | None, typer.Option("--part", metavar="NAME", help="Compile this part only; once for each part.")
]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Processes that compile side by side.")]


def doctor_command(
    compile_all: CompileOption = False,
    parts: PartOption = None,
    jobs: JobsOption = 1,
    as_json: inputs.JsonOption = False,
) -> None:
    """Show versions, optional parts, the GPU, SQLite and the machine; or compile everything ahead.

    [bold]Examples[/bold]
    $ proband doctor
    $ proband doctor --compile --jobs 2
    $ proband doctor --compile --part dense --json
    """
    if parts and not compile_all:
        raise typer.BadParameter("--part is about what to compile; give --compile too")
    if jobs > 1 and not compile_all:
        raise typer.BadParameter("--jobs is about who compiles; give --compile too")
    if compile_all:
        _compile(parts, jobs=jobs, as_json=as_json)
        return
    found = examine()
    if as_json:
        printing.print_json(found)
        return
    printing.print_title(f"proband {found['proband']}")
    printing.print_facts(_facts(found))


def _compile(parts: list[str] | None, *, jobs: int, as_json: bool) -> None:
    from proband.warming import PARTS, warm_all

    names, done = parts or list(PARTS), []
    stopped = printing.kept_if_stopped("what was compiled is kept")
    with stopped, printing.progress_bar(counting=True) as bar:
        task = bar.add_task("compiling", total=len(names))
        for each in warm_all(names, jobs=jobs):
            done.append(each)
            bar.update(task, advance=1, description=f"compiled {each.part}")
    done.sort(key=lambda each: names.index(each.part))
    if as_json:
        printing.print_json({"compiled": [dataclasses.asdict(part) for part in done]})
        return
    printing.print_facts(
        (each.part, f"{each.compiled} kernels compiled in {each.seconds:.0f} s" if each.compiled else "nothing to do")
        for each in done
    )


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
