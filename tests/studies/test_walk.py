"""Through how many modules a tell goes: who reads it has to keep them in mind.

Counted are the modules of proband whose code runs, from `Study.tell` until it returns, for a subject that was asked
about; the store counts as one, whatever it is made of, because any other could stand in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from proband.instances import bolts
from proband.studies import Study

MOST = 10
STORES = "proband.studies.stores"


def modules(call: Callable[[], object]) -> list[str]:
    """Return the modules of proband that a call goes through, in order, stores as one."""
    seen: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        name = str(frame.f_globals.get("__name__"))
        if event == "call" and name.startswith("proband."):
            seen[STORES if name.startswith(STORES) else name] = None

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def test_a_tell_goes_through_few_modules(tmp_path: Path) -> None:
    with Study.create(bolts().problem, name="bolts", store=f"sqlite:///{tmp_path}/bolts.db", replan="never") as study:
        bolt = study.arrive()
        advice = study.ask(bolt)
        test = next(test for test in study.problem.tests if test.name == advice.action)
        shown = test.names[0]
        passed = modules(lambda: study.tell(bolt, test.name, shown))
    assert STORES in passed
    assert len(passed) <= MOST, passed
