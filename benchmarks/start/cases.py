"""What is started: commands and short programs, each in a process of its own."""

import os
import subprocess
import sys
import tempfile
import time

COMMAND = "import sys; from proband.cli import main; main()"
STUDY = """
import sys, numpy as np, proband
from proband.instances import INSTANCES
from proband.studies import Study
example = INSTANCES[sys.argv[1]]()
with Study.create(example.problem, name="s", store="memory:", replan="now") as study:
    study.learn_from(proband.Records(example.sample(np.random.default_rng(0), 200)))
    study.ask(study.arrive())
"""

LIGHT = {
    "import proband": ("import proband",),
    "proband --help": (COMMAND, "--help"),
    "proband study --help": (COMMAND, "study", "--help"),
    "proband next policy.json": (COMMAND, "next", "policy.json"),
    "proband study ask": (COMMAND, "study", "ask", "bolts", "bolt 17"),
}
"""Calls that plan nothing."""

PLANNING = {
    "plan, dense": (COMMAND, "plan", "bolts"),
    "plan, sparse": (COMMAND, "plan", "bolts", "--max-tests", "3"),
    "plan, one score": (COMMAND, "plan", "bolts-measured"),
    "plan, two scores": (COMMAND, "plan", "shafts"),
    "plan, a set": (COMMAND, "plan", "network"),
    "sensors": (COMMAND, "sensors", "network"),
    "study, listed": (STUDY, "bolts"),
    "study, scores": (STUDY, "bolts-measured"),
    "study, sets": (STUDY, "network"),
    "experiment": (COMMAND, "experiment", "run", "easy", "--horizon", "256", "--replications", "1", "--fresh"),
}
"""Calls that plan, and so compile on a new machine."""

PEERS = {"import numpy": "import numpy", "import optuna": "import optuna", "import sklearn": "import sklearn.tree"}

VERSIONS = (
    "from importlib.metadata import version as v; print('optuna', v('optuna') + ', scikit-learn', v('scikit-learn'))"
)

PREPARED = (
    ("plan", "bolts", "--out", "policy.json"),
    ("study", "create", "bolts", "--name", "bolts"),
    ("study", "arrive", "bolts", "--subject", "bolt 17"),
)
"""What the light calls find in their folder."""


class Version:
    """A version of the library, with a folder to work in and a place for what it compiles."""

    def __init__(self, scratch, source, python=sys.executable):
        self.source, self.python = source, python
        self.folder = tempfile.mkdtemp(dir=scratch)
        self.cache = tempfile.mkdtemp(dir=scratch)

    def prepare(self):
        for arguments in PREPARED:
            self.run(COMMAND, *arguments)

    def run(self, program, *arguments, cache=None):
        """Run a program; return its seconds of processor time and by the clock, and what it said of compiling."""
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache or self.cache, "PYTHONPATH": str(self.source)}
        start = time.perf_counter()
        process = subprocess.Popen(
            [self.python, "-c", program, *arguments], cwd=self.folder, env=environment, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{arguments}: {said}")
        notices = [line for line in said.splitlines() if line.startswith("compiling ")]
        return {"cpu": used.ru_utime + used.ru_stime, "clock": time.perf_counter() - start, "said": notices}
