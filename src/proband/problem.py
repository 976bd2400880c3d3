"""The problem: a pool of tests, the decisions, and the reward; what is known before any subject arrives.

Examples
--------
>>> from proband import Problem, Test
>>> from proband.rewards import Table
>>> problem = Problem(
...     tests=[
...         Test("visual", 0.1, outcomes=("clean", "rusty")),
...         Test("ultrasonic", 2.0, outcomes=("ok", "crack")),
...     ],
...     decisions=["pass", "fail"],
...     reward=Table(["ultrasonic"], [[1.0, 0.0], [-20.0, 0.0]]),
... )
>>> problem.state({"visual": "rusty"})
array([ 1., nan])
>>> problem.action_name(1), problem.action_name(3)
('ultrasonic', 'fail')
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from proband import problem_files, problem_reading, tables
from proband.errors import ProblemError, UnknownNameError
from proband.problem_pool import Pool
from proband.problem_rules import as_reward, checked_decisions, checked_tests, index_of
from proband.rewards import RewardFunction
from proband.rewards.base import BaseReward, reward_to_dict
from proband.showing import Shown
from proband.tables.words import checked_ignored, checked_missing
from proband.texts import check_plain
from proband.vocabulary import (
    FloatArray,
    IntArray,
    Kind,
    Pooling,
    Records,
    Reward,
    Test,
    outcome_rows,
)


@dataclass(frozen=True, init=False, repr=False)
class Problem(Pool, Shown):
    """Tests, decisions and reward.

    Parameters
    ----------
    tests : sequence of Test
        The pool, in the order of the entries of x.
    decisions : sequence of str, default ()
        Names of the decisions; empty for a match reward, whose decisions are the outcome vectors.
    reward : Reward or callable
        f(x, y): a :class:`~proband.rewards.Table`, :class:`~proband.rewards.Match`, or a function (see
        :class:`~proband.rewards.Function`).
    name : str, default ""
        A title.
    unit : str, default ""
        Unit of costs and rewards, for people ("USD", "minutes").
    ignore : sequence of str, default ()
        Columns that tables of past subjects may have beside the tests: numbers of subjects, dates, remarks.
    missing : sequence of str, default ()
        Words that stand in tables where a test was not run, beside an empty cell, NA, NaN, N/A, null and none.
    """

    tests: tuple[Test, ...]
    decisions: tuple[str, ...]
    reward: Reward
    name: str
    unit: str
    ignore: tuple[str, ...]
    missing: tuple[str, ...]

    def __init__(
        self,
        tests: Sequence[Test],
        decisions: Sequence[str] = (),
        reward: Reward | RewardFunction | None = None,
        *,
        name: str = "",
        unit: str = "",
        ignore: Sequence[str] = (),
        missing: Sequence[str] = (),
    ) -> None:
        object.__setattr__(self, "tests", checked_tests(tests))
        object.__setattr__(self, "decisions", checked_decisions(decisions))
        object.__setattr__(self, "reward", as_reward(reward))
        object.__setattr__(self, "name", check_plain("the problem's name", name, ProblemError))
        object.__setattr__(self, "unit", check_plain("the problem's unit", unit, ProblemError))
        object.__setattr__(self, "ignore", checked_ignored(ignore, self.tests))
        object.__setattr__(self, "missing", checked_missing(missing, self.tests))
        self.reward.check(self.tests, self.decisions)

    def __repr__(self) -> str:
        decisions = ", ".join(self.decisions[:4]) + ", ..." * (len(self.decisions) > 4)
        decide = f"decisions {decisions}" if self.decisions else "decides for an outcome vector"
        named = f"{self.name!r}: " if self.name else ""
        return f"Problem({named}{self.d} tests, {decide}, reward {type(self.reward).__name__})"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a problem file (TOML); see ``docs/problem-files.md`` for the schema."""
        return cls.from_dict(problem_files.read(path), source=str(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a problem file (TOML) that loads back to an equal problem."""
        problem_files.write(path, self.to_dict())

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, source: str = "problem") -> Self:
        """Build a problem from the structure of a problem file; `source` begins every message."""
        return cls(**problem_reading.arguments(content, source=source))

    def to_dict(self, *, unstated: bool = False) -> dict[str, Any]:
        """Return the structure of a problem file as JSON values; None stands for a limit that is not there.

        Parameters
        ----------
        unstated : bool, default False
            Name a reward that no file can hold, such as a Python function, instead of raising.

        Examples
        --------
        >>> from proband import Problem, Test
        >>> from proband.rewards import Entropy
        >>> problem = Problem([Test("park", 1.5, outcomes=None, unit="ppb")], ["stop"], Entropy(2.0))
        >>> problem.to_dict()["reward"], Problem.from_dict(problem.to_dict()) == problem
        ({'kind': 'entropy', 'scale': 2.0}, True)
        """
        return {
            "schema": problem_files.SCHEMA,
            "name": self.name,
            "unit": self.unit,
            **{key: list(value) for key in ("decisions", "ignore", "missing") if (value := getattr(self, key))},
            "tests": [problem_files.test_to_dict(test) for test in self.tests],
            "reward": reward_to_dict(self.reward, self.tests, self.decisions, unstated=unstated),
        }

    @property
    def kind(self) -> Kind:
        """Listed outcomes, scores of measured ones, or sets of measurements.

        Any function of measurements is of scores, though only a projection can be planned.
        """
        return Kind.SCORES if self.measured and self.reward.kind is Kind.LISTED else self.reward.kind

    @property
    def n_decisions(self) -> int:
        """Number of decisions."""
        return self.size if self.reward.pooling is Pooling.MAXIMUM else len(self.decisions)

    @property
    def n_columns(self) -> int:
        """Number of columns of the payoff: the decisions, or one for a match."""
        return 1 if self.reward.pooling is Pooling.MAXIMUM else len(self.decisions)

    def priced(self, factor: float, tests: Iterable[int] | None = None) -> Self:
        """Return the problem with the prices of tests multiplied, those within an opened group too; by default of all.

        Examples
        --------
        >>> from proband.instances import bolts
        >>> twice = bolts().problem.priced(2.0)
        >>> bolts().problem.tests[0].cost, twice.tests[0].cost
        (0.15, 0.3)
        """
        chosen = range(self.d) if tests is None else tests
        return self._changed({i: _times(self.tests[i], factor) for i in chosen if self.tests[i].operable})

    def without(self, tests: Iterable[int]) -> Self:
        """Return the problem in which tests cannot be run, nor are known on arrival; the reward may still need them.

        Examples
        --------
        >>> from proband.instances import bolts
        >>> len(bolts().problem.operable) - len(bolts().problem.without([0]).operable)
        1
        """
        return self._changed({i: replace(self.tests[i], on_arrival=False, available=False) for i in tests})

    def _changed(self, changed: Mapping[int, Test]) -> Self:
        return replace(self, tests=tuple(changed.get(i, test) for i, test in enumerate(self.tests)))

    def payoff(self, rows: FloatArray) -> FloatArray:
        """Return the reward's columns for complete rows, shape (n, columns)."""
        return self.reward.payoff(self.tests, self.decisions, rows)

    def settled(self, states: FloatArray) -> NDArray[np.bool_]:
        """Return whether f(x, ·) is the same whatever the unknown tests show, in each state (n, d): shape (n,).

        The entropy of a set is no function of x, and never settled.
        """
        if self.kind is Kind.SETS:
            return np.zeros(len(states), dtype=np.bool_)
        return np.asarray(~np.isnan(states[:, self.targets]).any(axis=1))

    @cached_property
    def targets(self) -> IntArray:
        """Indices of the tests on which the reward may depend: all of them, where it does not say."""
        return self.reward.depends_on(self.tests) if isinstance(self.reward, BaseReward) else np.arange(self.d)

    def realised(self, rows: FloatArray, actions: IntArray) -> FloatArray:
        """Return f(x, y) for complete rows and the decisions taken, given as actions (d, d + 1, ...), shape (n,)."""
        return self.reward.realised(self.tests, self.decisions, rows, actions - self.d)

    def decision_action(self, name: str) -> int:
        """Return the action that stands for a decision, by its name."""
        return self.d + index_of("decision", name, self.decisions)

    def records(self, source: Any, *, sheet: str | None = None, uncut: bool = False) -> Records:
        """Read past subjects: one row each, one column a test, empty where it was not run.

        Parameters
        ----------
        source : path, binary file or frame
            A table: CSV, Excel's .xlsx or Parquet, told apart by content; a data frame of pandas or polars, an Arrow
            table, a dictionary of columns, or anything that offers itself as an Arrow stream or by the dataframe
            interchange.
        sheet : str, optional
            Which sheet of a workbook; needed where several hold something.
        uncut : bool, default False
            Give the numbers of tests with cuts as they are, and not the outcomes that they are cut to. Where cuts are
            still to be chosen, there are numbers in any case.

        Examples
        --------
        >>> from proband import Problem, Test
        >>> from proband.rewards import Match
        >>> problem = Problem([Test("hardness", 1.0, cuts=[60])], reward=Match(), ignore=["id"], missing=["-"])
        >>> table = {"id": ["a", "b", "c"], "hardness": [63.2, "-", "59,5"]}
        >>> problem.records(table).outcomes.ravel(), problem.records(table, uncut=True).outcomes.ravel()
        (array([ 1., nan,  0.]), array([63.2,  nan, 59.5]))
        """
        tests = [_as_number(test) if test.choose_cuts or (uncut and test.cuts) else test for test in self.tests]
        return tables.read_records(source, tests, ignore=self.ignore, missing=self.missing, sheet=sheet)

    def row_names(self, source: Any, *, sheet: str | None = None, column: str | None = None) -> list[str]:
        """Return how the rows that :meth:`records` reads are called: where each stands in its file, and who it is.

        Parameters
        ----------
        source, sheet
            As for :meth:`records`.
        column : str, optional
            Whose entries name subjects; by default the first ignored one whose entries all differ, if there is one.

        Examples
        --------
        >>> from proband import Problem, Test
        >>> from proband.rewards import Match
        >>> problem = Problem([Test("crack", 1.0)], reward=Match(), ignore=["id"])
        >>> problem.row_names({"id": ["b7", "b9"], "crack": ["0", "1"]})
        ['row 1 (b7)', 'row 2 (b9)']
        """
        return tables.read_names(source, self.tests, ignore=self.ignore, sheet=sheet, column=column)

    def action_name(self, action: int) -> str:
        """Return the name of the test or decision that an action stands for."""
        if not 0 <= action < self.d + self.n_decisions:
            raise UnknownNameError(
                f"action {action} does not exist; actions are 0 to {self.d + self.n_decisions - 1}; choose one of these"
            )
        if action < self.d:
            return self.tests[action].name
        if self.decisions:
            return self.decisions[action - self.d]
        row = outcome_rows([action - self.d], self.tests)[0]
        return ", ".join(f"{name}={outcome}" for name, outcome in self.describe(row).items())


def _times(test: Test, factor: float) -> Test:
    """Return a test at a multiple of its price."""
    within = None if test.group_cost is None else factor * test.group_cost
    return replace(test, cost=factor * test.cost, group_cost=within)


def _as_number(test: Test) -> Test:
    """Return a test with cuts, or with cuts to be chosen, as a measured one: what stands in tables are its numbers."""
    return replace(test, outcomes=None, cuts=None, choose_cuts=False)
