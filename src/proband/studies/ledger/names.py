"""Names at the edge: tests, outcomes and decisions as people call them, to numbers and back.

Events hold names (numbers for what is measured), so that a log can be read without this library; the fold holds rows of
floats. The dictionaries here make the translation cheap enough for a million events.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proband.errors import StateError, UnknownNameError
from proband.problem import Problem
from proband.vocabulary import FloatArray, outcome_codes

Outcome = str | float
"""The name of a listed outcome, or what was measured."""

Decision = str | Mapping[str, str]
"""The name of a decision; for a match also the named outcomes of all tests."""


_MOST_PRICES = 4096


class Names:
    """The names of one problem.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Table
    >>> tests = [Test("crack", 2.0, outcomes=("none", "deep"))]
    >>> names = Names(Problem(tests, ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]])))
    >>> names.number("crack", "deep"), names.outcome(0, 1.0), names.decision("fail")
    ((0, 1.0), 'deep', 2)
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._prices: dict[bytes, list[float]] = {}
        self._numbers: dict[tuple[str, Outcome], tuple[int, float]] = {
            (test.name, name): (i, float(number))
            for i, test in enumerate(problem.tests)
            if not test.measured
            for number, name in enumerate(test.names)
        }

    def number(self, test: str, outcome: Outcome) -> tuple[int, float]:
        """Return the index of a test and its outcome as it stands in a state."""
        try:
            return self._numbers[test, outcome]
        except (KeyError, TypeError):
            i = self.problem.test_index(test)
            return i, self.problem.outcome(i, _plain(test, outcome))

    def outcome(self, test: int, value: float) -> Outcome:
        """Return an outcome by its name, or the measured number."""
        one = self.problem.tests[test]
        return float(value) if one.measured else one.names[int(value)]

    def known(self, row: FloatArray) -> dict[str, Outcome]:
        """Return what is known in a row, by name."""
        return {self.problem.tests[i].name: self.outcome(i, row[i]) for i in np.flatnonzero(~np.isnan(row)).tolist()}

    def row(self, known: Mapping[str, Outcome]) -> FloatArray:
        """Return the row in which the named tests have the named outcomes, shape (d,)."""
        row = np.full(self.problem.d, np.nan)
        for test, outcome in known.items():
            i, row[i] = self.number(test, outcome)
        return row

    def price(self, row: FloatArray, test: int) -> float:
        """Return what a test costs in a state: this depends on which tests are known alone."""
        key = np.isnan(row).tobytes()
        prices = self._prices.get(key)
        if prices is None:
            if len(self._prices) >= _MOST_PRICES:
                self._prices.clear()
            prices = self._prices[key] = self.problem.costs(row)[0].tolist()
        return prices[test]

    def action(self, action: int) -> str:
        """Return the name of a test or decision."""
        return self.problem.action_name(action)

    def decision(self, given: Decision) -> int:
        """Return the action of a decision."""
        if self.problem.decisions:
            if not isinstance(given, str):
                raise UnknownNameError(
                    f"decision {given!r} does not exist; choose one of {', '.join(self.problem.decisions)}"
                )
            return self.problem.decision_action(given)
        outcomes = self._vector(given, 0) if isinstance(given, str) else given
        if outcomes is None or set(outcomes) != {test.name for test in self.problem.tests}:
            example = self.problem.action_name(self.problem.d)
            raise UnknownNameError(
                f"decision {given!r} does not exist; a decision names the outcome of every test; write it as "
                f"{example!r}"
            )
        row = self.row(outcomes)
        return self.problem.d + int(outcome_codes(row[None], self.problem.tests)[0])

    def _vector(self, text: str, first: int) -> dict[str, str] | None:
        """Read "length=ok, weight=low" from a test on; names may hold commas and equal signs themselves."""
        test = self.problem.tests[first]
        for outcome in test.names:
            head = f"{test.name}={outcome}"
            if text == head and first == self.problem.d - 1:
                return {test.name: outcome}
            if text.startswith(f"{head}, ") and first < self.problem.d - 1:
                rest = self._vector(text[len(head) + 2 :], first + 1)
                if rest is not None:
                    return {test.name: outcome, **rest}
        return None


def problem_to_dict(problem: Problem) -> dict[str, object]:
    """Return a problem as it stands in problem files, and in the first event of a study."""
    return problem.to_dict()


def problem_from_dict(content: Mapping[str, object]) -> Problem:
    """Build a problem; the inverse of :func:`problem_to_dict`."""
    return Problem.from_dict(content, source="the study's problem")


def _plain(test: str, outcome: object) -> Outcome:
    """Return an outcome as a plain text or number; numpy's and the like come from tables."""
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, int | float | np.integer | np.floating) and not isinstance(outcome, bool):
        return float(outcome)
    raise StateError(f"test {test!r} has the outcome {outcome!r}; an outcome is a name or a number; give one")
