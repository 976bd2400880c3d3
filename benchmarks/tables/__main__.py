"""What plans made from training rows cost on test rows of public tables with test costs, beside other methods.

Run with ``python -m benchmarks.tables --data DIRECTORY`` from the root of the repository. The directory holds heart,
car and diabetes in the form of the pystreed repository (its folder ``data/cost-sensitive``); they are not part of this
one. Results go to ``docs/benchmarks/``, those of a quick run to ``out/``.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.tables import report
from benchmarks.tables.data import LEVELS, NAMES, SPLITS, Split
from benchmarks.tables.methods import METHODS

ROOT = Path(__file__).parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the folders heart, car and diabetes")
    parser.add_argument("--names", nargs="+", default=NAMES, help="tables (default: %(default)s)")
    parser.add_argument("--splits", type=int, nargs="+", default=SPLITS, help="splits (default: all ten)")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two splits; report under out/")
    arguments = parser.parse_args()
    splits = arguments.splits[:2] if arguments.quick else arguments.splits
    cells = [(name, level, number) for name in arguments.names for level in LEVELS for number in splits]
    about, rows = describe("pystreed", "scikit-learn") | {"seed": arguments.seed}, []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(partial(play, arguments.data, arguments.seed), cells):
            rows += found
            print(f"\r{len(rows)} of {len(cells) * len(METHODS)} scores", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"about": about, "rows": rows}
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / "tables.json").write_text(json.dumps(kept, indent=1))
    met = report.write(folder, kept)
    print(f"wrote {folder.relative_to(ROOT)}/tables.md, .csv and .png")
    sys.exit(0 if met else "an aim was missed")


def play(folder, seed, cell):
    """Return the rows of one split of one table at one level."""
    split, rows = Split.read(folder, *cell), []
    for method, score in METHODS.items():
        began = time.perf_counter()
        points = 100 * score(split, seed=seed)
        seconds = time.perf_counter() - began
        rows.append(
            dict(zip(("table", "level", "split"), cell, strict=True))
            | {"method": method, "score": points, "seconds": seconds}
        )
    return rows


if __name__ == "__main__":
    main()
