"""Algorithm 4, against a plain reading of the paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Problem, Records
from proband.agents import FOREVER
from proband.agents.entropy import AgentWarning, Elimination
from proband.errors import AgentError, TooLargeError


class Plain:
    """Algorithm 4 line by line, with sets and loops."""

    def __init__(self, world: Any, sigma: float, delta: float, c: float, *, printed: bool) -> None:
        self.world, self.sigma, self.delta, self.c, self.printed = world, sigma, delta, c, printed
        tests = range(world.d)
        self.C = [frozenset(S) for k in range(world.d + 1) for S in itertools.combinations(tests, k)]
        self.seen: list[tuple[frozenset[int], np.ndarray]] = []

    def choose(self) -> frozenset[int]:
        pairs = [(i, j) for i in range(self.world.d) for j in range(self.world.d) if any({i, j} <= S for S in self.C)]
        if not pairs:
            return frozenset()
        counts = [sum({i, j} <= S for S, _ in self.seen) for i, j in pairs]
        i, j = pairs[int(np.argmin(counts))]
        largest = max(len(S) for S in self.C if {i, j} <= S)
        return min((S for S in self.C if {i, j} <= S and len(S) == largest), key=lambda S: sum(1 << k for k in S))

    def learn(self, S: frozenset[int], row: np.ndarray) -> None:
        self.seen.append((S, row))
        t, d = len(self.seen), self.world.d
        log = math.log(math.pi**2 * d**2 * t**2 / self.delta)
        U = 8 * self.sigma * max(d**3 * math.sqrt(log / (self.c * t)), d**4 * log / (self.c * t))
        if U > 1:
            return
        covariance, used = np.zeros((d, d)), self.seen[:-1] if self.printed else self.seen
        for i, j in itertools.product(range(d), repeat=2):
            both = [row[i] * row[j] for S, row in used if {i, j} <= S]
            covariance[i, j] = sum(both) / len(both) if both else 0.0
        H = {S: self.reward(covariance, sorted(S)) for S in self.C}
        best = max(h for h in H.values() if not math.isnan(h))
        self.C = [S for S in self.C if not H[S] + self.world.scale * U <= best]

    def reward(self, covariance: np.ndarray, S: list[int]) -> float:
        part = covariance[np.ix_(S, S)]
        if S and np.linalg.eigvalsh(part)[0] <= 0:
            return math.nan
        entropy = (len(S) * math.log(2 * math.pi * math.e) + np.linalg.slogdet(part)[1]) / 2
        return float(self.world.scale * entropy - self.world.cost(S))


@pytest.mark.parametrize("printed", [False, True], ids=["with round t", "as printed"])
@pytest.mark.parametrize("groups", [False, True], ids=["alone", "groups"])
@pytest.mark.parametrize(("c", "seed"), [(3e7, 0), (6e7, 1), (1e8, 2), (2e8, 3)])
def test_round_by_round_as_the_paper_says(
    make_world: Callable[..., Any], groups: bool, c: float, seed: int, printed: bool
) -> None:
    rng = np.random.default_rng(seed)
    world = make_world(rng, 4, groups=groups)
    plain = Plain(world, 20.0, 0.05, c, printed=printed)
    agent = Elimination(world.problem, sigma=20.0, c=c, as_printed=printed)
    for t in range(120):
        chosen = plain.choose()
        assert set(agent.tested) == chosen, f"round {t}"
        row = world.rows(rng, 1, sorted(chosen))
        plain.learn(chosen, row[0])
        agent.learn(Records(row))
        assert {int(S) for S in agent.candidates} == {sum(1 << i for i in S) for S in plain.C}
        if len(plain.C) == 1:
            break
    assert len(plain.C) < 16


def test_as_printed_what_is_known_is_one_round_behind(make_problem: Callable[..., Problem]) -> None:
    """Until round t the test reads little and does not pay; what round t shows would change that."""
    now, printed = (Elimination(make_problem([1.0]), sigma=1.0, c=100.0, as_printed=late) for late in (False, True))
    t = now.first_elimination
    assert printed.commitment == t - 1 > 1
    for agent in (now, printed):
        agent.learn(Records(np.full((t - 1, 1), 0.1)))
        assert agent.candidates.tolist() == [0, 1]
        agent.learn(Records([[1e6]]))
    assert now.candidates.tolist() == [1]
    assert printed.candidates.tolist() == [0]


def test_as_printed_blocks_and_single_rounds_agree(make_world: Callable[..., Any]) -> None:
    rng = np.random.default_rng(4)
    world = make_world(rng, 4)
    one, many = (Elimination(world.problem, sigma=20.0, c=1e8, growth=0.1, as_printed=True) for _ in range(2))
    while one.t < 300:
        rows = world.rows(rng, min(one.commitment, 300 - one.t), one.tested)
        one.learn(Records(rows))
        for row in rows:
            many.learn(Records(row[None]))
        assert one.tested == many.tested
        assert one.candidates.tolist() == many.candidates.tolist()


def test_the_width_is_the_paper_s(make_problem: Callable[..., Problem]) -> None:
    agent = Elimination(make_problem([1.0] * 15), sigma=100.0, delta=0.05, c=2.0)
    log = math.log(math.pi**2 * 225 * 1000.0**2 / 0.05)
    assert agent.width(1000) == pytest.approx(800 * max(3375 * math.sqrt(log / 2000), 50625 * log / 2000))


@pytest.mark.parametrize("c", [1.0, 1e9, 1e12, 1e30])
def test_the_first_elimination_is_where_the_width_reaches_one(make_problem: Callable[..., Problem], c: float) -> None:
    agent = Elimination(make_problem([1.0] * 15), sigma=57.0, c=c)
    t = agent.first_elimination
    assert agent.width(t) <= 1
    assert t == 1 or agent.width(t - 1) > 1
    assert agent.can_eliminate(t)
    assert not agent.can_eliminate(t - 1)


def test_it_warns_when_nothing_can_be_eliminated(make_problem: Callable[..., Problem]) -> None:
    problem = make_problem([1.0] * 15)
    with pytest.warns(AgentWarning, match="nothing is eliminated before"):
        agent = Elimination(problem, sigma=57.0, horizon=2**15)
    assert agent.commitment > 2**15
    assert "Use a larger c" in agent.notices[0]
    quiet = Elimination(problem, sigma=57.0, c=1e12, horizon=2**15)
    assert quiet.commitment == quiet.first_elimination


def test_everything_is_measured_until_the_first_elimination_then_sets_cycle(
    make_near_ties: Callable[..., Any], rng: np.random.Generator
) -> None:
    world = make_near_ties(rng, 5)
    agent = Elimination(world.problem, sigma=20.0, c=3e8)
    tested = []
    for _ in range(3000):
        tested.append(agent.tested)
        agent.learn(Records(world.rows(rng, agent.commitment, agent.tested)))
        if agent.commitment >= FOREVER:
            break
    assert tested[0] == tuple(range(5))
    assert len(set(tested[-20:])) > 1 or agent.commitment >= FOREVER


def test_looking_less_often_changes_little(make_world: Callable[..., Any]) -> None:
    regrets = []
    for growth in (0.0, 0.05):
        world = make_world(np.random.default_rng(5), 5)
        agent = Elimination(world.problem, sigma=20.0, c=1e9, growth=growth)
        regrets.append(world.play(agent, np.random.default_rng(6), 1500))
        assert len(agent.candidates) < 32
    assert regrets[1] == pytest.approx(regrets[0], rel=0.3)


def test_a_set_without_an_estimate_is_neither_dropped_nor_best(make_problem: Callable[..., Problem]) -> None:
    """Covariances entry by entry over different rounds can be indefinite."""
    agent = Elimination(make_problem([0.1, 0.1]), sigma=1.0, c=1e8)
    nan = math.nan
    agent.learn(Records([[1.0, nan], [nan, 1.0], [2.0, 2.0]], counts=[80, 80, 10]))
    assert agent.sums[0, 1] / agent.pairs[0, 1] > max(agent.sums[0, 0] / 90, agent.sums[1, 1] / 90)
    assert 3 in agent.candidates


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": 0.5}, "sigma is 0.5; a condition number is 1 or more"),
        ({"sigma": math.nan}, "sigma is nan"),
        ({"sigma": 2.0, "delta": 0.0}, "delta is 0.0; it must lie between 0 and 1"),
        ({"sigma": 2.0, "delta": 1.0}, "delta is 1.0"),
        ({"sigma": 2.0, "c": 0.0}, "c is 0.0; it must be finite and above 0"),
        ({"sigma": 2.0, "growth": -1.0}, "growth is -1.0; it must be finite and 0 or more"),
    ],
)
def test_wrong_values_are_refused(make_problem: Callable[..., Problem], options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        Elimination(make_problem([1.0, 1.0]), **options)


def test_too_many_tests_are_refused(make_problem: Callable[..., Problem]) -> None:
    with pytest.raises(TooLargeError, match="21 tests have 2\\^21 candidate sets"):
        Elimination(make_problem([1.0] * 21), sigma=2.0)
