"""Two rewards, two laws and a planner as another package would have them, with nothing of the library touched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln

from proband import Discrete, Gaussian, Problem, Test, evaluate
from proband.checking import NUMBER, FieldTypes
from proband.planners import DiscretePlan, Options, serves
from proband.rewards import Piece, Projection, Score
from proband.rewards.base import BaseReward
from proband.vocabulary import FloatArray, IntArray, Kind


@dataclass(frozen=True)
class Threshold(BaseReward):
    """The first decision brings 1 where the outcome numbers sum to at most `limit`, and -1 elsewhere; others 0."""

    limit: float

    name = "threshold"
    required = ("limit",)
    fields: ClassVar[FieldTypes] = {"limit": NUMBER}

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        payoff = np.zeros((len(rows), len(decisions)))
        payoff[:, 0] = np.where(rows.sum(axis=1) <= self.limit, 1.0, -1.0)
        return payoff


class Within(Projection):
    """A measurement within its limits brings `value`, one beyond them loses `loss`, whoever passes it."""

    name = "within"
    required = ("test", "low", "high")
    fields: ClassVar[FieldTypes] = {"test": str, "low": NUMBER, "high": NUMBER, "value": NUMBER, "loss": NUMBER}

    def __init__(self, test: str, low: float, high: float, value: float = 1.0, loss: float = 10.0) -> None:
        for name, given in {"test": test, "low": low, "high": high, "value": value, "loss": loss}.items():
            object.__setattr__(self, name, given)
        pieces = [Piece("pass", -loss), Piece("pass", value + loss, when={test: (low, high)})]
        super().__init__([Score(test, {test: 1.0})], pieces)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str], *, source: str
    ) -> Self:
        return cls(**{name: content[name] for name in cls.fields if name in content})

    def to_dict(self, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.fields}


class Mixture:
    """A mixture of products: subjects of several sorts, whose tests are independent within a sort."""

    def __init__(self, weights: ArrayLike, marginals: Sequence[Sequence[ArrayLike]]) -> None:
        self.weights = np.array(weights, dtype=np.float64)
        self.marginals = [[np.array(p, dtype=np.float64) for p in sort] for sort in marginals]

    @property
    def d(self) -> int:
        return len(self.marginals[0])

    def check(self, problem: Problem) -> None:
        self.solvable().check(problem)

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        rows = np.empty((n, self.d))
        for row, sort in zip(rows, rng.choice(len(self.weights), n, p=self.weights), strict=True):
            row[:] = [rng.choice(len(p), p=p) for p in self.marginals[sort]]
        return rows

    def condition(self, state: ArrayLike) -> Mixture:
        known = {i: int(b) for i, b in enumerate(np.asarray(state, dtype=np.float64)) if not math.isnan(b)}
        weights = self.weights * [math.prod(sort[i][b] for i, b in known.items()) for sort in self.marginals]
        marginals = [
            [np.eye(len(p))[known[i]] if i in known else p for i, p in enumerate(sort)] for sort in self.marginals
        ]
        return Mixture(weights / weights.sum(), marginals)

    def entropy(self) -> float:
        return self.solvable().entropy()

    def solvable(self) -> Discrete:
        sorts = [Discrete.product(sort) for sort in self.marginals]
        mass = [w * sort.probabilities for w, sort in zip(self.weights, sorts, strict=True)]
        return Discrete.from_weights(np.vstack([sort.support for sort in sorts]), np.concatenate(mass))


class Student:
    """A Student's t law of measurements, with fatter tails than the Gaussian that planners take for it."""

    def __init__(self, mean: ArrayLike, scale: ArrayLike, freedom: float) -> None:
        self.shape, self.freedom = Gaussian(mean, scale), freedom

    @property
    def d(self) -> int:
        return self.shape.d

    def check(self, problem: Problem) -> None:
        self.shape.check(problem)

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        stretch = np.sqrt(self.freedom / rng.chisquare(self.freedom, n))
        return self.shape.mean + (self.shape.sample(rng, n) - self.shape.mean) * stretch[:, None]

    def condition(self, state: ArrayLike) -> Student:
        row = np.asarray(state, dtype=np.float64)
        known = np.flatnonzero(~np.isnan(row))
        posterior, off = self.shape.condition(row), row[known] - self.shape.mean[known]
        distance = float(off @ np.linalg.pinv(self.shape.covariance[np.ix_(known, known)]) @ off)
        wider = (self.freedom + distance) / (self.freedom + len(known))
        return Student(posterior.mean, posterior.covariance * wider, self.freedom + len(known))

    def entropy(self) -> float:
        d, v = self.d, self.freedom
        constant = gammaln(v / 2) - gammaln((v + d) / 2) + d / 2 * math.log(v * math.pi)
        spread = (v + d) / 2 * (digamma((v + d) / 2) - digamma(v / 2))
        return float(np.linalg.slogdet(self.shape.covariance)[1] / 2 + constant + spread)

    def solvable(self) -> Gaussian:
        return Gaussian(self.shape.mean, self.shape.covariance * self.freedom / (self.freedom - 2))


class Impatient(DiscretePlan):
    """Decides on what is known on arrival."""

    method = "impatient"

    def __init__(self, problem: Problem, distribution: Discrete) -> None:
        super().__init__(problem, distribution)
        self.value = evaluate(problem, distribution, self).value
        self.bound = float(distribution.probabilities @ problem.payoff(distribution.support).max(axis=1))

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        rows = self.problem.states(states)
        actions, known = self.missing_context(rows)
        actions[known] = self.decider.decide(rows[known])[0]
        return actions


@serves(Kind.LISTED)
def plan_impatient(problem: Problem, distribution: Discrete, options: Options) -> Impatient:
    options.refuse_limits_per_subject("impatient")
    return Impatient(problem, distribution)
