"""The pictures of docs/benchmarks again, from the tables beside them: ``make figures``. Nothing is measured."""

import csv
import json
from pathlib import Path

from benchmarks.fits import report as fits
from benchmarks.gaussian import figure as gaussian
from benchmarks.networks import report as networks
from benchmarks.planners import figure as planners
from benchmarks.service import figure as service
from benchmarks.studies import figure as studies
from benchmarks.studies.report import LEAST
from benchmarks.subset import figure as subset
from benchmarks.tables import report as tables

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"


def read(name):
    """Return the rows of a table, its cells as numbers where they are; empty ones are left out."""
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [{key: cell(text) for key, text in row.items() if text != ""} for row in csv.DictReader(file)]


def cell(text):
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def by_part(rows):
    return {part: [row for row in rows if row["part"] == part] for part in dict.fromkeys(row["part"] for row in rows)}


def draw_gaussian(path, rows):
    for row in rows:
        key, _, value = str(row.get("options", "")).rpartition(" ")
        row["options"] = {key: cell(value)}
    gaussian.draw(path, rows)


def draw_planners(path, rows):
    planners.draw(path, {part: {"rows": here} for part, here in by_part(rows).items()})


def draw_subset(path, rows):
    keys = {key: None for row in rows for key in row}
    subset.draw(path, by_part([keys | row for row in rows]))


DRAWN = {
    "fits": fits.draw,
    "gaussian": draw_gaussian,
    "networks": networks.draw,
    "planners": draw_planners,
    "studies": lambda path, rows: studies.draw(path, rows, LEAST),
    "subset": draw_subset,
    "tables": tables.draw,
}


def draw_service(path):
    grown = json.loads(path.with_suffix(".json").read_text())["growth"]
    service.draw(path, grown["processes"], grown["studies"])


def main():
    for name, draw in DRAWN.items():
        draw(FOLDER / f"{name}.png", read(name))
        print(f"docs/benchmarks/{name}.png")
    draw_service(FOLDER / "service.png")
    print("docs/benchmarks/service.png")


if __name__ == "__main__":
    main()
