"""agent_at(p): however one gets there, and wherever else the same policy is said to serve."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.studies.crowd import PROBLEMS, Crowd, fingerprint, same

from proband import Records
from proband.studies import Ledger, folded
from proband.studies.events.created import make_agent
from proband.studies.learning.learner import Learner, PolicySpan
from proband.studies.learning.replay import agent_at
from proband.vocabulary import Policy

CASES = [
    ("test-everything", "gout"),
    ("explore-then-commit", "gout"),
    ("doubling-keep", "bolts"),
    ("thompson", "gout"),
    ("leaf-completion", "bolts"),
    ("safe-leaf-completion", "gout"),
]


def log(agent: str, problem: str, seed: int = 3) -> Ledger:
    crowd = Crowd(PROBLEMS[problem](), agent, np.random.default_rng(seed), stations=2)
    crowd.run(220)
    return folded(crowd.store.read(crowd.problem.name))


def fresh(ledger: Ledger, position: int) -> Policy:
    return agent_at(ledger, lambda: make_agent(ledger.problem, ledger.creation), position).policy()


@pytest.mark.parametrize(("agent", "problem"), CASES)
def test_an_agent_that_walks_along_the_log_is_the_one_that_jumps(agent: str, problem: str) -> None:
    ledger = log(agent, problem)
    learner = Learner(lambda: make_agent(ledger.problem, ledger.creation), ledger.unavailable)
    rng = np.random.default_rng(0)
    stops = sorted({1, ledger.position, *rng.integers(1, ledger.position, 24).tolist()})
    walked: list[PolicySpan] = [learner.learn(learner.way_to(ledger, stop)) for stop in stops]
    shown = {stop: fingerprint(ledger.problem, fresh(ledger, stop)) for stop in stops}
    for stop, span in zip(stops, walked, strict=True):
        assert same(fingerprint(ledger.problem, span.policy), shown[stop])
    claims = 0
    for span, stop in itertools.product(walked, stops):
        if span.serves(ledger, stop):
            claims += 1
            assert same(fingerprint(ledger.problem, span.policy), shown[stop])
    assert claims > len(stops)


def test_an_agent_learns_what_stood_at_its_position() -> None:
    ledger = log("greedy", "gout")
    middle = ledger.amendments[len(ledger.amendments) // 2].number
    early = folded_up_to("greedy", "gout", middle)
    for now, then in zip(ledger.parts(0, middle), early.parts(0, middle), strict=True):
        assert Records(now.outcomes, now.counts, now.chances) == Records(then.outcomes, then.counts, then.chances)
        assert (now.numbers == then.numbers).all()


def folded_up_to(agent: str, problem: str, position: int) -> Ledger:
    crowd = Crowd(PROBLEMS[problem](), agent, np.random.default_rng(3), stations=2)
    crowd.run(220)
    return folded(crowd.store.read(crowd.problem.name)[:position])


class Picky:
    """Takes no piece beyond its commitment; what it learned of unavailable tests depends on the pieces they came in."""

    def __init__(self, unavailable: NDArray[np.bool_]) -> None:
        self.unavailable, self.left, self.history = unavailable, 50, list[list[list[float]]]()

    @property
    def commitment(self) -> int:
        return self.left

    def policy(self) -> Policy:
        return self  # type: ignore[return-value]  # it is never asked to act

    def learn(self, records: Records) -> None:
        assert records.n <= self.left
        self.left = self.left - records.n or 50
        if (~np.isnan(records.outcomes[:, self.unavailable])).any():
            self.history.append(np.nan_to_num(records.outcomes, nan=-1).tolist())


def test_pieces_depend_on_the_rows_alone() -> None:
    problem = PROBLEMS["gout"]()
    crowd = Crowd(problem, "test-everything", np.random.default_rng(11), stations=1, past=0)
    crowd.run(400)
    ledger = folded(crowd.store.read(problem.name))
    assert not ledger.imports

    def learner() -> Learner:
        return Learner(lambda: Picky(ledger.unavailable), ledger.unavailable)

    walker, rng, shown = learner(), np.random.default_rng(0), 0
    for stop in sorted({*rng.integers(1, ledger.position, 40).tolist(), ledger.position}):
        walker.learn(walker.way_to(ledger, stop))
        jumper = learner()
        jumper.learn(jumper.way_to(ledger, stop))
        walked, jumped = walker.agent, jumper.agent
        assert isinstance(walked, Picky)
        assert isinstance(jumped, Picky)
        assert (walked.history, walked.left) == (jumped.history, jumped.left)
        shown += len(walked.history)
    assert shown > 10
