"""How often the value that a live study with many tests shows covers the truth: an interval of 90 %, 200 runs a law.

Run with ``python -m benchmarks.coverage`` in the repository's root; see ``make bench-coverage``.
"""

import argparse
import csv
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks import machine
from benchmarks.coverage import report, runs

ROOT = Path(__file__).parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", default="breast,latent-20", help="laws with many tests (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=report.RUNS, help="runs of each law (default: %(default)s)")
    parser.add_argument("--subjects", type=int, default=10_000, help="subjects of a run (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "benchmarks")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    wanted = [(law, arguments.subjects, seed) for law in arguments.laws.split(",") for seed in range(arguments.runs)]
    rows = []
    with ProcessPoolExecutor(arguments.jobs) as workers, (arguments.to / "coverage.csv").open("w", newline="") as file:
        for row in workers.map(runs.one, wanted):
            if not rows:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            rows.append(row)
            writer.writerow(row)
            file.flush()
            print(f"\r{len(rows)} of {len(wanted)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    found = report.text(rows, machine.describe())
    (arguments.to / "coverage.md").write_text(found)
    print(found)
    sys.exit(0 if report.met(rows) else "the interval covers the truth in fewer than 90 % of the runs")


if __name__ == "__main__":
    main()
