"""Install what was built into empty environments, and run the README's commands there: ``make smoke``.

python tests/release/smoke.py DIST PYTHON...
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = """\
proband --version
proband example bolts
proband plan bolts.toml --data bolts-records.csv --out policy.json
proband next policy.json --known "bolt weight=nominal"
proband rules policy.json --as sql
proband report gout --out gout.html
proband evaluate bolts everything
proband plan bolts-measured --plot regions.png
proband sensors network --plot sizes.png
proband study create bolts.toml --name bolts
proband study arrive bolts --subject "bolt 17"
proband experiment list
proband completion bash
proband doctor
"""
NUMBERS = ["0.1"] * 6 + ["0.0", "-10.0", "0.0", "5.0"]
"""What is filled into the draft that the README's first command writes: prices, and what decisions bring."""
PROGRAM = """
import importlib.metadata, importlib.resources, proband
assert importlib.metadata.version("proband") == proband.__version__ != "0+unknown"
assert "](docs/" not in importlib.metadata.metadata("proband").get_payload()  # links of the README lead nowhere there
assert importlib.resources.files("proband").joinpath("py.typed").is_file()
from proband.instances import bolts
best = proband.plan(bolts().problem, bolts().distribution)
print(best.value)
"""
EVERYTHING = """
import gymnasium, proband.gymnasium
from sklearn.datasets import load_iris
from proband.sklearn import SequentialTestClassifier
print(gymnasium.make("proband/Bolts-v0").reset(seed=1)[1])
print(SequentialTestClassifier(costs=0.02, max_tests=1).fit(*load_iris(return_X_y=True)).next_test([None] * 4))
"""
README = Path(__file__).parents[2] / "README.md"


def snippets() -> list[str]:
    """Return the programs of the README."""
    return re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def first() -> list[str]:
    """Return the README's first commands, behind the one that installs."""
    [block] = re.findall(r"^```sh\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [line for line in block.splitlines() if line.startswith("proband ")]


def fill(draft: Path) -> None:
    """Fill in what a draft leaves open."""
    numbers = iter(NUMBERS)
    text = draft.read_text(encoding="utf-8")
    draft.write_text(re.sub(r'(?<== )"\?"', lambda _: next(numbers), text), encoding="utf-8")


def smoke(package: Path, extra: str, python: str) -> None:
    """Install a package with an extra, and run the README's programs and commands away from the repository."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([python, "-m", "venv", home / "venv"], check=True)
        own = home / "venv" / "bin" / "python"
        quiet = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([own, "-m", "pip", "install", *quiet, f"{package.resolve()}{extra}"], check=True)
        work = home / "work"
        work.mkdir()
        programs = [PROGRAM, *snippets(), *([EVERYTHING] if "all" in extra else [])]
        for program in programs:
            subprocess.run([own, "-I", "-c", program], cwd=work, check=True, stdout=subprocess.DEVNULL)
        (work / "examples").mkdir()
        shutil.copy(README.parent / "examples" / "castings.csv", work / "examples")
        for command in [*first(), *COMMANDS.splitlines()]:
            call = f'export PATH="{own.parent}:/usr/bin:/bin"; {command}'
            subprocess.run(["sh", "-c", call], cwd=work, check=True, stdout=subprocess.DEVNULL)
            if command.startswith("proband init"):
                fill(work / "problem.toml")


def main() -> None:
    """Smoke every package on every Python that is there."""
    folder, *pythons = sys.argv[1:]
    [wheel], [sdist] = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
    for python in pythons:
        if not shutil.which(python):
            print(f"{python}: not there, not tested")
            continue
        smoke(wheel, "[cli,figures]", python)
        smoke(sdist, "[all]", python)
        found = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
        print(
            f"{found.stdout.strip()}: wheel and sdist install, and the README's programs and commands run", flush=True
        )


if __name__ == "__main__":
    main()
