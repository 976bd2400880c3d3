from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from proband.experiments import EXPERIMENTS, read_table, run
from proband.experiments.phases import phases, slopes_by_phase
from proband.experiments.report import report
from proband.experiments.tidy import TidyTable

T = np.array([1, 2, 3, 4, 8])


def table(*regrets: list[float], horizon: int = 8) -> TidyTable:
    """Runs of one agent with these cumulative regrets after 1, 2, 3, 4 and 8 subjects."""
    n = len(regrets)
    return TidyTable(
        {
            "horizon": np.full(5 * n, horizon),
            "agent": np.full(5 * n, "a"),
            "replication": np.repeat(np.arange(n), 5),
            "t": np.tile(T, n),
            "pseudo_regret": np.concatenate(regrets),
        }
    )


def test_regret_is_split_where_the_agent_commits() -> None:
    [phase] = phases(table([1, 2, 3, 3, 3], [1, 2, 3, 4, 12]), lambda point: 3)
    assert (phase.length, phase.before.tolist(), phase.after.tolist()) == (3, [3, 3], [0, 9])
    assert phase.share == pytest.approx(9 / 15)
    assert phase.after_error == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("regret", "stuck"),
    [
        ([1, 2, 3, 4, 8], 1),  # one a subject for ever
        ([1, 2, 3, 4, 8.3], 1),  # about the same
        ([1, 2, 3, 4, 9], 0),  # more than before
        ([1, 2, 2, 2, 2], 0),  # nothing any more
    ],
)
def test_an_agent_is_stuck_when_its_loss_stays_the_same_and_is_not_nothing(regret: list[float], stuck: int) -> None:
    assert phases(table(regret), lambda point: 1)[0].stuck == stuck


def test_both_phases_of_explore_then_commit_are_those_of_the_closed_form(tmp_path: Path) -> None:
    """Exploring costs N·(Φ(ε) − 1/4) in every run; committing nothing, or 2Φ(ε) − 1 a subject for ever."""
    experiment = EXPERIMENTS["gaussian-lower-bound"].changed(
        horizon=512, replications=24, agents=["explore-then-commit"], settings={"horizon": "128,256,512", "m": "1"}
    )
    run(experiment, tmp_path, seed=6000)
    found = phases(read_table(tmp_path), experiment.switch)
    assert [phase.length for phase in found] == [25, 40, 64]
    for phase in found:
        horizon = int(phase.point["horizon"])
        epsilon = horizon ** (-1 / 3)
        assert phase.before == pytest.approx(phase.length * (ndtr(epsilon) - 0.25))
        wrong = np.isclose(phase.after, (horizon - phase.length) * (2 * ndtr(epsilon) - 1))
        assert (wrong | (np.abs(phase.after) < 1e-9)).all()
        assert phase.stuck == wrong.mean()
        likely = ndtr(-epsilon * np.sqrt(phase.length))
        assert abs(wrong.mean() - likely) < 3 * np.sqrt(likely * (1 - likely) / 24)
    before, after = slopes_by_phase(read_table(tmp_path), experiment.switch)["explore-then-commit"]
    assert before.slope == pytest.approx(2 / 3, abs=0.1)
    assert abs(after.slope - 2 / 3) < 3 * after.error
    page = report(experiment, tmp_path, tmp_path)[0].read_text()
    assert "| agent | T | N | until N | after N | error | share | stuck |" in page
    assert "| slope in T | until N | after N |" in page


def test_other_pages_have_no_phases(folder: Path, tmp_path: Path) -> None:
    assert "until N" not in report(EXPERIMENTS["paper-discrete"], folder, tmp_path)[0].read_text()
