"""From the rows of a run to ``gaussian.md``, ``gaussian.csv`` and ``gaussian.png``."""

import csv

from benchmarks.gaussian import figure
from benchmarks.text import ratio as times_as_long
from benchmarks.text import seconds, size, table

FIELDS = (
    "part", "method", "d", "kind", "seed", "options", "best", "median", "cpu", "runs", "first_call", "memory",
    "memory_total", "value", "error", "off", "panels", "kept", "failed",
)  # fmt: skip
INTRODUCTION = """# The Gaussian planner beside what one would use instead

One run of `make bench-gaussian`. d correlated Gaussian tests at the price 0.05, z their weighted sum with variance 1;
pass earns 1 inside two limits and −2 outside, fail earns 0 ("limits"), or other rewards where named. Every measurement
is in [gaussian.csv](gaussian.csv).

![Time against the number of tests, and error against time](gaussian.png)"""


def write(folder, kept):
    """Write the three files; `kept` has, for each part, `about` and `rows`."""
    rows = rows_of(kept)
    with (folder / "gaussian.csv").open("w", newline="", encoding="utf-8") as file:
        sheet = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        sheet.writeheader()
        sheet.writerows(row | {"options": options(row)} for row in rows)
    figure.draw(folder / "gaussian.png", rows)
    sections = [
        INTRODUCTION, targets(rows), sizes(rows), tolerances(rows), nested(rows), grid(rows), bins(rows),
        two_scores(rows),
    ]  # fmt: skip
    text = "\n\n".join([*filter(None, sections), conditions(kept)])
    (folder / "gaussian.md").write_text(text + "\n", encoding="utf-8")


def rows_of(kept):
    return [row for part in kept.values() for row in part["rows"]]


def line(row):
    """One row for the screen."""
    what = f"{row['method']:20} d = {row['d']:2} {row['kind']} {options(row)}"
    if "failed" in row:
        return f"{what}: {row['failed']}"
    off = "" if row.get("off") is None else f", off by {row['off']:.1e}"
    return f"{what}: {seconds(row['best'])}, {size(row['memory'])}, value {row['value']:.9f}{off}"


def disagreements(kept):
    """Return what is wrong: answers of the planner farther from the truth than it says, or than it was asked for."""
    return [
        line(row) + f", error {row['error']:.1e}"
        for row in rows_of(kept)
        if row["method"] == "proband" and "value" in row
        and (row.get("off", 0.0) > row["error"] + 1e-9 or row["error"] > row["options"]["tolerance"])
    ]  # fmt: skip


def find(rows, part, d, method="proband", kind="limits", **wanted):
    for row in rows:
        same = (row["part"], row["d"], row["method"], row["kind"]) == (part, d, method, kind)
        if same and "best" in row and row["options"] == wanted:
            return row
    return None


def targets(rows):
    """What the planner is meant to reach, and what this run showed."""
    cells = []
    for d, tolerance, limit in ((10, 1e-6, 1.0), (12, 1e-6, 3.0), (15, 1e-6, 30.0), (18, 1e-4, 300.0)):
        row = find(rows, "tests", d, tolerance=tolerance)
        shown, met = ("not measured", "–") if row is None else (seconds(row["best"]), yes(row["best"] < limit))
        cells.append((f"d = {d} to {tolerance:g}", f"under {seconds(limit)}", shown, met))
    row = find(rows, "tests", 18, tolerance=1e-4)
    shown, met = ("not measured", "–") if row is None else (size(row["memory_total"]), yes(row["memory_total"] < 1e9))
    cells.append(("whole process at d = 18", "under 1.00 GB", shown, met))
    return "## What was to be shown\n\n" + table(("", "aim", "this run", "met"), cells)


def sizes(rows):
    """Time and memory against the number of tests."""
    cells = [
        (
            row["d"], f"{2 ** row['d']:,}", row["kind"], f"{row['options']['tolerance']:g}", *times(row),
            f"{row['panels'] / 2 ** row['d']:.1f}", size(row["kept"]), memory(row), f"{row['value']:.9f}",
            f"{row['error']:.1e}", off(row),
        )
        for row in rows
        if row["part"] == "tests" and "best" in row
    ]  # fmt: skip
    header = (
        "d", "sets", "reward", "tolerance", "best", "median", "CPU", "panels a set", "panels in memory", "peak memory",
        "value", "reported error", "off by",
    )  # fmt: skip
    return "## Time against the number of tests\n\n" + table(header, cells) if cells else ""


def tolerances(rows):
    """Time against the tolerance."""
    cells = [
        (row["d"], f"{row['options']['tolerance']:g}", *times(row), f"{row['panels'] / 2 ** row['d']:.1f}",
         f"{row['error']:.1e}", off(row))
        for row in rows
        if row["part"] == "tolerance" and "best" in row
    ]  # fmt: skip
    header = ("d", "tolerance", "best", "median", "CPU", "panels a set", "reported error", "off by")
    return "## Time against the tolerance\n\n" + table(header, cells) if cells else ""


def nested(rows):
    text = """## Beside nested adaptive quadrature

`scipy.integrate.quad` inside itself, the last test in closed form; it finds the value of a new subject only, the
planner that of all states.

"""
    return beside(rows, "nested", text)


def grid(rows):
    text = """## Beside a uniform grid

Values on a uniform grid of means in NumPy: the exact integral of the interpolant (a convolution), and Gauss-Hermite
quadrature of it with 32 nodes. The ratio is to the fastest run of the planner that was off by no more.

"""
    return beside(rows, "grid", text)


def bins(rows):
    text = """## Beside binning and a dense plan

Each test binned at its quantiles, the law of the bins from two million draws, planned with the dense planner; the value
is what the plan brings to 400,000 fresh subjects (standard error below 0.003). Binning loses information, so its value
is lower, and drawing the law is not counted.

"""
    return beside(rows, "bins", text)


def two_scores(rows):
    text = """## Two scores

Pass earns 1 where two weighted sums of the tests are both above a limit and −2 elsewhere, fail earns 0. The peer keeps
values on a square grid of means and interpolates between them, with 128 Gauss-Hermite nodes along the step of a test;
the last test is in closed form.

"""
    return beside(rows, "two scores", text)


def beside(rows, part, text):
    """A table of one part with ratios of times at equal or better accuracy."""
    here = [row for row in rows if row["part"] == part]
    header = ("d", "method", "", "best", "median", "CPU", "ratio", "peak memory", "value", "off by")
    cells = []
    for row in sorted(here, key=lambda row: (row["d"], row["method"] != "proband", row["method"])):
        names = (row["d"], row["method"], options(row))
        if "failed" in row:
            cells.append((*names, row["failed"], *["–"] * 6))
            continue
        cells.append((*names, *times(row), ratio(row, here), memory(row), f"{row['value']:.9f}", off(row)))
    return text + table(header, cells) if cells else ""


def ratio(row, rows):
    """Time over that of the fastest run of the planner on the same instance that is at least as accurate."""
    if row["method"] == "proband":
        return "–"
    ours = [
        other["best"]
        for other in rows
        if other["method"] == "proband" and other["d"] == row["d"] and other.get("off", 1.0) <= row.get("off", 0.0)
    ]
    return times_as_long(row["best"], min(ours)) if ours else "–"


def conditions(kept):
    parts = [
        f"* {part}, {found['about']['date']}: {found['about']['machine']}; load average before the run "
        f"{found['about']['load']}."
        for part, found in kept.items()
    ]
    versions = "; ".join({found["about"]["versions"] for found in kept.values()}) + "."
    first = next((row["first_call"] for row in rows_of(kept) if row["method"] == "proband" and "best" in row), None)
    compiled = "" if first is None else f", which takes {seconds(first)} with an empty cache"
    method = f"""* **Time**: best and median of several runs after one that compiles{compiled}; what takes over 10 s is
  run once. **CPU** is the time of all cores together.
* **Memory**: the peak of the process (`ru_maxrss`) minus its peak before; in brackets the whole process.
* **Off by**: distance to the planner's value at tolerance 1e-9, where that was computed (d ≤ 12), or 2e-5 with two
  scores (d ≤ 4). A value of the planner that is off by more than its reported error, or an error above the tolerance,
  ends the run with an error."""
    return "\n".join(["## Conditions", "", *parts, "", versions, "", method])


def times(row):
    return seconds(row["best"]), seconds(row["median"]), seconds(row["cpu"])


def memory(row):
    return f"{size(row['memory'])} ({size(row['memory_total'])})"


def off(row):
    return "–" if row.get("off") is None else f"{row['off']:.1e}" if row["off"] else "0"


def options(row):
    shown = {key: f"{value:,}" if isinstance(value, int) else f"{value:g}" for key, value in row["options"].items()}
    return ", ".join(f"{key} {value}" for key, value in shown.items())


def yes(met):
    return "yes" if met else "**no**"
