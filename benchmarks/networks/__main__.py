"""Regret and certificates of entropy sampling on the covariances of two environmental monitoring networks.

Run with ``python -m benchmarks.networks --data DIRECTORY`` from the root of the repository. The directory holds
data63.mat and data90.mat, which are not part of this repository (see ``benchmarks/subset``). Results go to
``docs/benchmarks/``, those of a quick run to ``out/``.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.networks import report
from benchmarks.networks.runs import AGENTS, Run, play

ROOT = Path(__file__).parents[2]
SEED, DRAWS, STREAMS = 3000, 5, 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with data63.mat and data90.mat")
    parser.add_argument("--seed", type=int, default=SEED, help="of the first draw of costs (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="one draw, one stream; report under out/")
    arguments = parser.parse_args()
    draws, streams = (1, 1) if arguments.quick else (DRAWS, STREAMS)
    wanted = [
        Run(arguments.data, sites, arguments.seed + draw, stream, agent)
        for sites in (63, 90)
        for draw in range(draws)
        for stream in range(streams)
        for agent in ("certify", "test-everything", *AGENTS)
    ]
    about, rows = describe() | {"seed": arguments.seed, "jobs": arguments.jobs}, []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(play, wanted):
            rows.append(row)
            print(f"\r{len(rows)} of {len(wanted)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"about": about, "rows": rows}
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / "networks.json").write_text(json.dumps(kept, indent=1))
    met = report.write(folder, kept)
    print(f"wrote {folder.relative_to(ROOT)}/networks.md, .csv and .png")
    sys.exit(0 if met else "an aim was missed")


if __name__ == "__main__":
    main()
