"""The subset solver beside what one would use instead: same instances, same answers, one run.

Run with ``python -m benchmarks.subset --data DIRECTORY`` from the root of the repository. The directory holds
data63.mat and data90.mat, covariances of environmental monitoring networks as published with "On computing with some
convex relaxations for the maximum-entropy sampling problem"; they are not part of this repository. Results go to
``docs/benchmarks/``, those of a quick run to ``out/``. One core, compilation apart.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.subset import parts, report

ROOT = Path(__file__).parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with data63.mat and data90.mat")
    parser.add_argument("--quick", action="store_true", help="a minute: fewer and smaller cases, report under out/")
    parser.add_argument("--redraw", action="store_true", help="write the report again from the last results")
    arguments = parser.parse_args()
    results = ROOT / "out" / ("subset-quick.json" if arguments.quick else "subset.json")
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    if arguments.redraw:
        kept = json.loads(results.read_text())
    elif arguments.data is None:
        parser.error("--data is missing: name the folder with data63.mat and data90.mat")
    else:
        kept = parts.measure(arguments.data, arguments.quick)
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(kept, indent=1))
    folder.mkdir(parents=True, exist_ok=True)
    report.write(folder, kept)
    print(f"wrote {folder.relative_to(ROOT)}/subset.md, .csv and .png")
    sys.exit("\n".join(["answers disagree:", *kept["wrong"]]) if kept["wrong"] else 0)


if __name__ == "__main__":
    main()
