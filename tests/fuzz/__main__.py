"""Run one case again: ``python -m tests.fuzz KIND SEED NUMBER [FOLDER]``; its file stays in the folder."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.fuzz.kinds import KINDS, case

name, seed, number, *rest = sys.argv[1:]
path = Path(rest[0] if rest else tempfile.mkdtemp()) / f"case{KINDS[name].ending}"
path.write_bytes(case(name, int(seed), int(number)))
print(path)  # noqa: T201
print("taken for right" if KINDS[name].read(path) else "refused")  # noqa: T201
