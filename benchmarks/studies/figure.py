"""The picture: asks and tells a second against the number of processes."""

from benchmarks.drawing import BLUE, GREEN, GREY, picture, ticks

COLOURS = {"proband": GREEN, "before": GREY, "optuna": BLUE}
NAMES = {"before": "proband, an earlier version", "optuna": "Optuna"}
RATES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)


def draw(path, rows, least):
    """Draw the rates of both, and the least that was to be shown."""
    with picture(path, (5.8, 3.8)) as [ax]:
        for kind, colour in COLOURS.items():
            here = [row for row in rows if row["kind"] == kind]
            for row in here:
                if row["errors"]:
                    ax.annotate(f"{row['errors']} errors", (row["processes"], row["rate"]), (7, -13),
                                textcoords="offset points", color=colour, fontsize=8)  # fmt: skip
            if here:
                places = [row["processes"] for row in here], [row["rate"] for row in here]
                ax.plot(*places, "o-", color=colour, label=NAMES.get(kind, kind))
        ax.plot(
            [8],
            [least],
            "_",
            color="0.4",
            markersize=16,
            markeredgewidth=1.6,
            ls="",
            label=f"to be shown: {least} at 8 processes",
        )
        ax.set(xscale="log", yscale="log", xlabel="processes on one SQLite file", ylabel="ask + tell a second")
        ticks(ax.xaxis, sorted({row["processes"] for row in rows}))
        lowest, highest = min(row["rate"] for row in rows) / 1.5, max(row["rate"] for row in rows) * 1.2
        ticks(ax.yaxis, [rate for rate in RATES if lowest <= rate <= highest])
        ax.set_ylim(lowest, highest)
        ax.legend(frameon=False, fontsize=8)
