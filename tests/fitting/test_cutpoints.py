"""Where numbers are cut, and that it is chosen from training rows alone."""

from __future__ import annotations

import numpy as np
import pytest

import proband
from proband import Problem, Records, Test
from proband.errors import PlanError, ProblemError, ProblemFileError
from proband.fitting.cutpoints import coded, cuts_of, roundest, with_cuts
from proband.rewards import Table


def problem() -> Problem:
    tests = [Test("x", 0.1, choose_cuts=True, unit="mm"), Test("z", 0.1), Test("bad", available=False)]
    return Problem(tests, ["ship", "scrap"], Table(["bad"], [[1.0, -1.0], [-10.0, -1.0]]))


def rows(n: int = 400, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(50, 10, n)
    bad = (rng.random(n) < np.where(x < 42.3, 0.9, np.where(x > 61, 0.6, 0.02))).astype(float)
    return np.column_stack([x, rng.integers(2, size=n), bad])


def test_cuts_lie_where_the_label_changes() -> None:
    found = with_cuts(problem(), rows(2000)).tests[0]
    assert found.cuts is not None
    assert [min(abs(cut - edge) for cut in found.cuts) < 1.6 for edge in (42.3, 61)] == [True, True]
    assert found.names[0].endswith(" mm")


def test_what_tells_nothing_alone_is_cut_at_quantiles() -> None:
    rng = np.random.default_rng(1)
    cuts = cuts_of(rng.random(3000), rng.integers(2, size=3000), np.ones(3000))
    assert np.abs(np.array(cuts) - [1 / 3, 2 / 3]).max() < 0.05


def test_two_numbers_have_one_cut_between_them_and_gaps_stay_gaps() -> None:
    numbers = np.array([1.0, 1.0, 2.0, np.nan, 2.0])
    assert cuts_of(numbers, np.array([0, 0, 1, 1, -1]), np.ones(5)) == (2.0,)
    before = problem()
    given = np.array([[40.0, 0.0, 0.0], [60.0, 1.0, 1.0], [np.nan, 1.0, 1.0]] * 5)
    assert np.isnan(coded(before, with_cuts(before, given), given)[2, 0])


def test_round_numbers_part_what_they_are_to_part() -> None:
    rng = np.random.default_rng(2)
    for low, high in np.sort(rng.normal(0, 10.0 ** rng.integers(-8, 8, size=(500, 1)), size=(500, 2)), axis=1):
        assert low < roundest(low, high) <= high


def test_a_column_of_one_number_has_no_cuts() -> None:
    given = rows()
    given[:, 0] = 7.0
    with pytest.raises(PlanError, match="test 'x': its cuts are to be chosen, and it has the number 7 in every row"):
        proband.fit(problem(), Records(given))
    given[:, 0] = np.nan
    with pytest.raises(PlanError, match="test 'x': its cuts are to be chosen, and it has no number; two different"):
        proband.fit(problem(), Records(given))


def test_a_test_that_hardly_anybody_had_may_be_missing_in_a_fold() -> None:
    given = rows(30)
    given[2:, 0] = np.nan
    assert with_cuts(problem(), given[2:]).tests[0].cuts == (0.0,)
    assert with_cuts(problem(), given[1:]).tests[0].cuts == (given[1, 0],)
    found = proband.fit(problem(), Records(given), folds=3, strength=0.3)
    assert found.validation is not None
    assert found.taught(np.arange(2, 30))[0].problem.tests[0].cuts == (0.0,)


def test_a_target_is_not_cut_by_choice() -> None:
    task = Problem([Test("x", 1.0), Test("y", choose_cuts=True)], ["a", "b"], Table(["x"], [[1, 0], [0, 1]]))
    assert task.tests[1].choose_cuts
    with pytest.raises(ProblemError, match="where its numbers are cut is still to be chosen"):
        Problem([Test("y", choose_cuts=True)], ["a", "b"], Table(["y"], [[1, 0], [0, 1]]))


def test_folds_choose_cuts_from_their_own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from proband.fitting import recipe

    seen = []
    whole = with_cuts
    monkeypatch.setattr(recipe, "with_cuts", lambda task, given: seen.append(len(given)) or whole(task, given))
    found = proband.fit(problem(), Records(rows(90)), folds=3, strength=0.3)
    assert sorted(seen) == [30, 30, 30, 60, 60, 60, 90]
    assert found.problem.tests[0].cuts
    assert found.records.outcomes[:, 0].max() == len(found.problem.tests[0].cuts)


def test_again_with_other_prices_keeps_the_cuts() -> None:
    found = proband.fit(problem(), Records(rows(200)), validate=False)
    assert found.again(found.problem).problem.tests == found.problem.tests
    assert found.again(records=found.records).in_sample == pytest.approx(found.in_sample)
    assert found.again().problem.tests == found.problem.tests


def test_files_hold_the_wish_and_tables_its_numbers(tmp_path) -> None:
    path = tmp_path / "problem.toml"
    problem().save(path)
    assert 'cuts = "choose"' in path.read_text()
    assert Problem.load(path) == problem()
    assert Problem.load(path).records({"x": ["59,5", 3], "z": ["0", "1"], "bad": ["0", ""]}).outcomes[0, 0] == 59.5
    path.write_text(path.read_text().replace('"choose"', '"chose"'))
    with pytest.raises(
        ProblemFileError, match=r"tests\[0\].cuts: they are 'chose'; they must be a list of numbers, or"
    ):
        Problem.load(path)


def test_nothing_else_is_done_with_open_cuts() -> None:
    with pytest.raises(ProblemError, match=r"fit the problem to past subjects \(proband fit, proband.fit\)"):
        problem().state({"x": 3.0}), proband.plan(problem(), proband.Discrete([[0, 0, 0]], [1.0]))
    with pytest.raises(ProblemError, match="neither cuts nor outcomes are given; drop them"):
        Test("x", choose_cuts=True, cuts=[1.0])
