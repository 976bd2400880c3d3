"""Write docs/benchmarks/tables.md, .csv and .png from the scores of a run."""

import csv

import numpy as np

from benchmarks.drawing import BLUE, GREEN, PALE_BLUE, PALE_GREEN, picture
from benchmarks.tables.data import TUNED
from benchmarks.text import seconds, table

OURS, RAW = "proband.fit", "raw exact plan"
TUNED_PEER, FIXED_PEER, STATIC = (
    "pystreed, depth by cross-validation",
    "pystreed, depth 3",
    "static selection + boosting",
)
PEERS = (TUNED_PEER, FIXED_PEER, STATIC)
COLOURS = {OURS: GREEN, RAW: PALE_GREEN, TUNED_PEER: BLUE, FIXED_PEER: PALE_BLUE}
AHEAD, WORST = 0.03, 1.0
"""By how much the mean is to be below that of each peer, and most points by which a pair may be worse."""


def write(folder, kept):
    """Write the three files; return whether all aims were met."""
    rows = kept["rows"]
    with (folder / "tables.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draw(folder / "tables.png", rows)
    aims = list(criteria(rows))
    said = {True: "yes", False: "**no**"}
    fresh = [row for row in rows if row["split"] not in TUNED]
    sections = [
        INTRODUCTION,
        "## What was to be shown\n\n"
        + table(("", "aim", "this run", "met"), [(*what, said[bool(met)]) for *what, met in aims]),
        "## Scores\n\n" + scores(rows),
        "## Differences, paired by split\n\n" + differences(rows),
    ]
    if fresh and len(fresh) < len(rows):
        sections.append(
            "## Only splits that nobody had looked at\n\n" + fresh_words(fresh) + "\n\n" + differences(fresh)
        )
    sections += [METHODS, conditions(kept)]
    (folder / "tables.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return all(met for *_, met in aims)


INTRODUCTION = """# Plans from training rows on public tables with test costs

One run of `make bench-tables DATA=DIRECTORY` on *heart* (297 patients, 11 tests), *car* (1,728, 6 tests) and *diabetes*
(768, 6 tests): three levels of error costs, ten splits into training and test rows each. The tables are those of the
pystreed repository (AlgTUDelft/pystreed, `data/cost-sensitive`; data from UCI, CC BY 4.0; costs from S. Lomax,
*Cost-sensitive decision tree learning using a multi-armed bandit framework*, PhD thesis, University of Salford, 2013);
they are not part of this repository. The score is 100 times what tests and errors cost a test row on average, group
discounts included, divided by what all tests cost plus the dearest error for every row that is not of the commonest
class, as pystreed computes it (the two computations agree to the last digit). Lower is better.

![Mean score of each method by table and level](tables.png)"""

METHODS = """## Methods

All see the training rows alone.

* **proband.fit**: `proband.fit(problem, records, validate=False)` with its defaults.
* **raw exact plan**: `proband.plan` on the frequencies of the training rows.
* **pystreed, depth by cross-validation**: its cost-sensitive trees (test costs, discounts, misclassification costs), of
  the depth from 0 to 5 that costs least in five folds; depth 0 decides at once.
* **pystreed, depth 3**: the same at depth 3.
* **static selection + boosting**: tests are added one by one while the cost in five folds falls; the decision with the
  least expected cost by scikit-learn's histogram gradient boosting on these. Everybody pays for all chosen tests."""


def grid(rows, method):
    """Return the scores of a method, shape (pairs, splits)."""
    pairs = list(dict.fromkeys((row["table"], row["level"]) for row in rows))
    found = {(row["table"], row["level"], row["split"]): row["score"] for row in rows if row["method"] == method}
    splits = sorted({split for *_, split in found})
    return pairs, np.array([[found[*pair, split] for split in splits] for pair in pairs])


def standard_error(differences):
    """Of the mean over pairs: splits are what was drawn, so pairs are averaged within each split number first."""
    each = differences.mean(axis=0)
    return each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else float("nan")


def criteria(rows):
    pairs, ours = grid(rows, OURS)
    for peer in PEERS:
        other = grid(rows, peer)[1]
        ahead = 1 - ours.mean() / other.mean()
        error = standard_error(ours - other)
        both = f"{ours.mean():.2f} against {other.mean():.2f}"
        shown = f"{100 * ahead:.1f} % below ({both}; difference {ours.mean() - other.mean():+.2f} ± {error:.2f})"
        yield f"mean against {peer}", f"{100 * AHEAD:.0f} % below or more", shown, ahead >= AHEAD
    for peer in PEERS:
        worse = (ours - grid(rows, peer)[1]).mean(axis=1)
        worst = int(worse.argmax())
        shown = f"{worse[worst]:+.2f} on {' '.join(pairs[worst])}"
        yield f"worst pair against {peer}", f"at most {WORST:g} point worse", shown, worse[worst] <= WORST
    if ("car", "high") in pairs:
        place = pairs.index(("car", "high"))
        mine, plain = ours[place].mean(), grid(rows, RAW)[1][place].mean()
        yield "car, high", "no worse than the raw plan", f"{mine:.2f} against {plain:.2f}", mine <= plain


def scores(rows):
    methods = list(dict.fromkeys(row["method"] for row in rows))
    pairs = grid(rows, OURS)[0]
    grids = {method: grid(rows, method)[1] for method in methods}
    cells = [[" ".join(pair), *(f"{grids[m][p].mean():.2f}" for m in methods)] for p, pair in enumerate(pairs)]
    cells.append(["**mean**", *(f"**{grids[m].mean():.2f}**" for m in methods)])
    spent = [np.median([row["seconds"] for row in rows if row["method"] == method]) for method in methods]
    cells.append(["median time", *(seconds(float(time)) for time in spent)])
    return f"Mean over splits. Lower is better.\n\n{table(('', *methods), cells)}"


def differences(rows):
    pairs, ours = grid(rows, OURS)
    methods = [m for m in dict.fromkeys(row["method"] for row in rows) if m != OURS]
    others = {method: ours - grid(rows, method)[1] for method in methods}
    cells = [[" ".join(pair), *(shown(others[method][p]) for method in methods)] for p, pair in enumerate(pairs)]
    means = [f"**{others[m].mean():+.2f} ± {standard_error(others[m]):.2f}**" for m in methods]
    cells.append(["**mean**", *means])
    text = "proband.fit minus the method, mean over splits ± standard error; below 0 proband.fit is better."
    return f"{text}\n\n{table(('', *methods), cells)}"


def shown(values):
    if not np.abs(values).max() > 1e-9:
        return "0"
    return (
        f"{values.mean():+.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"
        if len(values) > 1
        else f"{values[0]:+.2f}"
    )


def fresh_words(rows):
    splits = sorted({row["split"] for row in rows})
    tuned = ", ".join(map(str, TUNED))
    return (
        f"While the recipe was made (which models of the label are mixed, and by which weights), splits {tuned} were "
        f"looked at. These are the others, {splits[0]} to {splits[-1]}."
    )


def conditions(kept):
    about = kept["about"]
    return (
        f"Seed {about['seed']}; {about['machine']}, shared with other work, so that times are upper bounds; "
        f"{about['versions']}; {about['date']}. All scores: [tables.csv](tables.csv)."
    )


def draw(path, rows):
    pairs = grid(rows, OURS)[0]
    with picture(path, (8.0, 3.8)) as [ax]:
        for number, (method, colour) in enumerate(COLOURS.items()):
            values = grid(rows, method)[1]
            error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]) if values.shape[1] > 1 else None
            ax.bar(
                np.arange(len(pairs)) + 0.2 * (number - 1.5), values.mean(axis=1), 0.19, yerr=error, color=colour,
                label=method, error_kw={"linewidth": 0.8, "ecolor": "#444444"},
            )  # fmt: skip
        ax.plot([], [], "|", color="#444444", markersize=9, label="± standard error over splits")
        ax.set_xticks(np.arange(len(pairs)), ["\n".join(pair) for pair in pairs])
        ax.set_ylabel("score: costs of tests and errors\n(lower is better)")
        ax.set_xlabel("table, and level of the costs of errors")
        ax.legend(frameon=False, fontsize=8)
        ax.grid(visible=False, axis="x")
