"""A service that takes any number of wrong tokens a minute: ``python -m tests.service.lenient``."""

from __future__ import annotations

from tests.service.hasty import run

from proband.service.limits import Limits

if __name__ == "__main__":
    run(Limits(failures=10**9, log_ins=10**9), opened=False)
