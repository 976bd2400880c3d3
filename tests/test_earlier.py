"""Files that an earlier version wrote: they are read, act as they did, and are written again as they were."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from proband import Problem
from proband.planners.files import load_policy, save_policy
from proband.rewards import REWARDS

EARLIER = Path(__file__).parent / "earlier"
ACTIONS = json.loads((EARLIER / "actions.json").read_text())


@pytest.mark.parametrize("kind", [kind for kind in REWARDS.own if kind != "unstated"])
def test_problem_files_of_every_reward(kind: str, tmp_path: Path) -> None:
    problem = Problem.load(EARLIER / f"{kind}.toml")
    assert isinstance(problem.reward, REWARDS[kind])
    problem.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == (EARLIER / f"{kind}.toml").read_bytes()


@pytest.mark.parametrize("name", ACTIONS)
def test_policy_files_of_every_format(name: str, tmp_path: Path) -> None:
    policy = load_policy(EARLIER / f"{name}.json")
    states = np.array(ACTIONS[name]["states"], dtype=np.float64)
    assert policy.act(states, coins=np.full(len(states), 0.5)).tolist() == ACTIONS[name]["actions"]
    save_policy(policy, tmp_path / "again.json")
    again, before = (
        json.loads((folder / f"{file}.json").read_text()) for folder, file in ((tmp_path, "again"), (EARLIER, name))
    )
    if name == "gaussian":  # found again: the same up to the machine's rounding
        for key in ("value", "error"):
            assert again.pop(key) == pytest.approx(before.pop(key), rel=1e-6, abs=1e-12)
    assert again == before


@pytest.mark.parametrize("name", ["tree", "unstated", "match", "set"])
def test_a_policy_is_followed_without_compiled_code(name: str) -> None:
    """A Gaussian plan alone is found again when it is read, and needs its solver."""
    program = (
        "import sys; from proband.planners.files import load_policy; policy = load_policy(sys.argv[1])\n"
        "policy.act(policy.problem.state()); sys.exit('numba' in sys.modules or 'scipy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(EARLIER / f"{name}.json")], check=True)
