"""Which code something was computed with: a hash of the sources that it depends on.

A version number does not tell two states of a repository apart. With the hash in the name of a result, results of
different code are never mixed, and workers that run other code are found out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

LEARNING = (
    "agents", "bundle.py", "checking.py", "compiling.py", "cutting.py", "distributions", "elementary_kernel.py",
    "estimators", "piecewise", "planners", "policies", "prices.py", "problem.py", "problem_files.py", "problem_pool.py",
    "problem_reading.py", "problem_rules.py", "rewards", "vocabulary",
)  # fmt: skip
"""What an agent's policies depend on, below the package; reading tables and telling people are left out."""


def fingerprint(root: Path, parts: Iterable[str]) -> str:
    """Return a hash of the sources of some parts, files or folders, below a folder.

    Examples
    --------
    >>> import proband
    >>> len(fingerprint(Path(proband.__file__).parent, ["problem.py", "rewards"]))
    16
    """
    whole = hashlib.sha256()
    for path in _sources(root, parts):
        whole.update(str(path.relative_to(root).as_posix()).encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def _sources(root: Path, parts: Iterable[str]) -> Iterator[Path]:
    for part in parts:
        path = root / part
        below = path.rglob("*") if path.is_dir() else [path]
        yield from sorted(file for file in below if file.is_file() and file.parent.name != "__pycache__")
