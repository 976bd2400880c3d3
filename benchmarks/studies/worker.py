"""One process of the crowd: asks and tells until its share is done or the time is over, and prints what it did.

It is a program of its own, so that processes share nothing but the file.
"""

import json
import sys
import time


class Proband:
    """Bolts through a live study: arrive, ask and tell until the advice is a decision, decide."""

    def __init__(self, url, number):
        import numpy as np

        from proband.instances import INSTANCES
        from proband.studies import Study

        instance = INSTANCES["bolts"]()
        self.law, self.problem = instance.distribution, instance.problem
        self.rng = np.random.default_rng(number)
        self.study = Study.open("bolts", store=url, station=f"station {number}")
        self.bolt = self.study.arrive()
        self.truth = self.problem.describe(self.law.sample(self.rng, 1)[0])
        self.study.ask(self.bolt)  # loads what the first call of a process loads: see the benchmark of starts

    def ask_and_tell(self):
        """One ask and one tell, and how long each took; a bolt arrives before its first, and is decided in the end."""
        while True:
            if self.bolt is None:
                self.bolt = self.study.arrive()
                self.truth = self.problem.describe(self.law.sample(self.rng, 1)[0])
            began = time.perf_counter()
            advice = self.study.ask(self.bolt)
            if advice.kind == "test":
                asked = time.perf_counter()
                self.study.tell(self.bolt, advice.action, self.truth[advice.action])
                return asked - began, time.perf_counter() - asked
            self.study.decide(self.bolt)
            self.bolt = None

    def close(self):
        self.study.close()


class Optuna:
    """Trials without parameters: nothing but ask and tell is measured."""

    def __init__(self, url, number):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.load_study(
            study_name="bolts", storage=url, sampler=optuna.samplers.RandomSampler(seed=number)
        )

    def ask_and_tell(self):
        began = time.perf_counter()
        trial = self.study.ask()
        asked = time.perf_counter()
        self.study.tell(trial, 1.0)
        return asked - began, time.perf_counter() - asked

    def close(self):
        pass


KINDS = {"proband": Proband, "optuna": Optuna}


def main():
    kind, url, number, pairs, seconds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    worker = KINDS[kind](url, number)
    print("ready", flush=True)
    sys.stdin.readline()
    spent = time.process_time()
    began, done, errors, asks, tells = time.time(), 0, [], [], []
    while done < pairs and time.time() - began < seconds:
        try:
            ask, tell = worker.ask_and_tell()
            asks.append(ask)
            tells.append(tell)
            done += 1
        except Exception as error:
            cause = error.__cause__ or error
            errors.append(f"{type(error).__name__}: {cause}".splitlines()[0][:160])
    ended, spent = time.time(), time.process_time() - spent
    worker.close()
    told = {"began": began, "ended": ended, "done": done, "errors": errors, "cpu": spent, "asks": asks, "tells": tells}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
