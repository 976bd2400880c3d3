"""What ``proband plan --data`` says of its value: in-sample, and with ``--folds`` cross-validated beside it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.cli import castings

from proband import Discrete, Problem, plan
from proband.planners.validation import cross_validate

TABLE = ("castings.toml", "--data", "castings-records.csv")


@pytest.fixture
def table(run) -> Problem:
    castings.write()
    return Problem.load("castings.toml")


def test_a_value_from_a_table_is_marked(run, table: Problem) -> None:
    result = run("plan", *TABLE, "--depth", "1")
    assert "a subject (rewards minus costs), in-sample\n" in result.out
    cut = next(line for line in result.out.splitlines() if line.startswith("cut tree"))
    assert cut.endswith("a subject, in-sample")
    assert "The value is in-sample; new subjects may bring far less: see what with --folds 5." in result.out
    content = run("plan", *TABLE, "--json").json
    assert content["value_is"] == "in-sample"
    assert "cross_validated" not in content


def test_a_value_under_a_law_is_not(run) -> None:
    result = run("plan", "bolts")
    assert "in-sample" not in result.out
    assert run("plan", "bolts", "--json").json["value_is"] == "under the law"


def test_measured_plans_are_marked_too(run) -> None:
    run("example", "bolts-measured", "--records", "60")
    given = ("bolts-measured.toml", "--data", "bolts-measured-records.csv")
    assert "in-sample" in run("plan", *given).out
    content = run("plan", *given, "--folds", "3", "--json").json
    assert content["value_is"] == "in-sample"
    assert content["cross_validated"]["scored"] == 60
    assert content["cross_validated"]["others"]["everything"]["tests"] == 6


def test_folds_tell_the_librarys_numbers(run, table: Problem) -> None:
    found = cross_validate(
        table, table.records("castings-records.csv"), Discrete.from_records, lambda law: plan(table, law), folds=4
    )
    told = run("plan", *TABLE, "--folds", "4", "--json").json["cross_validated"]
    assert (told["level"], told["folds"], told["scored"], told["left_out"]) == (0.9, 4, 300, 0)
    assert told["plan"]["value"]["mean"] == pytest.approx(found.plan.value.mean)
    assert told["plan"]["value"]["low"] == pytest.approx(found.plan.value.low)
    assert told["plan"]["ahead"] is None
    assert found.others["now"].ahead is not None
    assert told["others"]["now"]["ahead"]["high"] == pytest.approx(found.others["now"].ahead.high)
    shown = run("plan", *TABLE, "--folds", "4").out
    value = found.plan.value
    assert (
        f"{value.mean:.4g} EUR a subject, 90 % interval {value.low:.3g} to {value.high:.3g}".replace("-", "−") in shown
    )
    assert "(4 folds, 300 rows)" in shown
    assert "testing everything  " in shown
    assert "deciding at once    " in shown
    assert "best fixed set      " in shown
    assert "cost-blind tree     " in shown
    assert "--folds" not in shown


def test_everything_that_was_chosen_is_chosen_again(run, table: Problem) -> None:
    """A cut tree is validated as it is cut, limits and penalties as they are given."""

    def mean(*options: str) -> float:
        return run("plan", *TABLE, "--folds", "3", *options, "--json").json["cross_validated"]["plan"]["value"]["mean"]

    records = table.records("castings-records.csv")

    def wanted(make) -> float:
        return cross_validate(table, records, Discrete.from_records, make, folds=3).plan.value.mean

    assert mean("--depth", "1") == pytest.approx(wanted(lambda law: plan(table, law).tree(depth=1)))
    assert mean("--max-tests", "1") == pytest.approx(wanted(lambda law: plan(table, law, max_tests=1)))
    limited = run("plan", *TABLE, "--folds", "3", "--max-tests", "1", "--json").json["cross_validated"]["others"]
    assert max(limited[name]["tests"] for name in ("best fixed set", "cost-blind tree")) <= 1
    assert mean("--node-penalty", "0.05") == pytest.approx(wanted(lambda law: plan(table, law, node_penalty=0.05)))


def test_incomplete_rows_are_counted(run, table: Problem) -> None:
    lines = Path("castings-records.csv").read_text(encoding="latin-1").splitlines()
    gaps = [line.rsplit(";", 2)[0] + ";-;" + line.rsplit(";", 1)[1] for line in lines[1:8]]
    Path("gaps.csv").write_text("\n".join([lines[0], *gaps, *lines[8:]]), encoding="latin-1")
    given = ("castings.toml", "--data", "gaps.csv", "--folds", "3")
    assert "7 of 300 records are incomplete" in run("plan", *given).err
    for how in (("--complete-only",), ("--estimate", "empirical-bayes")):
        told = run("plan", *given, *how, "--json").json["cross_validated"]
        assert (told["scored"], told["left_out"]) == (293, 7)
        assert "(3 folds, 293 rows, 7 incomplete ones cannot be treated)" in run("plan", *given, *how).out


def test_standard_input_is_read_once(run, table: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.BytesIO(Path("castings-records.csv").read_bytes())
    given.name = "<stdin>"  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    assert (
        run("plan", "castings.toml", "--data", "-", "--folds", "3", "--json").json["cross_validated"]["scored"] == 300
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bolts", "--folds", "5"), "--folds is about the rows of --data; give --data too"),
        ((*TABLE, "--folds", "301"), "folds is 301, and 300 rows are complete"),
        ((*TABLE, "--folds", "2"), "greater than or equal to 3"),
        ((*TABLE, "--folds", "5", "--tree", "dot"), "--tree dot prints the tree alone"),
    ],
)
def test_a_mistake_is_answered(run, table: Problem, arguments: tuple[str, ...], message: str) -> None:
    result = run("plan", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in " ".join(result.err.replace("│", " ").split())


def test_the_entropy_of_a_set_has_no_folds(run) -> None:
    run("example", "network", "--records", "60")
    given = ("network.toml", "--data", "network-records.csv")
    assert "--folds" not in run("plan", *given).out
    assert "the entropy of a set is no sum over subjects" in run("plan", *given, "--folds", "3").err
