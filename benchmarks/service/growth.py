"""What grows with the processes, and with the studies: memory, times of asks, planning.

Studies that are asked have learned from past records before, as many as make a plan, so that plans are made from the
first ask on and again and again as they go on. The first ask of each study at each process opens it, and makes its plan
or takes over that of the other process: it is timed by itself, before the stations begin.
"""

import json
import time
from contextlib import contextmanager
from urllib.parse import quote
from urllib.request import Request, urlopen

import numpy as np

from benchmarks.service.running import Serving, planned, quantile, work
from proband import Records
from proband.instances import bolts
from proband.studies import Study, open_store
from proband.studies.events.created import CREATED, draft
from proband.studies.ledger.chain import Event, seal

STATIONS, RATE, ACTIVE = 50, 100.0, 200
PROCESSES, STUDIES = (1, 2, 4), (10, 100, 1000, 10_000)
MEMORY = "400M"
PAST = 64
"""Past records of a study that is asked: with as many bolts the agent makes its first plan."""

DATE = "2026-01-01T00:00:00.000000Z"


def with_processes(seconds, say):
    """One study on PostgreSQL, asked by 50 stations at the same pace, of 1, 2 and 4 service processes."""
    for n in PROCESSES:
        with serving(n) as (store, running):
            [study] = begin(store, 1, 1)[1]
            yield say({"processes": n, **busy(running, [study], seconds)})


def with_studies(seconds, most, say):
    """10 to 10,000 studies in one PostgreSQL, up to 200 of them active, on two service processes."""
    for n in (each for each in STUDIES if each <= most):
        with serving(2, "--memory", MEMORY) as (store, running):
            names, active = begin(store, n, ACTIVE)
            found = busy(running, active, seconds)
            yield say({"studies": n, "active": len(active), **found, **looks(running, names, active)})


@contextmanager
def serving(n, *options):
    from tests.postgres import running_server

    with running_server() as server:
        running = [Serving(server.url, *options) for _ in range(n)]
        try:
            for one in running:
                one.wait()
            yield server.url, running
        finally:
            for one in running:
                one.stop()


def begin(url, n, most):
    """Begin studies, and have some of them learn from past records; return the names of all, and of these.

    The others are begun by their first entries alone.
    """
    names = [f"study {i:05}" for i in range(n)]
    active = names[:: max(1, n // most)][:most]
    store, instance, rng, chosen = open_store(url), bolts(), np.random.default_rng(0), set(active)
    problem = instance.problem
    data = draft(problem, name=names[0], agent=None, seed=0, horizon=None, created=DATE, condition_number=None)
    for name in names:
        if name in chosen:
            with Study.create(problem, name=name, store=store, actor="benchmark", station="-", replan="never") as study:
                study.learn_from(Records(instance.sample(rng, PAST)))
        else:
            first = Event(1, CREATED, None, {**data, "name": name}, DATE, "benchmark", "benchmark", "0", CREATED)
            store.create(name, seal(first))
    store.close()
    return names, active


def busy(running, studies, seconds):
    before = [one.cpu() for one in running]
    first = sorted(timed(what_if(one, study)) for study in studies for one in running)
    found = work([one.url for one in running], None, stations=STATIONS, seconds=seconds, rate=RATE, studies=studies)
    cpu = [[b - a for a, b in zip(*each, strict=True)] for each in zip(before, map(Serving.cpu, running), strict=True)]
    memory, plans = [one.memory() for one in running], [planned(one) for one in running]
    return {
        "rate": found["pairs"] / found["took"],
        "pairs": found["pairs"],
        "errors": len(found["errors"]),
        "first": first,
        "ask": [quantile(found["seconds"]["ask"], q) for q in (0.5, 0.99)],
        "tell": [quantile(found["seconds"]["tell"], q) for q in (0.5, 0.99)],
        "cpu": sum(own for own, _ in cpu),
        "planners": sum(planner for _, planner in cpu),
        "memory": [own for own, _ in memory],
        "planner_memory": [planner for _, planner in memory],
        "made": sum(each["proband_plans_made"] for each in plans),
        "taken": sum(each["proband_plans_taken"] for each in plans),
        "planning": sum(each["proband_planning_seconds"] for each in plans),
        "open": [each["proband_studies_open"] for each in plans],
        "closed": [each["proband_studies_closed"] for each in plans],
    }


def looks(running, names, active):
    """Time the list of studies, its first page and one in the middle, and the first look at studies not yet open."""
    url, closed = running[0].url, [name for name in names if name not in set(active)][:40]
    pages = [f"{url}/api/studies?limit=100", f"{url}/api/studies?limit=100&after={quote(names[len(names) // 2])}"]
    return {
        "list": sorted(timed(page) for page in pages for _ in range(10)),
        "opening": sorted(timed(f"{url}/api/studies/{quote(name)}/subjects") for name in closed),
    }


def what_if(one, study):
    """Ask for the first test of a bolt, as a station would, but without writing anything."""
    head = {"Content-Type": "application/json"}
    return Request(f"{one.url}/api/studies/{quote(study)}/what-if", json.dumps({"known": {}}).encode(), head)


def timed(url):
    began = time.perf_counter()
    with urlopen(url) as answer:
        answer.read()
    return time.perf_counter() - began
