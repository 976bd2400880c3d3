"""The picture: time against the number of tests, and error against time beside the uniform grid."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"proband": "#0b6e4f", "uniform grid": "#c8553d", "Gauss-Hermite": "#e09f3e", "nested quadrature": "#3d5a98"}


def draw(path, rows):
    """Draw three pictures side by side."""
    rows = [row for row in rows if "best" in row]
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        canvas, axes = plt.subplots(1, 3, figsize=(15.5, 4.2))
        sizes(axes[0], [row for row in rows if row["part"] == "tests"])
        tolerances(axes[1], [row for row in rows if row["part"] == "tolerance"])
        accuracy(axes[2], [row for row in rows if row["part"] == "grid"])
        for ax in axes:
            ax.grid(alpha=0.25)
        canvas.tight_layout(w_pad=3)
        canvas.savefig(path, dpi=160, metadata={"Software": None})
        plt.close(canvas)


def sizes(ax, rows):
    """Seconds against d, one line for each tolerance and reward."""
    styles = {1e-6: "o-", 1e-4: "s--"}
    for kind, colour in (("limits", "#0b6e4f"), ("threshold", "#3d5a98"), ("asymmetric loss", "#7a5195")):
        for tolerance, style in styles.items():
            here = sorted(
                (row["d"], row["best"])
                for row in rows
                if row["kind"] == kind and row["options"]["tolerance"] == tolerance
            )
            if here:
                ax.plot(*zip(*here, strict=True), style, color=colour, markersize=4, label=f"{kind}, to {tolerance:g}")
    ax.set(yscale="log", xlabel="tests", ylabel="seconds")
    ax.set_title("Time against the number of tests", loc="left")
    if rows:
        ax.legend(frameon=False, fontsize=8)


def tolerances(ax, rows):
    """Seconds against the tolerance."""
    here = sorted((row["options"]["tolerance"], row["best"]) for row in rows)
    if here:
        ax.plot(*zip(*here, strict=True), "o-", color=COLOURS["proband"], markersize=4)
        ax.set_ylim(bottom=0)
    ax.set(xscale="log", xlabel="tolerance", ylabel="seconds")
    ax.invert_xaxis()
    ax.set_title(f"Time against the tolerance, {rows[0]['d'] if rows else '–'} tests", loc="left")


def accuracy(ax, rows):
    """Error against seconds for every method, at the largest d that has a grid."""
    d = max((row["d"] for row in rows if row["method"] == "uniform grid"), default=0)
    for method, colour in COLOURS.items():
        here = sorted(
            (row["best"], max(row["off"], 1e-11)) for row in rows if row["method"] == method and row["d"] == d
        )
        if here:
            ax.plot(*zip(*here, strict=True), "o-", color=colour, markersize=4, label=method)
    ax.set(xscale="log", yscale="log", xlabel="seconds", ylabel="off by")
    ax.set_title(f"Error against time, {d} tests", loc="left")
    if rows:
        ax.legend(frameon=False, fontsize=8)
