from __future__ import annotations

import gc
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from proband import Discrete, Problem, Test
from proband.rewards import Table

settings.register_profile(
    "proband", derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("proband")

# Whoever starts the suite in the background has SIGINT ignored for it; what Ctrl-C does is tested all the same.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Thousands of tests stay in memory, and so do kernels: to look through them again and again took a quarter of the time.
gc.set_threshold(50_000, 20, 50)

collect_ignore = ["pieces"]  # of another package, which is installed for its tests


def pytest_collection_finish() -> None:
    gc.freeze()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture
def problem() -> Problem:
    """Two bolts tests, the second one dear."""
    return Problem(
        tests=[Test("visual", 0.1, outcomes=("clean", "rusty")), Test("ultrasonic", 0.6, outcomes=("ok", "crack"))],
        decisions=["pass", "fail"],
        reward=Table(["ultrasonic"], [[1.0, 0.0], [-4.0, 0.0]]),
        name="bolts",
        unit="EUR",
    )


@pytest.fixture
def law() -> Discrete:
    return Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.70, 0.05, 0.05, 0.20])


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Keep control characters and long texts out of the names of tests."""
    if isinstance(val, str) and (len(val) > 40 or not val.isprintable()):
        return ascii(val)[:40]
    return None
