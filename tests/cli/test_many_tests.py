"""A live study with 30 tests and the default agent, from the command line."""

from __future__ import annotations

import pytest
from tests.cli.thirty import line, subjects

from proband.studies import Study
from proband.tables import write_table
from proband.vocabulary import Records


@pytest.mark.parametrize("late", [False, True], ids=["bought", "late"])
def test_a_study_with_thirty_tests(run, late: bool) -> None:
    problem = line(late=late)
    problem.save("line.toml")
    write_table("past.csv", problem.tests, subjects(problem, 120, seed=1))
    assert run("study", "create", "line.toml", "--name", "s", "--json").status == 0
    assert run("study", "import", "s", "past.csv", "--json").status == 0
    subject = problem.describe(subjects(problem, 1, seed=2)[0])
    run("study", "arrive", "s", "--subject", "a", "--known", f"shift={subject['shift']}", "--json")
    asked = []
    while (advice := run("study", "ask", "s", "a", "--json").json)["kind"] == "test":
        asked.append(advice["action"])
        assert run("study", "tell", "s", "a", f"{advice['action']}={subject[advice['action']]}", "--json").status == 0
    assert 0 < len(asked) < problem.d
    assert run("study", "decide", "s", "a", "--json").status == 0
    if late:
        assert run("study", "reveal", "s", "a", f"burn-in={subject['burn-in']}", "--json").status == 0
    assert run("study", "verify", "s", "--replay", "--json").status == 0
    assert "worth" in run("study", "show", "s", "--json").json["statement"]


def test_subjects_across_the_ends_of_blocks(tmp_path) -> None:
    """Whole subjects by advice, beyond the first 100: plans are made in the background, advice never waits for them."""
    problem = line()
    with Study.create(problem, name="s", store=f"sqlite:///{tmp_path / 's.db'}") as study:
        study.learn_from(Records(subjects(problem, 95, seed=1)))
        for row in subjects(problem, 50, seed=3):
            outcomes = problem.describe(row)
            subject = study.arrive(known={"shift": outcomes["shift"]})
            while (advice := study.ask(subject)).kind == "test":
                study.tell(subject, {advice.action: outcomes[advice.action]})
            study.decide(subject)
        assert study.summary().finished == 50
        assert study.replay().differences == ()
