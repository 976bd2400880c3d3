"""The house in numbers: how many modules and lines, how long, how often written twice, and how much of it is comment.

Run with ``python -m benchmarks.house [--beside NAME=SRC]`` in the repository's root, where SRC holds the modules of
another version, once for each. It reads the source as text and as syntax; nothing of it is imported. ``--to FILE``
writes a page.
"""

import argparse
import ast
import io
import re
import statistics
import tokenize
from collections import Counter
from pathlib import Path

from benchmarks.text import paragraph, table

ROOT = Path(__file__).parents[1]
RUN = 6
"""So many lines that stand again elsewhere are a repetition."""

ONCE = {"agent": 5, "planner": 4, "store": 5, "reward, listed": 7, "reward, measured": 13, "law": 12}
"""Files that a piece touched before the second plan of the house, counted by hand."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=SRC", help="modules of another version")
    parser.add_argument("--to", type=Path, help="write the table here instead of printing it")
    arguments = parser.parse_args()
    others = (each.partition("=") for each in arguments.beside)
    sources = {**{name: Path(source) for name, _, source in others}, "now": ROOT / "src"}
    counted = {name: count(source / "proband") for name, source in sources.items()}
    rows = [[what, *(str(each[what]) for each in counted.values())] for what in counted["now"]]
    text = table(["", *counted], rows)
    if arguments.to:
        arguments.to.write_text(page(text, sources))
    else:
        print(text)


def page(text, sources):
    """Return the table with what a new piece touches, and how many modules each folder has."""
    about = """Counted by `make bench-house OPTIONS="--beside before=SRC --beside rebuilt=SRC"`: before the second plan
    of the house (commit ef93c23), when it was built (538fd8f), and now, with what was built on it since. Lines are all
    lines of the modules, with their documentation and blank ones; imports, blank lines and comments do not count as
    repeated."""
    pieces = """What a new piece touches, its documentation included; now by CONTRIBUTING.md, which a test reads;
    before, counted by hand."""
    touched = [[piece, before, files(piece)] for piece, before in ONCE.items()]
    folders = {name: Counter(folders_of(source / "proband")) for name, source in sources.items()}
    every = sorted(set().union(*folders.values()))
    modules = [[f"`{folder}`", *(each[folder] or "" for each in folders.values())] for folder in every]
    parts = ["# The house in numbers", paragraph(about), text, "## Files that a new piece touches", paragraph(pieces)]
    parts += [table(["piece", "before", "now"], touched), "## Modules in each folder", table(["", *folders], modules)]
    return "\n\n".join(parts) + "\n"


def files(piece):
    """Return how many files a piece touches by the table of CONTRIBUTING.md."""
    [row] = re.findall(rf"^\| {piece.split(',')[0]}\b(.*)$", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    _, _, *touched = row.split("|")
    return 1 + sum(len(re.findall(r"`[\w/-]+\.(?:py|md)`", cell)) for cell in touched)


def folders_of(root):
    """Yield the folder of each module."""
    for path in root.rglob("*.py"):
        if path.name != "__init__.py":
            yield path.parent.relative_to(root).as_posix()


def count(root):
    """Return the figures of the modules below a folder."""
    modules = {path.relative_to(root): path.read_text() for path in sorted(root.rglob("*.py"))}
    lengths = {str(path): text.count("\n") for path, text in modules.items()}
    bodies = {f"{path}: {name}": lines for path, text in modules.items() for name, lines in functions(text)}
    total, comments = sum(lengths.values()), sum(map(comment_lines, modules.values()))
    ordered = sorted(lengths.values())
    return {
        "modules": len(modules),
        "lines": f"{total:,}",
        "lines a module, median / 90 % / most": spread(ordered),
        "lines of a function's body, median / 90 % / most": spread(sorted(bodies.values())),
        "modules above 300 lines": sum(n > 300 for n in ordered),
        "longest modules": largest(lengths),
        "longest functions": largest(bodies),
        "fullest folders, modules": largest(Counter(folders_of(root))),
        "lines with a comment": f"{comments:,} ({comments / total:.2%})",
        "`type: ignore`": sum(text.count("# type: ignore") for text in modules.values()),
        f"runs of {RUN} lines that stand twice": repeated(modules.values()),
    }


def functions(text):
    """Yield each function and the number of lines of its body, without the docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield node.name, (body[-1].end_lineno - body[0].lineno + 1) if body else 0


def comment_lines(text):
    """Return how many lines carry a comment that speaks to people."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    notes = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return sum(not note.startswith(("# type:", "# noqa", "# pragma")) or "  # " in note for note in notes)


def repeated(texts):
    """Return how many runs of lines occur more than once, blank lines, imports and lone brackets left out."""
    runs = Counter()
    for text in texts:
        lines = [" ".join(line.split()) for line in text.splitlines()]
        kept = [line for line in lines if len(line) > 3 and not line.startswith(("import ", "from ", "#"))]
        runs.update(tuple(kept[i : i + RUN]) for i in range(len(kept) - RUN + 1))
    return sum(times > 1 for times in runs.values())


def spread(ordered):
    return f"{statistics.median(ordered):.0f} / {ordered[int(0.9 * len(ordered))]} / {ordered[-1]}"


def largest(counted, most=4):
    return ", ".join(f"{name} {n}" for name, n in sorted(counted.items(), key=lambda each: -each[1])[:most])


if __name__ == "__main__":
    main()
