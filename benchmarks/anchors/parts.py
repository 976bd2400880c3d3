"""What is measured, by part: names and calls."""

from functools import partial

from benchmarks.anchors import cube, heart, spam, syn

PARTS = ("syn", "cube", "spam", "heart")


def wanted(part, folder, *, quick):
    """Return names and calls of a part; those with files are left out where no folder is given."""
    if part == "syn":
        cases = [(1, 3000)] if quick else [(rule, rows) for rows in (syn.FEW, syn.TRAIN) for rule in syn.LEAST]
        return [(f"rule{rule}-{rows}", partial(syn.play, rule, rows)) for rule, rows in cases]
    if part == "cube":
        seeds, test = (cube.SEEDS[:1], 300) if quick else (cube.SEEDS, cube.TEST)
        return [(f"{name}-{seed}", partial(cube.play, name, seed, test=test)) for name in cube.KNOWN for seed in seeds]
    if folder is None:
        return []
    if part == "heart":
        mistakes, folds = (heart.MISTAKES[:1], 3) if quick else (heart.MISTAKES, 5)
        return [("split", partial(heart.play, folder, mistakes, folds=folds))]
    budgets = spam.BUDGETS[:2] if quick else spam.BUDGETS
    return [("splits", partial(spam.play, folder / "spam.csv", budgets))]
