"""What the tables show: coverage, optimism, and what fits bring beside the exact plan of counts."""

import numpy as np

from benchmarks.drawing import GREEN, PALE_GREEN, YELLOW, picture
from benchmarks.text import paragraph, table

COLOURS = {"raw": PALE_GREEN, "in-sample": YELLOW, "cross-validated": GREEN}


def groups(rows):
    names = list(dict.fromkeys((row["law"], int(row["rows"])) for row in rows))
    return {
        name: {key: np.array([row[key] for row in rows if (row["law"], int(row["rows"])) == name]) for key in rows[0]
               if key != "law"}
        for name in names
    }  # fmt: skip


def text(rows, about):
    cells = []
    for (law, n), each in groups(rows).items():
        covered = (each["low"] <= each["true"]) & (each["true"] <= each["high"])
        cells.append(
            [law, f"{n:,}", len(covered), int(covered.sum()),
             spread(each["in_sample"] - each["true"]), spread(each["mean"] - each["true"]),
             spread(each["raw_in_sample"] - each["raw_true"]), f"{each['best'].mean() - each['true'].mean():.3g}",
             f"{each['best'].mean() - each['raw_true'].mean():.3g}"]
        )  # fmt: skip
    header = (
        "law", "rows", "tables", "interval holds the truth in", "in-sample less truth", "cross-validated less truth",
        "exact plan of counts: in-sample less truth", "fit: truth below the best",
        "exact plan of counts: below the best",
    )  # fmt: skip
    whole = np.array([row["low"] <= row["true"] <= row["high"] for row in rows])
    parts = [
        "# The value of a fit beside the truth",
        paragraph(
            "Tables drawn from laws that are known; each is fitted by `proband.fit` with its defaults (five folds, "
            "everything chosen again in each), and what the fit brings to new subjects is computed from the law. The "
            f"interval is one of 90 %. Over all {len(rows):,} tables it holds the truth in {whole.sum()}."
        ),
        table(header, cells),
        "Means over tables ± standard errors; values in the units of each problem.",
        "![In-sample optimism, and what cross-validation leaves of it](fits.png)",
        paragraph(
            "`bolts` and `gout` are the examples of that name; `classes` is a law of two classes and seven tests, "
            f"drawn at random. Seeds 0 to {int(max(row['seed'] for row in rows))}. {about['machine']}; "
            f"{about['versions']}; {about['date']}, on a busy machine. Command: "
            f"`make bench-fit OPTIONS='--tables {len(whole) // len(cells)}'`. All numbers: [fits.csv](fits.csv)."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def spread(values):
    return f"{values.mean():+.3g} ± {values.std(ddof=1) / np.sqrt(len(values)):.2g}"


def draw(path, rows):
    found = groups(rows)
    with picture(path, (8.0, 3.8)) as [ax]:
        units = {}
        for place, ((law, _), each) in enumerate(found.items()):
            unit = units.setdefault(law, (each["raw_in_sample"] - each["raw_true"]).mean())
            parts = {
                "raw": each["raw_in_sample"] - each["raw_true"],
                "in-sample": each["in_sample"] - each["true"],
                "cross-validated": each["mean"] - each["true"],
            }
            for number, (name, values) in enumerate(parts.items()):
                error = 1.645 * values.std(ddof=1) / np.sqrt(len(values)) / unit
                ax.bar(place + 0.27 * (number - 1), values.mean() / unit, 0.25, yerr=error, color=COLOURS[name],
                       label=LABELS[name] if place == 0 else None, error_kw={"linewidth": 0.8})  # fmt: skip
        ax.plot([], [], "|", color="black", markersize=9, label="90 % interval of the mean")
        ax.axhline(0, color="#444444", linewidth=0.8)
        ax.set_xticks(range(len(found)), [f"{law}\n{n:,} rows" for law, n in found])
        ax.set_ylabel("value stated less value brought\n(1: that of the exact plan of counts, 200 rows)")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.3 * (high - low))
        ax.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
        ax.grid(visible=False, axis="x")


LABELS = {
    "raw": "exact plan of counts, in-sample",
    "in-sample": "fit, in-sample",
    "cross-validated": "fit, cross-validated",
}
