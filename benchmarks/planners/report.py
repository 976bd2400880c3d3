"""From the rows of a run to ``planners.md``, ``planners.csv`` and ``planners.png``."""

import csv
from pathlib import Path

from benchmarks.text import paragraph, seconds, size, table

EQUAL = 1e-9
"""Answers of exact planners may differ by this much."""

BYTES_A_STATE = 65
"""Value 8 written and 8 read, action 1 written, mass and two stakes 24 written and 24 read."""

FIELDS = (
    "part", "planner", "purpose", "tests", "subjects", "cost", "depth", "limit", "best", "median", "runs", "building",
    "first_call", "memory", "memory_total", "value", "bound", "proved", "failed",
)  # fmt: skip


def write(folder: Path, kept):
    """Write the three files; `kept` has, for each part, `about` and `rows`."""
    from benchmarks.planners import figure

    rows = [row for part in kept.values() for row in part["rows"]]
    with (folder / "planners.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(row for row in rows if row["planner"] != "copy")
    figure.draw(folder / "planners.png", kept)
    sections = [INTRODUCTION, targets(kept)]
    sections += [SECTIONS[part](kept[part]["rows"]) for part in SECTIONS if part in kept]
    sections.append(conditions(kept))
    (folder / "planners.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def line(row):
    """One row for the screen."""
    what = row.get("subjects") or f"d = {row.get('tests', '–')}"
    options = " ".join(f"{key} {row[key]}" for key in ("cost", "depth") if row.get(key) is not None)
    if "failed" in row:
        return f"{row['planner']:26} {what} {options}: {row['failed']}"
    if "bandwidth" in row:
        return f"copy: {row['bandwidth'] / 1e9:.1f} GB/s read and written"
    gap = "" if row["bound"] is None else f", gap {row['bound'] - row['value']:.1e}"
    figures = f"{seconds(row['best'])}, {size(row['memory'])}, value {row['value']:.9f}{gap}"
    return f"{row['planner']:26} {what} {options}: {figures}"


def disagreements(kept):
    """Return what is wrong: exact answers that differ, and trees better than a proved bound."""
    wrong = []
    for row in (row for part in kept.values() for row in part["rows"] if "value" in row):
        best = ours(kept[row["part"]]["rows"], row)
        if best is None or row is best:
            continue
        both = row["part"] == "dense" or (row.get("purpose") == "limited" and row["proved"] and best["proved"])
        bound = best["value"] if best["bound"] is None else best["bound"]
        if (both and not same(row, best)) or row["value"] > bound + EQUAL:
            wrong.append(f"{line(row)}, proband {best['value']:.12f}")
    return wrong


def ours(rows, row):
    """Return proband's row for the same instance, if it was solved."""
    keys = ("tests", "subjects", "cost", "purpose")
    draws = "draws" in row["planner"]
    for other in rows:
        fits = other["planner"].startswith("proband") and "alone" not in other["planner"] and "value" in other
        if fits and ("draws" in other["planner"]) == draws and all(other.get(key) == row.get(key) for key in keys):
            return other
    return None


def same(row, other):
    return abs(row["value"] - other["value"]) <= EQUAL


def find(kept, part, planner, **wanted):
    """Return the row of a planner that has the wanted entries, or None."""
    for row in kept.get(part, {"rows": []})["rows"]:
        if row["planner"] == planner and "best" in row and all(row.get(key) == value for key, value in wanted.items()):
            return row
    return None


INTRODUCTION = """# The planners beside their peers

One run of `make bench-planners`: the same instances for all, the answers compared, each planner on each instance in a
process of its own. Every measurement is in [planners.csv](planners.csv); the GPU has [its own page](gpu.md).

![Time against states for the dense planners, and value against time on the breast-cancer data](planners.png)"""


def targets(kept):
    """What the planners are meant to reach, and what this run showed."""
    from benchmarks.planners.criteria import criteria

    said = {True: "yes", False: "**no**", None: "–"}
    rows = [(what, aim, shown, said[met]) for what, aim, shown, met in criteria(kept)]
    return "## What was to be shown\n\n" + table(("", "aim", "this run", "met"), rows)


def conditions(kept):
    """Where, when and how it was measured."""
    abouts = {part: found["about"] for part, found in kept.items()}
    parts = [
        f"* {part}, {about['date']}: {about['machine']}; load average before the run {about['load']}."
        for part, about in abouts.items()
    ]
    versions = paragraph("; ".join({about["versions"] for about in abouts.values()}) + ".")
    return "\n".join(["## Conditions", "", *parts, "", versions, "", METHOD])


METHOD = """* **Time**: best and median of several runs after a first one that warms up; what takes over 12 s, and a
  search stopped by its limit, is run once. Compilation (numba) is outside, and named above. "of which building" is the
  part that a planner's user spends on translating the problem into its form; for proband translation is inside the call
  and counted.
* **Memory**: the peak of the process (`ru_maxrss`) minus its peak after imports, compilation and building of the
  instance; in brackets the whole process.
* **Same answers**: exact planners agree to 1e-9, or the run ends with an error. quantecon and mdpsolver need a discount
  below 1 and get 1 - 1e-12, which moves a value by less than 2e-11.
* **NumPy**: two ways to write the induction in about 25 lines, `by_levels` and `by_sets` in
  `benchmarks/planners/inductions.py`; the second uses proband's layout.
* **quantecon**: `DiscreteDP` over state-action pairs with a sparse Q, solved by value iteration, which ends after d + 1
  sweeps. In trials with d = 8 and 10 its backward induction took as long and more memory, policy iteration was still
  changing actions after 1,000 iterations, and modified policy iteration did not reach the value. d = 16 is left out:
  it would take about ten times the memory of d = 14.
* **mdpsolver**: modified policy iteration with Gauss-Seidel updates over states in the order children first, its best
  case. More than half of its time goes into the nested lists that it asks for. d = 14 is left out for the same reason.
* **pystreed**: its cost-sensitive task, one group a test, misclassification cost 1: the objective of the plan, but for
  the limit on the depth. Values are those of its tree under `proband.evaluate`. Depths grow until one is not finished
  within its limit (column `limit` of planners.csv), which is then shown as stopped, with its best tree."""


def dense(rows):
    cold = {row["planner"]: row for row in rows if row.get("purpose") == "compilation" and "best" in row}
    compiled = "; ".join(f"{name} {seconds(row['first_call'])}" for name, row in cold.items())
    parts = [
        "## Dense: all 3^d states of d binary tests, two decisions",
        paragraph(f"""The law is drawn at random over all 2^d outcome vectors, a test costs 0.02, and the decision is
            whether more than half of the tests show 1. First call with an empty cache (compilation): {compiled}."""),
        dense_table([row for row in rows if row.get("purpose") is None and simple(row)]),
        "### 32 posterior draws of d = 10",
        table(
            ("planner", "best", "median", "ratio", "peak memory", "mean value", "agrees"),
            [
                (row["planner"], *times(row), ratio(row, rows), memory(row), f"{row['value']:.9f}", agrees(row, rows))
                for row in rows
                if "draws" in row["planner"] and "best" in row
            ],
        ),
        bandwidth(rows),
    ]
    return "\n\n".join(parts)


def simple(row):
    return "draws" not in row["planner"] and "alone" not in row["planner"] and row["planner"] != "copy"


def dense_table(rows):
    header = (
        "d", "states", "planner", "best", "median", "of which building", "ratio", "ratio without building",
        "peak memory", "value", "agrees",
    )  # fmt: skip
    cells = []
    for row in rows:
        names = (row["tests"], f"{3 ** row['tests']:,}", row["planner"])
        if "failed" in row:
            cells.append((*names, row["failed"], *["–"] * 7))
            continue
        building = seconds(row["building"]) if row["building"] else "–"
        ratios = (ratio(row, rows), ratio(row, rows, building=False))
        cells.append((*names, *times(row), building, *ratios, memory(row), f"{row['value']:.9f}", agrees(row, rows)))
    return table(header, cells)


def times(row):
    return seconds(row["best"]), seconds(row["median"])


def memory(row):
    return f"{size(row['memory'])} ({size(row['memory_total'])})"


def ratio(row, rows, building=True):
    best = ours(rows, row)
    if best is None:
        return "–"
    spent = row["best"] if building else row["best"] - row["building"]
    times = spent / best["best"]
    return f"{times:,.0f}×" if times >= 100 else f"{times:.3g}×"


def agrees(row, rows):
    best = ours(rows, row)
    return "–" if best is None or best is row else "yes" if same(row, best) else "**no**"


def bandwidth(rows):
    """The share of the machine's copy bandwidth that the induction alone reaches."""
    copies = [row["bandwidth"] for row in rows if "bandwidth" in row]
    cells = []
    for row in rows:
        if "alone" in row["planner"] and "best" in row and copies:
            moved = BYTES_A_STATE * 3 ** row["tests"]
            rate = moved / row["best"]
            rates = (f"{rate / 1e9:.3g} GB/s", f"{rate / copies[0]:.0%}")
            cells.append((row["tests"], seconds(row["best"]), size(moved), *rates))
    text = paragraph(f"""All cores together copy a large NumPy array at {copies[0] / 1e9:.1f} GB/s, bytes read and
        written added. Counted for the induction is what must move at least once, {BYTES_A_STATE} bytes a state: value
        written and read (16), the action written (1), and the mass and the two stakes, of which two levels are alive,
        written and read (48). A value is in fact read once for each test already done, 2d/3 times on average; these
        further reads should come from the caches, and are not counted.""")
    header = ("d", "induction alone", "bytes that must move", "rate", "share of copy")
    return "\n\n".join(["### Share of the copy bandwidth", text, table(header, cells)])


def sparse(rows):
    cold = [row for row in rows if row.get("purpose") == "compilation"]
    first = seconds(cold[0]["first_call"]) if "first_call" in cold[0] else f"failed ({cold[0]['failed']})"
    parts = [
        "## Sparse: past subjects, a hidden label",
        paragraph(f"""Earn 1 for the right label, pay for each test; the label is known in history only. First call of
            proband's sparse planner with an empty cache (compilation): {first}."""),
        "### Breast cancer, 569 subjects",
        paragraph("""Each cell: the value, the time it took (best of several runs where it is short), and the ratio of
            this time to proband's. proband's values are proved optimal unless a gap is shown; pystreed's are the best
            for its depth unless it was stopped."""),
        *(breast_table(rows, tests) for tests in (30, 60, 90) if any(f" {tests} " in row["subjects"] for row in rows)),
        "### Noisy labels, 20 s",
        noisy_table([row for row in rows if row.get("purpose") is None and "breast" not in row["subjects"]]),
        "### At most five tests a subject\n\nd = 20 correlated binary tests, n = 1,000 subjects, cost 0.02.",
        limited_table([row for row in rows if row.get("purpose") == "limited"]),
    ]
    return "\n\n".join(parts)


def breast_table(rows, tests):
    here = [row for row in rows if row["subjects"] == f"breast cancer, {tests} tests" and row.get("purpose") is None]
    costs = sorted({row["cost"] for row in here}, reverse=True)
    names = sorted({(row["planner"], row["depth"] or 0) for row in here})
    cells = []
    for planner, depth in names:
        found = {row["cost"]: row for row in here if row["planner"] == planner and (row["depth"] or 0) == depth}
        most = max((row["memory"] for row in found.values() if "memory" in row), default=0)
        name = f"{planner}, depth {depth}" if depth else f"{planner}, any depth"
        cells.append((name, *(breast_cell(found.get(cost), rows) for cost in costs), size(most)))
    header = (f"{tests} tests", *(f"cost {cost}" for cost in costs), "most memory")
    return table(header, cells)


def breast_cell(row, rows):
    if row is None:
        return "–"
    if "failed" in row:
        return row["failed"]
    text = f"{row['value']:.6f}, {seconds(row['best'])}"
    if row["planner"] != "proband":
        return f"{text} ({ratio(row, rows)})" + ("" if row["proved"] else " stopped")
    return text if row["proved"] else f"{text}, gap {row['bound'] - row['value']:.1e}"


def noisy_table(rows):
    cells = []
    for row in rows:
        name = f"{row['planner']}, depth {row['depth']}" if row["depth"] else row["planner"]
        what = (f"{row['subjects']}, cost {row['cost']}", name)
        if "failed" in row:
            cells.append((*what, row["failed"], *["–"] * 4))
            continue
        bound = "–" if row["bound"] is None else f"{row['bound']:.6f}"
        gap = "–" if row["bound"] is None else "proved" if row["proved"] else f"{row['bound'] - row['value']:.1e}"
        spent = seconds(row["best"]) + ("" if row["proved"] else ", stopped")
        cells.append((*what, spent, memory(row), f"{row['value']:.6f}", bound, gap))
    return table(("subjects", "planner", "time", "peak memory", "value", "bound", "gap"), cells)


def limited_table(rows):
    cells = []
    for row in rows:
        if "failed" in row:
            cells.append((row["subjects"], row["planner"], row["failed"], *["–"] * 5))
            continue
        figures = (*times(row), ratio(row, rows), memory(row), f"{row['value']:.9f}", agrees(row, rows))
        cells.append((row["subjects"], row["planner"], *figures))
    return table(("subjects", "planner", "best", "median", "ratio", "peak memory", "value", "agrees"), cells)


SECTIONS = {"dense": dense, "sparse": sparse}
