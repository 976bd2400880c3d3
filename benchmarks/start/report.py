"""The page about starting."""

from benchmarks.start.cases import LIGHT
from benchmarks.text import paragraph, table

INTRODUCTION = """# The first call, and every later one

One run of `make bench-start`: seconds of processor time of whole processes, from the start of Python to its end."""

AIMS = {
    "proband --help": 0.4,
    "proband next policy.json": 0.8,
    "proband study ask": 0.8,
}
FIRST = 20.0
"""Seconds of processor time that a first call may take."""


def write(path, found):
    before = any("before" in each for each in found["warm"].values())
    parts = [INTRODUCTION, "## Later calls", WARM, warm_table(found, before)]
    if found["cold"]:
        parts += ["## First calls", COLD, cold_table(found, before), notices(found)]
    path.write_text("\n\n".join([*parts, "## Conditions", conditions(found["about"])]) + "\n", encoding="utf-8")


WARM = paragraph(
    """Everything that a call needs is compiled and on disk; the quickest of five runs. `next` reads a policy of the
    bolts from a file, `study ask` asks an SQLite file about an open subject. Beside them what it takes to import
    others."""
)

COLD = paragraph(
    """Nothing is compiled yet (`NUMBA_CACHE_DIR` is an empty folder): one run each. `plan` and `sensors` are commands
    with an example of the package; "study" begins a study in memory with the default agent, learns from 200 past
    subjects and asks about a new one; "experiment" runs the experiment `easy` with 256 subjects. `proband doctor
    --compile` does all of it ahead."""
)


def warm_table(found, before):
    rows = [row(name, each, before, AIMS.get(name)) for name, each in found["warm"].items() if name in LIGHT]
    rows += [row(name, each, before, None) for name, each in found["warm"].items() if name not in LIGHT]
    rows += [[name, f"{each['cpu']:.2f}", *(["–"] if before else []), ""] for name, each in found["peers"].items()]
    return table(["", "CPU seconds", *(["before"] if before else []), "aim"], rows)


def cold_table(found, before):
    rows = [row(name, each, before, FIRST) for name, each in found["cold"].items()]
    return table(["", "CPU seconds", *(["before"] if before else []), "aim"], rows)


def row(name, each, before, aim):
    now = each["now"]["cpu"]
    met = "" if aim is None else f"{aim:g}: {'met' if now < aim else '**missed**'}"
    return [
        f"`{name}`" if name in LIGHT else name,
        shown(now),
        *([shown(each["before"]["cpu"])] if before else []),
        met,
    ]


def shown(seconds):
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"


def notices(found):
    lines = {line for each in found["cold"].values() for line in each["now"]["said"]}
    return "What the calls say on standard error while they compile:\n\n" + "\n".join(f"    {x}" for x in sorted(lines))


def conditions(about):
    lines = [f"{about['date']}: {about['machine']}; load average before the run {about['load']}."]
    lines.append(f"{about['versions']}, {about['peers']}.")
    return "\n".join(f"* {line}" for line in lines)
