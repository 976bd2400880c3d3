"""Past subjects for the sparse planner: binary tests and a label that is known in history only.

The data of scikit-learn come with the package, so nothing is downloaded.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from proband import Discrete, Problem, Test
from proband.rewards import Table


@dataclass(frozen=True)
class Subjects:
    """Outcomes of binary tests, shape (n, d), and labels 0 or 1, shape (n,)."""

    outcomes: np.ndarray
    labels: np.ndarray

    def problem(self, cost: float) -> tuple[Problem, Discrete]:
        """Pay `cost` for each test, earn 1 for naming the label, which is unavailable in operation."""
        tests = [Test(f"t{i}", cost) for i in range(self.outcomes.shape[1])]
        tests.append(Test("label", 0.0, available=False))
        rows = np.column_stack([self.outcomes, self.labels])
        problem = Problem(tests, ["no", "yes"], Table(["label"], np.eye(2)))
        return problem, Discrete.from_weights(rows, np.ones(len(rows)))


def breast_cancer(cuts: int) -> Subjects:
    """569 tumours, 30 measurements, each cut at the quantiles 1/(cuts + 1), 2/(cuts + 1), ..."""
    measured, labels = load_breast_cancer(return_X_y=True)
    levels = np.arange(1, cuts + 1) / (cuts + 1)
    cut = [column > np.quantile(column, level) for column in measured.T for level in levels]
    return Subjects(np.array(cut).T.astype(np.int64), labels)


def digits_at_half() -> Subjects:
    """1,797 handwritten digits, 54 pixels that are not constant (8 or more of 16), odd or even."""
    pixels, digit = load_digits(return_X_y=True)
    return Subjects(_informative(pixels >= 8, 0.0), digit % 2)


def digits_at_mean() -> Subjects:
    """The digits again: 52 pixels cut at their mean, with 2 to 98 % ones."""
    pixels, digit = load_digits(return_X_y=True)
    return Subjects(_informative(pixels > pixels.mean(axis=0), 0.02), digit % 2)


def noisy(seed: int) -> Subjects:
    """1,000 subjects, 20 correlated tests (five factors), and a linear label with noise."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(20, 5))
    latent = rng.normal(size=(1000, 5)) @ loadings.T / 2 + rng.normal(size=(1000, 20))
    score = latent @ rng.normal(size=20) / np.sqrt(20)
    labels = score + rng.normal(size=1000) * 0.5 * score.std() > 0
    return Subjects((latent > 0).astype(np.int64), labels.astype(np.int64))


def _informative(cut: np.ndarray, rare: float) -> np.ndarray:
    share = cut.mean(axis=0)
    return cut[:, (share > rare) & (share < 1 - rare)].astype(np.int64)


SUBJECTS = {
    "breast cancer, 30 tests": lambda: breast_cancer(1),
    "breast cancer, 60 tests": lambda: breast_cancer(2),
    "breast cancer, 90 tests": lambda: breast_cancer(3),
    "digits, 54 pixels at half": digits_at_half,
    "digits, 52 pixels at mean": digits_at_mean,
    "synthetic 0, 20 tests": lambda: noisy(0),
    "synthetic 1, 20 tests": lambda: noisy(1),
    "synthetic 2, 20 tests": lambda: noisy(2),
}
