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
    parser.add_argument(
        "--go-on", action="store_true", help="after a stop: keep the fits that were written, make the others"
    )
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    path, about = arguments.to / "fits.csv", arguments.to / "fits.json"
    if not arguments.redraw:
        about.write_text(json.dumps(machine.describe(), indent=1) + "\n")
        if not arguments.go_on:
            path.unlink(missing_ok=True)
        write(path, arguments.tables, arguments.jobs)
    rows = read(path)
    (arguments.to / "fits.md").write_text(report.text(rows, json.loads(about.read_text())))
    report.draw(arguments.to / "fits.png", rows)


def read(path):
    """Return what was written: of fits that were made, whole lines alone."""
    with path.open(newline="") as file:
        return [
            {name: value if name == "law" else float(value) for name, value in row.items()}
            for row in csv.DictReader(file)
            if None not in row.values()
        ]


def write(path, tables, jobs):
    """Fit the tables, and write what each says as it comes, after what is there."""
    there = {(row["law"], int(row["rows"]), int(row["seed"])) for row in read(path)} if path.exists() else set()
    every = [(name, n, seed) for seed in range(tables) for name, n in cases.CASES if (name, n, seed) not in there]
    for case in {name: (name, n, 10**6) for name, n in cases.CASES}.values():
        cases.one(case)  # what is compiled is compiled once
    with ProcessPoolExecutor(jobs) as workers, path.open("a", newline="") as file:
        for row in workers.map(cases.one, every):
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
