from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proband import evaluate, plan
from proband.errors import DistributionError, MissingExtraError, TableError, UnknownNameError
from proband.instances import MANY_TESTS, circuit_boards, labelled_instance, many_tests, table_law
from proband.instances.boards import _shares
from proband.instances.labelled import cut, read_labelled
from proband.policies import DecideNow, test_everything
from proband.testing import check_distribution

SIZE = 500
TESTS = {"breast": 30, "digits": 52, "wine": 13, "latent-20": 20, "latent-40": 40, "latent-100": 100}


@pytest.mark.parametrize("name", MANY_TESTS)
def test_a_law_with_many_tests_fits_together(name: str, rng: np.random.Generator) -> None:
    instance = many_tests(name, size=SIZE)
    problem, law = instance.problem, instance.distribution
    assert instance.name == problem.name == name
    assert problem.d == TESTS[name] + 1
    assert [test.cost for test in problem.tests] == [0.02] * TESTS[name] + [0.25]
    assert problem.decisions == problem.tests[-1].names
    assert len(law) <= SIZE
    np.testing.assert_allclose(law.probabilities * SIZE, np.round(law.probabilities * SIZE), atol=1e-9)
    assert (problem.payoff(law.support).argmax(axis=1) == law.support[:, -1]).all()
    check_distribution(law, rng)


@pytest.mark.parametrize("name", ["wine", "latent-20"])
def test_it_is_the_same_for_the_same_name_and_seed(name: str) -> None:
    one, again, other = (many_tests(name, size=SIZE, seed=seed).distribution for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.support, again.support)
    np.testing.assert_array_equal(one.probabilities, again.probabilities)
    assert not np.array_equal(one.support, other.support)


@pytest.mark.parametrize("name", ["wine", "latent-20"])
def test_the_label_may_be_told_late_instead_of_being_bought(name: str) -> None:
    bought, late = (many_tests(name, size=SIZE, reveal=reveal) for reveal in (None, 50))
    assert (bought.reveal, late.reveal) == (None, 50)
    assert bought.problem.all_available
    assert [test.name for test in late.problem.tests if not test.available] == ["label"]
    np.testing.assert_array_equal(bought.distribution.support, late.distribution.support)


def test_a_law_without_misreading_is_the_table(rng: np.random.Generator) -> None:
    rows, labels = rng.integers(3, size=(40, 6)), rng.integers(2, size=40)
    law = table_law(rows, labels, misread=0.0, size=SIZE)
    known = {(*row, label) for row, label in zip(rows.tolist(), labels.tolist(), strict=True)}
    assert {tuple(row) for row in law.support.astype(int).tolist()} <= known


def test_tests_are_misread_as_often_as_said_and_labels_never() -> None:
    size, misread = 20_000, 0.03
    law = table_law([[0, 0]], [1], misread=misread, size=size)
    assert law.marginal(2).tolist() == [0.0, 1.0]  # and tests that can show one outcome only are never misread
    assert len(law) == 1
    law = table_law([[0, 2, 1], [1, 2, 0]] * 10 + [[0, 0, 1]], [0, 1] * 10 + [2], misread=misread, size=size)
    known = law.condition([np.nan, np.nan, np.nan, 1])
    error = 4 * np.sqrt(misread / (size / 2.1))
    assert known.marginal(0)[0] == pytest.approx(misread, abs=error)
    assert known.marginal(1)[:2] == pytest.approx([misread / 2] * 2, abs=error)  # either other outcome alike


def test_latent_classes_are_worth_testing() -> None:
    instance = many_tests("latent-20", size=20_000)
    problem, law = instance.problem, instance.distribution
    at_once = evaluate(problem, law, DecideNow(problem, distribution=law))
    everything = evaluate(problem, law, test_everything(problem))
    assert 0.5 < at_once.value < 1
    assert everything.value == pytest.approx(1 - 20 * 0.02 - 0.25)


def test_unknown_names_and_tables_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("oats", "latent-", "latent-0", "latent-x"):
        with pytest.raises(UnknownNameError, match="latent-100"):
            many_tests(name)
    found = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "sklearn":
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"proband\[tables\]"):
        many_tests("wine", size=10)
    assert many_tests("latent-5", size=10).problem.d == 6


def test_a_column_of_numbers_is_cut_at_its_median() -> None:
    assert cut("x", np.array([1.0, 2.0, 3.0, 10.0])).numbers.tolist() == [0, 0, 1, 1]
    most = cut("x", np.array([5.0, 5.0, 5.0, 1.0, 2.0]))
    assert (most.numbers.tolist(), most.outcomes) == ([1, 1, 1, 0, 0], ("at most 2", "above 2"))
    close = cut("x", np.array([1000001.0, 1000002.0]))
    assert close.outcomes == ("1000001", "1000002")
    gaps = cut("x", np.array([np.nan, 1.0, 2.0, 3.0]))
    assert (gaps.numbers.tolist(), gaps.outcomes[2]) == ([2, 0, 0, 1], "missing")


TABLE = """age,thal,same,ca,diagnosis
51,normal,1,0,False
45,rd,1,NA,True
53,rd,1,2,True
60,,1,1,False
"""


def test_a_table_of_ones_own_becomes_an_instance(tmp_path: Path) -> None:
    path = tmp_path / "heart.csv"
    path.write_text(TABLE)
    instance = labelled_instance(path, size=SIZE)
    assert [(test.name, test.names) for test in instance.problem.tests] == [
        ("age", ("at most 52", "above 52")),
        ("thal", ("missing", "normal", "rd")),
        ("ca", ("at most 1", "above 1", "missing")),
        ("diagnosis", ("False", "True")),
    ]
    assert instance.problem.decisions == ("False", "True")
    assert instance.distribution.d == 4


def test_the_label_may_be_any_column_and_separators_are_found(tmp_path: Path) -> None:
    path = tmp_path / "heart.csv"
    path.write_text(TABLE.replace(",", ";"))
    tests, label = read_labelled(path, label="age")
    assert label.outcomes == ("45", "51", "53", "60")
    assert [column.name for column in tests] == ["thal", "ca", "diagnosis"]


def test_a_label_of_many_numbers_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,price\n" + "".join(f"{n % 2},{n}\n" for n in range(100)))
    assert read_labelled(path)[1].outcomes == ("at most 49.5", "above 49.5")


@pytest.mark.parametrize(
    ("text", "label", "message"),
    [
        (TABLE, "thal", "the label 'thal' of subject 4 is missing"),
        (TABLE, "ca", "the label 'ca' of subject 2 is missing"),
        (TABLE, "same", "throughout"),
        (TABLE, "height", "no column 'height'"),
        ("a,a,b\n1,2,3\n", None, "a name of its own"),
        (",a,b\n1,2,3\n4,5,6\n", None, "a name of its own"),
        ("a\n1\n2\n", None, "two or more"),
        ("a,b\n1,0\n1,1\n", None, "no column beside the label varies"),
        ("a,b\n" + "".join(f"x{n},{n % 2}\n" for n in range(40)), None, "40 different entries"),
        ("a,b\n1\n", None, "1 entry; the header has 2"),
        ("", None, "empty"),
    ],
)
def test_tables_that_cannot_be_read_say_why(tmp_path: Path, text: str, label: str | None, message: str) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=message) as caught:
        labelled_instance(path, label=label, size=10)
    assert str(caught.value).startswith(str(path))


def test_rows_and_labels_must_fit() -> None:
    with pytest.raises(DistributionError, match="a label for each row"):
        table_law([[0, 1]], [0, 1])
    with pytest.raises(DistributionError, match="misread is 2"):
        table_law([[0, 1]], [0], misread=2)


def test_circuit_boards_are_worth_testing_but_not_for_every_test(rng: np.random.Generator) -> None:
    instance = circuit_boards(size=20_000)
    problem, law = instance.problem, instance.distribution
    assert problem.d == 30
    at_once = evaluate(problem, law, DecideNow(problem, distribution=law)).value
    everything = evaluate(problem, law, test_everything(problem)).value
    assert everything < at_once
    assert plan(problem, law, method="myopic").value > at_once + 0.1
    check_distribution(circuit_boards(size=300).distribution, rng)
    np.testing.assert_array_equal(law.support, circuit_boards(size=20_000).distribution.support)


def test_faults_of_boards_show_where_they_should() -> None:
    instance = circuit_boards(size=40_000)
    tests = [test.name for test in instance.problem.tests]
    off = np.full(30, np.nan)
    off[tests.index("rail ripple")] = 1
    failing = instance.distribution.condition(off).marginal(29)[1]
    assert failing > 1.5 * instance.distribution.marginal(29)[1]
    assert _shares(worn=True).sum() == pytest.approx(1)
    assert (_shares(worn=True)[1:] >= _shares(worn=False)[1:]).all()
