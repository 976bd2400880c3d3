from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from proband import evaluate
from proband.agents import DEFAULT_AGENT, SafeLeafCompletion
from proband.demo import ManyDemonstration, learn_many, report_many, show_many
from proband.demo.many import figure_table, frequency_table, honesty, learning_table, tree_lines

SUBJECTS = 400


@pytest.fixture(scope="module")
def found() -> ManyDemonstration:
    return learn_many(seed=1, subjects=SUBJECTS)


def test_the_default_agent_learns_a_line_with_thirty_tests(found: ManyDemonstration) -> None:
    problem, law = found.instance.problem, found.instance.distribution
    assert problem.d == 30
    own = found.figures["what it has learned"]
    assert own == evaluate(problem, law, found.plan)
    assert own.value > found.figures["test everything"].value
    assert own.value <= found.figures["best plan, grown on the true law"].value + 0.01
    assert own.tests < 30
    assert found.run.t.tolist() == [80, 160, 240, 320, 400]
    assert found.run.tests[-1] / SUBJECTS < 30  # the first ones are tested completely, the others are not
    assert found.run.tests[0] > found.run.tests[-1] - found.run.tests[-2]


def test_it_is_told_how_far_it_is_and_any_agent_will_do() -> None:
    told: list[int] = []
    found = learn_many(
        subjects=100, tell=told.append, build=lambda setting: SafeLeafCompletion(setting.problem, first=30)
    )
    assert told[0] == 30
    assert told[-1] == 100
    assert found.subjects == 100


def test_the_report_says_what_is_tested_and_what_that_brings(found: ManyDemonstration) -> None:
    text = report_many(found)
    assert text.startswith("# Circuit boards")
    for cells in (learning_table(found), figure_table(found), frequency_table(found)):
        assert all(len(row) == len(cells.headings) for row in cells.rows)
        for row in cells.rows:
            assert f"| {' | '.join(row)} |" in text
    assert all(line in text for line in tree_lines(found))
    shares = [share for _, share in found.shares()]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[0] <= 1 + 1e-9
    if found.estimate is not None:
        assert found.estimate.low <= found.estimate.value <= found.estimate.high
        assert "90 %" in honesty(found)


def test_it_is_told_on_the_screen_and_written_and_the_same_seed_gives_the_same(
    found: ManyDemonstration, tmp_path: Path
) -> None:
    screen = io.StringIO()
    show_many(tmp_path / "new", seed=1, subjects=SUBJECTS, console=Console(file=screen, width=120))
    text = screen.getvalue()
    assert DEFAULT_AGENT in text
    assert f"{SUBJECTS}/{SUBJECTS}" in text
    assert "decide at once" in text
    assert (tmp_path / "new" / "many.md").read_text(encoding="utf-8").strip() == report_many(found).strip()
