"""Run with ``python -m benchmarks.fits`` in the repository's root; see ``make bench-fit``."""

import argparse
import csv
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks import machine
from benchmarks.fits import cases, report

ROOT = Path(__file__).parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200, help="tables of each law and number of rows")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "benchmarks")
    parser.add_argument("--redraw", action="store_true", help="write the report again from the last table")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    path, about = arguments.to / "fits.csv", arguments.to / "fits.json"
    if not arguments.redraw:
        about.write_text(json.dumps(machine.describe(), indent=1) + "\n")
        write(path, arguments.tables, arguments.jobs)
    with path.open(newline="") as file:
        rows = [
            {name: value if name == "law" else float(value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]
    (arguments.to / "fits.md").write_text(report.text(rows, json.loads(about.read_text())))
    report.draw(arguments.to / "fits.png", rows)


def write(path, tables, jobs):
    """Fit the tables, and write what each says as it comes."""
    every = [(name, n, seed) for seed in range(tables) for name, n in cases.CASES]
    for case in {name: (name, n, 10**6) for name, n in cases.CASES}.values():
        cases.one(case)  # what is compiled is compiled once
    with ProcessPoolExecutor(jobs) as workers, path.open("w", newline="") as file:
        writer = None
        for done, row in enumerate(workers.map(cases.one, every), 1):
            writer = writer or csv.DictWriter(file, list(row), lineterminator="\n")
            if done == 1:
                writer.writeheader()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
