"""In how many runs the interval covered the truth, and how wide it was."""

import numpy as np

from benchmarks.text import paragraph, table

NOMINAL = 0.9
RUNS = 200
"""Runs of each law, by default."""


def laws(rows):
    names = dict.fromkeys(row["law"] for row in rows)
    return {
        name: {key: np.array([row[key] for row in rows if row["law"] == name]) for key in rows[0] if key != "law"}
        for name in names
    }


def covered(each):
    return (each["low"] <= each["truth"]) & (each["truth"] <= each["high"])


def met(rows):
    return all(covered(each).mean() >= NOMINAL for each in laws(rows).values())


def text(rows, about):
    cells = [
        [
            name, len(each["seed"]), int(covered(each).sum()), int((each["truth"] < each["low"]).sum()),
            int((each["truth"] > each["high"]).sum()), f"{each['audits'].mean():.0f}",
            f"{(each['high'] - each['low']).mean():.3g}", f"{(each['value'] - each['truth']).mean():+.2g}",
            f"{(each['value'] - each['truth']).std():.2g}",
        ]
        for name, each in laws(rows).items()
    ]  # fmt: skip
    header = (
        "law", "runs", "interval holds the truth in", "truth below", "above", "audits", "mean width",
        "value shown less truth", "its sd",
    )  # fmt: skip
    subjects, seeds = (max(int(row[key]) for row in rows) for key in ("subjects", "seed"))
    command = "make bench-coverage" if seeds + 1 == RUNS else f'make bench-coverage OPTIONS="--runs {seeds + 1}"'
    parts = [
        "# The value shown live beside the truth",
        paragraph(
            f"The default agent treats {subjects:,} subjects of a law with many tests; then `agent.value_estimate()`, "
            "which a live study shows, is compared with what the plan in force truly brings. The interval is one of "
            f"{100 * NOMINAL:.0f} %, from audits alone ([many tests](../many-tests.md))."
        ),
        table(header, cells),
        paragraph(
            f"Seeds 0 to {seeds}; every run has subjects, coins and an agent of its own. {about['machine']}; "
            f"{about['versions']}; {about['date']}. Command: `{command}`. All numbers: "
            "[coverage.csv](coverage.csv)."
        ),
    ]
    return "\n\n".join(parts) + "\n"
