"""A service whose clock somebody sets: ``python -m tests.service.jumpy``, and a file says by how much it is wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

CLOCK = "PROBAND_TEST_CLOCK"
"""Names the file."""


def set_wrong() -> None:
    right, file = time.time, Path(os.environ[CLOCK])
    time.time = lambda: right() + float(file.read_text() or 0)


if __name__ == "__main__":
    set_wrong()  # before anything has looked at the clock
    from tests.service.hasty import run

    from proband.service.limits import Limits

    run(Limits(), opened=False)
