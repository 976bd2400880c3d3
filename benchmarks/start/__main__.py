"""The first call on a new machine, with nothing compiled, and every later one.

Run with ``python -m benchmarks.start`` in the repository's root, where ``.venv-bench`` has the peers. Results go to
``docs/benchmarks/start.md``, those of a quick run (later calls only) to ``out/benchmarks``.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.start import report
from benchmarks.start.cases import LIGHT, PEERS, PLANNING, VERSIONS, Version

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-bench" / "bin" / "python"
ROUNDS = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what compiles; the report goes to out/")
    parser.add_argument("--beside", help="modules of another version (its src), to be measured in turn with this one")
    parser.add_argument("--redraw", action="store_true", help="write the report again from the last results")
    arguments = parser.parse_args()
    results = ROOT / "out" / ("start-quick.json" if arguments.quick else "start.json")
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    results.parent.mkdir(exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    if not arguments.redraw:
        about = machine.describe()
        about["peers"] = subprocess.run(
            [PEER, "-c", VERSIONS], check=True, capture_output=True, text=True
        ).stdout.strip()
        with tempfile.TemporaryDirectory(dir=results.parent) as scratch:
            found = measure(scratch, arguments.beside, quick=arguments.quick)
        results.write_text(json.dumps({"about": about, **found}, indent=1))
    report.write(folder / "start.md", json.loads(results.read_text()))
    print(f"wrote {folder.relative_to(ROOT)}/start.md")


def measure(scratch, beside, *, quick):
    versions = {"now": Version(scratch, ROOT / "src")}
    if beside:
        versions["before"] = Version(scratch, Path(beside).resolve())
    for version in versions.values():
        version.prepare()
    calls = LIGHT if quick else {**LIGHT, **PLANNING}
    cold = {} if quick else {name: first(versions, name) for name in PLANNING}
    warm = {name: later(versions, calls[name]) for name in calls}
    peer = Version(scratch, ROOT / "src", PEER)
    peers = {name: later({"now": peer}, (program,))["now"] for name, program in PEERS.items()}
    return {"cold": cold, "warm": warm, "peers": peers}


def first(versions, name):
    """With nothing compiled: once, as it takes long."""
    found = {}
    for which, version in versions.items():
        with tempfile.TemporaryDirectory(dir=version.folder) as cache:
            found[which] = version.run(*PLANNING[name], cache=cache)
        print(f"{name}, first, {which}: {found[which]['cpu']:.1f} s", file=sys.stderr, flush=True)
    return found


def later(versions, call):
    """With everything compiled: the quickest of several, in turn."""
    for version in versions.values():
        version.run(*call)
    runs = {which: [] for which in versions}
    for _ in range(ROUNDS):
        for which, version in versions.items():
            runs[which].append(version.run(*call))
    return {which: min(each, key=lambda run: run["cpu"]) for which, each in runs.items()}


if __name__ == "__main__":
    main()
