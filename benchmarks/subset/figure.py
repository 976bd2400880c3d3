"""The picture: time to prove each size of the networks, and time against the number of tests."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

GREEN, BLUE, RED, YELLOW, GREY = "#0b6e4f", "#3d5a98", "#c8553d", "#e09f3e", "0.45"
LITERATURE = {10: (77, 205), 20: (436, 948)}


def draw(path, kept):
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        canvas, axes = plt.subplots(1, 2, figsize=(11.2, 4.2))
        each_size(axes[0], kept["sizes"])
        growing(axes[1], kept)
        for ax in axes:
            ax.grid(alpha=0.25)
        canvas.tight_layout(w_pad=3)
        canvas.savefig(path, dpi=160, metadata={"Software": None})
        plt.close(canvas)


def each_size(ax, rows):
    for sites, colour in ((63, GREEN), (90, BLUE)):
        here = [row for row in rows if row["sites"] == sites and row["nodes"] > 0]
        ax.plot(
            [row["size"] for row in here], [row["seconds"] for row in here], ".", color=colour, label=f"{sites} sites"
        )
    for size, (low, high) in LITERATURE.items():
        ax.plot([size, size], [low, high], color=RED, linewidth=3, solid_capstyle="butt")
    ax.annotate("MESPpy, 63 sites,\nas reported", (21, 640), (26, 250), color=RED, fontsize=8)
    ax.set(yscale="log", xlabel="size s", ylabel="seconds to prove the best set")
    ax.set_title("Every size, without costs", loc="left")
    ax.legend(frameon=False, loc="upper right")


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

    line(kept["growing"], "proband", "branch and bound", GREEN, linewidth=2.2)
    line(kept["growing"], "spectral", "branch and bound by eigenvalues, NumPy", RED)
    line(kept["all sets"], "proband", "all sets", BLUE)
    line(kept["all sets"], "NumPy", "all sets, NumPy", YELLOW)
    ax.set(yscale="log", xlabel="tests (the first d of 63 sites)", ylabel="seconds")
    ax.set_title("Any size, with costs", loc="left")
    ax.legend(frameon=False, fontsize=8)
