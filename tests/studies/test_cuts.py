"""A study of numbers that are cut: what is told as a number stands in the log as an outcome, whoever tells it how."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli import castings
from tests.studies.crowd import Clock

from proband import Problem
from proband.errors import StateError, UnknownNameError
from proband.studies import Study
from proband.studies.exchange.spreadsheets import COLUMNS
from proband.studies.stores import MemoryStore


def problem() -> Problem:
    return Problem.from_dict(tomllib.loads(castings.PROBLEM))


def make() -> Study:
    return Study.create(problem(), agent="greedy", store=MemoryStore(), clock=Clock(), replan="now", seed=3)


def treat(study: Study, told: list[dict[str, Any]]) -> None:
    """Let subjects arrive, follow the advice, decide, reveal."""
    for n, known in enumerate(told):
        subject = study.arrive({"furnace [°C]": known["furnace [°C]"]}, subject=f"s{n}")
        while (advice := study.ask(subject)).kind == "test":
            study.tell(subject, advice.action, known[advice.action])
        study.decide(subject)
        study.reveal(subject, {"quality": known["quality"]})


def test_numbers_and_names_make_the_same_study(tmp_path: Path) -> None:
    header, rows = castings.HEADER[2:], [row[2:] for row in castings.rows(60)]
    numbers = [dict(zip(header, row, strict=True)) for row in rows]
    spelled = [
        {k: x if isinstance(x, str) else f"{x:.4f}".replace(".", ",") for k, x in known.items()} for known in numbers
    ]
    arrays = [{name: np.float64(x) if isinstance(x, float) else x for name, x in known.items()} for known in numbers]
    names = [problem().describe(problem().state(known)) for known in numbers]
    studies = [make() for _ in range(4)]
    for study, told in zip(studies, (names, numbers, spelled, arrays), strict=True):
        study.learn_from({name: [row[i] for row in castings.rows(80)] for i, name in enumerate(castings.HEADER)})
        treat(study, told)
        assert study.replay().differences == ()
    logs = [[(event.kind, event.data) for event in study.events()] for study in studies]
    assert logs[0] == logs[1] == logs[2] == logs[3]
    assert sum(kind == "observed" for kind, _ in logs[0]) > 40
    studies[1].write_table(tmp_path / "subjects.csv")
    reader = Problem(problem().tests, problem().decisions, problem().reward, ignore=COLUMNS)
    outcomes = reader.records(tmp_path / "subjects.csv").outcomes
    assert np.array_equal(outcomes, studies[1]._journal.ledger.columns.rows[:60], equal_nan=True)


def test_what_is_no_number_is_told_and_nothing_is_recorded() -> None:
    study = make()
    subject = study.arrive({"furnace [°C]": 1400})
    before = study.verify()
    for wrong, error in (
        ("soft", UnknownNameError),
        (float("nan"), StateError),
        (True, StateError),
        ("<70", UnknownNameError),
    ):
        with pytest.raises(error):
            study.tell(subject, "hardness [HRC]", wrong)
    assert study.verify() == before
    assert study.tell(subject, "hardness [HRC]", "<55").known["hardness [HRC]"] == "< 60 HRC"
    assert study.correct(subject, "hardness [HRC]", 75, reason="misread").known["hardness [HRC]"] == ">= 75 HRC"


def test_other_cuts_are_another_problem() -> None:
    tests = list(problem().tests)
    tests[1] = replace(tests[1], cuts=[61, 75], outcomes=["soft", "good", "hard"])
    other = Problem(tests, problem().decisions, problem().reward)
    assert other != problem()
    assert Problem.from_dict(other.to_dict()) == other
