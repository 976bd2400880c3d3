"""What every policy must do: act on any state, purely and in bulk, and only as the problem allows."""

from __future__ import annotations

import inspect

import numpy as np
from numpy.typing import ArrayLike

from proband.policies import follow
from proband.problem import Problem
from proband.testing.random_instances import random_states
from proband.vocabulary import NEVER, FloatArray, IntArray, Policy

SUBJECTS = 50
STATES = 50


def check_policy(
    problem: Problem,
    policy: Policy,
    rng: np.random.Generator | None = None,
    *,
    rows: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> None:
    """Raise AssertionError unless a policy keeps its contract on a problem.

    It acts on any state, possible or not, with a test that can still be run or a decision that exists; it is pure,
    treats each state of a batch alone, ignores what unavailable tests show, and ends with a decision.

    Parameters
    ----------
    problem : Problem
    policy : Policy
    rng : numpy.random.Generator, optional
        Draws the states to try; by default a fixed one.
    rows : array_like of shape (n, d), optional
        Complete outcome vectors of subjects to follow; by default random ones. Measured problems need them.
    states : array_like of shape (n, d), optional
        States to try beside those of the subjects; by default random ones, of listed outcomes.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.policies import test_everything
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("length", 1.0), Test("weight", 2.0)], reward=Match())
    >>> check_policy(problem, test_everything(problem))
    """
    assert isinstance(policy, Policy), f"{policy!r} is no Policy; it needs act(states, coins=None)"
    _check_coins_taken(policy)
    rng = np.random.default_rng(0) if rng is None else rng
    subjects = _subjects(problem, rng, rows)
    tried = _states(problem, rng, subjects, states)
    actions = _check_shapes(problem, policy, tried)
    _check_legal(problem, tried, actions)
    _check_pure(policy, rng, tried, actions)
    _check_blind(problem, policy, rng, tried, actions)
    _check_ends(problem, policy, subjects)


def _check_coins_taken(policy: Policy) -> None:
    """Raise AssertionError unless a policy can be handed coins: nobody knows beforehand which policies look at them."""
    try:
        inspect.signature(policy.act).bind(None, None)
    except TypeError as error:
        raise AssertionError(f"act takes no coins ({error}); it must be act(states, coins=None)") from error


def _subjects(problem: Problem, rng: np.random.Generator, rows: ArrayLike | None) -> FloatArray:
    if rows is None:
        return rng.integers(0, problem.k, size=(SUBJECTS, problem.d)).astype(np.float64)
    subjects = np.array(rows, dtype=np.float64, ndmin=2)
    assert subjects.shape[1] == problem.d, f"rows have shape {subjects.shape}; they must be (n, {problem.d})"
    assert not np.isnan(subjects).any(), "rows hold NaN; a subject's outcome vector is complete"
    return subjects


def _states(problem: Problem, rng: np.random.Generator, subjects: FloatArray, given: ArrayLike | None) -> FloatArray:
    """Return states to try: nothing known, everything known, parts of the subjects, and random or given ones."""
    parts = subjects.copy()
    parts[rng.random(parts.shape) < 0.5] = np.nan
    nothing = np.full((1, problem.d), np.nan)
    others = [] if problem.measured else [random_states(rng, problem, STATES)]
    others = others if given is None else [np.array(given, dtype=np.float64, ndmin=2)]
    states = np.vstack([nothing, subjects[:STATES], parts[:STATES], *others])
    states[:, [not test.available for test in problem.tests]] = np.nan
    return states


def _check_shapes(problem: Problem, policy: Policy, states: FloatArray) -> IntArray:
    given = states.copy()
    given.setflags(write=False)
    actions = np.asarray(policy.act(given, NEVER))
    assert actions.shape == (len(states),), (
        f"act gave shape {actions.shape} for {len(states)} states; it must give one action for each"
    )
    assert np.issubdtype(actions.dtype, np.integer), f"actions are {actions.dtype}; they must be integers"
    none = np.asarray(policy.act(np.empty((0, problem.d)), NEVER))
    assert none.shape == (0,), f"act gave shape {none.shape} for no states; it must be (0,)"
    return actions.astype(np.int64)


def _check_legal(problem: Problem, states: FloatArray, actions: IntArray) -> None:
    for state, action in zip(states, actions.tolist(), strict=True):
        where = f"action {action} in the state {state.tolist()}"
        assert 0 <= action < problem.d + problem.n_decisions, (
            f"{where} does not exist; actions are 0 to {problem.d - 1} (tests), then {problem.n_decisions} decisions"
        )
        if action < problem.d:
            test = problem.tests[action]
            assert test.available, f"{where} runs {test.name!r}, which is unavailable"
            assert np.isnan(state[action]), f"{where} runs {test.name!r}, which is already known"


def _check_pure(policy: Policy, rng: np.random.Generator, states: FloatArray, actions: IntArray) -> None:
    given = states.copy()
    again = np.asarray(policy.act(given, NEVER))
    assert np.array_equal(given, states, equal_nan=True), "act changed the states that it was given"
    assert np.array_equal(again, actions), "the same states got other actions the second time; act must be pure"
    order = rng.permutation(len(states))
    assert np.array_equal(policy.act(states[order], NEVER), actions[order]), (
        "an action depends on the other states of its batch; each state must be treated alone"
    )
    assert np.array_equal(policy.act(np.asfortranarray(states), NEVER), actions), (
        "an action depends on the memory layout of the states"
    )
    for n in order[:10]:
        alone = np.asarray(policy.act(states[n : n + 1], NEVER))
        assert alone.tolist() == [actions[n]], (
            f"the state {states[n].tolist()} alone got {alone.tolist()}, in a batch {actions[n]}"
        )


def _check_blind(
    problem: Problem, policy: Policy, rng: np.random.Generator, states: FloatArray, actions: IntArray
) -> None:
    """What an unavailable test shows is never known in operation."""
    hidden = [not test.available for test in problem.tests]
    leaked = states.copy()
    shown = rng.normal(size=states.shape) if problem.measured else rng.integers(0, problem.k, size=states.shape)
    leaked[:, hidden] = shown[:, hidden]
    assert np.array_equal(policy.act(leaked, NEVER), actions), "an action depends on what an unavailable test shows"


def _check_ends(problem: Problem, policy: Policy, subjects: FloatArray) -> None:
    try:
        episodes = follow(problem, policy, subjects, coins=np.full(len(subjects), NEVER))
    except ValueError as error:
        raise AssertionError(f"the policy cannot be followed: {error}") from error
    assert (episodes.actions >= problem.d).all(), "a subject got no decision"
    known = ~np.isnan(episodes.states)
    assert np.array_equal(episodes.states[known], subjects[known]), "a subject's known outcomes are not its own"
    assert (episodes.tests <= len(problem.operable)).all(), "a subject got more tests than there are"
