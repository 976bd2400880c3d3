"""Laws with many rows and tests: nothing is kept for rows that do not occur, and the figures are the same."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test, evaluate, plan
from proband.instances import Instance, bolts, paper_discrete
from proband.policies import Completing, DecideNow, Extra, Node, Tree, branches, follow, test_everything, ways
from proband.rewards import Table
from proband.simulation import draw_stream, kinds, simulate
from proband.vocabulary import FloatArray, Policy

D = 60


def many(rows: int, d: int = D) -> tuple[Problem, Discrete]:
    """Many noisy tests of a label, the last test."""
    rng = np.random.default_rng(0)
    label = rng.random(rows) < 0.4
    x = (rng.random((rows, d)) < np.where(label[:, None], rng.random(d), rng.random(d))).astype(float)
    x[:, -1] = label
    tests = [*(Test(f"t{i}", 0.01) for i in range(d - 1)), Test("label", 0.25)]
    problem = Problem(tests, ["no", "yes"], Table(["label"], [[1, 0], [0, 1]]))
    return problem, Discrete.from_weights(x, rng.random(rows))


def tree(problem: Problem, depth: int) -> Tree:
    rng = np.random.default_rng(1)

    def grow(left: int, used: frozenset[int]) -> Node:
        if not left:
            return Node(problem.d + int(rng.integers(2)), 0.0, 0.0)
        test = int(rng.choice([i for i in range(problem.d) if i not in used]))
        return Node(test, 0.0, 0.0, (), tuple(grow(left - 1, used | {test}) for _ in range(2)))

    return Tree(problem, grow(depth, frozenset()))


def coins(states: object) -> FloatArray:
    return np.full(len(states), 0.1)  # type: ignore[arg-type]


class Fixed:
    """An agent of one policy that keeps what it was told."""

    commitment = 40

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.told: list[Records] = []

    def policy(self) -> Policy:
        return self._policy

    def learn(self, records: Records) -> None:
        self.told.append(records)


@pytest.mark.parametrize("extra", [None, Extra((1, D - 1), 0.3)])
def test_a_large_support_gives_the_same_figures(monkeypatch: pytest.MonkeyPatch, extra: Extra | None) -> None:
    problem, law = many(3000)
    best = tree(problem, 3)
    policy = Completing(problem, tree(problem, 5), coins, extra=extra)
    stream = draw_stream(problem, law, np.random.default_rng(2), 500)

    def run() -> tuple[list[FloatArray], list[Records]]:
        agent = Fixed(policy)
        found = simulate(problem, law, agent, stream, rng=np.random.default_rng(3), best=best)
        return [found.pseudo_regret, found.realised_regret, found.cost, found.tests], agent.told

    small, told = run()
    monkeypatch.setattr(kinds, "MOST_CELLS", 50 * D)
    monkeypatch.setattr("proband.policies.treating.MOST_CELLS", 50 * D)
    large, told_large = run()
    for one, other in zip(small, large, strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-9)
    assert told == told_large
    gap = evaluate(problem, law, best).value - evaluate(problem, law, policy).value
    assert large[0][-1] == pytest.approx(500 * gap)


def test_pieces_change_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, law = many(500)
    for policy in (tree(problem, 4), test_everything(problem), Completing(problem, tree(problem, 4), coins)):
        whole = branches(problem, policy, law.support)
        before = evaluate(problem, law, policy)
        monkeypatch.setattr("proband.policies.treating.MOST_CELLS", 7 * D)
        assert evaluate(problem, law, policy) == before
        for way, (chance, episodes) in zip(ways(problem, policy, law.support), whole, strict=True):
            assert way.chances.tolist() == chance.tolist()
            assert way.actions.tolist() == episodes.actions.tolist()
            assert way.costs.tolist() == episodes.costs.tolist()
            assert way.tests.tolist() == episodes.tests.tolist()
        monkeypatch.undo()


class Slow:
    """A policy without a way of its own to take subjects along."""

    def __init__(self, policy: Policy) -> None:
        self.act = policy.act


@pytest.mark.parametrize("instance", [bolts(), paper_discrete(np.random.default_rng(1), d=4)], ids=["bolts", "paper"])
def test_running_is_following(instance: Instance[Discrete]) -> None:
    problem, law = instance.problem, instance.distribution
    for policy in (plan(problem, law).tree(), test_everything(problem)):
        quick, plain = follow(problem, policy, law.support), follow(problem, Slow(policy), law.support)
        for name in ("states", "actions", "costs", "tests"):
            assert np.array_equal(getattr(quick, name), getattr(plain, name), equal_nan=name == "states"), name


def test_memory_is_bounded() -> None:
    problem, law = many(40_000)
    policy = Completing(problem, tree(problem, 6), coins, extra=Extra((D - 1,), 0.2))
    evaluate(problem, Discrete(law.support[:1], [1.0]), policy)  # what is built once
    tracemalloc.start()
    evaluate(problem, law, policy)
    stream, rng = law.draw(np.random.default_rng(0), 200), np.random.default_rng(1)
    simulate(problem, law, Fixed(policy), stream, rng=rng, best=policy.base)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6


def test_without_a_reference_a_large_law_is_not_searched_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def fake(problem: Problem, distribution: Discrete, *, method: str | None = None) -> Policy:
        asked.append(method)
        return DecideNow(problem, distribution=distribution)

    monkeypatch.setattr(kinds, "plan", fake)
    monkeypatch.setattr(kinds, "LARGEST_SEARCH", 100)
    problem, law = many(200)
    stream, rng = np.zeros(3, dtype=np.int64), np.random.default_rng(0)
    simulate(problem, law, Fixed(DecideNow(problem, "no")), stream, rng=rng)
    small = bolts()
    simulate(small.problem, small.distribution, Fixed(DecideNow(small.problem, "pass")), stream, rng=rng)
    assert asked == ["rollout", None]


def test_an_instance_brings_its_reference() -> None:
    problem, law = many(50)
    instance = Instance("many", problem, law, best=tree(problem, 2), reveal=200)
    assert (instance.reveal, instance.best) == (200, instance.best)
    stream, rng = draw_stream(problem, law, np.random.default_rng(0), 20), np.random.default_rng(0)
    assert instance.best is not None
    found = simulate(problem, law, Fixed(instance.best), stream, rng=rng, best=instance.best)
    assert found.pseudo_regret.tolist() == [0.0] * len(found.t)
    assert found.realised_regret == pytest.approx(0.0)


def test_an_unknown_outcome_is_refused_where_it_is_asked_for() -> None:
    problem, _ = many(50)
    policy, rows = tree(problem, 2), np.zeros((3, D))
    rows[1, policy.root.action] = 7
    with pytest.raises(ValueError, match=r"has the value 7.*numbered 0 to 1"):
        follow(problem, policy, rows)
    rows[1, policy.root.action] = np.nan
    with pytest.raises(ValueError, match="whole outcome vector"):
        follow(problem, policy, rows)
