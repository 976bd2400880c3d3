"""What docs/paper.md and docs/mathematics.md name exists, no theorem is left out, and repairs hold in numbers."""

from __future__ import annotations

import ast
import importlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from proband import Discrete, Gaussian, evaluate, plan
from proband.experiments import EXPERIMENTS
from proband.instances import bolts, many_states, paper_discrete

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
MATHEMATICS = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([^`\n]+)`", PAGE + MATHEMATICS)))
PROOFS = ("safe-leaf-completion", "safe-gaussian", "many-tests", "entropy-sampling", "drift")
STATEMENTS = [
    (page, label)
    for page in PROOFS
    for label in dict.fromkeys(
        re.findall(
            r"^(?:\*\*|### )((?:Theorem|Lemma|Corollary|Addition)(?: \d| \((?:[^)]*σ|expectation|realised regret)\))?)",
            (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
    )
]


def exists(name: str) -> bool:
    """Whether a file, a test in a file, an experiment or a Python name is there; anything else is none of these."""
    if name.startswith("proband experiment run "):
        return name.removeprefix("proband experiment run ") in EXPERIMENTS
    path, _, function = name.partition("::")
    if "/" in path:
        return (ROOT / path).is_file() and (not function or function in functions(ROOT / path))
    return resolves(name)


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def resolves(name: str) -> bool:
    """Whether a dotted name leads from the package to a module or to something in one."""
    parts = name.split(".")
    if parts[0] != "proband":
        return False
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("name", NAMED)
def test_everything_that_the_page_names_exists(name: str) -> None:
    assert exists(name), f"docs/paper.md or docs/mathematics.md names {name}"


@pytest.mark.parametrize(("page", "label"), STATEMENTS)
def test_every_statement_that_is_proved_is_on_the_page_of_all(page: str, label: str) -> None:
    parts = [part for part in re.split(r"^### ", MATHEMATICS, flags=re.MULTILINE) if f"]({page}.md" in part]
    assert any(
        part.startswith(label) or f"\n| {label}" in part or label.lower() in part.partition("\n")[0] for part in parts
    )


def test_statements_are_found() -> None:
    assert len(STATEMENTS) >= 25, STATEMENTS


def test_nothing_that_is_not_there_passes() -> None:
    wrong = ("proband.agents.Nobody", "src/proband/nothing.py", "tests/test_paper.py::nothing", "figure-discrete")
    assert [name for name in (*wrong, "proband experiment run nothing", "Elimination") if exists(name)] == []


@pytest.mark.parametrize(
    "part",
    [
        *(f"Algorithm {n}" for n in (1, 2, 3, 4)),
        *(f"Theorem {n}" for n in (1, 2, 3, 4, 5)),
        *(f"Figure {n}" for n in (1, 2, 3, 4, 5, 6, 7)),
        "Lemma 1",
        "the doubling trick",
        "setting: d = 10",
        "setting: d = 15",
    ],
)
def test_every_part_of_the_paper_has_a_row(part: str) -> None:
    assert re.search(rf"^\| {re.escape(part)}\b", PAGE, flags=re.MULTILINE), f"docs/paper.md has no row for {part}"


def test_linked_experiments_are_in_the_catalogue() -> None:
    linked = re.findall(r"\]\(experiments/([a-z-]+)\.md\)", PAGE)
    assert set(linked) >= {"figure-discrete", "figure-entropy"}
    assert set(linked) <= set(EXPERIMENTS)


@pytest.mark.parametrize("m", [1, 2, 7, 32, 512])
@pytest.mark.parametrize("factor", [8, 8.9, 30, 200])
def test_theorem_2_needs_no_jensen(m: int, factor: float) -> None:
    """Jensen's inequality points the wrong way; the median of a binomial law does what is needed."""
    T = math.ceil(factor * m)
    n = T // m
    visits = stats.binom(T, 1 / m)
    assert visits.sf(n - 1) >= 0.5
    t = np.arange(T + 1)
    power = float(visits.pmf(t) @ t ** (2 / 3))
    assert power <= (T / m) ** (2 / 3) * (1 + 1e-12)
    assert power >= n ** (2 / 3) / 2
    assert m * 0.5 * n ** (2 / 3) / 1024 >= m ** (1 / 3) * T ** (2 / 3) / 2300


@pytest.mark.parametrize("n", [8, 27, 100, 1000, 10_000])
def test_few_labels_do_not_tell_the_signs_apart(n: int) -> None:
    epsilon = n ** (-1 / 3)
    k = math.floor(1 / (8 * epsilon**2) + 1e-9)
    assert k <= n / 8
    assert k + 1 >= n ** (2 / 3) / 8 - 1e-9
    assert epsilon * math.log((1 + epsilon) / (1 - epsilon)) <= 4 * epsilon**2
    ones = np.arange(k + 1)
    one, other = (stats.binom(k, (1 + sign * epsilon) / 2).pmf(ones) for sign in (1, -1))
    assert np.abs(one - other).sum() / 2 <= 0.5


def test_the_support_of_theorem_2_has_as_many_vectors_as_it_says() -> None:
    assert len(many_states(16).distribution) == 32


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_for_another_law_loses_no_more_than_theorem_3_needs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = bolts() if seed % 5 == 0 else paper_discrete(rng, d=4, cost_range=(0.0, 0.2))
    problem, law = instance.problem, instance.distribution
    counts = rng.multinomial([20, 100, 2000][seed % 3], law.probabilities)
    estimate = Discrete.from_weights(law.support, counts)
    payoff = problem.reward.payoff(problem.tests, problem.decisions, law.support) if seed % 5 == 0 else np.array([0, 1])
    costs = sum(test.cost for test in problem.tests)
    width = float(np.max(payoff) - np.min(payoff)) + costs
    loss = plan(problem, law).value - evaluate(problem, law, plan(problem, estimate)).value
    assert -1e-12 <= loss <= width * np.abs(law.probabilities - counts / counts.sum()).sum() + 1e-12


def hellinger_squared(one: Gaussian, other: Gaussian) -> float:
    """∫ (√p − √q)² of two Gaussian laws."""
    middle = (one.covariance + other.covariance) / 2
    apart = one.mean - other.mean
    logs = [np.linalg.slogdet(matrix)[1] for matrix in (one.covariance, other.covariance, middle)]
    affinity = math.exp((logs[0] + logs[1]) / 4 - logs[2] / 2 - apart @ np.linalg.solve(middle, apart) / 8)
    return 2 - 2 * affinity


@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_a_gaussian_plug_in_does_not_know_the_condition_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, n = 4, 400
    z = rng.normal(size=(n, d))
    found = []
    for stretch in (1.0, 30.0):
        factor = rng.normal(size=(d, d)) @ np.diag(stretch ** np.arange(d))
        x = 5 + z @ factor.T
        law = Gaussian(np.full(d, 5.0), factor @ factor.T)
        found.append(hellinger_squared(law, Gaussian(x.mean(axis=0), np.cov(x.T, ddof=0))))
    S, mean = np.cov(z.T, ddof=0), z.mean(axis=0)
    assert found[1] == pytest.approx(found[0], rel=1e-5)
    assert np.linalg.eigvalsh(S)[0] >= 0.5
    assert found[0] <= (((S - np.eye(d)) ** 2).sum() + mean @ mean) / 2
