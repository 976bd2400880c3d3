"""What is measured; every part returns plain rows."""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np

from benchmarks.machine import describe
from benchmarks.subset import cases, peers
from proband.planners.subset import enumerate_values, improve, sizes, solve_subset

LOG = cases.LOG_TWO_PI_E


def measure(folder, quick):
    """Run all parts; `wrong` lists answers that disagree."""
    about = describe()
    compiled = None if quick else compilation()
    solve_subset(np.eye(3) + 0.2, 1.0)
    kept = {"about": about, "compilation": compiled, "first_call": first_call(), "quick": quick, "wrong": []}
    networks = {sites: cases.network(folder, sites) for sites in (63, 90)}
    for name, part in PARTS.items():
        kept[name] = part(networks, quick, kept["wrong"])
    return kept


FIRST = """import time, numpy
from proband.planners.subset import solve_subset
began = time.perf_counter()
solve_subset(numpy.eye(3) + 0.2, 1.0)
print(time.perf_counter() - began)"""


def first_call(**environment):
    """Seconds of the first call in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def compilation():
    """Seconds of the first call with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        return first_call(NUMBA_CACHE_DIR=cache)


def timed(solve, least=1, seconds=0.5):
    """Best time of several calls, and the last answer."""
    times = []
    while len(times) < least or (sum(times) < seconds and len(times) < 20):
        began = time.perf_counter()
        answer = solve()
        times.append(time.perf_counter() - began)
    return min(times), answer


def check(wrong, what, one, other, tolerance=1e-8):
    if abs(one - other) > tolerance:
        wrong.append(f"{what}: {one:.12g} and {other:.12g}")


def say(*words):
    print(*words, flush=True)


def all_sets(networks, quick, wrong):
    """The rewards of all sets of the first d of the 63 sites."""
    rows = []
    covariance, costs = cases.priced(networks[63], 0)
    for d in (8, 12) if quick else (8, 10, 12, 14, 16, 18, 20):
        ours, values = timed(partial(enumerate_values, covariance[:d, :d], costs[:d]), least=3)
        row = {"tests": d, "proband": ours, "NumPy": None}
        if d <= 16:
            row["NumPy"], plain = timed(partial(peers.brute_force, covariance[:d, :d], costs[:d]))
            check(wrong, f"all sets, d = {d}", float(np.abs(values - plain).max()), 0.0)
        rows.append(row)
        say("all sets", row)
    return rows


def priced(networks, quick, wrong):
    """Networks with drawn costs, beside greedy with exchanges."""
    rows = []
    for sites, network in networks.items():
        for seed in range(3 if quick else 20):
            covariance, costs = cases.priced(network, seed)
            seconds, found = timed(partial(solve_subset, covariance, costs), least=3, seconds=0.05)
            quickly, near = timed(partial(improve, covariance, costs), least=3, seconds=0.05)
            began = time.perf_counter()
            _, value = peers.greedy_and_swaps(covariance, costs)
            spent = time.perf_counter() - began
            check(wrong, f"{sites} sites, seed {seed}", found.gap, 0.0)
            if max(value, peers.worth(covariance, costs, near)) > found.bound + 1e-9:
                wrong.append(f"{sites} sites, seed {seed}: a set better than the bound")
            row = {
                "sites": sites, "seed": seed, "size": len(found.chosen), "value": found.value, "nodes": found.nodes,
                "seconds": seconds, "improve": found.value - peers.worth(covariance, costs, near),
                "improve seconds": quickly, "greedy": found.value - value, "greedy seconds": spent,
            }  # fmt: skip
            rows.append(row)
            say("priced", row)
    return rows


def growing(networks, quick, wrong):
    """The first d of the 63 sites with drawn costs: how far eigenvalues alone carry."""
    rows, limit, stopped = [], 5.0 if quick else 20.0, False
    for d in (8, 16, 24) if quick else (8, 12, 16, 20, 24, 28, 32, 40, 48, 63):
        covariance, costs = cases.priced(networks[63][:d, :d], 0)
        ours, found = timed(partial(solve_subset, covariance, costs, method="branch and bound"), least=3)
        row = {"tests": d, "proband": ours, "nodes": found.nodes, "spectral": None}
        if not stopped:
            value, bound, nodes, spent = peers.branch_and_bound(covariance, costs, limit=limit)
            stopped = bound > value + 1e-6
            row |= {"spectral": spent, "spectral nodes": nodes, "spectral gap": bound - value}
            check(wrong, f"spectral, d = {d}", value, found.value, 1e-8 if not stopped else np.inf)
        rows.append(row)
        say("growing", row)
    return rows


def every_size(networks, quick, wrong):
    """The classical problem for all sizes, one call."""
    rows = []
    for sites, covariance in networks.items():
        began = time.perf_counter()
        found = sizes(covariance, time_limit=300.0)
        seconds = time.perf_counter() - began
        for solution in found:
            size = len(solution.chosen)
            row = {
                "sites": sites, "size": size, "determinant": 2 * solution.value - size * LOG, "gap": 2 * solution.gap,
                "proved": solution.status == "optimal", "method": solution.method, "nodes": solution.nodes,
                "seconds": solution.seconds, "total": seconds,
            }  # fmt: skip
            if sites == 63 and size in cases.PUBLISHED:
                check(wrong, f"published optimum, s = {size}", row["determinant"], cases.PUBLISHED[size], 1e-6)
            rows.append(row)
        say("sizes", sites, f"{sum(row['proved'] for row in rows if row['sites'] == sites)} proved in {seconds:.2f} s")
    return rows


def alone(networks, quick, wrong):
    """Single sizes: with prices first, by branch and bound alone, and by eigenvalues."""
    rows = []
    limit = 5.0 if quick else 20.0
    for sites, size in ((63, 10), (63, 20), (63, 30), (90, 20), (90, 45)):
        covariance = networks[sites]
        row = {"sites": sites, "size": size}
        row["seconds"], found = timed(partial(solve_subset, covariance, 0.0, size=size), least=3)
        row |= {
            "determinant": 2 * found.value - size * LOG,
            "proved": found.status == "optimal",
            "method": found.method,
        }
        plain = solve_subset(covariance, 0.0, size=size, method="branch and bound", time_limit=limit)
        row |= {"plain seconds": plain.seconds, "plain gap": 2 * plain.gap, "plain nodes": plain.nodes}
        value, bound, nodes, spent = peers.branch_and_bound(covariance, np.zeros(sites), size, limit)
        row |= {"spectral seconds": spent, "spectral gap": 2 * (bound - value), "spectral nodes": nodes}
        row["spectral loss"] = 2 * (found.value - value)
        if plain.status == "optimal":
            check(wrong, f"{sites} sites, s = {size}", plain.value, found.value)
        rows.append(row)
        say("alone", row)
    return rows


def hard(networks, quick, wrong):
    """One cost for all tests on covariances made at random: where the search has to give up."""
    rows = []
    for name, make in list(cases.HARD.items())[: 2 if quick else None]:
        covariance, costs = cases.evenly_priced(make())
        found = solve_subset(covariance, costs, time_limit=5.0 if quick else 10.0)
        rows.append({
            "case": name, "size": len(found.chosen), "value": found.value, "gap": found.gap, "nodes": found.nodes,
            "proved": found.status == "optimal", "seconds": found.seconds,
        })  # fmt: skip
        say("hard", rows[-1])
    return rows


PARTS = {
    "all sets": all_sets,
    "priced": priced,
    "growing": growing,
    "sizes": every_size,
    "alone": alone,
    "hard": hard,
}
