from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.strict_json import strict

from proband import Discrete, Plan, Problem, Test, evaluate, plan
from proband.errors import PolicyError, ProblemError, StateError
from proband.policies import DecideNow, Node, Tree
from proband.rewards import REWARDS, Match, Table, Unstated
from proband.rewards.base import BaseReward
from proband.testing import check_policy, random_distribution, random_problem
from proband.vocabulary import FloatArray

NAN = float("nan")
KINDS = ["table", "match", "function"]


def reachable(problem: Problem, node: Node, state: np.ndarray) -> Iterator[tuple[Node, np.ndarray]]:
    """Every node with the state in which it is reached, whatever the outcomes."""
    yield node, state
    for outcome, child in enumerate(node.children):
        below = state.copy()
        below[node.action] = outcome
        yield from reachable(problem, child, below)


def instances(rng: np.random.Generator, kind: str, n: int) -> Iterator[Plan]:
    for _ in range(n):
        problem = random_problem(rng, kind=kind)
        yield plan(problem, random_distribution(rng, problem, max_support=int(rng.choice([3, 2000]))))


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_acts_as_its_plan_wherever_it_gets(kind: str, rng: np.random.Generator, tmp_path: Path) -> None:
    for best in instances(rng, kind, 25):
        tree = best.tree()
        nodes, states = zip(*reachable(best.problem, tree.root, np.full(best.problem.d, NAN)), strict=True)
        rows = np.array(states)
        assert tree.act(rows).tolist() == best.act(rows).tolist() == [node.action for node in nodes]
        assert [node.value for node in nodes] == pytest.approx(best.values(rows).tolist(), abs=1e-12)
        assert [node.probability for node in nodes] == pytest.approx(best.distribution.mass(rows).tolist())
        assert list(tree.nodes()) == list(nodes)
        assert evaluate(best.problem, best.distribution, tree).value == pytest.approx(best.value, abs=1e-12)
        tree.save(tmp_path / "policy.json")
        again = Tree.load(tmp_path / "policy.json")
        assert again.root == tree.root
        assert again.act(rows).tolist() == tree.act(rows).tolist()
        assert again.problem.tests == best.problem.tests
        assert again.problem.decisions == best.problem.decisions


def test_a_policy_file_holds_the_reward_if_it_can(rng: np.random.Generator) -> None:
    for kind in KINDS:
        best = next(instances(rng, kind, 1))
        again = Tree.from_dict(strict(json.dumps(best.tree().to_dict(), allow_nan=False)))
        if kind == "function":
            assert again.problem.reward == Unstated("Function")
        else:
            assert again == best.tree()


@dataclasses.dataclass(frozen=True)
class Halves(BaseReward):
    """A reward that problem files learn to hold."""

    name = "halves"

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        return 0.5 + rows[:, :1] * np.arange(len(decisions))


def test_a_policy_file_holds_every_reward_that_problem_files_hold(
    problem: Problem, law: Discrete, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = plan(Problem(problem.tests, problem.decisions, Halves()), law).tree()
    assert Tree.from_dict(best.to_dict()).problem.reward == Unstated("Halves")
    monkeypatch.setitem(REWARDS.places, "halves", f"{__name__}:Halves")
    assert Tree.from_dict(best.to_dict()) == best


def test_a_policy_file_holds_finite_numbers(problem: Problem, law: Discrete, tmp_path: Path) -> None:
    tree = plan(problem, law).tree()
    broken = dataclasses.replace(tree, root=dataclasses.replace(tree.root, value=math.inf))
    with pytest.raises(PolicyError, match=r"not finite .* larger units"):
        broken.save(tmp_path / "policy.json")


@pytest.mark.parametrize("kind", KINDS)
def test_the_kit_on_trees(kind: str, rng: np.random.Generator) -> None:
    for best in instances(rng, kind, 10):
        check_policy(best.problem, best.tree(), rng)


def test_the_node_of_a_state(problem: Problem, law: Discrete) -> None:
    tree = plan(problem, law).tree()
    assert tree.node(problem.state()).action == 0
    assert tree.node(problem.state({"visual": "rusty"})).probability == pytest.approx(0.25)
    for states in (np.full((2, 2), NAN), np.empty((0, 2)), [0.0], [9, 9]):
        with pytest.raises(StateError):
            tree.node(states)


def test_alternatives_are_kept(problem: Problem, law: Discrete) -> None:
    best = plan(problem, law)
    root = best.tree().root
    assert root.alternatives == best.explain(problem.state()).alternatives
    assert {other.action for other in root.alternatives} == {0, 1, 2, 3}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_tree_cut_short(kind: str, depth: int, rng: np.random.Generator) -> None:
    for best in instances(rng, kind, 12):
        tree = best.tree(depth=depth)
        figures = evaluate(best.problem, best.distribution, tree)
        assert figures.tests <= depth + 1e-12  # those known on arrival do not count
        assert figures.value <= best.value + 1e-12
        if depth == 0:
            now = DecideNow(best.problem, distribution=best.distribution)
            assert figures.value == pytest.approx(evaluate(best.problem, best.distribution, now).value, abs=1e-12)
        assert figures.value == pytest.approx(tree.root.value, abs=1e-12)
        deepest = best.tree(depth=best.problem.d)
        assert evaluate(best.problem, best.distribution, deepest).value == pytest.approx(best.value, abs=1e-12)


def leaf(action: int) -> Node:
    return Node(action, 0.0, 1.0)


@pytest.mark.parametrize(
    "root",
    [
        Node(9, 0.0, 1.0),
        Node(2, 0.0, 1.0, (), (leaf(2),)),
        Node(0, 0.0, 1.0),
        Node(0, 0.0, 1.0, (), (leaf(2),)),
        Node(0, 0.0, 1.0, (), (leaf(2), leaf(2), leaf(2))),
        Node(0, 0.0, 1.0, (), (leaf(2), Node(0, 0.0, 1.0, (), (leaf(2), leaf(2))))),
        Node(-1, 0.0, 1.0, (), (leaf(2), leaf(2))),
        Node(-9, 0.0, 1.0, (), (leaf(2), leaf(2))),
    ],
)
def test_trees_that_make_no_sense(problem: Problem, root: Node) -> None:
    with pytest.raises(PolicyError):
        Tree(problem, root)


def test_an_unavailable_test_is_no_node() -> None:
    problem = Problem([Test("a", 1.0), Test("gold", available=False)], ["y"], Table(["gold"], [[1.0], [0.0]]))
    with pytest.raises(PolicyError, match="available"):
        Tree(problem, Node(1, 0.0, 1.0, (), (leaf(2), leaf(2))))


def broken(content: dict[str, object], path: str, value: object) -> dict[str, object]:
    """Return the content with one entry replaced, or left out where the value is None."""
    content = json.loads(json.dumps(content))
    *way, last = path.split(".")
    inner = content
    for key in way:
        inner = inner[int(key) if key.isdigit() else key]  # type: ignore[assignment, index]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("format", "other"),
        ("format", None),
        ("schema", 99),
        ("schema", None),
        ("problem", None),
        ("problem", []),
        ("problem.tests", []),
        ("problem.schema", 2),
        ("root", None),
        ("root", []),
        ("root", "pass"),
        ("root.test", "nobody"),
        ("root.test", ["visual"]),
        ("root.test", None),
        ("root.children", None),
        ("root.children", []),
        ("root.children.rusty", None),
        ("root.children.rusty", 5),
        ("root.children.clean.decision", "keep"),
        ("root.children.clean.decision", None),
        ("root.children.clean.decision", 7),
        ("root.children.clean.test", "visual"),
        ("root.value", None),
        ("root.value", "high"),
        ("root.value", []),
        ("root.value", True),
        ("root.value", 10**400),
        ("root.value", float("nan")),
        ("root.probability", float("-inf")),
        ("root.children.clean.decision", {"visual": "clean"}),
        ("problem.tests.0.cost", 10**400),
        ("problem.reward.utilities.0.value.pass", 10**400),
        ("root.probability", None),
        ("root.alternatives", None),
        ("root.alternatives", [1]),
        ("root.alternatives", [{"test": "visual"}]),
    ],
)
def test_every_rule_of_a_policy_file(problem: Problem, law: Discrete, tmp_path: Path, path: str, value: object) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(broken(plan(problem, law).tree().to_dict(), path, value)))
    with pytest.raises(PolicyError) as caught:
        Tree.load(file)
    assert str(caught.value).startswith(f"{file}: ")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000, b"NaN"])
def test_files_that_are_no_policies(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_bytes(content)
    with pytest.raises(PolicyError, match=r"policy\.json: it is"):
        Tree.load(file)


def test_a_missing_policy_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"cannot be read.*check the path"):
        Tree.load(tmp_path / "nowhere.json")


def test_decisions_of_a_match_are_written_by_name(tmp_path: Path) -> None:
    problem = Problem([Test("a", 0.1), Test("b", 9.0, outcomes=("x", "y"))], reward=Match())
    tree = plan(problem, Discrete([[0, 0], [0, 1], [1, 1]], [0.4, 0.1, 0.5])).tree()
    content = tree.to_dict()["root"]
    assert content["test"] == "a"
    assert content["children"]["0"]["decision"] == {"a": "0", "b": "x"}
    tree.save(tmp_path / "policy.json")
    assert Tree.load(tmp_path / "policy.json") == tree


def test_half_an_outcome_vector_is_no_decision(tmp_path: Path) -> None:
    problem = Problem([Test("a", 9.0), Test("b", 9.0)], reward=Match())
    content = plan(problem, Discrete([[0, 0], [1, 1]], [0.5, 0.5])).tree().to_dict()
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(broken(content, "root.decision", {"a": "1"})))
    with pytest.raises(PolicyError, match=r"a decision is \{'a': '1'\}; it must be one of the problem's"):
        Tree.load(file)


def test_a_policy_file_with_a_name_that_acts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    plan(Problem([Test("crack", 1.0)], reward=Match()), Discrete([[0]], [1.0])).tree().save(path)
    for mark in ("\\u001b[2J", "\\ud800", "\u202e"):
        path.write_text(path.read_text(encoding="utf-8").replace("crack", f"crack{mark}", 1), encoding="utf-8")
        with pytest.raises((PolicyError, ProblemError), match="with the character U") as caught:
            Tree.load(path)
        assert str(caught.value).isprintable()
