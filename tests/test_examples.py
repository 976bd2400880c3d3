"""The examples run as a new user would run them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
LINES = ("exact plan", "MaskablePPO")
OWN = ROOT / ".venv-ppo" / "bin" / "python"
"""What `make example-ppo` made: PyTorch is too large for the environment of the tests."""


def test_the_monitoring_example_certifies_a_set_and_draws_its_map(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "monitoring.py"), "--out", str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert "With probability 0.95: measuring" in done.stdout
    assert "within 50 EUR/month a round of the best" in done.stdout
    assert (tmp_path / "network.png").read_bytes()[:4] == b"\x89PNG"


def test_the_notebook_runs_and_shows_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells hold no output in the repository: what they show is made here, by a kernel as Jupyter starts it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages of notebooks, about each other
        import nbclient
        import nbformat

        notebook = nbformat.read(EXAMPLES / "castings.ipynb", as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert not any(cell.outputs or cell.execution_count for cell in code)
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    pages = ["".join(each["data"].get("text/html", "") for each in cell.outputs if "data" in each) for cell in code]
    texts = ["".join(each.get("text", "") for each in cell.outputs) for cell in code]
    assert "known on arrival" in pages[0]
    assert "< 63 HRC" in pages[1].replace("&lt;", "<")
    assert "value, cross-validated" in pages[3]
    assert "<svg" in pages[3]
    assert "Run " in pages[4] or "Decide " in pages[4]
    assert "rows that the plan had not seen were decided wrongly\nthe worst is line " in texts[5]


@pytest.mark.slow
def test_masked_ppo_comes_near_the_exact_plan() -> None:
    if not OWN.exists() and importlib.util.find_spec("sb3_contrib") is None:
        pytest.skip("there is no sb3-contrib here; make example-ppo installs it apart")
    done = subprocess.run(
        [OWN if OWN.exists() else sys.executable, EXAMPLES / "maskable_ppo.py", "--seeds", "1", "--steps", "30000"],
        capture_output=True, text=True, check=True, timeout=600, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    exact, learned = (float(re.search(rf"^{name} +([0-9.]+)", done.stdout, flags=re.M)[1]) for name in LINES)
    assert 4.5 < learned <= exact + 1e-4
