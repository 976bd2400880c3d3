"""Processes on one SQLite file: proband's and Optuna's, ask and tell, side by side."""

import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path

from benchmarks.studies import machine

WORKER = Path(__file__).with_name("worker.py")


def measure(kind, processes, pairs, seconds, folder, source=None):
    """Let processes share an amount of asks and tells; return how many were done, in which time, with which errors.

    With `source`, the folder of another version's modules, the processes are that version's.
    """
    path = Path(folder) / f"{kind}-{processes}-{uuid.uuid4().hex}.db"
    url = f"sqlite:///{path}"
    program = "optuna" if kind == "optuna" else "proband"
    environment = os.environ if source is None else {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", PREPARE[program], url], check=True, env=environment)
    share, bystanders = -(-pairs // processes), machine.Bystanders()
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), program, url, str(number), str(share), str(seconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        for number in range(processes)
    ]  # fmt: skip
    for worker in workers:
        worker.stdout.readline()
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    found = [json.loads(worker.communicate()[0].splitlines()[-1]) for worker in workers]
    took = max(each["ended"] for each in found) - min(each["began"] for each in found)
    done = sum(each["done"] for each in found)
    errors = Counter(error for each in found for error in each["errors"])
    row = {
        "kind": kind, "processes": processes, "done": done, "seconds": took, "rate": done / took,
        "errors": sum(errors.values()), "cpu": sum(each["cpu"] for each in found) / max(done, 1),
        **{what: spread([t for each in found for t in each[what]]) for what in ("asks", "tells")},
        "others": bystanders.share(),
        "commonest": errors.most_common(1)[0][0] if errors else None, "fewest": min(each["done"] for each in found),
    }  # fmt: skip
    return row | CHECK[program](url)


def together(rounds):
    """Return several rounds as one: sums, and times and rates of the round in the middle."""
    ordered = sorted(rounds, key=lambda row: row["rate"])
    sums = ("done", "seconds", "errors", "recorded", "events", "differences", "left_running")
    return {
        **ordered[len(ordered) // 2],
        **{name: sum(row[name] for row in rounds) for name in sums if name in rounds[0]},
        "rates": [row["rate"] for row in ordered],
        "others": sum(row["others"] for row in rounds) / len(rounds),
        "commonest": next((row["commonest"] for row in rounds if row["commonest"]), None),
    }


def spread(times):
    """Return the median, the 99th percentile and the largest of some times, in seconds."""
    ordered = sorted(times) or [float("nan")]
    return {"p50": ordered[len(ordered) // 2], "p99": ordered[int(0.99 * (len(ordered) - 1))], "slowest": ordered[-1]}


PREPARE = {
    "proband": """
import sys
from proband.instances import INSTANCES
from proband.studies import Study

Study.create(INSTANCES["bolts"]().problem, name="bolts", store=sys.argv[1]).close()
""",
    "optuna": """
import sys
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
optuna.create_study(study_name="bolts", storage=sys.argv[1])
""",
}
"""Programs that begin a study, each of its own version."""


def check_proband(url):
    """The log must hold exactly what was acknowledged, and its replay must be equal."""
    from proband.studies import Study

    with Study.open("bolts", store=url, replan="never") as study:
        events = study.verify().length
        told = sum(event.kind == "observed" for event in study.events())
        return {"events": events, "recorded": told, "differences": len(study.replay().differences)}


def check_optuna(url):
    import optuna

    states = Counter(trial.state.name for trial in optuna.load_study(study_name="bolts", storage=url).trials)
    return {"recorded": states["COMPLETE"], "left_running": states["RUNNING"]}


CHECK = {"proband": check_proband, "optuna": check_optuna}
