"""Install what was built into empty environments, and run the README's commands there: ``make smoke``.

python tests/release/smoke.py DIST PYTHON...
"""

from __future__ import annotations

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
assert importlib.resources.files("proband").joinpath("py.typed").is_file()
from proband.instances import bolts
best = proband.plan(bolts().problem, bolts().distribution)
print(best.value)
"""


def smoke(package: Path, extra: str, python: str) -> None:
    """Install a package with an extra, and use it where nothing of the repository is."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([python, "-m", "venv", home / "venv"], check=True)
        own = home / "venv" / "bin" / "python"
        quiet = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([own, "-m", "pip", "install", *quiet, f"{package.resolve()}{extra}"], check=True)
        work = home / "work"
        work.mkdir()
        subprocess.run([own, "-I", "-c", PROGRAM], cwd=work, check=True, stdout=subprocess.DEVNULL)
        if "cli" in extra:
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
        smoke(sdist, "", python)
        print(f"{found.stdout.strip()}: wheel and sdist install, and the README's commands run")


if __name__ == "__main__":
    main()
