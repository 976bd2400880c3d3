"""What the service must reach, held against what was measured."""

from typing import NamedTuple

from benchmarks.service.growth import ACTIVE, MEMORY

PACE, WITHIN, MINUTES = 300.0, 0.150, 5.0
MOST = 10_000
SPREAD = 1.25
"""By how much the same plans may take longer, so that it is no growth: the clock of a busy machine."""

UNITS = {"M": 2**20, "G": 2**30}
LIMIT = int(MEMORY[:-1]) * UNITS[MEMORY[-1]]

SQLITE, POSTGRESQL, KILLED, PLANNING = (
    "SQLite, one process", "PostgreSQL, two processes", "SQLite, killed every 10 s",
    "SQLite, plans of 10 s in the making",
)  # fmt: skip
"""Cases of the load that there is an aim for."""


class Aim(NamedTuple):
    what: str
    wanted: str
    measured: str
    met: bool


def of_load(about, rows):
    """Return the aims of the cases that were measured."""
    found = {row["case"]: row for row in rows}
    for case in (SQLITE, POSTGRESQL):
        if case in found:
            yield paced(case, found[case])
    if KILLED in found:
        yield kept(found[KILLED])
    if PLANNING in found:
        yield unhindered(found[PLANNING])
    minutes = [found[case].get("minutes", about["minutes"]) for case in (SQLITE, POSTGRESQL, KILLED) if case in found]
    if minutes:
        least = min(minutes)
        yield Aim("each of the first three", f"{MINUTES:g} minutes", f"{least:g} minutes", least >= MINUTES)


def paced(case, row):
    ask, tell = row["ask"][1], row["tell"][1]
    measured = f"{row['rate']:.0f}, {milliseconds(ask)} and {milliseconds(tell)}, {row['errors']} errors"
    wanted = f"{PACE:.0f} pairs a second or more, 99 % of asks and of tells within {milliseconds(WITHIN)}, no error"
    met = row["rate"] >= PACE and max(ask, tell) < WITHIN and not row["errors"] and not row["lost"] + row["doubled"]
    return Aim(case, wanted, measured, met)


def kept(row):
    measured = f"{row['errors']} gave up; of {row['acknowledged']:,} {row['lost']} lost, {row['doubled']} doubled"
    met = row["acknowledged"] > 0 and not row["errors"] + row["lost"] + row["doubled"]
    return Aim(KILLED, "stations finish by themselves, nothing that was acknowledged is lost or doubled", measured, met)


def unhindered(row):
    met = row["ask"][1] < WITHIN and not row["errors"]
    return Aim(PLANNING, f"99 % of asks within {milliseconds(WITHIN)}", milliseconds(row["ask"][1]), met)


def of_growth(processes, studies):
    """Return the aims of the growth."""
    few, many = processes[0], processes[-1]
    measured = f"{few['planning']:.2f} s of {few['processes']} process, {many['planning']:.2f} s of {many['processes']}"
    yield Aim(
        "planning does not grow with the processes",
        f"at most {SPREAD:g} times as much",
        measured,
        len(processes) > 1 and many["planning"] <= SPREAD * few["planning"],
    )
    last = studies[-1]
    ask, memory = last["ask"][1], max(last["memory"])
    enough = last["studies"] >= MOST and last["active"] >= ACTIVE
    measured = f"{last['studies']:,} studies, {last['active']} active: {last['errors']} errors, {milliseconds(ask)}"
    yield Aim(
        f"{MOST:,} studies, {ACTIVE} of them active, on two processes",
        f"no error, 99 % of asks within {milliseconds(WITHIN)}, each process within {LIMIT / 1e6:.0f} MB",
        f"{measured}, {memory / 1e6:.0f} MB",
        enough and not last["errors"] and ask < WITHIN and memory <= LIMIT,
    )


def milliseconds(seconds):
    return f"{1000 * seconds:.0f} ms"
