"""The picture: asks and tells a second against the number of processes."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"proband": "#0b6e4f", "before": "#8a8a8a", "optuna": "#3d5a98"}


def draw(path, rows, least):
    """Draw the rates of both, and the least that was to be shown."""
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        canvas, ax = plt.subplots(figsize=(5.8, 3.8))
        for kind, colour in COLOURS.items():
            here = [row for row in rows if row["kind"] == kind]
            if not here:
                continue
            ax.plot([row["processes"] for row in here], [row["rate"] for row in here], "o-", color=colour)
            last = here[-1]
            ax.annotate(kind, (last["processes"], last["rate"]), (7, 0), textcoords="offset points", color=colour,
                        va="center")  # fmt: skip
            for row in here:
                if row["errors"]:
                    ax.annotate(f"{row['errors']} errors", (row["processes"], row["rate"]), (7, -13),
                                textcoords="offset points", color=colour, fontsize=8)  # fmt: skip
        ax.plot([8], [least], "_", color="0.4", markersize=16)
        ax.annotate(
            "to be shown", (8, least), (0, -11), textcoords="offset points", ha="center", color="0.4", fontsize=8
        )
        ticks = sorted({row["processes"] for row in rows})
        ax.set(xscale="log", yscale="log", xlabel="processes on one SQLite file", ylabel="ask + tell a second")
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        rates = [tick for tick in (5, 10, 20, 50, 100, 200, 500, 1000) if tick >= min(row["rate"] for row in rows) / 2]
        ax.set_yticks(rates, [str(rate) for rate in rates])
        ax.minorticks_off()
        ax.set_xlim(right=ticks[-1] * 2)
        ax.grid(alpha=0.25)
        canvas.tight_layout()
        canvas.savefig(path, dpi=160, metadata={"Software": None})
        plt.close(canvas)
