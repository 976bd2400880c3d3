"""What happens to each row under a plan that was made without it: who is decided wrongly, and are chances as told.

The rows are dealt into K folds. For each fold everything is made again without its rows, cuts that were chosen
included, and they are treated by the plan that comes out. At the end of its way each row is told with which probability
the decision is the best one, or which outcome is there; what is observed is beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from proband.distributions import Discrete
from proband.planners.validation import Interval, interval
from proband.policies.episodes import follow
from proband.policies.fixed import settled_decisions
from proband.problem import Problem
from proband.reporting.calibration import Calibration, grouped
from proband.reporting.curve import Point, judged, seen_point
from proband.reporting.recipes import Acting, Recipe, folds_of, law_of
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Treated:
    """What happened to complete rows, each under a plan that was made without it.

    Attributes
    ----------
    rows : IntArray of shape (n,)
        Which rows of the records these are, each counted as often as it was seen.
    outcomes, states : FloatArray of shape (n, d)
        What they are, and what was known in the end, in the outcomes of the problem of their fold.
    fold : IntArray of shape (n,)
        Into which fold each was dealt.
    problems : list of Problem
        Of each fold: cuts that were chosen are chosen again without its rows.
    actions : IntArray of shape (n,)
        The decisions.
    costs, tests, lost : FloatArray of shape (n,)
        Paid, run, and by how much the decision brings less than the best one.
    told : FloatArray of shape (n,)
        With which probability the decision is the best one, by the law that was learned without the row.
    watched : int
        With two decisions the one that is less often the best, as an action; otherwise -1.
    told_watched : FloatArray of shape (n,)
        With which probability that one is the best; as `told` if there is none.
    """

    rows: IntArray
    outcomes: FloatArray
    states: FloatArray
    fold: IntArray
    problems: list[Problem]
    actions: IntArray
    costs: FloatArray
    tests: FloatArray
    lost: FloatArray
    told: FloatArray
    watched: int
    told_watched: FloatArray


@dataclass(frozen=True)
class Mistake:
    """A row that was decided wrongly.

    Attributes
    ----------
    row : str
        How it is called.
    known : tuple of pairs of str
        What was known in the end.
    decision, better : str
        What was decided, and what would have brought most.
    lost, paid : float
        By how much less the decision brought, and what tests cost.
    told : float
        With which probability the decision was told to be the best one.
    """

    row: str
    known: tuple[tuple[str, str], ...]
    decision: str
    better: str
    lost: float
    paid: float
    told: float


@dataclass(frozen=True)
class Outcome:
    """What happened to rows, the points of plans for multiplied prices, and what each test is worth to them."""

    treated: Treated
    curve: list[Point]
    worth: dict[int, Interval]


def complete_rows(recipe: Recipe) -> int:
    """Return how many rows of a recipe can be treated, each counted as often as it was seen; 0 without records."""
    return 0 if recipe.records is None else recipe.records.complete().n


def treat(
    recipe: Recipe,
    multipliers: Sequence[float],
    tests: Sequence[int] = (),
    *,
    folds: int = 5,
    each: Callable[[], object] = lambda: None,
) -> Outcome:
    """Return what happens to the complete rows of a recipe, each under plans that were made without it.

    `tests` are those whose worth is asked for: plans are made without them, too. `each` is called after each plan.
    """
    records = recipe.records
    assert records is not None
    numbers = np.repeat(np.arange(len(records)), records.counts)
    fold, outcomes = folds_of(len(numbers), folds), records.outcomes[numbers]
    complete = np.flatnonzero(~np.isnan(outcomes).any(axis=1))
    whole = _Sums(outcomes.shape, watched(recipe.problem, outcomes[complete]))
    along = {factor: _Sums(outcomes.shape) for factor in multipliers}
    lacking = {test: _Sums(outcomes.shape) for test in tests}
    problems = []
    for k in range(folds):
        made, rows = recipe.taught(np.flatnonzero(fold != k))
        part = _Part(made.problem, rows, complete[fold[complete] == k])
        problems.append(part.problem)
        whole.add(made, part, tell=True)
        for factor, sums in along.items():
            other = made if factor == 1 else made.again(problem=part.problem.priced(factor))
            sums.add(other, part)
            each()
        for test, sums in lacking.items():
            sums.add(made.again(problem=part.problem.without([test])), part)
            each()
    points = [seen_point(factor, *sums.figures(complete)) for factor, sums in along.items()]
    brought = whole.brought(complete)
    worth = {test: interval(brought - sums.brought(complete)) for test, sums in lacking.items()}
    return Outcome(whole.treated(numbers, complete, fold, problems), points, worth)


def calibration(problem: Problem, treated: Treated) -> Calibration:
    """Return whether probabilities are as told.

    With two decisions, of the one that is less often the best; otherwise of the decision that was taken.
    """
    if treated.watched < 0:
        return Calibration("the decision that was taken is the best one", grouped(treated.told, treated.lost == 0))
    seen = judged(problem, treated.outcomes, np.full(len(treated.outcomes), treated.watched)) == 0
    event = f"{problem.action_name(treated.watched)} is the best decision"
    return Calibration(event, grouped(treated.told_watched, seen))


def mistakes(problem: Problem, treated: Treated, names: Sequence[str], *, most: int) -> list[Mistake]:
    """Return the rows that lost most by their decision, the worst first."""
    wrong = np.flatnonzero(treated.lost > 0)
    worst = wrong[np.lexsort((treated.rows[wrong], -treated.lost[wrong]))][:most]
    better, found = settled_decisions(problem, treated.outcomes[worst]), []
    for n, right in zip(worst.tolist(), better.tolist(), strict=True):
        found.append(
            Mistake(
                row=names[int(treated.rows[n])],
                known=tuple((name, str(value)) for name, value in described(treated, n).items()),
                decision=problem.action_name(int(treated.actions[n])),
                better=problem.action_name(right),
                lost=float(treated.lost[n]),
                paid=float(treated.costs[n]),
                told=float(treated.told[n]),
            )
        )
    return found


def described(treated: Treated, n: int) -> Mapping[str, object]:
    """Return what was known of a row in the end, in the words of the problem of its fold."""
    return treated.problems[int(treated.fold[n])].describe(treated.states[n])


def watched(problem: Problem, rows: FloatArray) -> int:
    """Return with two decisions the one that is less often the best for complete rows, as an action; otherwise -1."""
    if len(problem.decisions) != 2:
        return -1
    often = [(judged(problem, rows, np.full(len(rows), problem.d + y)) == 0).sum() for y in range(2)]
    return problem.d + int(np.argmin(often))


class _Part(NamedTuple):
    """A fold: the problem that was planned without it, all rows in its outcomes, and which of them are the fold's."""

    problem: Problem
    rows: FloatArray
    here: IntArray


class _Sums:
    """What happened to each of n rows, filled in fold by fold."""

    def __init__(self, shape: tuple[int, ...], watch: int = -1) -> None:
        n, self.watch = shape[0], watch
        self.outcomes, self.states, self.actions = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(n, int)
        self.costs, self.tests, self.lost, self.told, self.told_watched = np.zeros((5, n))

    def add(self, made: Recipe, part: _Part, *, tell: bool = False) -> None:
        """Treat the rows of a fold; with `tell` say how sure the decisions are."""
        problem, rows, here = part
        if not len(here):
            return
        ended = follow(problem, Acting(made.plan), rows[here])
        self.outcomes[here], self.states[here], self.actions[here] = rows[here], ended.states, ended.actions
        self.costs[here], self.tests[here] = ended.costs, ended.tests
        self.lost[here] = judged(problem, rows[here], ended.actions)
        law = law_of(made.plan)
        if tell:
            self.told[here] = chances(problem, law, ended.states, ended.actions)
        if tell and self.watch >= 0:
            self.told_watched[here] = chances(problem, law, ended.states, np.full(len(here), self.watch))

    def figures(self, chosen: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.costs[chosen], self.tests[chosen], self.lost[chosen]

    def brought(self, chosen: IntArray) -> FloatArray:
        """Return what plans brought to rows, less what the best decisions would have brought."""
        return -self.costs[chosen] - self.lost[chosen]

    def treated(self, numbers: IntArray, chosen: IntArray, fold: IntArray, problems: list[Problem]) -> Treated:
        return Treated(
            rows=numbers[chosen],
            outcomes=self.outcomes[chosen],
            states=self.states[chosen],
            fold=fold[chosen],
            problems=problems,
            actions=self.actions[chosen],
            costs=self.costs[chosen],
            tests=self.tests[chosen],
            lost=self.lost[chosen],
            told=self.told[chosen],
            watched=self.watch,
            told_watched=self.told_watched[chosen],
        )


def chances(problem: Problem, law: Discrete, states: FloatArray, actions: IntArray) -> FloatArray:
    """Return with which probability decisions are the best ones in states (n, d): shape (n,).

    Where no row of the law agrees with a state, those that agree best are taken.
    """
    found = np.empty(len(states))
    keys = np.column_stack([np.nan_to_num(states, nan=-1.0), actions])
    unique, inverse = np.unique(keys, axis=0, return_inverse=True)
    for n, row in enumerate(unique):
        known = np.flatnonzero(row[:-1] >= 0)
        agreement = (law.support[:, known] == row[known]).sum(axis=1)
        agrees = agreement == agreement.max()
        p, support = law.probabilities[agrees], law.support[agrees]
        right = judged(problem, support, np.full(len(support), int(row[-1]))) == 0
        found[inverse.reshape(-1) == n] = p[right].sum() / p.sum()
    return found
