"""The rules that a problem keeps: tests of one kind with names of their own, decisions, and a reward."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from proband.errors import ProblemError, StateError, UnknownNameError
from proband.rewards import Function, RewardFunction
from proband.texts import check_plain
from proband.vocabulary import Reward, Test


def as_reward(reward: Reward | RewardFunction | None) -> Reward:
    """Return a reward; a function becomes one."""
    if reward is None:
        raise ProblemError("the reward is missing; give a Table, a Match, or a function f(x, y)")
    if isinstance(reward, Reward):
        return reward
    if callable(reward):
        return Function(reward)
    raise ProblemError(f"the reward is {reward!r}; it must be a Table, a Match, or a function f(x, y); give one")


def checked_tests(tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return the tests: one or more, of one kind, with names that differ."""
    tests = tuple(tests)
    if not tests or not all(isinstance(test, Test) for test in tests):
        raise ProblemError(f"the tests are {list(tests)}; a problem needs one or more Test; list them")
    names = [test.name for test in tests]
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ProblemError(f"the tests {repeated} appear more than once; names must differ; rename them")
    listed = [test.name for test in tests if not test.measured]
    if listed and len(listed) < len(tests):
        raise ProblemError(
            f"the tests {listed} list outcomes and the others are measured; the tests of a problem are of one kind; "
            "cut the measured ones into outcomes (cuts = [..] in place of measured), or measure all"
        )
    return tests


def checked_decisions(decisions: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the decisions, which differ."""
    decisions = decisions if isinstance(decisions, str) else tuple(decisions)
    if isinstance(decisions, str) or not all(isinstance(y, str) and y.strip() for y in decisions):
        given = decisions if isinstance(decisions, str) else list(decisions)
        raise ProblemError(f"decisions are {given!r}; they must be non-empty texts; write a list of names")
    for decision in decisions:
        check_plain("a decision", decision, ProblemError)
    if len(set(decisions)) < len(decisions):
        raise ProblemError(f"decisions {list(decisions)} repeat a name; names must differ; rename one")
    return decisions


def index_of(kind: str, name: object, names: Sequence[str]) -> int:
    """Return the place of a name, which must be one of these."""
    if name not in names:
        raise UnknownNameError(f"{kind} {name!r} does not exist; choose one of {', '.join(names)}")
    return list[object](names).index(name)


def no_outcome(test: Test, given: object, why: str) -> StateError | UnknownNameError:
    """Return the error about something that is no outcome of a test."""
    unit = f" of {test.unit}" if test.unit else ""
    if test.cuts is not None and isinstance(given, str):
        return UnknownNameError(
            f"outcome of test {test.name!r} {given!r} does not exist ({why}); give a number{unit}, or one of "
            f"{', '.join(test.names)}"
        )
    if test.measured or test.cuts is not None:
        return StateError(
            f"test {test.name!r} has the outcome {given!r}; it is {'measured' if test.measured else 'cut'}, so the "
            f"outcome is a finite number{unit}; give it"
        )
    return UnknownNameError(
        f"outcome of test {test.name!r} {given!r} does not exist; choose one of {', '.join(test.names)}"
    )
