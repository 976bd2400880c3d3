from __future__ import annotations

from pathlib import Path

import pytest

from proband.experiments import EXPERIMENTS, Experiment, TidyTable, run

CHEAP = ["explore-then-commit", "doubling"]


@pytest.fixture(scope="session")
def small() -> Experiment:
    """The paper's experiment with few tests, few subjects, and an agent that tosses coins."""
    agents = [*CHEAP, "leaf-completion"]
    return EXPERIMENTS["paper-discrete"].changed(horizon=256, replications=3, agents=agents, settings={"d": "3"})


@pytest.fixture(scope="session")
def folder(small: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run; nobody changes it."""
    out = tmp_path_factory.mktemp("run")
    run(small, out, seed=1000)
    return out


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> TidyTable:
    """Explore-then-commit and doubling on the single-test lower bound, over horizons and gaps."""
    experiment = EXPERIMENTS["lower-bound-single"].changed(
        replications=20, agents=CHEAP, settings={"horizon": "2^5,2^7,2^9,2^11,2^13", "m": "0.5,1,4"}
    )
    return run(experiment, tmp_path_factory.mktemp("swept"), seed=1000)
