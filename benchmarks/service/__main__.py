"""The service, measured: 50 stations that ask and tell over HTTP.

Run with ``python -m benchmarks.service`` in the repository's root; by default half a minute for each case, and the
report under ``out/benchmarks``; that of the documentation with ``--to docs/benchmarks``, and more minutes.
"""

import argparse
import json
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from benchmarks import machine
from benchmarks.service import report
from benchmarks.service.running import Serving, work
from proband.client import Service
from proband.instances import bolts
from proband.studies import Study, open_store

ROOT = Path(__file__).parents[2]
STATIONS = 50
RATE = 320.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.5, help="for each case")
    parser.add_argument("--rate", type=float, default=RATE, help="pairs of ask and tell a second that are asked for")
    parser.add_argument("--to", type=Path, default=ROOT / "out" / "benchmarks", help="folder of the report")
    parser.add_argument("--case", choices=CASES, action="append", help="only these")
    arguments = parser.parse_args()
    folder = arguments.to.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows, about = [], machine.describe("fastapi", "uvicorn")
    for case in arguments.case or CASES:
        with tempfile.TemporaryDirectory(dir=ROOT / "out") as scratch:
            rows.append({"case": case, **CASES[case](Path(scratch), 60 * arguments.minutes, arguments.rate)})
        print(report.line(rows[-1]), file=sys.stderr, flush=True)
    (folder / "service.md").write_text(report.page(rows, about, arguments.minutes, STATIONS))
    (ROOT / "out" / "service.json").write_text(json.dumps({"about": about, "rows": rows}, indent=1))
    print(f"wrote {folder.name}/service.md")


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

        return measured(store, [service], seconds, rate, strike)


def planning(scratch, seconds, rate):
    """Plans of 10 seconds are made all the while; at a tenth of the rate, so that times are those of waiting."""
    store, slow = f"sqlite:///{scratch}/store.db", "benchmarks.service.slow:Slow"
    Study.create(bolts().problem, name="bolts", agent=slow, store=store, replan="never").close()
    with services(store, 1) as [service]:
        return measured(store, [service], seconds, rate / 10)


CASES = {
    "SQLite, one process": on_sqlite,
    "SQLite, one process, nothing is planned": without_plans,
    "PostgreSQL, two processes": on_postgresql,
    "SQLite, killed every 10 s": killed,
    "SQLite, plans of 10 s in the making": planning,
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


def measured(store, running, seconds, rate, meanwhile=lambda: None, agent=None):
    client = Service(running[0].url)
    study = "bolts"
    if study not in [listed.study for listed in client.studies()]:
        client.create(bolts().problem, name=study, agent=agent, key="create")
    before = [(one.process.pid, one.cpu()) for one in running]
    found = work(
        [one.url for one in running], study, stations=STATIONS, seconds=seconds, rate=rate, meanwhile=meanwhile
    )
    after = [(one.process.pid, one.cpu()) for one in running]
    same = [pid for pid, _ in before] == [pid for pid, _ in after]
    cpu = [sum(each[n] for _, each in after) - sum(each[n] for _, each in before) for n in (0, 1)]
    cpu = [seconds / found["pairs"] for seconds in cpu] if same and found["pairs"] else None
    plans = {name: sum(planned(one)[name] for one in running) for name in PLANNED}
    return {**summary(found), **audit(store, study, found["acknowledged"]), "cpu": cpu, **plans}


PLANNED = ("proband_plans_made", "proband_plans_taken", "proband_planning_seconds")


def planned(service):
    """Return what a service says that it planned."""
    with urlopen(f"{service.url}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    values = dict(line.split(" ") for line in lines if not line.startswith("#"))
    return {name: float(values[name]) for name in PLANNED}


def summary(found):
    asked, told = found["seconds"]["ask"], found["seconds"]["tell"]
    return {
        "rate": found["pairs"] / found["took"],
        "ask": [quantile(asked, q) for q in (0.5, 0.99, 1.0)],
        "tell": [quantile(told, q) for q in (0.5, 0.99, 1.0)],
        "errors": len(found["errors"]),
        "error": (found["errors"] or [""])[0],
        "acknowledged": len(found["acknowledged"]),
    }


def audit(store, study, acknowledged):
    """Count what was acknowledged and is not in the log, and what is there more than once."""
    where = open_store(store)
    keys = [entry.key for entry in where.read(study)]
    where.close()
    return {"lost": len(set(acknowledged) - set(keys)), "doubled": len(keys) - len(set(keys))}


def quantile(values, q):
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


if __name__ == "__main__":
    main()
