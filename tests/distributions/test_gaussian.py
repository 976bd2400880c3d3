from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import io, stats

from proband import Gaussian, Problem, Records, Test
from proband.distributions import covariance_files
from proband.errors import DistributionError, StateError
from proband.rewards import Entropy, Match

NAN = float("nan")


def random_law(rng: np.random.Generator, d: int, rank: int | None = None) -> Gaussian:
    factor = rng.standard_normal((d, d if rank is None else rank))
    return Gaussian(rng.standard_normal(d), factor @ factor.T)


def entropy_problem(d: int) -> Problem:
    return Problem([Test(f"t{i}", 1.0, outcomes=None) for i in range(d)], ["stop"], Entropy())


@pytest.mark.parametrize("seed", range(20))
def test_conditioning_is_the_textbook_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    law = random_law(rng, d)
    known = rng.random(d) < 0.5
    state = np.where(known, law.sample(rng, 1)[0], NAN)
    posterior = law.condition(state)
    inverse = np.linalg.inv(law.covariance[np.ix_(known, known)])
    gain = law.covariance[np.ix_(~known, known)] @ inverse
    assert posterior.mean[~known] == pytest.approx(law.mean[~known] + gain @ (state[known] - law.mean[known]), abs=1e-8)
    expected = law.covariance[np.ix_(~known, ~known)] - gain @ law.covariance[np.ix_(known, ~known)]
    assert posterior.covariance[np.ix_(~known, ~known)] == pytest.approx(expected, abs=1e-8)
    assert (posterior.mean[known] == state[known]).all()
    assert (posterior.covariance[known] == 0).all()
    assert law.conditioned_means(state[None])[0] == pytest.approx(posterior.mean, abs=1e-8)


def test_conditioning_step_by_step_is_conditioning_at_once() -> None:
    rng = np.random.default_rng(3)
    law = random_law(rng, 5)
    x = law.sample(rng, 1)[0]
    first = law.condition([x[0], NAN, NAN, NAN, NAN])
    stepwise = first.condition([x[0], NAN, x[2], NAN, NAN])
    at_once = law.condition([x[0], NAN, x[2], NAN, NAN])
    assert stepwise.mean == pytest.approx(at_once.mean, abs=1e-8)
    assert stepwise.covariance == pytest.approx(at_once.covariance, abs=1e-8)


def test_samples_have_the_moments() -> None:
    law = random_law(np.random.default_rng(1), 4)
    rows = law.sample(np.random.default_rng(2), 200_000)
    scale = np.sqrt(np.diagonal(law.covariance))
    assert np.abs((rows.mean(axis=0) - law.mean) / scale).max() < 5 / math.sqrt(200_000)
    assert np.abs((np.cov(rows.T) - law.covariance) / np.outer(scale, scale)).max() < 8 / math.sqrt(200_000)


def test_entropy_and_condition_number() -> None:
    law = random_law(np.random.default_rng(5), 4)
    assert law.entropy() == pytest.approx(stats.multivariate_normal(law.mean, law.covariance).entropy())
    assert law.entropy([1, 3]) == pytest.approx(law.restricted([1, 3]).entropy())
    assert law.entropy([]) == 0
    assert law.condition_number == pytest.approx(np.linalg.cond(law.covariance))


def test_redundant_tests_are_told_and_do_not_crash() -> None:
    base = random_law(np.random.default_rng(7), 3)
    weights = np.array([[1, 0, 0], [0, 1, 0], [2, -1, 0], [0, 0, 1.0]])
    law = Gaussian(weights @ base.mean, weights @ base.covariance @ weights.T)
    assert law.redundant == (2,)
    assert law.entropy() == -math.inf
    assert law.entropy([0, 1, 3]) > -math.inf
    assert law.condition_number == math.inf
    x = law.sample(np.random.default_rng(0), 1)[0]
    posterior = law.condition([x[0], x[1], NAN, NAN])
    assert posterior.mean[2] == pytest.approx(x[2], abs=1e-6)
    assert posterior.covariance[2, 2] == 0
    assert law.condition(x).covariance.max() == 0


def test_constants_are_redundant() -> None:
    law = Gaussian([1.0, 2.0], [[0.0, 0.0], [0.0, 1.0]])
    assert law.redundant == (0,)
    assert law.condition([1.0, NAN]).mean.tolist() == [1.0, 2.0]


def test_the_plug_in_is_centred() -> None:
    rows = np.array([[10.0, 1.0], [12.0, 1.0], [11.0, 4.0]])
    law = Gaussian.from_records(Records(rows, counts=[1, 1, 2]))
    whole = np.repeat(rows, [1, 1, 2], axis=0)
    assert law.mean == pytest.approx(whole.mean(axis=0))
    assert law.covariance == pytest.approx(np.cov(whole.T, bias=True))


@pytest.mark.parametrize(
    ("covariance", "fragments"),
    [
        ([[1.0, 0.5]], ("shape (1, 2)", "square")),
        ([], ("square",)),
        ([[1.0, NAN], [NAN, 1.0]], ("tests 0 and 1", "nan", "finite")),
        ([[1.0, math.inf], [math.inf, 1.0]], ("inf", "finite")),
        ([[1.0, 0.5], [0.4, 1.0]], ("0.5 one way and 0.4 the other", "symmetric")),
        ([[1.0, 2.0], [2.0, 1.0]], ("eigenvalue -1", "positive semi-definite")),
        ([[-1.0]], ("eigenvalue -1",)),
        ([["a"]], ("no array of numbers",)),
    ],
)
def test_bad_covariances(covariance: object, fragments: tuple[str, ...]) -> None:
    with pytest.raises(DistributionError) as caught:
        Gaussian([0.0] * len(covariance), covariance)  # type: ignore[arg-type]
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_bad_means_states_and_problems() -> None:
    law = Gaussian([0.0], [[1.0]])
    with pytest.raises(DistributionError, match="one finite number for each test"):
        Gaussian([0.0, 1.0], [[1.0]])
    with pytest.raises(DistributionError, match="one finite number"):
        Gaussian([NAN], [[1.0]])
    with pytest.raises(StateError, match="shape"):
        law.condition([0.0, 1.0])
    with pytest.raises(StateError, match="one finite entry"):
        law.condition([math.inf])
    with pytest.raises(DistributionError, match="tests list outcomes"):
        law.check(Problem([Test("a", 1.0)], (), Match()))
    with pytest.raises(DistributionError, match="1 tests and the problem 2"):
        law.check(entropy_problem(2))
    with pytest.raises(DistributionError, match="beyond 1e\\+150"):
        Gaussian.from_records(Records([[1e308], [-1e308]]))
    with pytest.raises(DistributionError, match="at most 1e\\+150"):
        Gaussian([0.0], [[1e200]])
    with pytest.raises(DistributionError, match="no array of numbers"):
        Gaussian([10**400], [[1.0]])
    with pytest.raises(DistributionError, match="1 records are complete"):
        Gaussian.from_records(Records([[1.0], [NAN]]))


class TestFiles:
    def test_a_law_survives_its_file(self, tmp_path: Path) -> None:
        law = random_law(np.random.default_rng(0), 3)
        problem = entropy_problem(3)
        law.save(tmp_path / "law.csv", problem)
        assert Gaussian.load(tmp_path / "law.csv", problem) == law

    def test_names_begin_no_formula_and_come_back(self, tmp_path: Path) -> None:
        tests = [Test(name, 0.1, outcomes=None) for name in ("=1+1", "@x")]
        problem, law = Problem(tests, ["stop"], Entropy()), Gaussian([0.5, -1.0], [[2.0, 0.5], [0.5, 1.0]])
        law.save(tmp_path / "law.csv", problem)
        assert (tmp_path / "law.csv").read_text().startswith(",'=1+1,'@x\nmean,0.5,-1.0\n'=1+1,2.0,")
        assert Gaussian.load(tmp_path / "law.csv", problem) == law

    def test_columns_may_come_in_any_order(self, tmp_path: Path) -> None:
        (tmp_path / "c.csv").write_text(",t1,t0\nt1,2,0.5\nt0,0.5,1\n")
        law = Gaussian.load(tmp_path / "c.csv", entropy_problem(2))
        assert law.covariance.tolist() == [[1, 0.5], [0.5, 2]]
        assert law.mean.tolist() == [0, 0]

    def test_bare_numbers_and_arrays(self, tmp_path: Path) -> None:
        matrix = random_law(np.random.default_rng(0), 3).covariance
        np.savetxt(tmp_path / "c.csv", matrix, delimiter=",")
        np.save(tmp_path / "c.npy", matrix)
        np.savez(tmp_path / "c.npz", C=matrix, other=np.eye(2))
        io.savemat(tmp_path / "c.mat", {"C": matrix})
        for ending in ("csv", "npy", "npz", "mat"):
            found = Gaussian.load(tmp_path / f"c.{ending}", entropy_problem(3))
            assert found.covariance == pytest.approx(matrix, rel=1e-12), ending

    @pytest.mark.parametrize(
        ("name", "content", "fragments"),
        [
            ("c.csv", "", ("it is empty",)),
            ("c.csv", "1,2\n3\n", ("a covariance is square",)),
            ("c.csv", "1,2\n", ("1 rows and 2 columns",)),
            ("c.csv", "a,b\n1,0\n0,1\n", ("unknown tests ['a', 'b']", "missing tests ['t0', 't1']")),
            ("c.csv", "t0,t0\n1,0\n0,1\n", ("appears twice",)),
            ("c.csv", ",t0,t1\nt0,1,0\nx,0,1\n", ("its rows are ['t0', 'x']",)),
            ("c.csv", "t0,t1\n1,zero\n0,1\n", ("cannot be read",)),
            ("c.csv", "1,0\n0.5,1\n", ("c.csv", "symmetric")),
            ("c.npy", "no array", ("cannot be read",)),
            ("c.mat", "no array", ("cannot be read",)),
            ("c.xls", "", ("it ends in '.xls'",)),
        ],
    )
    def test_bad_files(self, tmp_path: Path, name: str, content: str, fragments: tuple[str, ...]) -> None:
        (tmp_path / name).write_text(content)
        with pytest.raises(DistributionError) as caught:
            Gaussian.load(tmp_path / name, entropy_problem(2))
        for fragment in fragments:
            assert fragment in str(caught.value)

    def test_missing_files_and_wrong_sizes(self, tmp_path: Path) -> None:
        with pytest.raises(DistributionError, match="No such file"):
            covariance_files.read(tmp_path / "nowhere.npy", None)
        np.save(tmp_path / "c.npy", np.eye(3))
        with pytest.raises(DistributionError, match="it is of 3 tests, the problem of 2"):
            Gaussian.load(tmp_path / "c.npy", entropy_problem(2))
        np.savez(tmp_path / "c.npz", a=np.eye(3), b=np.eye(3))
        with pytest.raises(DistributionError, match="its square arrays are"):
            Gaussian.load(tmp_path / "c.npz", entropy_problem(3))
