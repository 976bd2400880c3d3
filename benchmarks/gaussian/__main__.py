"""The Gaussian planner: time against the number of tests and against the tolerance, beside what one would use instead.

Run with ``make bench-gaussian`` or ``python -m benchmarks.gaussian`` from the root of the repository. Every measurement
is a process of its own (``worker.py``). Results go to ``docs/benchmarks/``, those of a quick run to ``out/``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.gaussian import report
from benchmarks.gaussian.cases import BOTH
from benchmarks.machine import describe

ROOT = Path(__file__).parents[2]
TIME_OUT = 900
TRUTH, TRUTH_OF_TWO = 1e-9, 2e-5
"""Accuracy of the values that others are compared with, for one score and for two."""


class Bench:
    """Runs jobs one after another and keeps their rows."""

    def __init__(self, quick, cache):
        self.quick, self.rows, self.truths = quick, [], {}
        self.environment = os.environ | {"NUMBA_CACHE_DIR": cache}

    def run(self, part, method, d, *, kind="limits", seed=0, **options):
        """Measure one method on one instance; the row tells when it failed or ran out of time."""
        job = {"part": part, "method": method, "d": d, "kind": kind, "seed": seed, "options": options}
        row = job | self.measure(job)
        if "value" in row and (truth := self.truth(d, kind, seed)) is not None:
            row["off"] = abs(row["value"] - truth)
        self.rows.append(row)
        print(report.line(row), flush=True)
        return row

    def measure(self, job):
        seconds = {"seconds": 0.5 if self.quick else 3}
        command = [sys.executable, "-m", "benchmarks.gaussian.worker", json.dumps(job | seconds)]
        limit = 120 if self.quick else TIME_OUT
        try:
            done = subprocess.run(
                command, env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"over {limit} s"}
        lines = done.stderr.strip().splitlines() or ["stopped without a word: out of memory?"]
        return json.loads(done.stdout) if done.returncode == 0 else {"failed": lines[-1][:120]}

    def truth(self, d, kind, seed):
        """Return a value that is far more exact, or None where that takes too long."""
        key = (d, kind, seed)
        if d > (4 if kind == BOTH else 12):
            return None
        if key not in self.truths:
            tolerance = TRUTH_OF_TWO if kind == BOTH else TRUTH
            job = {"method": "proband", "d": d, "kind": kind, "seed": seed, "options": {"tolerance": tolerance}}
            self.truths[key] = self.measure(job).get("value")
        return self.truths[key]


def sizes(bench):
    """Time against the number of tests."""
    for d in (2, 4, 6, 8, 10, 12) if bench.quick else (2, 4, 6, 8, 10, 12, 14, 15, 16, 18):
        for kind in ("limits", "threshold", "asymmetric loss") if d in (10, 12, 15) else ("limits",):
            if d <= 16:
                bench.run("tests", "proband", d, kind=kind, tolerance=1e-6)
    for d in (10, 12) if bench.quick else (10, 12, 15, 18):
        bench.run("tests", "proband", d, tolerance=1e-4)


def tolerances(bench):
    """Time against the tolerance."""
    for tolerance in (
        (1e-2, 1e-4, 1e-6, 1e-8) if bench.quick else (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
    ):
        bench.run("tolerance", "proband", 10 if bench.quick else 12, tolerance=tolerance)


def peers(bench):
    """The same instances by other means, at an accuracy that is measured."""
    for d, accuracy in ((2, 1e-4), (2, 1e-6), (2, 1e-8), (3, 1e-4), (3, 1e-6)):
        bench.run("nested", "proband", d, tolerance=accuracy)
        if d == 2 or not bench.quick:
            bench.run("nested", "nested quadrature", d, accuracy=accuracy)
    grids = (501, 2001, 8001) if bench.quick else (501, 2001, 8001, 32001, 128001)
    for d in (6,) if bench.quick else (6, 8, 10):
        for tolerance in (1e-3, 1e-4, 1e-6):
            bench.run("grid", "proband", d, tolerance=tolerance)
        for points in grids[: {6: 5, 8: 4, 10: 3}[d]]:
            bench.run("grid", "uniform grid", d, points=points)
        for points in grids[: {6: 3, 8: 2, 10: 1}[d]]:
            bench.run("grid", "Gauss-Hermite", d, points=points)
    for d, cuts in ((3, (4, 8)),) if bench.quick else ((4, (4, 8, 16, 24)), (6, (4, 8))):
        bench.run("bins", "proband", d, tolerance=1e-4)
        for bins in cuts:
            bench.run("bins", "binned, dense plan", d, bins=bins, subjects=2_000_000)


def two_scores(bench):
    """Rewards of two scores: time against the number of tests, and beside a square grid."""
    for d in (2, 4) if bench.quick else (2, 3, 4, 6, 8, 10):
        bench.run("two scores", "proband", d, kind=BOTH, tolerance=1e-2)
        bench.run("two scores", "proband", d, kind=BOTH, tolerance=1e-3)
        for points in (101, 201) if d <= 4 else ():
            bench.run("two scores", "square grid", d, kind=BOTH, points=points)


PARTS = {"sizes": sizes, "tolerances": tolerances, "peers": peers, "two scores": two_scores}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="one part only; the other parts of the report stay as they are")
    parser.add_argument("--quick", action="store_true", help="two minutes: small instances, report under out/")
    parser.add_argument("--redraw", action="store_true", help="write the report again from the last results")
    arguments = parser.parse_args()
    results = ROOT / "out" / ("gaussian-quick.json" if arguments.quick else "gaussian.json")
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    kept = json.loads(results.read_text()) if results.exists() else {}
    parts = [] if arguments.redraw else [arguments.part] if arguments.part else list(PARTS)
    with tempfile.TemporaryDirectory() as cache:  # new, so that the first call shows its compilation
        for part in parts:
            about, bench = describe(), Bench(arguments.quick, cache)
            PARTS[part](bench)
            kept[part] = {"about": about, "rows": bench.rows}
            results.parent.mkdir(exist_ok=True)
            results.write_text(json.dumps(kept, indent=1))
    folder.mkdir(parents=True, exist_ok=True)
    report.write(folder, kept)
    wrong = report.disagreements(kept)
    print(f"wrote {folder.relative_to(ROOT)}/gaussian.md, .csv and .png")
    sys.exit("\n".join(["answers disagree:", *wrong]) if wrong else 0)


if __name__ == "__main__":
    main()
