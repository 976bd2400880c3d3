"""What was measured, in words."""

import math

from benchmarks.service import aims
from benchmarks.service.growth import MEMORY, PAST, RATE
from benchmarks.service.running import quantile
from benchmarks.text import paragraph, size, table

HEADER = [
    "case",
    "ask+tell a second",
    "ask: median, 99 %, longest",
    "tell: median, 99 %, longest",
    "CPU a pair",
    "errors",
    "acknowledged",
    "lost",
    "doubled",
]


def page(found, stations):
    parts = ["# The service under load, and as it grows", held(found)]
    if "load" in found:
        parts.append(loaded(found["load"], stations))
    if "growth" in found:
        parts.append(grown(found["growth"], stations))
        if any(row["case"] == aims.POSTGRESQL for row in found.get("load", {}).get("rows", [])):
            parts.append(on_paper(found))
    return "\n\n".join(parts) + "\n"


def held(found):
    """Say what was to be reached, and whether it was."""
    these = [
        *(aims.of_load(found["load"]["about"], found["load"]["rows"]) if "load" in found else ()),
        *(aims.of_growth(found["growth"]["processes"], found["growth"]["studies"]) if "growth" in found else ()),
    ]
    said = paragraph(
        """What the service is held against. All figures of this page are in [service.json](service.json), and the page
        is written from them (`make bench-service OPTIONS="--again --to docs/benchmarks"`)."""
    )
    rows = [[aim.what, aim.wanted, aim.measured, "met" if aim.met else "**not met**"] for aim in these]
    return f"{said}\n\n{table(['aim', 'wanted', 'measured', ''], rows)}"


PLANTS, EACH, SECONDS, BUSY = 1000, 50, 10.0, 0.6


def on_paper(found):
    """Work out what many plants would need, from what was measured."""
    row = next(row for row in found["load"]["rows"] if row["case"] == aims.POSTGRESQL)
    pairs = PLANTS * EACH / SECONDS
    writes = row["acknowledged"] / row["pairs"] * pairs
    cores, planning = (pairs * each / BUSY for each in row["cpu"])
    processes = math.ceil(cores)
    own, planner = (max(each[name][0] for each in found["growth"]["processes"]) for name in MEMORIES)
    said = paragraph(
        f"""What {PLANTS:,} plants with {EACH} stations each would need, if every station asks and tells once in
        {SECONDS:g} seconds: {pairs:,.0f} pairs a second. Nothing of this was tried at this size; it is the figures
        above, multiplied, with cores busy to {100 * BUSY:.0f} %."""
    )
    rows = [
        ["service processes, one for each core", f"{processes:,}", f"{1000 * row['cpu'][0]:.1f} ms a pair"],
        ["cores for plans", f"{math.ceil(planning):,}", f"{1000 * row['cpu'][1]:.1f} ms a pair"],
        ["memory of the processes", size(processes * (own + planner)), f"{size(own)} + {size(planner)} each"],
        ["memory of the studies, each open in one process", *of_studies(found["growth"]["studies"])],
        ["writes a second, each a commit", f"{writes:,.0f}", f"{writes / PLANTS:.1f} a second in each study"],
        ["growth of the database a day", size(int(writes * row["bytes"] * 86400)),
         f"{row['bytes']:.0f} bytes an event with its indexes, without a pause"],
    ]  # fmt: skip
    limits = paragraph(
        """A study is written to by one writer at a time, and what it takes a second is bounded by the commits of its
        log; a study for each plant is far below that. A proxy that sends all of a study's requests to the same process
        (by the name in the path) keeps it open in one process instead of all. Beyond what one PostgreSQL commits in a
        second, plants go to several servers: nothing is shared between studies but tokens."""
    )
    table_of = table(["what", "how much", "from"], rows)
    return "\n\n".join(["## On paper: a thousand plants", said, table_of, limits])


def of_studies(rows):
    """Return what the studies of all plants take, from those with the fewest and with the most open."""
    few, many = (pick(rows, key=lambda row: max(row["open"])) for pick in (min, max))
    if max(few["open"]) == max(many["open"]):
        return "–", "one number of open studies was measured"
    each = (max(many["memory"]) - max(few["memory"])) / (max(many["open"]) - max(few["open"]))
    return size(PLANTS * each), f"{size(each)} a study, beyond what a process takes with {max(few['open']):.0f} open"


MEMORIES = ("memory", "planner_memory")


def loaded(found, stations):
    about, time = found["about"], minutes(found["about"], found["rows"])
    said = paragraph(
        f"""`make bench-service OPTIONS="--part load"` measures this. {stations} stations ask and tell at an even pace,
        {time} for each case; arrivals and decisions come on top. They run in one process on the
        same machine, on plain sockets, so that they take little of its two cores; where the service is killed they
        are those of `proband.client`, in two processes. Times are those of the station, from the call to the answer,
        repetitions included. "CPU a pair" is that of the services, and that of the processes that plan for them. What
        was acknowledged is looked up in the log afterwards. {surroundings(about)}"""
    )
    others = paragraph(
        """"Nothing is planned" is an agent that runs every test: what the service itself takes. "Plans of 10 s" are
        made one after the other all the while, at a tenth of the pace, so that the times are those of waiting for
        them."""
    )
    return "\n\n".join(["## Load", said, table(HEADER, [cells(row) for row in found["rows"]]), others])


def grown(found, stations):
    about = found["about"]
    processes = paragraph(
        f"""`make bench-service OPTIONS="--part growth"` measures this. One study on PostgreSQL, {stations} stations at
        {RATE:g} pairs a second, {minutes(about, [about])}; the stations take turns at the processes. Studies that
        are asked have {PAST} past records, which is when their agent makes its first plan. "First advice" is that of a
        process that has just started, a study that it has not open, and a plan that nobody has made yet: it is asked
        before the stations begin. "Planning" are the seconds that plans took, of all processes; the last column is all
        the CPU of the processes that plan, from their start. {surroundings(about)}"""
    )
    studies = paragraph(
        f"""Two processes with `--memory {MEMORY}`; the same stations go round the active studies, each from a
        place of its own, so that all of them are asked. "A page" are 100
        studies of the list, "opening" is the first look at a study that is not open. Of the two processes the one
        with more memory is told."""
    )
    return "\n\n".join(
        [
            "## More processes", processes, table(BY_PROCESSES, [by_processes(row) for row in found["processes"]]),
            "## More studies", studies, table(BY_STUDIES, [by_studies(row) for row in found["studies"]]),
            "![Planning, times and memory against processes and studies](service.png)",
        ]
    )  # fmt: skip


def minutes(about, rows):
    """Return for how long: the same for all cases, unless some were measured again."""
    each = sorted({row.get("minutes", about["minutes"]) for row in rows})
    said = " to ".join(f"{one:g}" for one in {each[0]: None, each[-1]: None})
    return f"{said} minute" if said == "1" else f"{said} minutes"


def surroundings(about):
    return f"{about['machine']}, load {about['load']} before; {about['versions']}; {about['date']}."


BY_PROCESSES = [
    "processes", "pairs a second", "ask: median, 99 %", "tell: median, 99 %", "memory of each", "CPU a pair",
    "plans made", "taken over", "planning", "CPU of planners", "first advice: median, longest",
]  # fmt: skip
BY_STUDIES = [
    "studies", "active", "pairs a second", "ask: median, 99 %", "tell: median, 99 %", "memory", "open", "closed",
    "plans made", "taken over", "planning", "first advice: median, longest", "a page: median, longest",
    "opening: median, longest",
]  # fmt: skip


def by_processes(row):
    return [
        row["processes"], f"{row['rate']:.0f}", milliseconds(row["ask"]), milliseconds(row["tell"]),
        " + ".join(f"{max(row[name]) / 1e6:.0f}" for name in ("memory", "planner_memory")) + " MB",
        f"{1000 * row['cpu'] / row['pairs']:.1f} ms", f"{row['made']:.0f}", f"{row['taken']:.0f}",
        f"{row['planning']:.2f} s", f"{row['planners']:.1f} s", middle(row["first"]),
    ]  # fmt: skip


def by_studies(row):
    return [
        f"{row['studies']:,}", row["active"], f"{row['rate']:.0f}", milliseconds(row["ask"]),
        milliseconds(row["tell"]), f"{max(row['memory']) / 1e6:.0f} MB", f"{max(row['open']):.0f}",
        f"{max(row['closed']):.0f}", f"{row['made']:.0f}", f"{row['taken']:.0f}", f"{row['planning']:.2f} s",
        middle(row["first"]), middle(row["list"]), middle(row["opening"]),
    ]  # fmt: skip


def middle(values):
    return milliseconds([quantile(values, 0.5), quantile(values, 1.0)]) if values else "–"


def cells(row):
    return [
        row["case"], f"{row['rate']:.0f}", milliseconds(row["ask"]), milliseconds(row["tell"]),
        "–" if row["cpu"] is None else " + ".join(f"{1000 * each:.1f}" for each in row["cpu"]) + " ms", row["errors"],
        f"{row['acknowledged']:,}", row["lost"], row["doubled"],
    ]  # fmt: skip


def line(row):
    return " | ".join(map(str, [*cells(row), row["error"]]))


def milliseconds(quantiles):
    return ", ".join(f"{1000 * value:.0f}" for value in quantiles) + " ms"
