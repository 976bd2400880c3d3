"""What learning with a hundred tests takes: processor time, the longest replan, memory.

Run with ``make bench-many``. The default agent treats subjects of *latent-100* in one process. Time is that of
processors, so that others on the machine disturb it little; the clock is told beside it. The law is one of few rows,
so that memory is the agent's. Results go to ``docs/benchmarks/many.md``.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.text import paragraph, seconds, size, table
from proband.agents import Setting, build_agent, default_agent
from proband.instances import many_tests
from proband.policies import DecideNow
from proband.simulation import draw_stream, simulate

ROOT = Path(__file__).parents[1]
ROWS = 20_000
SEED = 1000
WARM = 1000
"""Subjects that are treated before anything is measured: what is compiled, is compiled there."""


class Timed:
    """An agent whose every plan is timed; what learns while a plan is asked for is a part of that plan."""

    def __init__(self, agent):
        self.agent = agent
        self.used, self.clock = [], []

    @property
    def commitment(self):
        return self.agent.commitment

    def policy(self):
        return self._timed(self.agent.policy)

    def learn(self, records):
        return self._timed(lambda: self.agent.learn(records))

    def _timed(self, call):
        used, clock = time.process_time(), time.perf_counter()
        result = call()
        self.used.append(time.process_time() - used)
        self.clock.append(time.perf_counter() - clock)
        return result


def treat(instance, subjects):
    """Let the default agent treat subjects of a law; return it with its times, and processor time of all."""
    problem, law = instance.problem, instance.distribution
    for_stream, for_coins, for_agent = np.random.default_rng([SEED, subjects]).spawn(3)
    agent = Timed(build_agent(default_agent(problem), Setting(problem, seed=int(for_agent.integers(2**31)))))
    stream = draw_stream(problem, law, for_stream, subjects)
    used = time.process_time()
    best = DecideNow(problem, distribution=law)  # regret is not asked for
    simulate(problem, law, agent, stream, rng=for_coins, at=np.array([subjects]), best=best)
    return agent, time.process_time() - used


def peak():
    """Return the most memory that this process has held, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def text(name, subjects, before, agent, whole, about):
    cells = [
        ["everything, the simulation included", seconds(whole)],
        ["the agent: plans and what it learns", seconds(sum(agent.used))],
        ["the longest call, processor time", seconds(max(agent.used))],
        ["the longest call, on the clock", seconds(max(agent.clock))],
        ["memory at most", size(peak())],
        ["memory at most before", size(before)],
    ]
    parts = [
        "# What learning with many tests takes",
        paragraph(
            f"The default agent treats {subjects:,} subjects of *{name}* in one process "
            "([many tests](../many-tests.md)). Time is that of processors, after "
            f"{WARM:,} other subjects, with which everything was compiled. A call is one for a plan, or one that tells "
            f"what was seen of a block. The law has {ROWS:,} rows; *before* is when these and {WARM:,} subjects had "
            "been treated."
        ),
        table(["", f"{subjects:,} subjects"], cells),
        paragraph(
            f"{about['machine']}; load {about['load']} at the beginning; {about['versions']}; {about['date']}. "
            "Command: `make bench-many`."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--law", default="latent-100", help="a law with many tests (default: %(default)s)")
    parser.add_argument("--subjects", type=int, default=100_000, help="subjects (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "benchmarks")
    arguments = parser.parse_args()
    about, instance = machine.describe(), many_tests(arguments.law, size=ROWS)
    treat(instance, WARM)
    before = peak()
    found = text(arguments.law, arguments.subjects, before, *treat(instance, arguments.subjects), about)
    arguments.to.mkdir(parents=True, exist_ok=True)
    (arguments.to / "many.md").write_text(found)
    print(found)


if __name__ == "__main__":
    main()
