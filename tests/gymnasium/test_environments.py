"""The environments within Gymnasium: its own checks, masks, the vector form; what episodes bring is what plans say."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

import gymnasium
from proband import Discrete, Problem, Records, Test, plan
from proband.errors import ProblemError
from proband.gymnasium import NAMES, make_env, make_vector_env
from proband.instances import INSTANCES, bolts, monitoring_network
from proband.rewards import Table
from proband.vocabulary import Kind

EXAMPLE = Path(__file__).parents[2] / "examples" / "masked_q_learning.py"


def identifier(name: str) -> str:
    return f"proband/{''.join(part.capitalize() for part in name.split('-'))}-v0"


def test_every_example_with_decisions_has_a_name() -> None:
    assert set(NAMES) == {name for name, build in INSTANCES.items() if build().problem.kind is not Kind.SETS}


def test_gymnasium_imports_what_a_name_is_preceded_by() -> None:
    script = "import gymnasium; print(gymnasium.make('proband.gymnasium:proband/Bolts-v0').spec.id)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "proband/Bolts-v0\n"


def test_without_gymnasium_the_remedy_is_named() -> None:
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from proband.errors import MissingExtraError\n"
        "try: import proband.gymnasium\n"
        "except MissingExtraError as error: print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'need gymnasium, which is not installed; pip install "proband[gymnasium]"' in ended.stdout


@pytest.mark.parametrize("name", NAMES)
def test_what_gymnasium_checks(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment = gymnasium.make(identifier(name))
        check_env(environment.unwrapped)
        environment.close()


@pytest.mark.parametrize("name", ["bolts", "bolts-measured"])
def test_the_best_plan_earns_its_value(name: str) -> None:
    instance = INSTANCES[name]()
    problem, best = instance.problem, plan(instance.problem, instance.distribution)
    environments = make_vector_env(problem, instance.distribution, num_envs=1000)
    environments.reset(seed=3)
    total, over, tests = np.zeros(1000), np.zeros(1000, dtype=bool), list(environments.course.tests)
    while not over.all():
        actions = best.act(environments._states)
        numbers = [tests.index(a) if a < problem.d else len(tests) + a - problem.d for a in actions]
        _, rewards, ended, _, _ = environments.step(np.array(numbers))
        total += np.where(over, 0.0, rewards)
        over |= ended
    assert total.mean() == pytest.approx(best.value, abs=4 * total.std() / np.sqrt(1000))


def test_masks_forbid_what_was_run_and_a_test_again_costs_again() -> None:
    environment = gymnasium.make("proband/Bolts-v0").unwrapped
    first, info = environment.reset(seed=0)
    assert first.sum() == 0
    assert info["action_mask"].all()
    once = environment.step(1)
    assert once[4]["action_mask"][1] == 0
    assert (environment.action_masks() == once[4]["action_mask"]).all()
    again = environment.step(1)
    assert again[1] == once[1] < 0
    assert (again[0] == once[0]).all()
    for _ in range(100):
        *_, ended, cut, info = environment.step(1)
        if cut:
            break
    assert not ended
    assert info["tests"] == environment.course.most_steps
    environment.reset(seed=0)
    *_, ended, cut, info = environment.step(environment.action_names.index("pass"))
    assert (ended, cut, info["tests"], info["cost"]) == (True, False, 0, 0.0)


def test_side_by_side_is_as_one_by_one() -> None:
    made = gymnasium.make_vec("proband/Bolts-v0", num_envs=5, vectorization_mode="vector_entry_point")
    observations, info = made.reset(seed=1)
    assert observations.shape == made.observation_space.shape
    assert info["action_mask"].shape == (5, made.single_action_space.n)
    decide = made.single_action_space.n - 1
    _, rewards, ended, _, _ = made.step(np.array([decide, 0, 0, 0, 0]))
    assert ended.tolist() == [True, False, False, False, False]
    observations, rewards, ended, _, info = made.step(np.full(5, decide))
    assert not ended[0]  # a new subject has arrived
    assert rewards[0] == 0
    assert observations[0].sum() == 0
    assert ended[1:].all()
    looped = gymnasium.make_vec("proband/Bolts-v0", num_envs=2, vectorization_mode="sync")
    assert looped.reset(seed=1)[0].shape[0] == 2


@pytest.mark.parametrize("name", ["bolts", "shafts"])
def test_the_end_of_an_episode_is_told_as_gymnasium_does(name: str) -> None:
    """The same subjects, the same actions: what our arrays say is what environments in a loop say."""
    ours = gymnasium.make_vec(identifier(name), num_envs=1, vectorization_mode="vector_entry_point")
    theirs = gymnasium.make_vec(identifier(name), num_envs=1, vectorization_mode="sync")
    decide, ends = np.array([ours.single_action_space.n - 1]), 0
    _, mine = ours.reset(seed=4)
    theirs.reset(seed=4)
    for n in range(12):
        action = decide if n % 3 == 2 or mine["action_mask"][0, n % 3] == 0 else np.array([n % 3])
        *_, mine = ours.step(action)
        *_, other = theirs.step(action)
        assert mine.keys() - other.keys() == set()
        assert other.keys() - mine.keys() <= {"_action_mask"}
        for key in mine:
            assert np.allclose(mine[key], other[key]), (key, n)
        ends += "cost" in mine
    assert ends == 4


def test_what_is_no_action_and_a_subject_that_is_not_there_are_refused() -> None:
    """A negative action would be the last test but one, and without a subject everything would seem to be known."""
    instance = bolts()
    one, many = (make(instance.problem, instance.distribution) for make in (make_env, make_vector_env))
    for environment, action in ((one, 0), (many, np.array([0]))):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            environment.step(action)
        environment.reset(seed=0)
    for odd in (-1, 11, 1.5, float("nan")):
        with pytest.raises(InvalidAction, match="whole numbers from 0 to 10, of which the first 9 are tests"):
            one.step(odd)
        with pytest.raises(InvalidAction, match="whole numbers from 0 to 10"):
            many.step(np.array([odd]))
    with pytest.raises(InvalidAction, match="one for each of 1"):
        many.step(np.array([0, 0]))
    assert one.step(10)[2]
    with pytest.raises(ResetNeeded, match="the episode is over"):
        one.step(0)
    with pytest.raises(ValueError, match="num_envs is 0"):
        make_vector_env(instance.problem, instance.distribution, num_envs=0)


def test_environments_are_copied_and_pickled_with_their_subject() -> None:
    environment = make_env(bolts().problem, bolts().distribution)
    environment.reset(seed=3)
    environment.step(0)
    for twin in (copy.deepcopy(environment), pickle.loads(pickle.dumps(environment))):
        assert (twin.action_masks() == environment.action_masks()).all()
        assert (twin.reset()[0] == copy.deepcopy(environment).reset()[0]).all()


def test_where_no_test_can_be_run_there_is_nothing_to_learn() -> None:
    past = Problem(
        [Test("truth", cost=0, outcomes=["n", "p"], available=False)], decisions=["u", "v"],
        reward=Table(["truth"], [[1, 0], [0, 1]]),
    )  # fmt: skip
    with pytest.raises(ProblemError, match="no test can be run"):
        make_env(past, Discrete.from_records(Records([[0], [1]])))


def test_sets_are_no_episodes() -> None:
    network = monitoring_network()
    with pytest.raises(ProblemError, match="set of sites"):
        make_env(network.problem, network.distribution)
    assert make_env(bolts().problem, bolts().distribution).action_names[-2:] == ["pass", "fail"]


def test_the_example_learns_nearly_the_exact_plan() -> None:
    spec = importlib.util.spec_from_file_location("masked_q_learning", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    problem, law = example.bolts()
    best = plan(problem, law).value
    brought = example.played(problem, law, example.best_of(example.learn(problem, law, steps=1500, seed=0)))
    assert 4.5 < brought <= best + 1e-9
