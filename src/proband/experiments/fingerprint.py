"""Which code a result was computed with: a hash of the sources, problem files included, that results depend on.

A version number does not tell two states of a repository apart. With the hash in a cell's name a run never mixes
results of different code, and workers that run other code are found out.
"""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path

import proband
from proband import fingerprints
from proband.agents import AGENTS

PARTS = (
    *fingerprints.LEARNING, "instances", "simulation", "experiments/catalogue", "experiments/cells.py",
    "experiments/experiment.py",
)  # fmt: skip
"""What a result depends on, below the package; drawing, reporting and the command line are left out."""


def fingerprint(root: Path) -> str:
    """Return a hash of the sources below the package's folder.

    Examples
    --------
    >>> len(fingerprint(Path(proband.__file__).parent))
    16
    """
    return fingerprints.fingerprint(root, PARTS)


def code_of(agent: str) -> str:
    """Return the fingerprint of the code that plays an agent; of one from elsewhere its own file is a part.

    Examples
    --------
    >>> code_of("greedy") == FINGERPRINT
    True
    """
    if agent in AGENTS.own or (agent not in AGENTS and ":" not in agent):
        return FINGERPRINT
    module = importlib.import_module(AGENTS.places.get(agent, agent).partition(":")[0])
    return f"{FINGERPRINT}-{hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()[:16]}"


FINGERPRINT = fingerprint(Path(proband.__file__).parent)
"""Of the code that this process runs, taken when it was imported."""
