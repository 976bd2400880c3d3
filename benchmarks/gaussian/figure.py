"""The picture: time against the number of tests, and error against time beside the uniform grid."""

from benchmarks.drawing import BLUE, GREEN, PURPLE, RED, YELLOW, picture
from proband.quantities import with_powers

COLOURS = {"proband": GREEN, "uniform grid": RED, "Gauss-Hermite": YELLOW, "nested quadrature": BLUE}
REWARDS = {"limits": GREEN, "threshold": BLUE, "asymmetric loss": PURPLE}
STYLES = {1e-6: "o-", 1e-4: "s--"}


def draw(path, rows):
    """Draw three pictures side by side."""
    rows = [row for row in rows if "best" in row]
    with picture(path, (15.5, 4.2), 3) as axes:
        sizes(axes[0], [row for row in rows if row["part"] == "tests"])
        tolerances(axes[1], [row for row in rows if row["part"] == "tolerance"])
        accuracy(axes[2], [row for row in rows if row["part"] == "grid"])


def sizes(ax, rows):
    """Seconds against d, one line for each tolerance and reward."""
    for kind, colour in REWARDS.items():
        for tolerance, style in STYLES.items():
            wanted = (kind, tolerance)
            chosen = [row for row in rows if (row["kind"], row["options"]["tolerance"]) == wanted]
            here = sorted((row["d"], row["best"]) for row in chosen)
            if here:
                name = f"proband, {kind}, error below {with_powers(f'{tolerance:.0e}')}"
                ax.plot(*zip(*here, strict=True), style, color=colour, markersize=4, label=name)
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
    ax.set(xscale="log", xlabel="error that is allowed in the value", ylabel="seconds")
    ax.invert_xaxis()
    ax.set_title(f"proband: time against the error, {rows[0]['d'] if rows else '–'} tests", loc="left")


def accuracy(ax, rows):
    """Error against seconds for every method, at the largest d that has a grid."""
    d = max((row["d"] for row in rows if row["method"] == "uniform grid"), default=0)
    for method, colour in COLOURS.items():
        chosen = [row for row in rows if row["method"] == method and row["d"] == d]
        here = sorted((row["best"], max(row["off"], 1e-11)) for row in chosen)
        if here:
            ax.plot(*zip(*here, strict=True), "o-", color=colour, markersize=4, label=method)
    ax.set(xscale="log", yscale="log", xlabel="seconds", ylabel="error of the value (units of the reward)")
    ax.set_title(f"Error against time, {d} tests", loc="left")
    if rows:
        ax.legend(frameon=False, fontsize=8)
