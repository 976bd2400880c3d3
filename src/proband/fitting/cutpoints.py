"""Where numbers are cut, chosen from past subjects.

The cuts of a test are those that tell most of what is at stake: each subject counts as much as the difference that its
decision makes, and the cuts (three at most) between quantiles are found that make the labels most likely, each further
cut paid for as by BIC. A test that tells nothing by itself may still tell something together with others: it is cut at
quantiles. A cut is the roundest number between the two subjects that it parts.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from proband.errors import PlanError
from proband.numerals import written
from proband.problem import Problem
from proband.vocabulary import DEFAULT_OUTCOMES, FloatArray, IntArray, outcome_codes

MOST_PIECES = 4
CANDIDATES = 32
"""Quantiles between which cuts are looked for."""

LEAST = 5
"""Subjects in a piece."""


def choosing(problem: Problem) -> IntArray:
    """Return the tests whose cuts are to be chosen."""
    return np.array([i for i, test in enumerate(problem.tests) if test.choose_cuts], dtype=np.int64)


def with_cuts(problem: Problem, rows: FloatArray) -> Problem:
    """Return the problem with cuts chosen from rows (n, d), in which such tests hold numbers.

    Where some of a table's rows have one number only, or none, the cut is that number, or 0: they tell nothing of it.

    Examples
    --------
    >>> from proband import Test
    >>> from proband.rewards import Table
    >>> tests = [Test("x", 1.0, choose_cuts=True), Test("y", available=False)]
    >>> problem = Problem(tests, ["no", "yes"], Table(["y"], [[1, 0], [0, 1]]))
    >>> x = np.linspace(0, 10, 101)
    >>> with_cuts(problem, np.column_stack([x, x > 6.2])).tests[0].cuts
    (6.3,)
    """
    which = choosing(problem)
    if not len(which):
        return problem
    labels, stakes = _labels(problem, rows)
    tests = list(problem.tests)
    for i in which:
        numbers = rows[~np.isnan(rows[:, i]), i]
        cuts = cuts_of(rows[:, i], labels, stakes) or (float(numbers[0]) if len(numbers) else 0.0,)
        tests[i] = replace(tests[i], outcomes=DEFAULT_OUTCOMES, cuts=cuts, choose_cuts=False)
    return Problem(
        tests, problem.decisions, problem.reward, name=problem.name, unit=problem.unit, ignore=problem.ignore,
        missing=problem.missing,
    )  # fmt: skip


def check_numbers(problem: Problem, rows: FloatArray) -> None:
    """Raise unless each test whose cuts are to be chosen has two different numbers in rows (n, d)."""
    for i in choosing(problem):
        numbers = np.unique(rows[~np.isnan(rows[:, i]), i])
        if len(numbers) < 2:
            has = f"the number {written(float(numbers[0]))} in every row that has one" if len(numbers) else "no number"
            raise PlanError(
                f"test {problem.tests[i].name!r}: its cuts are to be chosen, and it has {has}; two different ones are "
                "needed; name its column in the problem's list ignore, and take the test out"
            )


def coded(before: Problem, after: Problem, rows: FloatArray) -> FloatArray:
    """Return rows (n, d) in which numbers are outcomes, by the cuts that were chosen."""
    made = rows.copy()
    for i in choosing(before):
        cuts = after.tests[i].cuts
        assert cuts is not None
        known = ~np.isnan(rows[:, i])
        made[known, i] = np.searchsorted(np.array(cuts), rows[known, i], side="right")
    return made


def cuts_of(numbers: FloatArray, labels: IntArray, stakes: FloatArray) -> tuple[float, ...]:
    """Return the cuts of one test, none if all numbers are alike; labels are -1 where they are not known."""
    known = ~np.isnan(numbers)
    edges = _edges(numbers[known])
    if not len(edges):
        return ()
    told = known & (labels >= 0)
    chosen = _by_labels(np.searchsorted(edges, numbers[told], side="right"), labels[told], stakes[told], len(edges) + 1)
    if not chosen:
        pieces = int(np.clip(2 + np.log10(max(known.sum(), 1) / 200), 2, MOST_PIECES))
        below = np.searchsorted(np.sort(numbers[known]), edges) / known.sum()
        chosen = sorted({int(np.argmin(np.abs(below - q / pieces))) for q in range(1, pieces)})
    return tuple(float(edges[place]) for place in chosen)


def _by_labels(piece: IntArray, labels: IntArray, stakes: FloatArray, n: int) -> list[int]:
    """Return the edges between which labels are most likely, less what further cuts cost; none if none pays."""
    if not len(labels) or stakes.sum() <= 0:
        return []
    kinds, label = np.unique(labels, return_inverse=True)
    weights = stakes * len(stakes) / stakes.sum()
    counts = np.zeros((n + 1, len(kinds)))
    np.add.at(counts, (piece + 1, label), weights)
    sums, subjects = counts.cumsum(axis=0), np.concatenate([[0], np.bincount(piece, minlength=n).cumsum()])
    parts = sums[None] - sums[:, None]  # from edge a to edge b
    with np.errstate(divide="ignore", invalid="ignore"):
        likely = np.nansum(parts * np.log(parts / parts.sum(axis=2, keepdims=True)), axis=2)
    likely = np.where(subjects[None] - subjects[:, None] >= LEAST, likely, -math.inf)
    price = 0.5 * (len(kinds) - 1) * math.log(len(label)) + math.log(max(n - 1, 1))
    best, back, scores = likely[0], list[IntArray](), [likely[0, n]]
    for pieces in range(2, MOST_PIECES + 1):
        ways = best[:, None] + likely
        back.append(ways.argmax(axis=0))
        best = ways.max(axis=0)
        scores.append(best[n] - (pieces - 1) * price)
    pieces, at, chosen = int(np.argmax(scores)), n, list[int]()
    for step in reversed(back[:pieces]):
        at = int(step[at])
        chosen.append(at - 1)
    return chosen[::-1]


def _edges(numbers: FloatArray) -> FloatArray:
    """Return round numbers between quantiles, rising."""
    values = np.unique(numbers)
    if len(values) < 2:
        return np.empty(0)
    ordered = np.sort(numbers)
    places = np.unique((np.arange(1, CANDIDATES) * len(ordered)) // CANDIDATES)
    above = np.unique(ordered[places])
    above = above[above > values[0]]
    if not len(above):
        above = values[1:2]
    below = values[np.searchsorted(values, above) - 1]
    return np.unique([roundest(float(a), float(b)) for a, b in zip(below, above, strict=True)])


def roundest(below: float, above: float) -> float:
    """Return the largest number with the fewest digits that is larger than one number and not larger than another.

    Examples
    --------
    >>> roundest(59.7, 60.2), roundest(0.11, 0.14), roundest(-3.0, 12.0), roundest(6.2, 6.3)
    (60.0, 0.14, 0.0, 6.3)
    """
    if below < 0 <= above:
        return 0.0
    power = math.floor(math.log10(max(abs(below), abs(above)))) + 1
    for digits in range(power, power - 17, -1):
        step = 10.0**digits
        found = math.floor(above / step) * step
        found = round(found, max(0, -digits))
        if below < found <= above:
            return found
    return above


def _labels(problem: Problem, rows: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return labels (n,), -1 where they are not known, and what is at stake for each subject."""
    targets = problem.targets
    if problem.tests and any(problem.tests[i].choose_cuts for i in targets):
        raise PlanError("the cuts of a target of the reward cannot be chosen: they say what is good; give cuts = [..]")
    known = ~np.isnan(rows[:, targets]).any(axis=1)
    labels, stakes = np.full(len(rows), -1, dtype=np.int64), np.zeros(len(rows))
    labels[known] = outcome_codes(rows[np.ix_(known, targets)], [problem.tests[i] for i in targets])
    payoff = problem.payoff(rows[known])
    stakes[known] = payoff.max(axis=1) - payoff.min(axis=1)
    return labels, stakes
