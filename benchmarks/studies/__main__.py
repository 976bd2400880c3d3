"""Live studies, measured: processes on one SQLite file beside Optuna, and a log of a million events.

Run with ``python -m benchmarks.studies`` in the repository's root. Results go to ``docs/benchmarks/``, those of a quick
run to ``out/benchmarks``.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.studies import long_log, machine, report, stations

ROOT = Path(__file__).parents[2]
PAIRS = {1: 1_000, 8: 4_000, 32: 10_000}
ROUNDS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="one half only; the other half of the report stays as it is")
    parser.add_argument("--quick", action="store_true", help="a few minutes: a tenth of everything, report under out/")
    parser.add_argument("--redraw", action="store_true", help="write the report again from the last results")
    parser.add_argument(
        "--beside", help="modules of another version, to be measured in turn with this one", default=None
    )
    parser.add_argument("--folder", help="where the files of the studies lie while they are measured", default=None)
    arguments = parser.parse_args()
    results = ROOT / "out" / ("studies-quick.json" if arguments.quick else "studies.json")
    folder = ROOT / ("out/benchmarks" if arguments.quick else "docs/benchmarks")
    kept = json.loads(results.read_text()) if results.exists() else {}
    results.parent.mkdir(exist_ok=True)
    for part in [] if arguments.redraw else [arguments.part] if arguments.part else PARTS:
        with tempfile.TemporaryDirectory(dir=arguments.folder or results.parent) as scratch:
            about = machine.describe(scratch)
            share = 10 if arguments.quick else 1
            kept[part] = {"about": about, **PARTS[part](scratch, share=share, beside=arguments.beside)}
        results.write_text(json.dumps(kept, indent=1))
    folder.mkdir(parents=True, exist_ok=True)
    report.write(folder, kept)
    print(f"wrote {folder.relative_to(ROOT)}/studies.md and .png")


def measure_stations(scratch, share, beside):
    """Processes on one file, proband's, an earlier version's and Optuna's in turn, several times over."""
    kinds = ["proband", *(["before"] if beside else []), "optuna"]
    rows = []
    for processes, pairs in PAIRS.items():
        found = {kind: [] for kind in kinds}
        for _ in range(ROUNDS):
            for kind in kinds:
                seconds = 20 // share if kind == "optuna" else 600
                source = beside if kind == "before" else None
                row = stations.measure(kind, processes, pairs // share // ROUNDS, seconds, scratch, source)
                found[kind].append(row)
                tell(f"{kind}, {processes} processes: {row['rate']:.1f} a second, {row['errors']} errors")
        rows += [stations.together(each) for each in found.values()]
    return {"rows": rows, "before": machine.commit(beside)}


def measure_long(scratch, share, beside):
    """One long log."""
    return long_log.measure(1_000_000 // share, scratch, tell=tell)


def tell(text):
    print(text, file=sys.stderr, flush=True)


PARTS = {"stations": measure_stations, "long": measure_long}


if __name__ == "__main__":
    main()
