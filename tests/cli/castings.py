"""A problem file and its spreadsheet, as somebody brings them: decimal commas, a number of the subject, a date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.tables.formats import delimited, workbook

PROBLEM = """\
schema = 1
name = "castings"
unit = "EUR"
decisions = ["ship", "scrap"]
ignore = ["Nr", "Datum"]
missing = ["-"]

[[tests]]
name = "furnace [°C]"
on_arrival = true
cuts = [1450]
unit = "°C"

[[tests]]
name = "hardness [HRC]"
cost = 0.2
cuts = [60, 75]
unit = "HRC"
group = "bench"
group_cost = 0.1

[[tests]]
name = "porosity"
cost = 0.3
cuts = [0.5]
outcomes = ["dense", "porous"]
group = "bench"
group_cost = 0.15

[[tests]]
name = "visual"
cost = 0.05
outcomes = ["clean", "rough"]

[[tests]]
name = "quality"
available = false
outcomes = ["good", "bad"]

[reward]
kind = "table"
targets = ["quality"]

[[reward.utilities]]
when = { quality = "bad" }
value = { ship = -8.0, scrap = -0.5 }

[[reward.utilities]]
value = { ship = 1.0, scrap = -0.5 }
"""
HEADER = ["Nr", "Datum", "furnace [°C]", "hardness [HRC]", "porosity", "visual", "quality"]
TOLD: dict[str, Any] = {
    "furnace [°C]": 1462.5, "hardness [HRC]": "63,2", "porosity": 0.72, "visual": "rough", "quality": "bad",
}  # fmt: skip
"""What is told of a subject."""
LAW = "castings.toml --data castings.xlsx --sheet past"


def rows(n: int = 300) -> list[list[Any]]:
    rng = np.random.default_rng(2024)
    found: list[list[Any]] = []
    for i in range(n):
        furnace = round(float(rng.normal(1450, 20)), 1)
        bad = bool(rng.random() < (0.1 if furnace < 1450 else 0.3))
        hardness, porosity = round(float(rng.normal(68 - 6 * bad, 6)), 1), round(float(rng.gamma(2 + 3 * bad, 0.15)), 3)
        visual = "rough" if rng.random() < 0.2 + 0.4 * bad else "clean"
        day = f"{1 + i % 28:02d}.03.2024"
        found.append([f"C-{i:04d}", day, furnace, hardness, porosity, visual, "bad" if bad else "good"])
    return found


def write() -> None:
    """Write the problem file, the spreadsheet with two sheets, and the same table as a German CSV."""
    Path("castings.toml").write_text(PROBLEM, encoding="utf-8")
    past = rows()
    Path("castings.xlsx").write_bytes(
        workbook({"past": (HEADER, past), "notes": (["who", "what"], [["me", "measured"]])})
    )
    Path("castings-records.csv").write_bytes(delimited(HEADER, past, mark=";", decimal=",").encode("latin-1"))
