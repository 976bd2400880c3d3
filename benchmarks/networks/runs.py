"""What is run: agents on rounds of measurements that are drawn from a network's covariance."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.subset import cases
from proband import Gaussian, Records
from proband.agents.entropy import Certified, EntropyExploreThenCommit, Thrifty
from proband.instances import entropy_problem
from proband.planners import evaluate, plan
from proband.policies import FixedSet, test_everything
from proband.simulation import draw_stream, simulate

HORIZON = 2**15
LENGTHS = (50, 75, 100, 150, 200, 300, 400, 600, 800, 1024, 1500, 2000)
EPSILON, DELTA, PATIENCE = 0.5, 0.05, 4000
AGENTS = ("thrifty", "certified", *(f"explore-{n}" for n in LENGTHS))
"""Those whose regret is compared; `explore-1024` is explore-then-commit with its own length, ⌊T^(2/3)⌋."""


@dataclass(frozen=True)
class Run:
    """An agent on a stream of rounds: a network, a draw of its costs, a stream."""

    folder: Path
    sites: int
    seed: int
    stream: int
    agent: str


def play(run):
    """Return the row of a run."""
    covariance, costs = cases.priced(cases.network(run.folder, run.sites), run.seed)
    problem, law = entropy_problem(costs), Gaussian(np.zeros(run.sites), covariance)
    rng = np.random.default_rng([run.seed, run.stream])
    row = {"sites": run.sites, "seed": run.seed, "stream": run.stream, "agent": run.agent}
    began = time.perf_counter()
    if run.agent == "certify":
        return row | certify(problem, law, rng) | {"seconds": time.perf_counter() - began}
    rounds = draw_stream(problem, law, rng, HORIZON)
    began = time.perf_counter()
    if run.agent == "test-everything":
        lost = plan(problem, law).value - evaluate(problem, law, test_everything(problem)).value
        return row | {"regret": HORIZON * lost, "seconds": 0.0}
    regret = simulate(problem, law, build(run.agent, problem), rounds, rng=rng).pseudo_regret[-1]
    return row | {"regret": float(regret), "seconds": time.perf_counter() - began}


def build(name, problem):
    """Build an agent; none of them knows the mean."""
    if name == "thrifty":
        return Thrifty(problem, horizon=HORIZON)
    if name == "certified":
        return Certified(problem, delta=DELTA)
    return EntropyExploreThenCommit(problem, horizon=HORIZON, explore=int(name.removeprefix("explore-")))


def certify(problem, law, rng):
    """Ask for a set within ε of the best; return after how many rounds it is certified, and what it truly loses."""
    agent = Certified(problem, delta=DELTA, epsilon=EPSILON)
    while not agent.finished and agent.t < PATIENCE:
        n = min(agent.commitment, PATIENCE - agent.t)
        agent.learn(Records(np.where(agent.flags(agent.tested), law.sample(rng, n), np.nan)))
    said = agent.certificate()
    value = evaluate(problem, law, FixedSet(problem, said.best)).value
    return {
        "reached": bool(agent.finished), "rounds": said.rounds, "bound": float(said.bound),
        "loss": plan(problem, law).value - value,
    }  # fmt: skip
