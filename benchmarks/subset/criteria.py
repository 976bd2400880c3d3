"""What the solver is meant to reach, checked against a run: (what, aim, shown, met)."""

from benchmarks.subset.cases import PUBLISHED
from benchmarks.text import seconds


def criteria(kept):
    times = [row["seconds"] for row in kept["priced"] if row["sites"] == 63]
    shown = f"all proved, slowest {seconds(max(times))}"
    yield f"63 sites, {len(times)} draws of costs", "proved, under 1 s each", shown, max(times) < 1
    small = [row for row in kept["sizes"] if row["sites"] == 63]
    close = [
        row for row in small if row["size"] in PUBLISHED and abs(row["determinant"] - PUBLISHED[row["size"]]) < 1e-6
    ]
    proved = sum(row["proved"] for row in small)
    shown = (
        f"{len(close)} of {len(PUBLISHED)} equal, {proved} of {len(small)} sizes proved in {seconds(small[0]['total'])}"
    )
    met = len(close) == len(PUBLISHED) and proved == len(small) and small[0]["total"] < 10
    yield "63 sites, all sizes, published optima", "reproduced, under 10 s together", shown, met
    for row in kept["alone"]:
        if row["sites"] == 63:
            shown = f"{'proved' if row['proved'] else 'not proved'} in {seconds(row['seconds'])}"
            yield f"63 sites, s = {row['size']}", "proved, under 60 s", shown, row["proved"] and row["seconds"] < 60
    large = [row for row in kept["sizes"] if row["sites"] == 90 and 1 < row["size"] < 90]
    proved = sum(row["proved"] for row in large)
    shown = f"{proved} of {len(large)} in {seconds(large[0]['total'])}"
    yield "90 sites, sizes 2 to 89", "80 of 88 proved within 5 minutes", shown, proved >= 80 and large[0]["total"] < 300
    widest = kept["all sets"][-1]
    if widest["tests"] == 20:
        yield "all 2^20 sets", "about 0.1 s", seconds(widest["proband"]), widest["proband"] < 0.2
