"""What the planners are meant to reach, checked against a run: (what, aim, shown, met or None where not measured)."""

from benchmarks.planners.report import find
from benchmarks.text import seconds, size

COSTS = (0.05, 0.03, 0.02, 0.01)


def criteria(kept):
    return [*dense(kept), *sparse(kept)] if kept else []


def at_most(what, limit, row, show=seconds, key="best"):
    if row is None:
        return what, f"under {show(limit)}", "not measured", None
    return what, f"under {show(limit)}", show(row[key]), row[key] < limit


def at_least(what, factor, row, ours):
    if row is None or ours is None:
        return what, f"{factor}× or more", "not measured", None
    times = row["best"] / ours["best"]
    return what, f"{factor}× or more", f"{times:.3g}×", times >= factor


def dense(kept):
    def found(planner, d):
        return find(kept, "dense", planner, tests=d, purpose=None)

    for d in (14, 16):
        for way in ("NumPy by levels", "NumPy by sets"):
            yield at_least(f"{way} against proband, d = {d}", 8, found(way, d), found("proband", d))
    yield at_least("quantecon against proband, d = 14", 20, found("quantecon", 14), found("proband", 14))
    yield at_most("whole process at d = 16", 1.5e9, found("proband", 16), size, "memory_total")
    yield at_most("d = 10, best", 1.5e-3, found("proband", 10))
    yield at_most("32 posterior draws of d = 10, best", 15e-3, found("proband, 32 draws", 10))


def sparse(kept):
    for tests, limit in ((30, 10.0), (60, 60.0), (90, 60.0)):
        subjects = f"breast cancer, {tests} tests"
        rows = [find(kept, "sparse", "proband", subjects=subjects, cost=cost, depth=None) for cost in COSTS]
        what, aim = f"{subjects}, all four costs", f"proved within {limit:.0f} s each"
        if None in rows:
            yield what, aim, "not measured", None
            continue
        slowest = max(row["best"] for row in rows)
        proved = sum(row["proved"] for row in rows)
        yield what, aim, f"{proved} of 4 proved, slowest {seconds(slowest)}", proved == 4 and slowest < limit
    yield from noisy(kept)
    for seed in (0, 1, 2):
        case = {"subjects": f"synthetic {seed}, 20 tests", "purpose": "limited"}
        ours, peer = (find(kept, "sparse", planner, **case) for planner in ("proband", "pystreed"))
        yield at_least(f"pystreed against proband, five tests, {case['subjects']}", 1, peer, ours)


def noisy(kept):
    before = (("digits, 54 pixels at half", 0.05, 0.016), ("digits, 52 pixels at mean", 0.05, 0.016),
              ("synthetic 0, 20 tests", 0.02, 0.057))  # fmt: skip
    for subjects, cost, gap in before:
        row = find(kept, "sparse", "proband", subjects=subjects, cost=cost, purpose=None)
        what, aim = f"{subjects}, cost {cost}, 20 s", f"gap under {gap}"
        if row is None:
            yield what, aim, "not measured", None
            continue
        left = row["bound"] - row["value"]
        yield what, aim, "proved" if row["proved"] else f"{left:.2g}", left < gap
