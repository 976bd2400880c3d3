"""The picture: time to prove each size of the networks, and time against the number of tests."""

from benchmarks.drawing import GREEN, PALE_GREEN, PURPLE, RED, YELLOW, picture

LITERATURE = {10: (77, 205), 20: (436, 948)}


def draw(path, kept):
    with picture(path, (11.2, 4.2), 2) as axes:
        each_size(axes[0], kept["sizes"])
        growing(axes[1], kept)


def each_size(ax, rows):
    for sites, mark in ((63, "."), (90, "x")):
        here = [row for row in rows if row["sites"] == sites and row["nodes"] > 0]
        places = [row["size"] for row in here], [row["seconds"] for row in here]
        ax.plot(*places, mark, color=GREEN, markersize=5, label=f"proband, {sites} sites")
    for n, (size, (low, high)) in enumerate(LITERATURE.items()):
        name = "MESPpy, 63 sites, as reported (range)"
        ax.plot(
            [size, size], [low, high], color=PURPLE, linewidth=3, solid_capstyle="butt", label=name if not n else None
        )
    ax.set(yscale="log", xlabel="size s", ylabel="seconds to prove the best set")
    ax.set_title("Every size, without costs", loc="left")
    ax.legend(frameon=False, fontsize=8, loc="upper right")


def growing(ax, kept):
    def line(rows, key, name, colour, **style):
        here = [row for row in rows if row[key] is not None]
        ax.plot(
            [row["tests"] for row in here],
            [row[key] for row in here],
            "o-",
            color=colour,
            markersize=4,
            label=name,
            **style,
        )

    line(kept["growing"], "proband", "proband, branch and bound", GREEN, linewidth=2.2)
    line(kept["growing"], "spectral", "branch and bound by eigenvalues, NumPy", RED)
    line(kept["all sets"], "proband", "proband, all sets", PALE_GREEN)
    line(kept["all sets"], "NumPy", "all sets, NumPy", YELLOW)
    ax.set(yscale="log", xlabel="tests (the first d of 63 sites)", ylabel="seconds")
    ax.set_title("Any size, with costs", loc="left")
    ax.legend(frameon=False, fontsize=8)
