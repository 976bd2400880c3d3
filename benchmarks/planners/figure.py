"""The picture: time against states for the dense planners, value against time for the sparse ones."""

from benchmarks.drawing import BLUE, GREEN, GREY, PURPLE, RED, YELLOW, picture

COLOURS = {
    "proband": GREEN, "NumPy by levels": RED, "NumPy by sets": YELLOW, "quantecon": GREY, "mdpsolver": PURPLE,
}  # fmt: skip
PYSTREED = ("#a3b8dd", "#6c8ac4", BLUE, "#1b3a6b")
"""One colour, darker as tests cost more."""
BREAST = "breast cancer, 30 tests"


def draw(path, kept):
    """Draw the parts that were measured, side by side."""
    pictures = [(PICTURES[part], kept[part]["rows"]) for part in PICTURES if part in kept]
    with picture(path, (5.6 * len(pictures), 4.2), len(pictures)) as axes:
        for (drawn, rows), ax in zip(pictures, axes, strict=True):
            drawn(ax, rows)


def dense(ax, rows):
    """Time against states, both logarithmic, labelled at the end of each line."""
    most = max(row["tests"] for row in rows if "tests" in row)
    for planner, colour in COLOURS.items():
        here = [row for row in rows if row["planner"] == planner and row.get("purpose") is None and "best" in row]
        if not here:
            continue
        states, times = [3 ** row["tests"] for row in here], [row["best"] for row in here]
        ax.plot(states, times, "o-", color=colour, markersize=4, linewidth=2.2 if planner == "proband" else 1.2)
        place = {"xytext": (7, 0), "va": "center"} if here[-1]["tests"] == most else {"xytext": (2, 6), "ha": "right"}
        ax.annotate(planner, (states[-1], times[-1]), textcoords="offset points", color=colour, **place)
    ax.set(xscale="log", yscale="log", xlabel="states, 3$^d$", ylabel="seconds")
    ax.set_xlim(right=3**most * 35)
    ax.set_title("Dense: all states of d binary tests", loc="left")


def sparse(ax, rows):
    """What pystreed loses against the proved optimum at each depth, and how long the depth takes."""
    here = [row for row in rows if row["subjects"] == BREAST and row.get("purpose") is None and "best" in row]
    best = {row["cost"]: row for row in here if row["planner"] == "proband" and row["proved"]}
    for cost, colour in zip(sorted(best), PYSTREED, strict=False):
        peers = [row for row in here if row["planner"] == "pystreed" and row["cost"] == cost]
        times, lost = [row["best"] for row in peers], [best[cost]["value"] - row["value"] for row in peers]
        ax.plot(times, lost, "o-", color=colour, markersize=4, linewidth=1.2, label=f"pystreed, cost {cost}")
        if cost == min(best):
            for row, place in zip(peers, zip(times, lost, strict=True), strict=True):
                name = f"depth {row['depth']}" + ("" if row["proved"] else ", stopped")
                ax.annotate(name, place, (5, 4), textcoords="offset points", color="0.35", fontsize=8)
    proofs = [row["best"] for row in best.values()]
    ax.plot(proofs, [0] * len(proofs), "*", color=COLOURS["proband"], markersize=11, clip_on=False,
            label="proband, proved optimal at each cost")  # fmt: skip
    ax.set(xscale="log", xlabel="seconds", ylabel="value lost against the optimum (units of the reward)")
    ax.set_ylim(bottom=0)
    ax.set_title("Sparse: breast cancer, 569 subjects, 30 tests", loc="left")
    ax.legend(frameon=False, fontsize=8)


PICTURES = {"dense": dense, "sparse": sparse}
