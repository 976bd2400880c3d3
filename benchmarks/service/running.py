"""Service processes and processes of stations, for the benchmark."""

import json
import re
import subprocess
import sys
import time
from itertools import chain
from urllib.request import urlopen

import psutil

from proband.client import Service
from proband.errors import ProbandError


class Serving:
    """``proband serve`` on a port."""

    def __init__(self, store, *options, port=0):
        self.store, self.options = store, options
        self.port = port
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        where = ["--store", self.store, "--port", str(self.port), *self.options]
        command = [sys.executable, "-m", "proband", "serve", "--open", *where]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(re.findall(r":(\d+)", self.process.stdout.readline())[0])

    def wait(self):
        Service(self.url, patience=60.0).me()

    def cpu(self):
        """Seconds of CPU that it took, and those of the process that plans for it."""
        own = psutil.Process(self.process.pid)
        planners = [sum(child.cpu_times()[:2]) for child in own.children(recursive=True)]
        return sum(own.cpu_times()[:2]), sum(planners)

    def memory(self):
        """Bytes of memory that it takes, and those of the process that plans for it."""
        own = psutil.Process(self.process.pid)
        return own.memory_info().rss, sum(child.memory_info().rss for child in own.children(recursive=True))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()


class Stations:
    """A process of stations: `raw` ones, or `stations` with ``proband.client``."""

    def __init__(self, settings, kind):
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.service.{kind}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.say(json.dumps(settings))
        assert self.process.stdout.readline() == "ready\n"

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def results(self):
        found = json.loads(self.process.stdout.readline())
        self.process.communicate()
        return found


def work(urls, study, *, stations, seconds, rate, meanwhile=lambda: None, kind="raw", studies=None):
    """Let stations work for some seconds; return what they measured, all together."""
    shared = {
        "urls": urls,
        "token": None,
        "study": study,
        "studies": studies,
        "seconds": seconds,
        "rate": rate,
        "stations_in_all": stations,
    }
    processes = 1 if kind == "raw" else 2
    share = stations // processes
    teams = [Stations({**shared, "stations": share, "first": n * share}, kind) for n in range(processes)]
    for team in teams:
        team.say("go")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        meanwhile()
        time.sleep(0.05)
    found = [team.results() for team in teams]
    together = {
        "seconds": {
            verb: sorted(chain.from_iterable(each["seconds"][verb] for each in found)) for verb in found[0]["seconds"]
        },
        "took": max(each["took"] for each in found),
    }
    for name in ("errors", "acknowledged"):
        together[name] = list(chain.from_iterable(each[name] for each in found))
    for name in ("pairs", "cpu"):
        together[name] = sum(each[name] for each in found)
    return together


def ready(url):
    try:
        Service(url, patience=0.0).me()
        return True
    except ProbandError:
        return False


PLANNED = (
    "proband_plans_made",
    "proband_plans_taken",
    "proband_planning_seconds",
    "proband_studies_open",
    "proband_studies_closed",
)


def planned(service):
    """Return what a service says that it planned, and has open."""
    with urlopen(f"{service.url}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(values[name]) for name in PLANNED}


def quantile(values, q):
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")
