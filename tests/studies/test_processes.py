"""Several processes on one file: nothing is lost or doubled, nobody sees an error, and the replay is equal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.studies.crowd import bolts

from proband.studies import Study

WORKER = """
import json, sys
import numpy as np
from proband.studies import Study

url, number = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(number)
told = []
with Study.open("bolts", store=url, station=f"station {number}") as study:
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(3):
        bolt = study.arrive()
        while (advice := study.ask(bolt)).kind == "test":
            names = study.problem.tests[study.problem.test_index(advice.action)].names
            study.tell(bolt, advice.action, str(rng.choice(names)))
            told.append((bolt.name, advice.action))
        study.decide(bolt)
        told.append((bolt.name, "decided"))
print(json.dumps(told))
"""


def test_processes_share_a_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/bolts.db"
    Study.create(bolts(), agent="test-everything", store=url).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, url, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for number in range(3)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    answers = [worker.communicate("go\n", timeout=120)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 3
    told = [tuple(each) for answer in answers for each in json.loads(answer)]
    with Study.open("bolts", store=url, replan="never") as study:
        recorded = [
            (event.subject, event.data.get("test", "decided"))
            for event in study.events()
            if event.kind in ("observed", "decided")
        ]
        assert sorted(recorded) == sorted(told)
        assert study.summary(exploration=False, drift=False).finished == 9
        assert study.verify().length == 1 + 9 + len(told)
        assert study.replay().differences == ()
