"""The service, measured: 50 stations that ask and tell over HTTP.

Run with ``python -m benchmarks.service`` in the repository's root; by default half a minute for each case, and the
report under ``out/benchmarks``; that of the documentation with ``--to docs/benchmarks``, and more minutes. What was
measured is kept beside the report (``service.json``): a part, or a case, that is measured again takes the place of what
was measured before, and ``--again`` writes the report from it.
"""

import argparse
import json
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from benchmarks import machine
from benchmarks.service import aims, figure, growth, report
from benchmarks.service.running import PLANNED, Serving, planned, quantile, work
from proband.client import Service
from proband.instances import bolts
from proband.studies import Study, open_store
from proband.warming import warm

ROOT = Path(__file__).parents[2]
STATIONS = 50
RATE = 320.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.5, help="for each case")
    parser.add_argument("--rate", type=float, default=RATE, help="pairs of ask and tell a second that are asked for")
    parser.add_argument("--to", type=Path, default=ROOT / "out" / "benchmarks", help="folder of the report")
    parser.add_argument("--case", choices=CASES, action="append", help="only these")
    parser.add_argument("--part", choices=("load", "growth"), action="append", help="only this")
    parser.add_argument("--studies", type=int, default=10_000, help="of the growth, the most")
    parser.add_argument("--again", action="store_true", help="measure nothing; write the report from what was measured")
    arguments = parser.parse_args()
    if arguments.again and not (arguments.to / "service.json").exists():
        parser.error(f"there is no service.json in {arguments.to}; measure first")
    measure(arguments)
    written(arguments.to.resolve())


def measure(arguments):
    if arguments.again:
        return
    parts = arguments.part or ["load", "growth"]
    folder = arguments.to.resolve()
    for each in (folder, ROOT / "out"):
        each.mkdir(parents=True, exist_ok=True)
    for part in ("dense", "agents"):  # what is compiled once on a machine is not what is measured
        warm(part)
    kept = folder / "service.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    about = {**machine.describe("fastapi", "uvicorn", "psycopg"), "minutes": arguments.minutes}
    if "load" in parts:
        rows = {row["case"]: row for row in found.get("load", {}).get("rows", [])}
        for row in load(arguments):
            rows[row["case"]] = {**row, "minutes": arguments.minutes}
            found["load"] = {"about": about, "rows": [rows[case] for case in CASES if case in rows]}
            keep(kept, found)
    if "growth" in parts:
        seconds = 60 * arguments.minutes
        found["growth"] = {
            "about": about,
            "processes": list(growth.with_processes(seconds, say)),
            "studies": list(growth.with_studies(seconds, arguments.studies, say)),
        }
        keep(kept, found)


def keep(path, found):
    path.write_text(json.dumps(found, indent=1) + "\n")


def written(folder):
    """Write the page, and the picture, from what was measured."""
    found = json.loads((folder / "service.json").read_text())
    if "growth" in found:
        figure.draw(folder / "service.png", found["growth"]["processes"], found["growth"]["studies"])
    (folder / "service.md").write_text(report.page(found, STATIONS))
    print(f"wrote {folder.name}/service.md")


def load(arguments):
    for case in arguments.case or CASES:
        with tempfile.TemporaryDirectory(dir=ROOT / "out") as scratch:
            row = {"case": case, **CASES[case](Path(scratch), 60 * arguments.minutes, arguments.rate)}
        print(report.line(row), file=sys.stderr, flush=True)
        yield row


def say(row):
    print(
        {name: value for name, value in row.items() if name not in ("list", "opening", "first")},
        file=sys.stderr,
        flush=True,
    )
    return row


def on_sqlite(scratch, seconds, rate):
    store = f"sqlite:///{scratch}/store.db"
    with services(store, 1) as [service]:
        return measured(store, [service], seconds, rate)


def without_plans(scratch, seconds, rate):
    """What the service itself takes: an agent that tests everything plans nothing."""
    store = f"sqlite:///{scratch}/store.db"
    with services(store, 1) as [service]:
        return measured(store, [service], seconds, rate, agent="test-everything")


def on_postgresql(scratch, seconds, rate):
    from tests.postgres import running_server

    with running_server() as server, services(server.url, 2) as two:
        return measured(server.url, two, seconds, rate)


def killed(scratch, seconds, rate):
    """The service is killed every 10 seconds, and started again."""
    store = f"sqlite:///{scratch}/store.db"
    with services(store, 1) as [service]:
        last = [time.monotonic()]

        def strike():
            if time.monotonic() - last[0] >= 10.0:
                service.kill()
                service.start()
                last.append(last.pop() and time.monotonic())

        return measured(store, [service], seconds, rate, strike, kind="stations")


def planning(scratch, seconds, rate):
    """Plans of 10 seconds are made all the while; at a tenth of the rate, so that times are those of waiting."""
    store, slow = f"sqlite:///{scratch}/store.db", "benchmarks.service.slow:Slow"
    Study.create(bolts().problem, name="bolts", agent=slow, store=store, replan="never").close()
    with services(store, 1) as [service]:
        return measured(store, [service], seconds, rate / 10)


CASES = {
    aims.SQLITE: on_sqlite,
    "SQLite, one process, nothing is planned": without_plans,
    aims.POSTGRESQL: on_postgresql,
    aims.KILLED: killed,
    aims.PLANNING: planning,
}


@contextmanager
def services(store, n):
    running = [Serving(store) for _ in range(n)]
    try:
        for one in running:
            one.wait()
        yield running
    finally:
        for one in running:
            one.stop()


def measured(store, running, seconds, rate, meanwhile=lambda: None, agent=None, kind="raw"):
    client = Service(running[0].url)
    study = "bolts"
    if study not in [listed.study for listed in client.studies()]:
        client.create(bolts().problem, name=study, agent=agent, key="create")
    before = [(one.process.pid, one.cpu()) for one in running]
    urls = [one.url for one in running]
    found = work(urls, study, stations=STATIONS, seconds=seconds, rate=rate, meanwhile=meanwhile, kind=kind)
    after = [(one.process.pid, one.cpu()) for one in running]
    same = [pid for pid, _ in before] == [pid for pid, _ in after]
    cpu = [sum(each[n] for _, each in after) - sum(each[n] for _, each in before) for n in (0, 1)]
    cpu = [seconds / found["pairs"] for seconds in cpu] if same and found["pairs"] else None
    told = [planned(one) for one in running]
    plans = {name: sum(each[name] for each in told) for name in PLANNED}
    return {**summary(found), **audit(store, study, found["acknowledged"]), "cpu": cpu, **plans}


def summary(found):
    asked, told = found["seconds"]["ask"], found["seconds"]["tell"]
    return {
        "rate": found["pairs"] / found["took"],
        "ask": [quantile(asked, q) for q in (0.5, 0.99, 1.0)],
        "tell": [quantile(told, q) for q in (0.5, 0.99, 1.0)],
        "pairs": found["pairs"],
        "errors": len(found["errors"]),
        "error": (found["errors"] or [""])[0],
        "acknowledged": len(found["acknowledged"]),
    }


def audit(store, study, acknowledged):
    """Count what was acknowledged and is not in the log, and what is there more than once."""
    where = open_store(store)
    keys = [entry.key for entry in where.read(study)]
    where.close()
    lost, doubled = len(set(acknowledged) - set(keys)), len(keys) - len(set(keys))
    return {"lost": lost, "doubled": doubled, "bytes": stored(store) / len(keys)}


def stored(store):
    """Return the bytes that the events take with their indexes; on SQLite all of the file."""
    if not store.startswith("postgresql"):
        return Path(store.removeprefix("sqlite:///")).stat().st_size
    import psycopg

    with psycopg.connect(store) as connection:
        [size] = connection.execute("SELECT pg_total_relation_size('proband_entries')").fetchone()
    return size


if __name__ == "__main__":
    main()
