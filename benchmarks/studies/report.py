"""From what was measured to ``studies.md``."""

import csv

from benchmarks.text import paragraph, table
from proband.quantities import number

LEAST = 200
"""Asks and tells a second that 8 processes are to reach."""


def write(folder, kept):
    """Write the page and the picture."""
    from benchmarks.studies import figure

    with (folder / "studies.csv").open("w", newline="", encoding="utf-8") as file:
        sheet = csv.DictWriter(
            file, ("processes", "kind", "rate", "errors"), extrasaction="ignore", lineterminator="\n"
        )
        sheet.writeheader()
        sheet.writerows(kept["stations"]["rows"])
    figure.draw(folder / "studies.png", kept["stations"]["rows"], LEAST)
    parts = [INTRODUCTION, targets(kept), stations(kept["stations"]), long_log(kept["long"]), conditions(kept)]
    (folder / "studies.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


INTRODUCTION = """# Live studies beside Optuna

One run of `python -m benchmarks.studies`: processes that share one SQLite file, and a log of a million events.

![Asks and tells a second against the number of processes, for proband and Optuna](studies.png)"""


def targets(kept):
    eight, many = find(kept, "proband", 8), find(kept, "proband", 32)
    long = {row["what"]: row["seconds"] for row in kept["long"]["rows"]}
    replayed = long["fold all events"] + long["teach the agent all subjects"]
    opened = long["open with a snapshot"]
    rows = [
        ("ask + tell a second, 8 processes", f"{LEAST} or more", f"{eight['rate']:.0f}", eight["rate"] >= LEAST),
        (
            f"{many['done']:,} ask + tell, 32 processes",
            "no error shown",
            f"{many['errors']} errors, {many['recorded']:,} recorded, replay "
            + ("equal" if not many["differences"] else "**differs**"),
            not many["errors"] and many["recorded"] == many["done"] and not many["differences"],
        ),
        *faster(kept),
        (f"{kept['long']['events']:,} events replay", "under 60 s", f"{replayed:.1f} s", replayed < 60),
        (f"a study of {kept['long']['subjects']:,} subjects opens", "under 5 s", f"{opened:.2f} s", opened < 5),
    ]
    said = {True: "yes", False: "**no**"}
    return "## What was to be shown\n\n" + table(
        ("", "aim", "this run", "met"), [(*row[:3], said[bool(row[3])]) for row in rows]
    )


def faster(kept):
    """Compare with the earlier version, where it was measured."""
    if not kept["stations"].get("before"):
        return []
    pairs = [(find(kept, "proband", n)["rate"], find(kept, "before", n)["rate"]) for n in (1, 8, 32)]
    told = ", ".join(f"{now / before:.1f}" for now, before in pairs)
    return [("times as fast as before, 1, 8, 32 processes", "1 or more", told, all(a >= b for a, b in pairs))]


def stations(found):
    rows = found["rows"]
    cells = [
        (
            row["processes"], row["kind"], f"{row['rate']:.0f} ({row['rates'][0]:.0f} to {row['rates'][-1]:.0f})",
            f"{row['done']:,} in {row['seconds']:.0f} s", times(row["asks"]), times(row["tells"]),
            f"{1e3 * row['cpu']:.1f} ms", row["errors"] or "none", f"{row['recorded']:,}",
            row.get("left_running", "–"), f"{row.get('others', float('nan')):.0%}",
        )
        for row in rows
    ]  # fmt: skip
    header = (
        "processes",
        "",
        "ask + tell a second",
        "done",
        "ask",
        "tell",
        "CPU a pair",
        "errors",
        "recorded",
        "left running",
        "others",
    )
    said = {row["commonest"] for row in rows if row["commonest"]}
    before = f""" "before" is the version at commit {found["before"]}."""
    return "\n\n".join(
        [
            "## Processes on one file",
            paragraph(f"""proband treats bolts with the default agent: nine tests, prices, a plan that is learned on
                the way; a pair is one `ask`, with the value of every alternative, and one `tell`. Arrivals and
                decisions are written, too, and take their time, but are not counted. Every event is synced to the disk
                before it is acknowledged. Optuna's pair is `study.ask()` and `study.tell(trial, 1.0)` of a trial
                without parameters, with its random sampler: nothing but the two calls. Both use SQLite as they
                come. {len(rows[0]["rates"])} rounds in turn; the rate is the median (and the range), the times of asks
                and tells are the median, the 99th percentile and the slowest of that round. "Others" is the share of
                all cores that other programs of the machine took meanwhile.{before if found.get("before") else ""}"""),
            table(header, cells),
            *(["Optuna's commonest error: " + "; ".join(f"`{each}`" for each in sorted(said)) + "."] if said else []),
        ]
    )


def times(spread):
    return " / ".join(number(1e3 * spread[what], 3) for what in ("p50", "p99", "slowest")) + " ms"


def long_log(long):
    cells = [(row["what"], f"{row['seconds']:.2f} s") for row in long["rows"]]
    return "\n\n".join(
        [
            f"## A log of {long['events']:,} events",
            paragraph(f"""{long["subjects"]:,} finished bolts of one station, default agent, in one SQLite file.
                Folding reads the store, checks every hash and the chain, parses the JSON and applies the events.
                Working out all advice again asks the {long["policies"]} policies that were met for all
                {long["advices"]:,} advices: {long["differences"]} differ. The process took
                {long["memory"] / 2**30:.1f} GiB at most."""),
            table(("", "time"), cells),
        ]
    )


def conditions(kept):
    lines = [
        f"* {name}, {about['date']}: {about['machine']}; load average before the run {about['load']}; writing 4 KiB "
        f"and syncing it took {1e3 * about['sync']:.1f} ms."
        for name, about in ((NAMES[part], kept[part]["about"]) for part in NAMES)
    ]
    versions = paragraph("; ".join(sorted({kept[part]["about"]["versions"] for part in NAMES})) + ".")
    return "\n".join(["## Conditions", "", *lines, "", versions, "", METHOD])


NAMES = {"stations": "Processes", "long": "Long log"}

METHOD = """* Every process is a program of its own and begins when all are ready. Optuna is stopped after 20 s a round.
* Each of proband's processes learns and plans for itself, in the background: with many processes on few cores, this
  and the other work of the machine take most of the time, and what a sync of the disk takes most of the rest."""


def find(kept, kind, processes):
    return next(row for row in kept["stations"]["rows"] if (row["kind"], row["processes"]) == (kind, processes))
