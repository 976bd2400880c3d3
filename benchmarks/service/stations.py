"""Stations at work: threads of one process, each with a client of its own, that ask and tell at an even pace.

Run as a process by the benchmark, which gives it one JSON line of settings and reads one of results. Every write has a
key, and what was acknowledged is kept, to be compared with the log afterwards.
"""

import json
import sys
import threading
import time

import numpy as np

from proband.client import Service
from proband.instances import bolts


def main():
    settings = json.loads(sys.stdin.readline())
    stations = [Station(settings, n) for n in range(settings["stations"])]
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.monotonic() + 0.5
    threads = [threading.Thread(target=station.work, args=(begin,)) for station in stations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {
        name: sorted(seconds for station in stations for seconds in station.seconds[name])
        for name in ("ask", "tell", "arrive", "decide")
    }
    result = {
        "seconds": found,
        "pairs": sum(station.pairs for station in stations),
        "errors": [error for station in stations for error in station.errors],
        "acknowledged": [key for station in stations for key in station.acknowledged],
        "took": time.monotonic() - begin,
        "cpu": time.process_time(),
    }
    print(json.dumps(result), flush=True)


class Station:
    def __init__(self, settings, number):
        self.settings, self.number = settings, settings["first"] + number
        self.name = f"line {self.number}"
        urls = settings["urls"]
        service = Service(urls[self.number % len(urls)], settings["token"], station=self.name, patience=120.0)
        self.study = service.study(settings["study"])
        self.rng = np.random.default_rng(self.number)
        self.instance = bolts()
        self.problem = self.instance.problem
        self.seconds = {"ask": [], "tell": [], "arrive": [], "decide": []}
        self.pairs, self.errors, self.acknowledged, self.writes = 0, [], [], 0

    def work(self, begin):
        interval = self.settings["stations_in_all"] / self.settings["rate"]
        next_pair = begin + interval * self.rng.random()
        end = begin + self.settings["seconds"]
        try:
            while next_pair < end:
                next_pair = self.subject(next_pair, interval, end)
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}"[:300])

    def subject(self, next_pair, interval, end):
        """Inspect one bolt, a pair of ask and tell at its time."""
        [row] = self.instance.sample(self.rng, 1)
        bolt = self.timed("arrive", self.study.arrive, subject=f"{self.settings['study']} {self.name} {self.writes}")
        while next_pair < end:
            time.sleep(max(0.0, next_pair - time.monotonic()))
            advice = self.timed("ask", self.study.ask, bolt)
            if advice.kind == "decision":
                self.timed("decide", self.study.decide, bolt, advice.action)
                return next_pair
            test = self.problem.test_index(advice.action)
            outcome = self.problem.tests[test].names[int(row[test])]
            self.timed("tell", self.study.tell, bolt, advice.action, outcome)
            self.pairs += 1
            next_pair = max(next_pair + interval, time.monotonic() - 5.0)
        return next_pair

    def timed(self, verb, call, *arguments, **more):
        if verb != "ask":
            self.writes += 1
            more["key"] = f"{self.name} {self.writes}"
        began = time.perf_counter()
        answer = call(*arguments, **more)
        self.seconds[verb].append(time.perf_counter() - began)
        if verb != "ask":
            self.acknowledged.append(more["key"])
        return answer


if __name__ == "__main__":
    main()
