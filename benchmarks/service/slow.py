"""An agent that tests everything, and takes long over every plan: what stations must not notice.

It plans in earnest, a problem with 13 tests again and again, so that it takes a core, and the interpreter as much as
plans do.
"""

import os
import time
from pathlib import Path

import numpy as np

from proband import Discrete, Problem, Records, Test, plan
from proband.agents.fixed import TestEverything
from proband.rewards import Table

SECONDS = float(os.environ.get("PROBAND_SLOW_PLAN", "10"))
MARK = os.environ.get("PROBAND_SLOW_MARK")
"""A file that has a line for each plan that was begun, and one for each that was done."""


class Slow(TestEverything):
    @property
    def commitment(self):
        return 1

    def learn(self, records):
        super().learn(records)
        mark("begun")
        law = np.random.default_rng(0)
        problem = Problem([Test(f"t{i}", 0.1) for i in range(13)], ["pass", "fail"], Table(["t0"], [[1, 0], [-4, 0]]))
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            plan(problem, Discrete.from_records(Records((law.random((500, 13)) < 0.3).astype(float))))
        mark("done")


def mark(what):
    if MARK is not None:
        with Path(MARK).open("a") as file:
            file.write(what + "\n")
