"""Write docs/benchmarks/anchors.md from what was found."""

import numpy as np

from benchmarks.anchors import cube, heart, spam, syn
from benchmarks.text import seconds, table

NEAR = 0.03
"""How near to the known model an accuracy is to be."""


def write(folder, kept):
    """Write the page; return whether all aims were met."""
    by_part = {part: [each["found"] for name, each in kept.items() if name.startswith(part)] for part in WRITERS}
    aims = [aim for part, found in by_part.items() if found for aim in CRITERIA[part](found)]
    said = {True: "yes", False: "**no**"}
    sections = [
        INTRODUCTION,
        "## What was to be shown\n\n"
        + table(("", "aim", "this run", "met"), [(*what, said[bool(met)]) for *what, met in aims]),
        *(WRITERS[part](found) for part, found in by_part.items() if found),
        conditions(kept),
    ]
    (folder / "anchors.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return all(met for *_, met in aims)


INTRODUCTION = """# Published numbers of others, beside ours

Written by `make bench-anchors DATA=DIRECTORY`. Syn1 to Syn3, CUBE and CUBE-NM are made by their definitions
(`proband.instances.published`); Spambase (UCI, CC BY 4.0; `spam.csv` of the repository iancovert/dynamic-selection)
and heart disease (UCI Cleveland, CC BY 4.0; `heart-train.csv` and `heart-test.csv` in the split of the R package
FFTrees) are not part of this repository."""


def of(found, **what):
    return next((row for row in found if all(row[key] == value for key, value in what.items())), None)


def syn_criteria(found):
    for rows, most in syn.AIMS.items():
        for rule, limit in zip(syn.LEAST, most, strict=True):
            row = of(found, rule=rule, rows=rows)
            if row is None:
                continue
            above = 0.0 if rows == syn.TRAIN else row["least"]
            aim = f"at most {limit:g} acquisitions" if not above else f"at most {limit:g} above the least possible"
            shown = f"{row['acquisitions'] - above:.4f} ± {row['standard_error']:.3f}"
            yield f"Syn{rule}, {rows:,} rows", aim, shown, row["acquisitions"] - above <= limit


def syn_words(found):
    rules = list(syn.LEAST)
    cells = [[method, *(f"{value:.3f}" for value in values)] for method, values in syn.PUBLISHED.items()]
    for rows in sorted({row["rows"] for row in found}, reverse=True):
        own = [of(found, rule=rule, rows=rows) for rule in rules]
        cells.append(
            [f"**proband, {rows:,} rows**", *(f"**{row['acquisitions']:.4f}**" if row else "–" for row in own)]
        )
    cells.append(["least possible", *(f"{syn.LEAST[rule]:.4f}" for rule in rules)])
    spent = ", ".join(seconds(row["seconds"]) for row in found)
    return f"""## Syn1 to Syn3

Mean number of acquisitions until all features are held that the subject's label depends on, over the last 10,000 of
80,000 rows (seed {syn.SEFA_SEED}); the first 60,000 or 10,000 teach, and the 10,000 between are not used. Published
numbers were read in notes on the paper on SEFA (ICML 2025), not in the paper itself.

{table(("", *(f"Syn{rule}" for rule in rules)), cells)}

Edges of the bins by cross-validation (`estimators.listed.edges`), P(y | bins) by three boosted models with six leaves
a tree, features taken as independent, forecasts of y as decisions (`rewards.forecasts`, {syn.STEPS + 1} of them), and
the exact plan over all states ({syn.PRICE:g} nats a feature). Past the point where the plan decides, the feature of the
best value is taken. The price and the leaves were settled on other seeds of the same definitions; how edges are chosen
too, but a version of it was dropped after it had failed here with 10,000 rows. Time of a run, on a machine that was
shared: {spent}."""


def cube_criteria(found):
    for name, ways in cube.SAME.items():
        rows = [row for row in found if row["name"] == name]
        if not rows:
            continue
        best = list(ways)[-1]
        for kind in ("known", "learned"):
            ahead, error = paired(rows, f"{kind}, ahead", best)
            worst = int(np.argmin(ahead))
            shown = f"{ahead[worst]:+.4f} ± {error[worst]:.4f} at the worst budget, {cube.BUDGETS[worst]}"
            if kind == "known":
                aim, met = f"at least *{best}* on the same subjects", bool((ahead >= -2 * error - 1e-9).all())
            else:
                aim, met = f"within {NEAR:g} of *{best}*, model known", bool((ahead >= -NEAR).all())
            yield f"{name}, model {kind}" + (f" from {cube.ROWS} rows" * (kind == "learned")), aim, shown, met


def paired(rows, one, other):
    """Return by how much one way is ahead of another at each budget, and the standard error over seeds."""
    ahead = np.array([np.subtract(row[one], row[other]) for row in rows])
    return ahead.mean(axis=0), ahead.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.zeros(
        len(ahead[0])
    )


def cube_words(found):
    parts = []
    for name, known in cube.KNOWN.items():
        rows = [row for row in found if row["name"] == name]
        if not rows:
            continue
        cells = [[way, *("–" if v is None else f"{v:.3f}" for v in values)] for way, values in known.items()]
        own = {
            f"proband's benchmark, {word}, {way}": f"{kind}, {way}"
            for kind, word in (("known", "model known"), ("learned", f"learned from {cube.ROWS} rows"))
            for way in ("myopic", "ahead")
        }
        again = {f"*{way}*, gone again on these subjects": way for way in cube.SAME[name]}
        for words, key in (again | own).items():
            each = np.array([row[key] for row in rows])
            error = each.std(axis=0, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.zeros(len(cube.BUDGETS))
            cells.append([words, *(f"{v:.3f} ± {e:.3f}" for v, e in zip(each.mean(axis=0), error, strict=True))])
        best = list(cube.SAME[name])[-1]
        ahead = zip(*paired(rows, "known, ahead", best), strict=True)
        cells.append([f"model known, ahead, less *{best}*", *(f"{v:+.4f} ± {e:.4f}" for v, e in ahead)])
        everything = np.mean([row["everything"] for row in rows])
        parts.append(
            f"**{name}**, {len(rows)} seeds of {rows[0]['test']:,} test subjects; {everything:.3f} with everything "
            "known\n\n" + table(("", *cube.BUDGETS), cells)
        )
    return f"""## CUBE and CUBE-NM

Accuracy after so many acquisitions. The first rows are those of an exact computation with the model known, from 1,500
subjects: their standard error is about 0.01. Their ways are gone again on the subjects of the benchmark (features by
the expected entropy that is left, to the end, on a finer grid), so that differences are paired by seed. *Ahead* looks
for the first acquisition by simulating subjects of the model two acquisitions on; in CUBE-NM it finds the context,
learned or known, which *myopic* buys late or never. It plans the last two acquisitions of a budget together: for each
outcome of the one the other that is right most often. In CUBE four features tell the same by themselves: of *greedy in
entropy* with each of them first, the best at each budget is shown.

{(chr(10) * 2).join(parts)}"""


def spam_criteria(found):
    [row] = found
    least = spam.PUBLISHED["static, as measured before"]
    errors = row.get("errors", [None] * len(least))  # an earlier run had none
    each = zip(row["budgets"], row["chosen, test"], row["static, test"], least, errors, strict=False)
    for budget, own, plain, before, both in each:
        error, apart = ("", "") if both is None else (f" ± {each:.2f}" for each in both)
        shown = f"{own:.2f}{error} (static, re-run: {plain:.2f}; {own - plain:+.2f}{apart})"
        aim = f"AUROC of the static column, {before:.2f}"
        yield f"Spambase, {budget} feature" + "s" * (budget > 1), aim, shown, own >= before


def spam_words(found):
    [row] = found
    cells = [
        [name, *(f"{value:.2f}" for value in values[: len(row["budgets"])])] for name, values in spam.PUBLISHED.items()
    ]
    for name in ("static", "by subject", "chosen"):
        words = {"static": "static, re-run", "by subject": "by subject", "chosen": "**chosen on validation rows**"}[
            name
        ]
        cells.append([words, *(f"{value:.2f}" for value in row[f"{name}, test"])])
    return f"""## Spambase

AUROC on the 920 test rows after so many features. The split is `numpy.random.default_rng(0)`: a fifth to test, a fifth
to validate. Static: the same features for all, one after another. By subject: the next feature depends on what is
believed by then. Both forecast by boosting and random forests on the same rows, and the way by subject is gone where it
is better on the validation rows.{" Standard errors are of a bootstrap of the test rows." if "errors" in row else ""}

{table(("features", *row["budgets"]), cells)}

Which models forecast was settled by the cross-validated AUROC of static sets on training and validation rows. It was
settled anew once, in the same way, after another pair's test scores were known (97.19 with five features)."""


def heart_criteria(found):
    [row] = found
    known, own = (
        "{right} of {patients} right, {tests:.1f} tests, CAD {cost:.0f}".format(**each)
        for each in (heart.PUBLISHED, row["frugal"])
    )
    yield "FFTrees, heart disease", f"its tree gone again: {known}", own, known == own


def heart_words(found):
    [row] = found
    tree = row["frugal"]
    cells = [
        [
            f"{fit['mistake']:,}", f"{fit['right']} of {fit['patients']}", f"{fit['tests']:.1f}", f"{fit['cost']:.1f}",
            f"{fit['total']:,.0f}", "{:,.0f} ({:,.0f} to {:,.0f})".format(*fit["told"]), f"{fit['frugal']:,.0f}",
            f"{fit['ahead']:+,.0f} ± {fit['standard_error']:,.0f}",
        ]
        for fit in row["fits"]
    ]  # fmt: skip
    heads = (
        "a mistake costs", "right", "tests", "tests cost", "tests and mistakes", "told before, with 90 % interval",
        "FFTrees' tree: tests and mistakes", "the fit is ahead by",
    )  # fmt: skip
    return f"""## Heart disease

150 patients teach, and 153 are tested: the split of FFTrees, with the prices of P. Turney (each test by itself). The
tree that its manual shows (thal for everybody, then cp, then ca) decides for {tree["right"]} of {tree["patients"]}
rightly, with {tree["tests"]:.1f} tests, for CAD {tree["cost"]:.0f} a patient. Prices played no part in it, and what a
mistake costs is not published with it. So `proband.fit`, with its defaults, is shown for several such prices: where
a mistake costs little against a test, it asks for what is cheap. CAD a patient, on the test rows; *told before* is what
the fit said of itself, cross-validated on the training rows.

{table(heads, cells)}

Cuts, models and the strength of the penalty are the fit's own, from training rows alone. Which prices of a mistake are
shown was settled when test scores of some of them had been seen; CAD 100 was left out."""


def conditions(kept):
    abouts = [each["about"] for each in kept.values()]
    machines = sorted({f"{about['machine']}; {about['versions']}; {about['date']}" for about in abouts})
    return "Measured on: " + " | ".join(machines) + "."


WRITERS = {"syn": syn_words, "cube": cube_words, "spam": spam_words, "heart": heart_words}
CRITERIA = {"syn": syn_criteria, "cube": cube_criteria, "spam": spam_criteria, "heart": heart_criteria}
