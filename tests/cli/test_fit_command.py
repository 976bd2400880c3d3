"""``proband fit``: what it says, what it writes, and the sentence that each mistake gets."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from proband.cli.validating import facts
from proband.instances import bolts
from proband.planners.validation import Interval, Scores, Validation

TOML = """
schema = 1
name = "line"
unit = "EUR"
decisions = ["ship", "scrap"]
[[tests]]
name = "length"
cuts = "choose"
unit = "mm"
cost = 0.1
[[tests]]
name = "look"
outcomes = ["fine", "rough"]
cost = 0.05
[[tests]]
name = "batch"
outcomes = ["x", "y", "z"]
cost = 0.2
[[tests]]
name = "bad"
outcomes = ["no", "yes"]
available = false
[reward]
kind = "table"
targets = ["bad"]
[[reward.utilities]]
when = { bad = "no" }
value = { ship = 2.0, scrap = -1.0 }
[[reward.utilities]]
when = { bad = "yes" }
value = { ship = -8.0, scrap = -1.0 }
"""


def lines(n: int = 120) -> list[dict[str, object]]:
    rng, made = random.Random(3), []
    for _ in range(n):
        bad = rng.random() < 0.25
        length = round(rng.gauss(50 if not bad else 58, 4), 1)
        look = "rough" if rng.random() < (0.7 if bad else 0.2) else "fine"
        made.append({"length": length, "look": look, "batch": rng.choice("xyz"), "bad": "yes" if bad else "no"})
    return made


def write(rows: list[dict[str, object]]) -> None:
    Path("line.toml").write_text(TOML)
    with Path("past.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["length", "look", "batch", "bad"])
        writer.writeheader()
        writer.writerows(rows)


GIVEN = ("fit", "line.toml", "--data", "past.csv")
QUICK = (*GIVEN, "--folds", "0", "--strength", "0.3")


def test_everything_is_said_and_what_is_written_is_of_use(run) -> None:
    write(lines())
    told = run(*GIVEN, "--folds", "3", "--jobs", "2", "--out", "policy.json", "--problem-out", "cut.toml").out
    for part in ("cross-validated ", "testing everything ", "deciding at once ", "best fixed set ", "cost-blind tree ",
                 "on the rows it was made from: new ones bring less", " seen, bad = yes "):  # fmt: skip
        assert part.replace("bad = ", "") in told
    assert "Next test: " in run("next", "policy.json").out
    assert "decide" in run("next", "policy.json", "--known", "batch=y", "--known", "length=70").out
    assert "CASE" in run("rules", "policy.json", "--as", "sql").out
    assert (
        "in-sample, if the policy was made from these rows"
        in run("evaluate", "cut.toml", "policy.json", "--data", "past.csv").out
    )
    assert (
        "its decisions are the best for these very rows" in run("evaluate", "cut.toml", "now", "--data", "past.csv").out
    )
    assert run("study", "create", "cut.toml", "--store", "sqlite:///s.db").out
    assert "cuts = [" in Path("cut.toml").read_text()


def test_json_holds_leaves_strengths_and_validation(run) -> None:
    write(lines())
    content = run(*GIVEN, "--folds", "3", "--json").json
    assert content["value_is"] == "cross-validated"
    assert content["cross_validated"]["plan"]["value"]["mean"] < content["in_sample"]
    assert sum(leaf["count"] for leaf in content["leaves"]) == pytest.approx(120)
    assert {entry["strength"] for entry in content["strengths"]} >= {0.0, 0.3, None}
    assert content["cuts"]["length"]
    assert run(*QUICK, "--json").json["value_is"] == "in-sample"


def test_without_folds_the_value_is_marked(run) -> None:
    write(lines())
    assert "The value is in-sample; new subjects may bring far less: see what with --folds 5." in run(*QUICK).out


def test_limits(run) -> None:
    write(lines())
    assert run(*QUICK, "--max-tests", "0").out.count("seen") == 1
    assert all(leaf["count"] >= 20 for leaf in run(*QUICK, "--min-leaf", "20", "--json").json["leaves"])


def test_a_plan_needs_the_cuts(run) -> None:
    write(lines())
    told = run("plan", "line.toml", "--data", "past.csv")
    assert told.status == 2
    assert "the cuts of length are still to be chosen, and this needs them; choose them from past subjects" in told.err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda row, n: {"look": ""}, "look was never run: the column is empty, and nothing is known of what it shows"),
        (lambda row, n: {"look": "fine"}, "look is fine in every row that has it: a constant column tells nothing"),
        (
            lambda row, n: {"batch": "x" if row["batch"] == "z" else row["batch"]},
            "batch never showed z: what happens then",
        ),
        (
            lambda row, n: {"bad": "no"},
            "bad is no in every row that has it: nothing tells who is yes, and values take it that nobody is",
        ),
        (lambda row, n: {"bad": "" if n < 30 else row["bad"]}, "30 of 120 rows have no bad: they tell what tests show"),
        (
            lambda row, n: {"bad": "yes" if n < 4 else "no"},
            "bad is yes in 4 of 120 rows only: hardly anything is known",
        ),
        (
            lambda row, n: dict.fromkeys(row, "") if n > 117 else {},
            "2 rows have no entry at all, and each counts as a subject of whom nothing is known; if these are empty",
        ),
        (lambda row, n: {"look": "" if n < 7 else row["look"]}, "7 of 120 rows lack an entry: they are completed as"),
    ],
)
def test_what_is_odd_about_a_table_is_said(run, change, sentence: str) -> None:
    write([row | change(row, n) for n, row in enumerate(lines())])
    assert sentence in run(*QUICK).out


@pytest.mark.parametrize(
    ("mean", "words"),
    [(0.5, "the plan is ahead by 0.5 USD (−1 to 2)"), (-0.5, "the plan is behind by 0.5 USD (−2 to 1)")],
)
def test_who_is_ahead_is_said_without_a_sign(mean: float, words: str) -> None:
    ahead = Interval(mean, 0.9, -1.0, 2.0)
    rival = Scores(Interval(1.0, 0.1, 0.8, 1.2), 0.0, 0.0, ahead)
    found = Validation(5, 100, 0, rival, {"now": rival})
    assert dict(facts(bolts().problem, found))["deciding at once"].endswith(words)


def test_what_cannot_work_together_is_refused(run) -> None:
    told = run(*GIVEN, "--jobs", "2", "--cluster", "tcp://127.0.0.1:9")
    assert told.status == 2
    assert "give --jobs or --cluster, not both" in told.err


def test_a_limit_that_no_test_can_keep_is_said(run) -> None:
    write(lines())
    assert (
        "note            min_leaf is 61, and there are 120 rows: no test leaves so many"
        in run(*QUICK, "--min-leaf", "61").out
    )
    assert "min_leaf" not in run(*QUICK, "--min-leaf", "60").out


def test_a_strength_without_limit_is_no_number(run) -> None:
    write(lines())
    assert "strength        without limit (no test is run)" in run(*GIVEN, "--folds", "0", "--strength", "inf").out


def test_outcomes_that_were_never_shown_are_not_all_named(run) -> None:
    write([row | {"batch": 1 + n % 3} for n, row in enumerate(lines())])
    names = ", ".join(f'"{n}"' for n in range(1, 80))
    Path("line.toml").write_text(TOML.replace('["x", "y", "z"]', f"[{names}]"))
    told = run(*QUICK)
    assert (told.status, told.out) == (2, "")
    assert "test 'batch' has 79 outcomes; a fit tells up to 64 of a test apart; put outcomes together" in told.err
    Path("line.toml").write_text(Path("line.toml").read_text().replace('"choose"', "[52, 58]"))
    assert "batch never showed 4, 5, 6, 7, 8 and 71 more: what happens" in run("plan", *GIVEN[1:]).out


@pytest.mark.parametrize(("n", "remedy"), [(1, "of 1 rows nobody can tell; get more"), (5, "see what with --folds 5")])
def test_the_remedy_of_an_in_sample_value_can_be_followed(run, n: int, remedy: str) -> None:
    write(lines(n))
    Path("line.toml").write_text(TOML.replace('"choose"', "[52, 58]"))
    rows = "1 row" if n == 1 else f"{n} rows"
    assert f"past.csv: {rows}" in run(*QUICK).out
    for command in (QUICK, ("plan", *GIVEN[1:])):
        assert f"The value is in-sample; new subjects may bring far less: {remedy}." in run(*command).out


def test_leaves_of_literal_plans_say_what_they_rest_on(run) -> None:
    write([row | {"look": "" if n == 0 else row["look"]} for n, row in enumerate(lines())])
    Path("line.toml").write_text(TOML.replace('"choose"', "[52, 58]"))
    plan = ("plan", *GIVEN[1:], "--complete-only", "--out", "raw.json")
    assert " seen, yes " in run(*plan).out
    root = json.loads(Path("raw.json").read_text(encoding="utf-8"))["root"]

    def leaves(node) -> list[dict]:
        below = node.get("children")
        return [node] if below is None else [leaf for child in below.values() for leaf in leaves(child)]

    assert sum(leaf["evidence"]["count"] for leaf in leaves(root)) == 119
    assert " seen, " not in run("plan", "bolts", "--depth", "2", "--tree", "text").out


def test_fewer_rows_than_outcomes_are_said(run) -> None:
    write(lines(7))
    assert "there are 7 rows and 9 outcomes in all: far too few" in run(*QUICK).out


def test_no_label_at_all_is_refused(run) -> None:
    write([row | {"bad": ""} for row in lines()])
    told = run(*QUICK)
    assert told.status == 2
    assert "no row has a label (bad)" in told.err


class TestLiterally:
    """``proband plan --data`` says the same of a table."""

    PLAN = ("plan", "line.toml", "--data", "past.csv")
    FROM_ALL = (*PLAN, "--estimate", "empirical-bayes")

    @staticmethod
    def write(rows: list[dict[str, object]]) -> None:
        write(rows)
        Path("line.toml").write_text(TOML.replace('"choose"', "[52, 58]"))

    @pytest.mark.parametrize(
        ("change", "n", "sentence"),
        [
            ({"look": ""}, 120, "look was never run: the column is empty, and nothing is known of what it shows"),
            ({"look": "fine"}, 120, "look is fine in every row that has it: a constant column tells nothing"),
            ({}, 7, "there are 7 rows and 10 outcomes in all: far too few to tell what goes with what"),
        ],
    )
    def test_what_is_odd_about_a_table_is_said(self, run, change, n: int, sentence: str) -> None:
        self.write([row | change for row in lines(n)])
        assert f"note            {sentence}" in run(*self.FROM_ALL).out
        assert run(*self.FROM_ALL, "--json").json["notes"][0].startswith(sentence)

    def test_a_test_that_was_never_run_is_named_where_it_makes_every_row_incomplete(self, run) -> None:
        self.write([row | {"look": ""} for row in lines()])
        told = run(*self.PLAN)
        assert told.status == 2
        assert (
            "120 of 120 records are incomplete; an empirical law counts complete rows only; learn from all" in told.err
        )
        assert "with --estimate empirical-bayes or proband fit" in told.err
        named = "No row has look: move it to the problem's list ignore"
        assert named in told.err
        assert named in run(*self.PLAN, "--complete-only").err

    def test_no_label_at_all_is_refused(self, run) -> None:
        self.write([row | {"bad": ""} for row in lines()])
        told = run(*self.FROM_ALL)
        assert told.status == 2
        assert "past.csv: no row has a label (bad), so that nothing tells what is to be decided" in told.err

    def test_measured_columns_that_never_vary_are_said(self, run) -> None:
        assert run("example", "bolts-measured", "--records", "20").status == 0
        with Path("bolts-measured-records.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        table = [header, *([row[0], "1.5", *row[2:]] for row in rows)]
        Path("same.csv").write_text("\n".join(map(",".join, table)) + "\n")
        notes = run("plan", "bolts-measured.toml", "--data", "same.csv", "--json").json["notes"]
        assert notes == [f"{header[1]} is 1.5 in every row that has it: a constant column tells nothing"]


def test_too_few_rows_for_the_folds_are_refused(run) -> None:
    write(lines(4))
    assert "folds is 5; there must be three or more, and at most as many as rows (4)" in run(*GIVEN).err
