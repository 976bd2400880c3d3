"""The newcomer's way: from an empty environment to a first policy of one's own table, by the letter of the tutorial.

Run with ``make bench-newcomer``. The wheel in ``dist/`` is installed into an empty environment with nothing in pip's
cache, and the commands of ``docs/spreadsheets.md`` are given there one after the other, with nothing compiled. What a
reader does between them is not timed: reading, and filling in the problem file. Results go to
``docs/benchmarks/newcomer.md``.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine
from benchmarks.text import paragraph, table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "spreadsheets.md"
POLICY = "proband fit"
"""The command that writes the first policy."""


def steps():
    """Return the commands of the page and the problem file that is filled in, in their order, as (kind, text)."""
    found = re.findall(r"^```(console|toml)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [(kind, line) for kind, text in found for line in ([text] if kind == "toml" else text.splitlines())]


def timed(command, folder, environment):
    """Return what a command took: seconds on the clock, of processors, and whether it was refused."""
    began = time.perf_counter()
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, process.returncode


def follow(python, wheel, extra):
    """Yield each command of the way with what it took."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environment = {"PATH": f"{home}/venv/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
        for name in ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "PIP_CERT"):
            if name in os.environ:
                environment[name] = os.environ[name]
        shutil.copy(ROOT / "examples" / "castings.csv", home)
        install = f"pip install --no-cache-dir --disable-pip-version-check '{wheel.resolve()}[{extra}]'"
        for shown, command in (
            (f"{Path(python).name} -m venv venv", f"{python} -m venv venv"),
            (f'pip install "{wheel.name}[{extra}]"', install),
        ):
            took = timed(command, home, environment)
            if took[2]:
                sys.exit(f"{shown} ended with status {took[2]}")
            yield shown, *took
        for kind, text in steps():
            if kind == "toml":
                (home / "castings.toml").write_text(text, encoding="utf-8")
            else:
                yield text, *timed(text, home, environment)


INTRODUCTION = """# The newcomer's way

One run of `make bench-newcomer`: from an empty environment to a first policy of one's own table, by the letter of
[the tutorial](../spreadsheets.md)."""

WHAT = paragraph(
    """The wheel is installed with nothing in pip's cache, so the first line but one depends on the network; the
    commands are those of the page, each a process of its own, with nothing compiled before. What a reader does between
    them is not timed: reading, and filling in the problem file."""
)


def write(path, rows, about):
    """Write the page."""
    policy = 1 + next(n for n, (shown, *_) in enumerate(rows) if shown.startswith(POLICY))
    cells = [(f"`{row[0]}`", f"{row[1]:.1f}", f"{row[2]:.1f}", "refused" * bool(row[3])) for row in rows]
    cells.insert(policy, ("**to the first policy**", *sums(rows[:policy]), ""))
    cells.append(("**the whole page**", *sums(rows), ""))
    parts = [INTRODUCTION, WHAT, table(("", "seconds", "CPU seconds", ""), cells), REFUSED, conditions(about)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"to the first policy: {sums(rows[:policy])[0].strip('*')} s; wrote {path}")


REFUSED = "A command that is refused is one that the page shows refused: the draft is not filled in yet."


def sums(rows):
    return tuple(f"**{sum(row[n] for row in rows):.1f}**" for n in (1, 2))


def conditions(about):
    return f"{about['date']}: {about['machine']}; load average before the run {about['load']}. {about['versions']}."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="which makes the environment (default: this one)")
    parser.add_argument("--extra", default="cli", help="of the installation (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "benchmarks", help="where the page goes")
    given = parser.parse_args()
    [wheel] = (ROOT / "dist").glob("*.whl")
    about, rows = machine.describe(), []
    for row in follow(given.python, wheel, given.extra):
        rows.append(row)
        print(f"{row[1]:6.1f} s  {row[0]}", flush=True)
    given.to.mkdir(parents=True, exist_ok=True)
    write(given.to / "newcomer.md", rows, about)


if __name__ == "__main__":
    main()
