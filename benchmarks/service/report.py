"""What was measured, in words."""

from benchmarks.text import paragraph, table

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


def page(rows, about, minutes, stations):
    said = paragraph(
        f"""{stations} stations of `proband.client`, in two processes on the same machine, ask and tell at an even pace,
        {minutes:g} minutes for each case; arrivals and decisions come on top. Times are those of the client, from the
        call to the answer, retries included; "CPU a pair" is that of the service, plans included. What was acknowledged
        is looked up in the log afterwards. {about["machine"]}, load {about["load"]} before; {about["versions"]};
        {about["date"]}."""
    )
    others = paragraph(
        """"Nothing is planned" is an agent that runs every test: what the service itself takes. What the default agent
        takes more is planning and explaining; each of two processes plans for itself. "Plans of 10 s" are made one
        after the other all the while, at a tenth of the pace, so that the times are those of waiting for them."""
    )
    found = table(HEADER, [cells(row) for row in rows])
    return f"# The service under load\n\n`make bench-service` measures this.\n\n{said}\n\n{found}\n\n{others}\n"


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
