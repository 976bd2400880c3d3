"""Measure one planner on one instance in a process of its own; the job comes, and the result leaves, as JSON."""

import json
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import numpy as np

from benchmarks.planners import planners

LEAST_RUNS, MOST_RUNS = 3, 50
LONG = 12.0
"""Seconds after which one run is enough, as it is for a search that its limit stopped."""


def peak():
    """The most memory that this process has held so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def timed(solve):
    start = time.perf_counter()
    answer = solve()
    return answer, time.perf_counter() - start - answer.checking


def repeat(solve, seconds):
    """Solve once to warm up, then again and again for some seconds; return the last answer, and what each run took."""
    answer, first = timed(solve)
    if first > LONG or not answer.proved:
        return answer, [first], [answer.building]
    times, building = [], []
    while len(times) < LEAST_RUNS or (sum(times) < seconds and len(times) < MOST_RUNS):
        answer, spent = timed(solve)
        times.append(spent)
        building.append(answer.building)
        if first + sum(times) > max(seconds, LONG):
            break
    return answer, times, building


def measure(job):
    warm_up, solve = planners.prepare(job)
    _, compilation = timed(warm_up)
    warm_up()
    baseline = peak()
    answer, times, building = repeat(solve, job["seconds"])
    return {
        **asdict(answer),
        "best": min(times),
        "median": float(np.median(times)),
        "runs": len(times),
        "building": building[int(np.argmin(times))],
        "first_call": compilation,
        "memory": peak() - baseline,
        "memory_total": peak(),
    }


def copy_bandwidth():
    """Bytes read and written a second when all cores copy a large array, the best of several."""
    cores = os.cpu_count() or 1
    source, target = np.ones((cores, 2**26)), np.empty((cores, 2**26))
    best = np.inf
    with ThreadPoolExecutor(cores) as threads:
        for _ in range(7):
            start = time.perf_counter()
            list(threads.map(np.copyto, target, source))
            best = min(best, time.perf_counter() - start)
    return {"bandwidth": 2 * source.nbytes / best}


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    print(json.dumps(copy_bandwidth() if job["planner"] == "copy" else measure(job)))
