"""Published numbers of others, beside ours on the same data.

Run with ``python -m benchmarks.anchors --data DIRECTORY`` from the root of the repository. The directory holds
spam.csv, heart-train.csv and heart-test.csv, which are not part of this repository; the parts syn and cube need no
data. A run that was stopped goes on
where it was: what was found is kept in ``out/anchors``. Results go to ``docs/benchmarks/``, those of a quick run to
``out/``; parts that are not measured stay as they stand there, in ``anchors.json``.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.anchors import report
from benchmarks.anchors.parts import PARTS, wanted
from benchmarks.machine import describe

ROOT = Path(__file__).parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with spam.csv and heart-*.csv")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=tuple(PARTS), help="what to measure (default: all)")
    parser.add_argument("--again", action="store_true", help="measure anew what was found before")
    parser.add_argument("--quick", action="store_true", help="few rows and seeds; report under out/")
    arguments = parser.parse_args()
    kept = ROOT / "out" / ("anchors-quick" if arguments.quick else "anchors")
    kept.mkdir(parents=True, exist_ok=True)
    for part in arguments.part:
        for name, call in wanted(part, arguments.data, quick=arguments.quick):
            path = kept / f"{part}-{name}.json"
            if path.exists() and not arguments.again:
                continue
            print(f"{part}, {name} ...", file=sys.stderr, flush=True)
            path.write_text(json.dumps({"about": describe("scikit-learn"), "found": call()}, indent=1))
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    met = report.write(folder, with_earlier(folder / "anchors.json", kept))
    print(f"wrote {folder.relative_to(ROOT)}/anchors.md")
    sys.exit(0 if met else "an aim was missed")


def with_earlier(path, kept):
    """Return what was found by now, a part that was not measured here as it stands beside the page; write it there."""
    found = json.loads(path.read_text()) if path.exists() else {}
    new = {each.stem: json.loads(each.read_text()) for each in sorted(kept.glob("*.json"))}
    parts = {name.partition("-")[0] for name in new}
    found = {name: each for name, each in found.items() if name.partition("-")[0] not in parts} | new
    found = dict(sorted(found.items()))
    path.write_text(json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    main()
