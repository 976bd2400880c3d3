"""The examples run as a new user would run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_monitoring_example_certifies_a_set_and_draws_its_map(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "monitoring.py"), "--out", str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert "With probability 0.95: measuring" in done.stdout
    assert "within 0.5 a round of the best" in done.stdout
    assert (tmp_path / "network.png").read_bytes()[:4] == b"\x89PNG"
