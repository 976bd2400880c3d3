"""The gallery: programs that run when the site is built, each with what it prints and its picture."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FIRST = ("tree", "learning", "regret")
"""What a reader sees first; the others follow by their names."""
PROGRAMS = Path(__file__).parents[1] / "examples" / "gallery"
RUN = """
import runpy, sys
figure = runpy.run_path(sys.argv[1])["figure"]
figure.savefig(sys.argv[2], dpi=150, bbox_inches="tight")
"""


def write(folder: Path) -> None:
    """Run the programs, two at a time, and write a page for each and a list of them."""
    folder.mkdir(exist_ok=True)
    programs = sorted(PROGRAMS.glob("*.py"), key=lambda path: ((*FIRST, path.stem).index(path.stem), path.stem))
    with ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(lambda program: _run(program, folder), programs))
    titles = {program.stem: _page(program, told, folder) for program, told in zip(programs, printed, strict=True)}
    lines = [
        "# Gallery",
        "",
        "Short programs, run when these pages were made. Each is in the folder `examples/gallery` of the repository.",
        "",
    ]
    for name, title in titles.items():
        lines += [f"## [{title}]({name}.md)", "", f"[![{title}]({name}.png)]({name}.md)", ""]
    lines += ["```{toctree}", ":hidden:", "", *titles, "```", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def _run(program: Path, folder: Path) -> str:
    command = [sys.executable, "-W", "error", "-c", RUN, str(program), str(folder / f"{program.stem}.png")]
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONUTF8": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{program.name} of the gallery failed:\n{done.stderr}")
    return done.stdout


def _page(program: Path, printed: str, folder: Path) -> str:
    """Write the page of a program, and return its title: the first line of its docstring."""
    source = program.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, about = str(ast.get_docstring(tree)).partition("\n\n")
    code = "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip()
    lines = [f"# {title}", "", about, "", f"![{title}]({program.stem}.png)", ""]
    lines += ["```python", code, "```", "", "prints", "", "```text", printed.rstrip(), "```", ""]
    (folder / f"{program.stem}.md").write_text("\n".join(lines), encoding="utf-8")
    return title
