"""Install what was built into empty environments, and run the README's commands there: ``make smoke``.

python tests/release/smoke.py DIST PYTHON...
"""

from __future__ import annotations

import re
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
PROGRAM = """
import importlib.metadata, importlib.resources, proband
assert importlib.metadata.version("proband") == proband.__version__
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
        for command in COMMANDS.splitlines():
            call = f'export PATH="{own.parent}:/usr/bin:/bin"; {command}'
            subprocess.run(["sh", "-c", call], cwd=work, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Smoke every package on every Python that is there."""
    folder, *pythons = sys.argv[1:]
    [wheel], [sdist] = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
    for python in pythons:
        found = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
        if found.returncode:
            print(f"{python}: not there, not tested")
            continue
        smoke(wheel, "[cli,figures]", python)
        smoke(sdist, "[all]", python)
        version = found.stdout.strip()
        print(f"{version}: wheel and sdist install, and the README's programs and commands run", flush=True)


if __name__ == "__main__":
    main()
