"""Measure one method on one instance in a process of its own; the job comes, and the result leaves, as JSON."""

import json
import resource
import sys
import time
from dataclasses import asdict

import numpy as np

from benchmarks.gaussian.cases import case
from benchmarks.gaussian.methods import METHODS

LEAST_RUNS, MOST_RUNS = 3, 30
LONG = 10.0
"""Seconds after which one run is enough."""


def peak():
    """The most memory that this process has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def timed(solve):
    start, busy = time.perf_counter(), time.process_time()
    answer = solve()
    return answer, time.perf_counter() - start, time.process_time() - busy


def measure(job):
    method = METHODS[job["method"]]
    _, first, _ = timed(run_of(method, case(2, job["kind"]), job["options"])[0])
    solve, answer_of = run_of(method, case(job["d"], job["kind"], job["seed"]), job["options"])
    baseline = peak()
    result, spent, busy = timed(solve)
    times, cpu = [spent], [busy]
    while spent < LONG and (len(times) < LEAST_RUNS or sum(times) < job["seconds"]) and len(times) < MOST_RUNS:
        result, *again = timed(solve)
        times.append(again[0])
        cpu.append(again[1])
    answer = asdict(answer_of(result))
    used = {"memory": peak() - baseline, "memory_total": peak()}
    best = {"best": min(times), "median": float(np.median(times)), "cpu": min(cpu), "runs": len(times)}
    return answer | used | best | {"first_call": first}


def run_of(method, line, options):
    """Return a function that solves, and one that makes an answer of its result."""
    made = method(line, **options)
    return made if isinstance(made, tuple) else (made, lambda answer: answer)


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
