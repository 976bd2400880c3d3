"""The paper's two figures as they were drawn: one instance, five replications, mean and standard deviation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proband.agents.entropy import Elimination
from proband.distributions import Discrete, Gaussian
from proband.experiments import EXPERIMENTS, run
from proband.experiments.cells import draw
from proband.experiments.plots import plot
from proband.experiments.report import report

FIGURES = ("figure-discrete", "figure-entropy")


@pytest.mark.parametrize("name", FIGURES)
def test_all_replications_share_one_instance_and_none_its_subjects(name: str) -> None:
    experiment = EXPERIMENTS[name].changed(horizon=64)
    first, *others = [draw(experiment, cell) for cell in experiment.cells(seed=1000)[:: len(experiment.agents)]]
    assert len(others) == 4
    for other in others:
        assert other.instance.problem == first.instance.problem
        assert _same_law(other.instance.distribution, first.instance.distribution)
        assert not np.array_equal(other.stream, first.stream)
    another = draw(experiment, experiment.cells(seed=1001)[0])
    assert not _same_law(another.instance.distribution, first.instance.distribution)


def _same_law(one: object, other: object) -> bool:
    if isinstance(one, Discrete) and isinstance(other, Discrete):
        return np.array_equal(one.probabilities, other.probabilities)
    assert isinstance(one, Gaussian)
    assert isinstance(other, Gaussian)
    return np.array_equal(one.covariance, other.covariance)


def test_the_settings_are_the_paper_s() -> None:
    discrete, entropy = (EXPERIMENTS[name] for name in FIGURES)
    assert (discrete.horizon, discrete.replications) == (2**20, 5)
    assert [entrant.name for entrant in discrete.agents] == ["explore-then-commit", "doubling"]
    instance = draw(discrete.changed(horizon=64), discrete.changed(horizon=64).cells(seed=0)[0]).instance
    assert (instance.problem.d, instance.problem.k.tolist()) == (10, [2] * 10)
    assert (entropy.horizon, entropy.replications) == (2**15, 5)
    assert entropy.parameters["d"].default == 15


def test_algorithm_4_takes_part_as_printed() -> None:
    from proband.agents import Setting

    experiment = EXPERIMENTS["figure-entropy"].changed(horizon=64)
    instance = draw(experiment, experiment.cells(seed=0)[0]).instance
    setting = Setting(instance.problem, 2**15, 0, None, instance.distribution)
    agent = experiment.agents[0].build(setting, experiment.points()[0])
    assert isinstance(agent, Elimination)
    assert agent.as_printed
    assert agent.can_eliminate(2**15)


def test_pages_without_a_baseline_compare_with_none(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["figure-entropy"].changed(horizon=256, replications=2, settings={"d": "4"})
    table = run(experiment, tmp_path / "run")
    page, numbers, _, *pictures = report(EXPERIMENTS["figure-entropy"], tmp_path / "run", tmp_path)
    assert pictures == [tmp_path / "figure-entropy-regret.png"]
    assert "ratio" not in page.read_text()
    assert numbers.read_text().splitlines()[0].endswith(",mean,sd,standard_error")
    assert plot(table, experiment, tmp_path / "plots") == [tmp_path / "plots" / "regret.png"]
