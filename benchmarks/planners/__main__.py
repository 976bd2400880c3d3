"""The planners of proband beside their peers: same instances, same answers, one run.

Run with ``make bench-planners``. Every measurement is a process of its own (``worker.py``), so that compilation, memory
and caches of one planner do not touch another. Results go to ``docs/benchmarks/``, those of a quick run to ``out/``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.planners import report

ROOT = Path(__file__).parents[2]
TIME_OUT = 180
DENSE_UP_TO = {"proband": 16, "NumPy by levels": 16, "NumPy by sets": 16, "quantecon": 14, "mdpsolver": 12}
COSTS = (0.05, 0.03, 0.02, 0.01)
DEPTHS = (3, 4, 5, 6, 7)


class Bench:
    """Runs jobs one after another and keeps their rows."""

    def __init__(self, part, quick, cache):
        self.part, self.quick, self.rows = part, quick, []
        self.environment = os.environ | {"NUMBA_CACHE_DIR": cache}

    def run(self, planner, time_out=TIME_OUT, **job):
        """Measure one planner on one instance; the row tells when it failed or ran out of time."""
        job = {"part": self.part, "planner": planner, "seconds": 1 if self.quick else 4, **job}
        command = [sys.executable, "-m", "benchmarks.planners.worker", json.dumps(job)]
        try:
            done = subprocess.run(
                command, env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=time_out, check=False
            )
            found = json.loads(done.stdout) if done.returncode == 0 else {"failed": last_line(done.stderr)}
        except subprocess.TimeoutExpired:
            found = {"failed": f"over {time_out} s"}
        self.rows.append(job | found)
        print(report.line(self.rows[-1]), flush=True)
        return self.rows[-1]


def last_line(text):
    return (text.strip().splitlines() or ["stopped without a word: out of memory?"])[-1][:120]


def dense(bench):
    """d binary tests and two decisions; posterior draws; the share of the copy bandwidth."""
    bench.run("copy")
    for planner in ("proband", "quantecon"):
        bench.run(planner, tests=4, purpose="compilation")
    for d in (8, 10, 12) if bench.quick else (8, 10, 12, 14, 16):
        for planner, most in DENSE_UP_TO.items():
            if d <= most:
                bench.run(planner, tests=d)
    for d in (12,) if bench.quick else (14, 16):
        bench.run("proband, induction alone", tests=d)
    for planner in ("proband, 32 draws", "NumPy by levels, 32 draws"):
        bench.run(planner, tests=10)


def sparse(bench):
    """Past subjects with a hidden label: proofs, noisy cases, and a limit on the number of tests."""
    small = {"subjects": "synthetic 0, 20 tests", "cost": 0.2, "depth": None, "limit": 10}
    ours = ("proband",) if "failed" not in bench.run("proband", **small, purpose="compilation") else ()
    if not ours:
        print("proband.plan(..., method='sparse') does not work here: only pystreed is measured", file=sys.stderr)
    for tests in (30, 60) if bench.quick else (30, 60, 90):
        for cost in COSTS[::2] if bench.quick else COSTS:
            case = {"subjects": f"breast cancer, {tests} tests", "cost": cost}
            for planner in ours:
                bench.run(planner, **case, depth=None, limit=60)
            deeper(bench, case, DEPTHS[:2] if bench.quick else DEPTHS, limit=75 if tests == 30 else 15)
    hard = (("digits, 54 pixels at half", 0.05), ("digits, 52 pixels at mean", 0.05), ("synthetic 0, 20 tests", 0.02))
    for subjects, cost in hard[1:] if bench.quick else hard:
        case = {"subjects": subjects, "cost": cost}
        for planner in ours:
            bench.run(planner, **case, depth=None, limit=5 if bench.quick else 20)
        deeper(bench, case, (3,) if bench.quick else (4, 5, 6), limit=20)
    for seed in (0,) if bench.quick else (0, 1, 2):
        case = {"subjects": f"synthetic {seed}, 20 tests", "cost": 0.02, "depth": 5, "purpose": "limited"}
        for planner in (*ours, "pystreed"):
            bench.run(planner, **case, limit=60)


def deeper(bench, case, depths, limit):
    """Run pystreed at growing depths until it cannot finish one in time."""
    for depth in depths:
        row = bench.run("pystreed", **case, depth=depth, limit=limit)
        if not row.get("proved"):
            break


PARTS = {"dense": dense, "sparse": sparse}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="one half only; the other half of the report stays as it is")
    parser.add_argument("--quick", action="store_true", help="two minutes: small instances, report under out/")
    parser.add_argument("--redraw", action="store_true", help="write the report again from the last results")
    arguments = parser.parse_args()
    results = ROOT / "out" / ("benchmarks-quick.json" if arguments.quick else "benchmarks.json")
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    kept = json.loads(results.read_text()) if results.exists() else {}
    for part in [] if arguments.redraw else [arguments.part] if arguments.part else PARTS:
        about = describe("quantecon", "mdpsolver", "pystreed", "scikit-learn")
        with tempfile.TemporaryDirectory() as cache:  # new, so that the first call of a planner shows its compilation
            bench = Bench(part, arguments.quick, cache)
            PARTS[part](bench)
        kept[part] = {"about": about, "rows": bench.rows}
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(kept, indent=1))
    folder.mkdir(parents=True, exist_ok=True)
    report.write(folder, kept)
    wrong = report.disagreements(kept)
    print(f"wrote {folder.relative_to(ROOT)}/planners.md, .csv and .png")
    sys.exit("\n".join(["answers disagree:", *wrong]) if wrong else 0)


if __name__ == "__main__":
    main()
