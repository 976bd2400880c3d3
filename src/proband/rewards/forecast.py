"""Forecasts as decisions: the reward of a probability that is stated, by the logarithmic score.

Where a subject is not acted upon, but a chance is to be told, the decision is a forecast q of the label, and it earns

    f(x, q) = scale · log q(label of x),

so that nothing earns more than to say what one believes, and a test is worth what it tells: the expected fall of the
label's entropy, in nats. The forecasts are listed. Evenly spaced in log odds by δ, the best one loses at most about
scale · δ²/32 against the exact chance of one of two labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from proband.errors import ProblemError
from proband.rewards.table import Table
from proband.vocabulary import FloatArray

LARGEST_ODDS = 8.0
"""The boldest forecast has odds of e^8, about 3,000 to 1."""

MOST_FORECASTS = 100_000


def forecasts(
    target: str, outcomes: Sequence[str], *, steps: int = 64, scale: float = 1.0
) -> tuple[tuple[str, ...], Table]:
    """Return decisions and reward of a problem in which the chances of a test's outcomes are to be told.

    Parameters
    ----------
    target : str
        The test whose outcome is forecast.
    outcomes : sequence of str
        Its outcomes, two or more.
    steps : int, default 64
        For two outcomes the number of forecasts less one, evenly spaced in log odds. For more, every composition of so
        many equal parts among the outcomes, half a part more for each: choose a smaller number.
    scale : float, default 1
        What a nat is worth, in the unit of the prices.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> tests = [Test("fever", 0.1), Test("ill", 0.0, outcomes=("no", "yes"), available=False)]
    >>> problem = Problem(tests, *forecasts("ill", ("no", "yes")))
    >>> law = Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.45, 0.05, 0.05, 0.45])
    >>> best = plan(problem, law)
    >>> round(best.value, 2), problem.action_name(best.act([1, float("nan")])[0])
    (-0.43, 'yes 0.9047')
    """
    if len(outcomes) < 2 or steps < 1 or not scale > 0:
        raise ProblemError(
            f"there are {len(outcomes)} outcomes, steps is {steps} and scale {scale}; a forecast is of two outcomes or "
            "more, in one step or more, and a nat is worth more than 0; correct them"
        )
    chances = _of_two(steps) if len(outcomes) == 2 else _of_many(len(outcomes), steps)
    names = tuple(_name(outcomes, chance) for chance in chances)
    return names, Table([target], scale * np.log(chances).T)


def _of_two(steps: int) -> FloatArray:
    odds = np.linspace(-LARGEST_ODDS, LARGEST_ODDS, steps + 1)
    yes = 1 / (1 + np.exp(-odds))
    return np.column_stack([1 - yes, yes])


def _of_many(k: int, steps: int) -> FloatArray:
    bars = itertools.islice(itertools.combinations(range(steps + k - 1), k - 1), MOST_FORECASTS + 1)
    places = np.array(list(bars))
    if len(places) > MOST_FORECASTS:
        raise ProblemError(
            f"{steps} steps for {k} outcomes make more than {MOST_FORECASTS:,} forecasts; take fewer steps"
        )
    ends = np.column_stack([np.full(len(places), -1), places, np.full(len(places), steps + k - 1)])
    parts = np.diff(ends, axis=1) - 1 + 0.5
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _name(outcomes: Sequence[str], chance: FloatArray) -> str:
    if len(outcomes) == 2:
        return f"{outcomes[1]} {chance[1]:.4g}"
    return ", ".join(f"{outcome} {share:.3g}" for outcome, share in zip(outcomes, chance, strict=True))
