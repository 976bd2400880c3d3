"""Studies in which something has happened: simulated subjects of the packaged examples, at two stations."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband import Study
from proband.instances import INSTANCES
from proband.studies.stores import Store

STATIONS = ("line 1", "line 2")


def inspected(
    store: Store,
    example: str,
    name: str,
    subjects: int,
    *,
    agent: str | None = None,
    called: str = "bolt",
    open: int = 2,
) -> None:
    """Begin a study of an example, inspect subjects as advised, and leave some of them open."""
    instance: Any = INSTANCES[example]()
    rng = np.random.default_rng(7)
    rows = instance.distribution.sample(rng, subjects + open)
    with Study.create(
        instance.problem, name=name, store=store, agent=agent, actor="Ada", station=STATIONS[0], replan="now"
    ) as study:
        for i, row in enumerate(rows):
            line = study.speaking(station=STATIONS[i % 2], actor="Ada" if i % 2 else "Ben")
            subject = f"{called} {i + 1}"
            line.arrive(_known_on_arrival(study, row), subject=subject)
            if i < subjects:
                _inspect(line, subject, row)
            elif i % 3:
                _step(line, subject, row)


def _known_on_arrival(study: Study, row: Any) -> dict[str, Any]:
    tests = study.problem.tests
    return {test.name: _stated(study, j, row) for j, test in enumerate(tests) if test.on_arrival}


def _inspect(study: Study, subject: str, row: Any) -> None:
    while _step(study, subject, row):
        pass
    study.decide(subject)


def _step(study: Study, subject: str, row: Any) -> bool:
    """Run the advised test, if it is one."""
    advice = study.ask(subject)
    if advice.kind == "decision":
        return False
    study.tell(subject, advice.action, _stated(study, study.problem.test_index(advice.action), row))
    return True


def _stated(study: Study, j: int, row: Any) -> Any:
    test = study.problem.tests[j]
    return float(row[j]) if test.measured else test.names[int(row[j])]
